#include "subset.hpp"

namespace symclust {

// Entries of the chosen rows; `rows` are few beside them.
template <typename I>
ptrdiff_t entries_of(const char* argument, const Pattern<I>& A, const Vector<I>& rows) {
    within(argument, rows, 0, A.n);
    ptrdiff_t sum = 0;
    for (size_t i = 0; i < rows.shape(0); ++i) sum += A.count(rows.data()[i]);
    return sum;
}

template <typename I>
void bind_subset_counts(nb::module_& m) {
    define(
        m, "subset_counts",
        [](Vector<I> indptr, Vector<I> indices, Vector<I> rows, MutableVector<I> counts) {
        const Pattern<I> A("A", indptr, indices, any_size, counts.shape(0));
        within("rows", rows, 0, A.n);
        nb::gil_scoped_release release;
        subset_counts(A, rows.data(), ptrdiff_t(rows.shape(0)), counts.data());
        },
        "indptr", "indices", "rows", "counts");
}

template <typename T, typename I>
void bind_subset_fill(nb::module_& m) {
    define(
        m, "subset_fill",
        [](Vector<I> indptr, Vector<I> indices, Vector<T> values, Vector<I> rows, Vector<I> place,
           MutableVector<I> new_indptr, MutableVector<I> new_indices, MutableVector<T> new_values,
           MutableVector<I> t_next, MutableVector<I> t_indices, MutableVector<T> t_values) {
        const Csr<T, I> A("A", indptr, indices, values, any_size, place.shape(0));
        const ptrdiff_t count = rows.shape(0), size = entries_of("rows", A, rows);
        shaped("new_indptr", new_indptr, count + 1), shaped("new_indices", new_indices, size),
            shaped("new_values", new_values, size);
        shaped("t_values", t_values, t_indices.shape(0));
        expect(ptrdiff_t(t_indices.shape(0)) >= size, "t_indices",
               "has room for fewer entries than the rows have");
        // Columns without entries have place 0, even if there is no other.
        within("place", place, 0, std::max<ptrdiff_t>(1, t_next.shape(0))),
            within("t_next", t_next, 0, size + 1);
        nb::gil_scoped_release release;
        subset_fill(A, rows.data(), count, place.data(), new_indptr.data(), new_indices.data(),
                    new_values.data(), t_next.data(), t_indices.data(), t_values.data());
        },
        "indptr", "indices", "values", "rows", "place", "new_indptr", "new_indices", "new_values", "t_next",
        "t_indices", "t_values");
}

template <typename T, typename I>
void bind_subset_stream(nb::module_& m) {
    define(
        m, "subset_stream",
        [](Vector<I> indptr, Vector<I> indices, Vector<T> values, Vector<I> rows, Vector<I> place,
           Vector<I> t_indptr, Vector<I> t_indices, Vector<T> t_values, Vector<I> columns,
           Vector<I> row_place, MutableVector<I> new_indptr, MutableVector<I> new_indices,
           MutableVector<T> new_values, MutableVector<I> new_t_indices, MutableVector<T> new_t_values) {
        const ptrdiff_t n = row_place.shape(0), d = place.shape(0), count = rows.shape(0);
        const Csr<T, I> A("A", indptr, indices, values, n, d),
            At("the transpose", t_indptr, t_indices, t_values, d, n);
        const ptrdiff_t size = entries_of("rows", A, rows);
        within("columns", columns, 0, d);
        shaped("new_indptr", new_indptr, count + 1);
        expect(ptrdiff_t(new_indices.shape(0)) >= size, "new_indices",
               "has room for fewer entries than the rows have");
        expect(ptrdiff_t(new_t_indices.shape(0)) > size, "new_t_indices",
               "needs room for the entries of the rows and one more");
        shaped("new_values", new_values, new_indices.shape(0)),
            shaped("new_t_values", new_t_values, new_t_indices.shape(0));
        nb::gil_scoped_release release;
        subset_stream(A, rows.data(), count, place.data(), At, columns.data(), ptrdiff_t(columns.shape(0)),
                      row_place.data(), new_indptr.data(), new_indices.data(), new_values.data(),
                      new_t_indices.data(), new_t_values.data());
        },
        "indptr", "indices", "values", "rows", "place", "t_indptr", "t_indices", "t_values", "columns",
        "row_place", "new_indptr", "new_indices", "new_values", "new_t_indices", "new_t_values");
}

template <typename T>
void bind_subgraph(nb::module_& m) {
    define(
        m, "subgraph",
        [](Vector<int64_t> indptr, Vector<int32_t> indices, Vector<T> weights, Vector<int32_t> members,
           Vector<int32_t> place, MutableVector<int64_t> out_indptr, MutableVector<int32_t> out_indices,
           MutableVector<T> out_weights) {
        const ptrdiff_t n = place.shape(0), count = members.shape(0), room = out_indices.shape(0);
        const Csr<T, int32_t, int64_t> A("graph", indptr, indices, weights, n, n);
        shaped("out_indptr", out_indptr, count + 1), shaped("out_weights", out_weights, room);
        within("members", members, 0, n);
        nb::gil_scoped_release release;
        subgraph(A, members.data(), count, place.data(), out_indptr.data(),
                 room ? out_indices.data() : nullptr, out_weights.data(), room);
        },
        "indptr", "indices", "weights", "members", "place", "out_indptr", "out_indices", "out_weights");
}

template <typename T>
void bind_submatrix_type(nb::module_& m) {
    define(
        m, "submatrix",
        [](Matrix<T> A, Vector<int64_t> index, MutableMatrix<T> out) {
        const ptrdiff_t n = A.shape(1), size = index.shape(0);
        shaped("A", A, n, n), shaped("out", out, size, size);
        within("index", index, 0, n);
        nb::gil_scoped_release release;
        submatrix(A.data(), n, index.data(), size, out.data());
        },
        "A", "index", "out");
}

void bind_subset(nb::module_& m) {
    bind_subgraph<double>(m);
    bind_subgraph<float>(m);
    bind_submatrix_type<double>(m);
    bind_submatrix_type<float>(m);
    bind_subset_counts<int32_t>(m);
    bind_subset_counts<int64_t>(m);
    bind_subset_fill<double, int32_t>(m);
    bind_subset_fill<double, int64_t>(m);
    bind_subset_fill<float, int32_t>(m);
    bind_subset_fill<float, int64_t>(m);
    bind_subset_stream<double, int32_t>(m);
    bind_subset_stream<double, int64_t>(m);
    bind_subset_stream<float, int32_t>(m);
    bind_subset_stream<float, int64_t>(m);
}

}  // namespace symclust
