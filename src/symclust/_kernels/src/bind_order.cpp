#include "order.hpp"

namespace symclust {

template <typename T>
void bind_order_type(nb::module_& m) {
    define(
        m, "falling_order",
        [](Vector<T> weights, MutableVector<int64_t> order) {
        shaped("order", order, weights.shape(0));
        nb::gil_scoped_release release;
        falling_order(weights.data(), ptrdiff_t(weights.shape(0)), order.data());
        },
        "weights", "order");
}

void bind_order(nb::module_& m) {
    bind_order_type<double>(m);
    bind_order_type<float>(m);
}

}  // namespace symclust
