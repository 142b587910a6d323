// Parts of a matrix: some rows of a CSR matrix without the columns that are empty in them, by rows and by columns; the graph of
// some nodes; the same rows and columns of a dense matrix.
#include "common.hpp"

namespace symclust {

// counts[j] = entries of column j in the chosen rows.
template <typename I>
void subset_counts(const I* indptr, const I* indices, const I* rows, std::ptrdiff_t n_rows, I* counts) {
    Pace pace;
    for (std::ptrdiff_t i = 0; i < n_rows; pace(indptr[rows[i] + 1] - indptr[rows[i]]), ++i)
        for (I p = indptr[rows[i]]; p < indptr[rows[i] + 1]; ++p) ++counts[indices[p]];
}

// Fills both layouts in one pass over the chosen rows. `place[j]` is the new number of column j. `t_next` comes in as
// where each new column begins and leaves as where it ends.
template <typename T, typename I>
void subset_fill(const I* indptr, const I* indices, const T* values, const I* rows, std::ptrdiff_t n_rows,
                 const I* place, I* new_indptr, I* new_indices, T* new_values, I* t_next, I* t_indices, T* t_values) {
    I at = 0;
    Pace pace;
    new_indptr[0] = 0;
    for (std::ptrdiff_t i = 0; i < n_rows; pace(4 * std::ptrdiff_t(indptr[rows[i] + 1] - indptr[rows[i]])), ++i) {
        for (I p = indptr[rows[i]]; p < indptr[rows[i] + 1]; ++p, ++at) {
            const I j = place[indices[p]], t = t_next[j]++;
            new_indices[at] = j;
            new_values[at] = values[p];
            t_indices[t] = static_cast<I>(i);
            t_values[t] = values[p];
        }
        new_indptr[i + 1] = at;
    }
}

// The same for most of the rows, when the transpose is at hand: both layouts are read and written in order, which is
// several times faster than putting each entry in its column, but reads all of the transpose. `row_place[i]` is the new
// number of row i, or -1. Entries are written before it is known that they are wanted, so there must be room for one more.
template <typename T, typename I>
void subset_stream(const I* indptr, const I* indices, const T* values, const I* rows, std::ptrdiff_t n_rows,
                   const I* place, const I* t_indptr, const I* t_indices, const T* t_values, const I* columns,
                   std::ptrdiff_t n_columns, const I* row_place, I* new_indptr, I* new_indices, T* new_values,
                   I* new_t_indices, T* new_t_values) {
    std::ptrdiff_t at = 0;
    Pace pace;
    new_indptr[0] = 0;
    for (std::ptrdiff_t i = 0; i < n_rows; pace(indptr[rows[i] + 1] - indptr[rows[i]]), ++i) {
        for (I p = indptr[rows[i]]; p < indptr[rows[i] + 1]; ++p, ++at) {
            new_indices[at] = place[indices[p]];
            new_values[at] = values[p];
        }
        new_indptr[i + 1] = static_cast<I>(at);
    }
    at = 0;
    for (std::ptrdiff_t j = 0; j < n_columns; pace(t_indptr[columns[j] + 1] - t_indptr[columns[j]]), ++j) {
        for (I p = t_indptr[columns[j]]; p < t_indptr[columns[j] + 1]; ++p) {
            const I row = row_place[t_indices[p]];
            new_t_indices[at] = row;
            new_t_values[at] = t_values[p];
            at += row >= 0;
        }
    }
}

// Edges of the nodes with place >= 0 among each other; place is the new number, `members` lists the nodes in that order.
// With out_indices null only the borders of the rows are written.
template <typename T>
void subgraph(const std::int64_t* indptr, const std::int32_t* indices, const T* weights, const std::int32_t* members,
              std::ptrdiff_t count, const std::int32_t* place, std::int64_t* out_indptr, std::int32_t* out_indices,
              T* out_weights) {
    std::int64_t at = 0;
    Pace pace;
    out_indptr[0] = 0;
    for (std::ptrdiff_t k = 0; k < count; pace(indptr[members[k] + 1] - indptr[members[k]]), ++k) {
        for (std::int64_t e = indptr[members[k]]; e < indptr[members[k] + 1]; ++e) {
            const std::int32_t j = place[indices[e]];
            if (j < 0) continue;
            if (out_indices) out_indices[at] = j, out_weights[at] = weights[e];
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
    m.def("subset_counts", [](Vector<I> indptr, Vector<I> indices, Vector<I> rows, MutableVector<I> counts) {
        nb::gil_scoped_release release;
        subset_counts(indptr.data(), indices.data(), rows.data(), rows.shape(0), counts.data());
    }, nb::arg("indptr").noconvert(), nb::arg("indices").noconvert(), nb::arg("rows").noconvert(),
       nb::arg("counts").noconvert());
}

template <typename T, typename I>
void bind_subset_fill(nb::module_& m) {
    m.def("subset_fill", [](Vector<I> indptr, Vector<I> indices, Vector<T> values, Vector<I> rows, Vector<I> place,
                            MutableVector<I> new_indptr, MutableVector<I> new_indices, MutableVector<T> new_values,
                            MutableVector<I> t_next, MutableVector<I> t_indices, MutableVector<T> t_values) {
        nb::gil_scoped_release release;
        subset_fill(indptr.data(), indices.data(), values.data(), rows.data(), rows.shape(0), place.data(),
                    new_indptr.data(), new_indices.data(), new_values.data(), t_next.data(), t_indices.data(),
                    t_values.data());
    }, nb::arg("indptr").noconvert(), nb::arg("indices").noconvert(), nb::arg("values").noconvert(),
       nb::arg("rows").noconvert(), nb::arg("place").noconvert(), nb::arg("new_indptr").noconvert(),
       nb::arg("new_indices").noconvert(), nb::arg("new_values").noconvert(), nb::arg("t_next").noconvert(),
       nb::arg("t_indices").noconvert(), nb::arg("t_values").noconvert());
}

template <typename T, typename I>
void bind_subset_stream(nb::module_& m) {
    m.def("subset_stream", [](Vector<I> indptr, Vector<I> indices, Vector<T> values, Vector<I> rows, Vector<I> place,
                              Vector<I> t_indptr, Vector<I> t_indices, Vector<T> t_values, Vector<I> columns,
                              Vector<I> row_place, MutableVector<I> new_indptr, MutableVector<I> new_indices,
                              MutableVector<T> new_values, MutableVector<I> new_t_indices,
                              MutableVector<T> new_t_values) {
        nb::gil_scoped_release release;
        subset_stream(indptr.data(), indices.data(), values.data(), rows.data(), rows.shape(0), place.data(),
                      t_indptr.data(), t_indices.data(), t_values.data(), columns.data(), columns.shape(0),
                      row_place.data(), new_indptr.data(), new_indices.data(), new_values.data(), new_t_indices.data(),
                      new_t_values.data());
    }, nb::arg("indptr").noconvert(), nb::arg("indices").noconvert(), nb::arg("values").noconvert(),
       nb::arg("rows").noconvert(), nb::arg("place").noconvert(), nb::arg("t_indptr").noconvert(),
       nb::arg("t_indices").noconvert(), nb::arg("t_values").noconvert(), nb::arg("columns").noconvert(),
       nb::arg("row_place").noconvert(), nb::arg("new_indptr").noconvert(), nb::arg("new_indices").noconvert(),
       nb::arg("new_values").noconvert(), nb::arg("new_t_indices").noconvert(), nb::arg("new_t_values").noconvert());
}

template <typename T>
void bind_subgraph(nb::module_& m) {
    m.def("subgraph", [](Vector<std::int64_t> indptr, Vector<std::int32_t> indices, Vector<T> weights,
                         Vector<std::int32_t> members, Vector<std::int32_t> place, MutableVector<std::int64_t> out_indptr,
                         MutableVector<std::int32_t> out_indices, MutableVector<T> out_weights) {
        const std::int64_t* ip = indptr.data();
        const std::int32_t *ix = indices.data(), *who = members.data(), *to = place.data();
        const T* w = weights.data();
        const auto count = static_cast<std::ptrdiff_t>(members.shape(0));
        std::int64_t* op = out_indptr.data();
        std::int32_t* ox = out_indices.shape(0) ? out_indices.data() : nullptr;
        T* ow = out_weights.data();
        nb::gil_scoped_release release;
        subgraph(ip, ix, w, who, count, to, op, ox, ow);
    }, nb::arg("indptr").noconvert(), nb::arg("indices").noconvert(), nb::arg("weights").noconvert(),
       nb::arg("members").noconvert(), nb::arg("place").noconvert(), nb::arg("out_indptr").noconvert(),
       nb::arg("out_indices").noconvert(), nb::arg("out_weights").noconvert());
}

template <typename T>
void bind_submatrix_type(nb::module_& m) {
    m.def("submatrix", [](Matrix<T> A, Vector<std::int64_t> index, MutableMatrix<T> out) {
        const T* a = A.data();
        const std::int64_t* chosen = index.data();
        const std::ptrdiff_t n = A.shape(1), size = index.shape(0);
        T* o = out.data();
        nb::gil_scoped_release release;
        submatrix(a, n, chosen, size, o);
    }, nb::arg("A").noconvert(), nb::arg("index").noconvert(), nb::arg("out").noconvert());
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
