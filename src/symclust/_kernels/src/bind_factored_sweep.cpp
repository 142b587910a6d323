#include "factored_sweep.hpp"

namespace symclust {

template <typename T, typename I>
void bind_factored(nb::module_& m) {
    define(
        m, "row_sweep_factored",
        [](Vector<I> indptr, Vector<I> indices, Vector<T> values, Vector<T> scale, Vector<T> weights,
           Vector<I> extra_indptr, Vector<I> extra_indices, Vector<T> extra_values, Vector<T> diagonal,
           MutableMatrix<T> Z, MutableMatrix<T> H, MutableCube<double> G, double offset, bool full,
           int cycles, Vector<int64_t> ignored_indptr, Vector<int64_t> ignored_indices,
           Vector<uint8_t> active, MutableVector<double> row_gradient, MutableVector<double> decrease,
           MutableVector<double> squared_gradient) {
        const ptrdiff_t n = H.shape(0), d = Z.shape(0), starts = G.shape(0), k = G.shape(1);
        const IgnoredPairs ignored(ignored_indptr, ignored_indices, n);
        const FactoredMatrix<T, I> A{{"X", indptr, indices, values, n, d},
                                     {"extra", extra_indptr, extra_indices, extra_values, n, n},
                                     scale.data(),
                                     weights.data(),
                                     diagonal.data(),
                                     n};
        shaped("scale", scale, n), shaped("weights", weights, d), shaped("diagonal", diagonal, n);
        shaped("G", G, starts, k, k), shaped("Z", Z, d, starts * k), shaped("H", H, n, starts * k);
        shaped("active", active, n), shaped("row_gradient", row_gradient, n);
        shaped("decrease", decrease, starts), shaped("squared_gradient", squared_gradient, starts);
        nb::gil_scoped_release release;
        FactoredSweep<T, I>(A, Z.data(), H.data(), full, int(k), int(starts), cycles, ignored)
            .run(G.data(), offset, active.data(), row_gradient.data(), decrease.data(),
                 squared_gradient.data());
        },
        "indptr", "indices", "values", "scale", "weights", "extra_indptr", "extra_indices", "extra_values",
        "diagonal", "Z", "H", "G", "offset"_a, "full"_a, "cycles"_a, "ignored_indptr", "ignored_indices",
        "active", "row_gradient", "decrease", "squared_gradient");
}

void bind_factored_sweep(nb::module_& m) {
    bind_factored<double, int32_t>(m);
    bind_factored<double, int64_t>(m);
    bind_factored<float, int32_t>(m);
    bind_factored<float, int64_t>(m);
}

}  // namespace symclust
