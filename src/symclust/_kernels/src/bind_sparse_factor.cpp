#include "sparse_factor.hpp"

namespace symclust {

template <typename T, typename I>
void bind_types(nb::module_& m) {
    define(
        m, "sparse_factor_sweeps",
        [](Vector<I> indptr, Vector<I> indices, Vector<T> values, Vector<T> diagonal, Vector<int64_t> rows,
           Vector<int32_t> columns, Vector<T> entries, MutableMatrix<double> G, double offset, bool full,
           int cycles, int sweeps, double opening, Vector<uint8_t> active, MutableVector<double> row_gradient,
           MutableVector<double> decrease, MutableVector<double> squared_gradient) {
        const ptrdiff_t n = diagonal.shape(0), k = G.shape(0);
        const SparseMatrix<T, I> A{{"A", indptr, indices, values, n, n}, diagonal.data()};
        const CsrRows<T> H("H", rows, columns, entries, n, k);
        shaped("G", G, k, k), shaped("active", active, n), shaped("row_gradient", row_gradient, n);
        shaped("decrease", decrease, 1), shaped("squared_gradient", squared_gradient, 1);
        size_t zeros = 0;
        CsrArrays<T> found = [&] {
            nb::gil_scoped_release release;
            SparseSweep<T, I> sweep(A, H, G.data(), int(k), offset, full, cycles, opening, active.data(),
                                    row_gradient.data());
            RowChange total;
            sweep.run(sweeps, total);
            decrease.data()[0] += total.decrease;
            squared_gradient.data()[0] += total.squared_gradient;
            zeros = sweep.zeros();
            return CsrArrays<T>(sweep.rows());
        }();
        return nb::make_tuple(as_array(std::move(found.indptr)), as_array(std::move(found.columns)),
                              as_array(std::move(found.values)), zeros);
        },
        "indptr", "indices", "values", "diagonal", "rows", "columns", "entries", "G", "offset"_a, "full"_a,
        "cycles"_a, "sweeps"_a, "opening"_a, "active", "row_gradient", "decrease", "squared_gradient");

    define(
        m, "sparse_factor_judge",
        [](Vector<I> indptr, Vector<I> indices, Vector<T> values, Vector<T> diagonal, Vector<int64_t> rows,
           Vector<int32_t> columns, Vector<T> entries, Matrix<double> G, double offset, bool full) {
        const ptrdiff_t n = diagonal.shape(0), k = G.shape(0);
        const SparseMatrix<T, I> A{{"A", indptr, indices, values, n, n}, diagonal.data()};
        const CsrRows<T> H("H", rows, columns, entries, n, k);
        shaped("G", G, k, k);
        const Judgement found = [&] {
            nb::gil_scoped_release release;
            return judge(A, H, GramTerms{G.data(), offset, 0.0, int(k), full});
        }();
        return nb::make_tuple(found.fit, found.squared_gradient, found.squared_product, found.lowest,
                              found.complementarity);
        },
        "indptr", "indices", "values", "diagonal", "rows", "columns", "entries", "G", "offset"_a, "full"_a);
}

template <typename T>
void bind_gram(nb::module_& m) {
    define(
        m, "sparse_factor_gram",
        [](Vector<int64_t> rows, Vector<int32_t> columns, Vector<T> entries, MutableMatrix<double> G) {
        const ptrdiff_t k = G.shape(0);
        const CsrRows<T> H("H", rows, columns, entries, any_size, k);
        shaped("G", G, k, k);
        nb::gil_scoped_release release;
        sparse_gram(H, G.data(), k);
        },
        "rows", "columns", "entries", "G");
}

void bind_sparse_factor(nb::module_& m) {
    bind_types<double, int32_t>(m);
    bind_types<double, int64_t>(m);
    bind_types<float, int32_t>(m);
    bind_types<float, int64_t>(m);
    bind_gram<double>(m);
    bind_gram<float>(m);
}

}  // namespace symclust
