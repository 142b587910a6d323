// Parts of a matrix: some rows of a CSR matrix without the columns that are empty in them, by rows and by columns; the graph of
// some nodes; the same rows and columns of a dense matrix.
#include "common.hpp"

namespace symclust {

// Entries of the chosen rows; `rows` are few beside them.
template <typename I>
std::ptrdiff_t entries_of(const char* argument, const Pattern<I>& A, const Vector<I>& rows) {
    within(argument, rows, 0, A.n);
    std::ptrdiff_t sum = 0;
    for (std::size_t i = 0; i < rows.shape(0); ++i) sum += A.count(rows.data()[i]);
    return sum;
}

// counts[j] = entries of column j in the chosen rows.
template <typename I>
void subset_counts(const Pattern<I>& A, const I* rows, std::ptrdiff_t n_rows, I* counts) {
    Pace pace;
    for (std::ptrdiff_t i = 0; i < n_rows; pace(A.count(rows[i])), ++i)
        for (I p = A.indptr[rows[i]]; p < A.indptr[rows[i] + 1]; ++p) ++counts[A.indices[p]];
}

// Fills both layouts in one pass over the chosen rows. `place[j]` is the new number of column j. `t_next` comes in as
// where each new column begins and leaves as where it ends.
template <typename T, typename I>
void subset_fill(const Csr<T, I>& A, const I* rows, std::ptrdiff_t n_rows, const I* place, I* new_indptr, I* new_indices,
                 T* new_values, I* t_next, I* t_indices, T* t_values) {
    I at = 0;
    Pace pace;
    new_indptr[0] = 0;
    for (std::ptrdiff_t i = 0; i < n_rows; pace(4 * A.count(rows[i])), ++i) {
        for (I p = A.indptr[rows[i]]; p < A.indptr[rows[i] + 1]; ++p, ++at) {
            const I j = place[A.indices[p]], t = t_next[j]++;
            new_indices[at] = j;
            new_values[at] = A.values[p];
            t_indices[t] = static_cast<I>(i);
            t_values[t] = A.values[p];
        }
        new_indptr[i + 1] = at;
    }
}

// The same for most of the rows, when the transpose is at hand: both layouts are read and written in order, which is
// several times faster than putting each entry in its column, but reads all of the transpose. `row_place[i]` is the new
// number of row i, or -1. Entries are written before it is known that they are wanted, so there must be room for one more.
template <typename T, typename I>
void subset_stream(const Csr<T, I>& A, const I* rows, std::ptrdiff_t n_rows, const I* place, const Csr<T, I>& At, const I* columns,
                   std::ptrdiff_t n_columns, const I* row_place, I* new_indptr, I* new_indices, T* new_values,
                   I* new_t_indices, T* new_t_values) {
    std::ptrdiff_t at = 0;
    Pace pace;
    new_indptr[0] = 0;
    for (std::ptrdiff_t i = 0; i < n_rows; pace(A.count(rows[i])), ++i) {
        for (I p = A.indptr[rows[i]]; p < A.indptr[rows[i] + 1]; ++p, ++at) {
            new_indices[at] = place[A.indices[p]];
            new_values[at] = A.values[p];
        }
        new_indptr[i + 1] = static_cast<I>(at);
    }
    at = 0;
    for (std::ptrdiff_t j = 0; j < n_columns; pace(At.count(columns[j])), ++j) {
        for (I p = At.indptr[columns[j]]; p < At.indptr[columns[j] + 1]; ++p) {
            const I row = row_place[At.indices[p]];
            new_t_indices[at] = row;
            new_t_values[at] = At.values[p];
            at += row >= 0;
        }
    }
}

// Edges of the nodes with place >= 0 among each other; place is the new number, `members` lists the nodes in that order.
// With out_indices null only the borders of the rows are written.
template <typename T>
void subgraph(const Csr<T, std::int32_t, std::int64_t>& A, const std::int32_t* members, std::ptrdiff_t count,
              const std::int32_t* place, std::int64_t* out_indptr, std::int32_t* out_indices, T* out_weights, std::int64_t room) {
    std::int64_t at = 0;
    Pace pace;
    out_indptr[0] = 0;
    for (std::ptrdiff_t k = 0; k < count; pace(A.count(members[k])), ++k) {
        for (std::int64_t e = A.indptr[members[k]]; e < A.indptr[members[k] + 1]; ++e) {
            const std::int32_t j = place[A.indices[e]];
            if (j < 0) continue;
            if (out_indices) {
                expect(at < room, "out_indices", "has room for fewer edges than there are");
                out_indices[at] = j, out_weights[at] = A.values[e];
            }
            ++at;
        }
        out_indptr[k + 1] = at;
    }
}

// A[index][:, index] of a dense matrix, row by row: NumPy's indexing with two arrays takes several times as long.
template <typename T>
void submatrix(const T* A, std::ptrdiff_t n, const std::int64_t* index, std::ptrdiff_t m, T* out) {
    parallel_rows(m, 64, threads_for(m * m), [&](std::ptrdiff_t begin, std::ptrdiff_t end, int) {
        for (std::ptrdiff_t i = begin; i < end; ++i) {
            const T* SYMCLUST_RESTRICT row = A + index[i] * n;
            T* SYMCLUST_RESTRICT to = out + i * m;
            for (std::ptrdiff_t j = 0; j < m; ++j) to[j] = row[index[j]];
        }
    });
}

template <typename I>
void bind_subset_counts(nb::module_& m) {
    define(m, "subset_counts", [](Vector<I> indptr, Vector<I> indices, Vector<I> rows, MutableVector<I> counts) {
        const Pattern<I> A("A", indptr, indices, any_size, counts.shape(0));
        within("rows", rows, 0, A.n);
        nb::gil_scoped_release release;
        subset_counts(A, rows.data(), std::ptrdiff_t(rows.shape(0)), counts.data());
    }, "indptr", "indices", "rows", "counts");
}

template <typename T, typename I>
void bind_subset_fill(nb::module_& m) {
    define(m, "subset_fill", [](Vector<I> indptr, Vector<I> indices, Vector<T> values, Vector<I> rows, Vector<I> place,
                                MutableVector<I> new_indptr, MutableVector<I> new_indices, MutableVector<T> new_values,
                                MutableVector<I> t_next, MutableVector<I> t_indices, MutableVector<T> t_values) {
        const Csr<T, I> A("A", indptr, indices, values, any_size, place.shape(0));
        const std::ptrdiff_t count = rows.shape(0), size = entries_of("rows", A, rows);
        shaped("new_indptr", new_indptr, count + 1), shaped("new_indices", new_indices, size), shaped("new_values", new_values, size);
        shaped("t_values", t_values, t_indices.shape(0));
        expect(std::ptrdiff_t(t_indices.shape(0)) >= size, "t_indices", "has room for fewer entries than the rows have");
        // Columns without entries have place 0, even if there is no other.
        within("place", place, 0, std::max<std::ptrdiff_t>(1, t_next.shape(0))), within("t_next", t_next, 0, size + 1);
        nb::gil_scoped_release release;
        subset_fill(A, rows.data(), count, place.data(), new_indptr.data(), new_indices.data(), new_values.data(), t_next.data(),
                    t_indices.data(), t_values.data());
    }, "indptr", "indices", "values", "rows", "place", "new_indptr", "new_indices", "new_values", "t_next", "t_indices", "t_values");
}

template <typename T, typename I>
void bind_subset_stream(nb::module_& m) {
    define(m, "subset_stream", [](Vector<I> indptr, Vector<I> indices, Vector<T> values, Vector<I> rows, Vector<I> place,
                                  Vector<I> t_indptr, Vector<I> t_indices, Vector<T> t_values, Vector<I> columns,
                                  Vector<I> row_place, MutableVector<I> new_indptr, MutableVector<I> new_indices,
                                  MutableVector<T> new_values, MutableVector<I> new_t_indices, MutableVector<T> new_t_values) {
        const std::ptrdiff_t n = row_place.shape(0), d = place.shape(0), count = rows.shape(0);
        const Csr<T, I> A("A", indptr, indices, values, n, d), At("the transpose", t_indptr, t_indices, t_values, d, n);
        const std::ptrdiff_t size = entries_of("rows", A, rows);
        within("columns", columns, 0, d);
        shaped("new_indptr", new_indptr, count + 1);
        expect(std::ptrdiff_t(new_indices.shape(0)) >= size, "new_indices", "has room for fewer entries than the rows have");
        expect(std::ptrdiff_t(new_t_indices.shape(0)) > size, "new_t_indices", "needs room for the entries of the rows and one more");
        shaped("new_values", new_values, new_indices.shape(0)), shaped("new_t_values", new_t_values, new_t_indices.shape(0));
        nb::gil_scoped_release release;
        subset_stream(A, rows.data(), count, place.data(), At, columns.data(), std::ptrdiff_t(columns.shape(0)), row_place.data(),
                      new_indptr.data(), new_indices.data(), new_values.data(), new_t_indices.data(), new_t_values.data());
    }, "indptr", "indices", "values", "rows", "place", "t_indptr", "t_indices", "t_values", "columns", "row_place", "new_indptr",
       "new_indices", "new_values", "new_t_indices", "new_t_values");
}

template <typename T>
void bind_subgraph(nb::module_& m) {
    define(m, "subgraph", [](Vector<std::int64_t> indptr, Vector<std::int32_t> indices, Vector<T> weights,
                             Vector<std::int32_t> members, Vector<std::int32_t> place, MutableVector<std::int64_t> out_indptr,
                             MutableVector<std::int32_t> out_indices, MutableVector<T> out_weights) {
        const std::ptrdiff_t n = place.shape(0), count = members.shape(0), room = out_indices.shape(0);
        const Csr<T, std::int32_t, std::int64_t> A("graph", indptr, indices, weights, n, n);
        shaped("out_indptr", out_indptr, count + 1), shaped("out_weights", out_weights, room);
        within("members", members, 0, n);
        nb::gil_scoped_release release;
        subgraph(A, members.data(), count, place.data(), out_indptr.data(), room ? out_indices.data() : nullptr, out_weights.data(),
                 room);
    }, "indptr", "indices", "weights", "members", "place", "out_indptr", "out_indices", "out_weights");
}

template <typename T>
void bind_submatrix_type(nb::module_& m) {
    define(m, "submatrix", [](Matrix<T> A, Vector<std::int64_t> index, MutableMatrix<T> out) {
        const std::ptrdiff_t n = A.shape(1), size = index.shape(0);
        shaped("A", A, n, n), shaped("out", out, size, size);
        within("index", index, 0, n);
        nb::gil_scoped_release release;
        submatrix(A.data(), n, index.data(), size, out.data());
    }, "A", "index", "out");
}

void bind_subset(nb::module_& m) {
    bind_subgraph<double>(m);
    bind_subgraph<float>(m);
    bind_submatrix_type<double>(m);
    bind_submatrix_type<float>(m);
    bind_subset_counts<std::int32_t>(m);
    bind_subset_counts<std::int64_t>(m);
    bind_subset_fill<double, std::int32_t>(m);
    bind_subset_fill<double, std::int64_t>(m);
    bind_subset_fill<float, std::int32_t>(m);
    bind_subset_fill<float, std::int64_t>(m);
    bind_subset_stream<double, std::int32_t>(m);
    bind_subset_stream<double, std::int64_t>(m);
    bind_subset_stream<float, std::int32_t>(m);
    bind_subset_stream<float, std::int64_t>(m);
}

}  // namespace symclust
