// Numbers from high to low. NumPy's stable sort takes ten times as long, and sorting terms is most of what a score costs.
#include <array>
#include <cstring>

#include "common.hpp"

namespace symclust {

constexpr int digit_bits = 11, n_digits = 3;
constexpr std::uint32_t n_values = 1u << digit_bits;

// The bits of a nonnegative float grow with it: inverted, they sort from high to low.
inline std::uint32_t falling_key(float weight) {
    std::uint32_t bits;
    std::memcpy(&bits, &weight, sizeof bits);
    return ~bits;
}

// order = argsort of -weights, stable, by digits from the last to the first. Weights are at least 0 and are compared in
// single precision, so that double ones that differ by rounding alone keep their order.
template <typename T>
void falling_order(const T* weights, std::ptrdiff_t n, std::int64_t* order) {
    std::vector<std::uint32_t> keys(n);
    std::array<std::array<std::ptrdiff_t, n_values>, n_digits> starts{};
    for (std::ptrdiff_t i = 0; i < n; ++i) {
        keys[i] = falling_key(static_cast<float>(weights[i]));
        for (int d = 0; d < n_digits; ++d) ++starts[d][(keys[i] >> (d * digit_bits)) % n_values];
    }
    std::vector<std::int64_t> from(n), to(n);
    for (std::ptrdiff_t i = 0; i < n; ++i) from[i] = i;
    for (int d = 0; d < n_digits; ++d) {
        checkpoint();
        std::ptrdiff_t before = 0;
        for (std::ptrdiff_t& count : starts[d]) {
            const std::ptrdiff_t here = count;
            count = before;
            before += here;
        }
        for (const std::int64_t i : from) to[starts[d][(keys[i] >> (d * digit_bits)) % n_values]++] = i;
        from.swap(to);
    }
    std::copy(from.begin(), from.end(), order);
}

template <typename T>
void bind_order_type(nb::module_& m) {
    define(m, "falling_order", [](Vector<T> weights, MutableVector<std::int64_t> order) {
        shaped("order", order, weights.shape(0));
        nb::gil_scoped_release release;
        falling_order(weights.data(), std::ptrdiff_t(weights.shape(0)), order.data());
    }, "weights", "order");
}

void bind_order(nb::module_& m) {
    bind_order_type<double>(m);
    bind_order_type<float>(m);
}

}  // namespace symclust
