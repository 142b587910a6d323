#include "coordinate.hpp"

namespace symclust {

// Checks what both kernels share.
template <typename T>
Column<T> column_of(const Vector<T>& diagonal, const MutableMatrix<T>& H, const MutableVector<T>& x,
                    const MutableMatrix<double>& G, int column, bool full, const Vector<int64_t>& ids,
                    const Vector<int64_t>& ignored_indptr, const Vector<int64_t>& ignored_indices,
                    const MutableVector<double>& change) {
    const ptrdiff_t n = H.shape(0), k = H.shape(1);
    shaped("diagonal", diagonal, n), shaped("x", x, n), shaped("G", G, k, k), shaped("change", change, 2);
    expect(column >= 0 && column < k, "column", "is not one of H");
    indices_within("ids", ids, 0, n);
    return {diagonal.data(),
            H.data(),
            x.data(),
            G.data(),
            int(k),
            column,
            full,
            rounding_of_gram(G.data(), int(k)),
            IgnoredPairs(ignored_indptr, ignored_indices, n),
            change.data()};
}

// The entries `ids` are visited in that order.
template <typename T, typename I>
void bind_coordinate_sparse(nb::module_& m) {
    define(
        m, "coordinate_sparse",
        [](Vector<I> indptr, Vector<I> indices, Vector<T> values, Vector<T> diagonal, MutableMatrix<T> H,
           MutableVector<T> x, MutableMatrix<double> G, int column, bool full, Vector<int64_t> ids,
           Vector<int64_t> ignored_indptr, Vector<int64_t> ignored_indices, MutableVector<double> change) {
        const Csr<T, I> A("A", indptr, indices, values, H.shape(0), H.shape(0));
        const Column<T> task =
            column_of(diagonal, H, x, G, column, full, ids, ignored_indptr, ignored_indices, change);
        nb::gil_scoped_release release;
        Pace pace;
        const int64_t *i = ids.data(), *end = i + ids.shape(0);
        for (; i < end; pace(A.count(*i) + 4 * task.k), ++i) {
            double product = 0.0;
            for (I p = A.indptr[*i]; p < A.indptr[*i + 1]; ++p)
                product += double(A.values[p]) * double(task.x[A.indices[p]]);
            task.descend(*i, product);
        }
        },
        "indptr", "indices", "values", "diagonal", "H", "x", "G", "column"_a, "full"_a, "ids",
        "ignored_indptr", "ignored_indices", "change");
}

// Row `places[e]` of `rows` belongs to entry `ids[e]`.
template <typename T>
void bind_coordinate_rows(nb::module_& m) {
    define(
        m, "coordinate_rows",
        [](Matrix<T> rows, Vector<int64_t> places, Vector<T> diagonal, MutableMatrix<T> H, MutableVector<T> x,
           MutableMatrix<double> G, int column, bool full, Vector<int64_t> ids,
           Vector<int64_t> ignored_indptr, Vector<int64_t> ignored_indices, MutableVector<double> change) {
        const ptrdiff_t count = ids.shape(0), n = H.shape(0);
        shaped("rows", rows, any_size, n), shaped("places", places, count);
        indices_within("places", places, 0, rows.shape(0));
        const Column<T> task =
            column_of(diagonal, H, x, G, column, full, ids, ignored_indptr, ignored_indices, change);
        nb::gil_scoped_release release;
        Pace pace;
        for (ptrdiff_t e = 0; e < count; ++e, pace(n))
            task.descend(ids.data()[e], dot(rows.data() + places.data()[e] * n, task.x, n));
        },
        "rows", "places", "diagonal", "H", "x", "G", "column"_a, "full"_a, "ids", "ignored_indptr",
        "ignored_indices", "change");
}

void bind_coordinate(nb::module_& m) {
    bind_coordinate_sparse<double, int32_t>(m);
    bind_coordinate_sparse<double, int64_t>(m);
    bind_coordinate_sparse<float, int32_t>(m);
    bind_coordinate_sparse<float, int64_t>(m);
    bind_coordinate_rows<double>(m);
    bind_coordinate_rows<float>(m);
}

}  // namespace symclust
