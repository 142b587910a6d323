#include "absolute.hpp"

namespace symclust {

template <typename T>
void bind_residual_rows(nb::module_& m) {
    define(
        m, "absolute_rows",
        [](MutableMatrix<T> R, Vector<int64_t> places, Vector<int64_t> ids, Vector<T> earlier,
           Vector<T> later, Vector<T> before, MutableVector<T> x, Vector<int64_t> ignored_indptr,
           Vector<int64_t> ignored_indices, int rule, MutableVector<double> change) {
        const auto n = ptrdiff_t(x.shape(0));
        shaped("R", R, any_size, n);
        shaped("places", places, ids.shape(0));
        shaped("earlier", earlier, n), shaped("later", later, n), shaped("before", before, n),
            shaped("change", change, 1);
        indices_within("places", places, 0, R.shape(0)), indices_within("ids", ids, 0, n);
        const ResidualRows<T> rows{R.data(), places.data(),  ids.data(),   ptrdiff_t(ids.shape(0)),
                                   n,        earlier.data(), later.data(), before.data()};
        const IgnoredPairs ignored(ignored_indptr, ignored_indices, n);
        nb::gil_scoped_release release;
        rows.descend(x.data(), ignored, EntryStep{Rule(rule), change.data()});
        },
        "R", "places", "ids", "earlier", "later", "before", "x", "ignored_indptr", "ignored_indices",
        "rule"_a, "change");
}

template <typename T, typename I>
void bind_sparse_rows(nb::module_& m) {
    define(
        m, "absolute_sparse",
        [](Vector<I> indptr, Vector<I> indices, Vector<T> values, MutableMatrix<T> H, MutableVector<T> x,
           int column, Vector<int64_t> ids, Vector<int64_t> ignored_indptr, Vector<int64_t> ignored_indices,
           int rule, MutableVector<double> change) {
        const ptrdiff_t n = H.shape(0), k = H.shape(1);
        shaped("x", x, n), shaped("change", change, 1);
        expect(column >= 0 && column < k, "column", "is not one of H");
        indices_within("ids", ids, 0, n);
        const SparseRows<T, I> rows{Csr<T, I>("A", indptr, indices, values, n, n),
                                    H.data(),
                                    ids.data(),
                                    ptrdiff_t(ids.shape(0)),
                                    int(k),
                                    column};
        const IgnoredPairs ignored(ignored_indptr, ignored_indices, n);
        nb::gil_scoped_release release;
        rows.descend(x.data(), ignored, EntryStep{Rule(rule), change.data()});
        },
        "indptr", "indices", "values", "H", "x", "column"_a, "ids", "ignored_indptr", "ignored_indices",
        "rule"_a, "change");
}

void bind_absolute(nb::module_& m) {
    bind_residual_rows<double>(m);
    bind_residual_rows<float>(m);
    bind_sparse_rows<double, int32_t>(m);
    bind_sparse_rows<double, int64_t>(m);
    bind_sparse_rows<float, int32_t>(m);
    bind_sparse_rows<float, int64_t>(m);
}

}  // namespace symclust
