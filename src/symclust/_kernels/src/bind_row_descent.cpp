#include "row_descent.hpp"

namespace symclust {

template <typename T>
void bind_block(nb::module_& m) {
    define(
        m, "row_sweep_block",
        [](Matrix<T> block, ptrdiff_t begin, MutableMatrix<T> P, MutableMatrix<T> H, MutableCube<double> G,
           double offset, bool full, int cycles, Vector<int64_t> ignored_indptr,
           Vector<int64_t> ignored_indices, MutableVector<double> decrease,
           MutableVector<double> squared_gradient) {
        const ptrdiff_t rows = block.shape(0), all = H.shape(0), starts = G.shape(0), k = G.shape(1);
        const IgnoredPairs ignored(ignored_indptr, ignored_indices, all);
        expect(begin >= 0 && begin + rows <= all, "block", "has rows that H does not have");
        shaped("block", block, rows, rows), shaped("P", P, rows, starts * k), shaped("H", H, all, starts * k);
        shaped("G", G, starts, k, k), shaped("decrease", decrease, starts),
            shaped("squared_gradient", squared_gradient, starts);
        nb::gil_scoped_release release;
        sweep_block(block.data(), rows, begin, P.data(), H.data(), G.data(), offset, full, int(k),
                    int(starts), cycles, ignored, decrease.data(), squared_gradient.data());
        },
        "block", "begin"_a, "P", "H", "G", "offset"_a, "full"_a, "cycles"_a, "ignored_indptr",
        "ignored_indices", "decrease", "squared_gradient");
}

template <typename T, typename I>
void bind_sparse(nb::module_& m) {
    define(
        m, "row_sweep_sparse",
        [](Vector<I> indptr, Vector<I> indices, Vector<T> values, Vector<T> diagonal, MutableMatrix<T> H,
           MutableCube<double> G, double offset, bool full, int cycles, Vector<int64_t> ignored_indptr,
           Vector<int64_t> ignored_indices, Vector<uint8_t> active, MutableVector<double> row_gradient,
           MutableVector<double> decrease, MutableVector<double> squared_gradient, ptrdiff_t first) {
        const ptrdiff_t all = H.shape(0), starts = G.shape(0), k = G.shape(1);
        const IgnoredPairs ignored(ignored_indptr, ignored_indices, all);
        const SparseMatrix<T, I> A{{"A", indptr, indices, values, any_size, all}, diagonal.data()};
        expect(first >= 0 && first + A.n <= all, "A", "has rows that H does not have");
        shaped("diagonal", diagonal, all), shaped("H", H, all, starts * k), shaped("G", G, starts, k, k);
        shaped("active", active, all), shaped("row_gradient", row_gradient, all);
        shaped("decrease", decrease, starts), shaped("squared_gradient", squared_gradient, starts);
        nb::gil_scoped_release release;
        RowSweep<T, I>(A, first, all, H.data(), G.data(), offset, full, int(k), int(starts), cycles, ignored,
                       active.data(), row_gradient.data())
            .run(decrease.data(), squared_gradient.data());
        },
        "indptr", "indices", "values", "diagonal", "H", "G", "offset"_a, "full"_a, "cycles"_a,
        "ignored_indptr", "ignored_indices", "active", "row_gradient", "decrease", "squared_gradient",
        "first"_a = 0);
}

void bind_row_descent(nb::module_& m) {
    define(
        m, "row_sweep_step",
        [](ptrdiff_t n, ptrdiff_t active, bool alone) { return Lanes::of(n, active, alone).step(); }, "n"_a,
        "active"_a, "alone"_a);
    bind_sparse<double, int32_t>(m);
    bind_sparse<double, int64_t>(m);
    bind_sparse<float, int32_t>(m);
    bind_sparse<float, int64_t>(m);
    bind_block<double>(m);
    bind_block<float>(m);
}

}  // namespace symclust
