// Parts of a matrix: some rows of a CSR matrix without the columns that are empty in them, by rows and by
// columns; the graph of some nodes; the same rows and columns of a dense matrix.
#pragma once

#include "common.hpp"

namespace symclust {

// counts[j] = entries of column j in the chosen rows.
template <typename I>
void subset_counts(const Pattern<I>& A, const I* rows, ptrdiff_t n_rows, I* counts) {
    Pace pace;
    for (ptrdiff_t i = 0; i < n_rows; pace(A.count(rows[i])), ++i)
        for (I p = A.indptr[rows[i]]; p < A.indptr[rows[i] + 1]; ++p) ++counts[A.indices[p]];
}

// Fills both layouts in one pass over the chosen rows. `place[j]` is the new number of column j. `t_next`
// comes in as where each new column begins and leaves as where it ends.
template <typename T, typename I>
void subset_fill(const Csr<T, I>& A, const I* rows, ptrdiff_t n_rows, const I* place, I* new_indptr,
                 I* new_indices, T* new_values, I* t_next, I* t_indices, T* t_values) {
    I at = 0;
    Pace pace;
    new_indptr[0] = 0;
    for (ptrdiff_t i = 0; i < n_rows; pace(4 * A.count(rows[i])), ++i) {
        for (I p = A.indptr[rows[i]]; p < A.indptr[rows[i] + 1]; ++p, ++at) {
            const I j = place[A.indices[p]], t = t_next[j]++;
            new_indices[at] = j;
            new_values[at] = A.values[p];
            t_indices[t] = I(i);
            t_values[t] = A.values[p];
        }
        new_indptr[i + 1] = at;
    }
}

// The same for most of the rows, when the transpose is at hand: both layouts are read and written in order,
// which is several times faster than putting each entry in its column, but reads all of the transpose.
// `row_place[i]` is the new number of row i, or -1. Entries are written before it is known that they are
// wanted, so there must be room for one more.
template <typename T, typename I>
void subset_stream(const Csr<T, I>& A, const I* rows, ptrdiff_t n_rows, const I* place, const Csr<T, I>& At,
                   const I* columns, ptrdiff_t n_columns, const I* row_place, I* new_indptr, I* new_indices,
                   T* new_values, I* new_t_indices, T* new_t_values) {
    ptrdiff_t at = 0;
    Pace pace;
    new_indptr[0] = 0;
    for (ptrdiff_t i = 0; i < n_rows; pace(A.count(rows[i])), ++i) {
        for (I p = A.indptr[rows[i]]; p < A.indptr[rows[i] + 1]; ++p, ++at) {
            new_indices[at] = place[A.indices[p]];
            new_values[at] = A.values[p];
        }
        new_indptr[i + 1] = I(at);
    }
    at = 0;
    for (ptrdiff_t j = 0; j < n_columns; pace(At.count(columns[j])), ++j) {
        for (I p = At.indptr[columns[j]]; p < At.indptr[columns[j] + 1]; ++p) {
            const I row = row_place[At.indices[p]];
            new_t_indices[at] = row;
            new_t_values[at] = At.values[p];
            at += row >= 0;
        }
    }
}

// Edges of the nodes with place >= 0 among each other; place is the new number, `members` lists the nodes in
// that order. With out_indices null only the borders of the rows are written.
template <typename T>
void subgraph(const Csr<T, int32_t, int64_t>& A, const int32_t* members, ptrdiff_t count,
              const int32_t* place, int64_t* out_indptr, int32_t* out_indices, T* out_weights, int64_t room) {
    int64_t at = 0;
    Pace pace;
    out_indptr[0] = 0;
    for (ptrdiff_t k = 0; k < count; pace(A.count(members[k])), ++k) {
        for (int64_t e = A.indptr[members[k]]; e < A.indptr[members[k] + 1]; ++e) {
            const int32_t j = place[A.indices[e]];
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

// A[index][:, index] of a dense matrix, row by row: NumPy's indexing with two arrays takes several times as
// long.
template <typename T>
void submatrix(const T* A, ptrdiff_t n, const int64_t* index, ptrdiff_t m, T* out) {
    parallel_rows(m, 64, threads_for(m * m), [&](ptrdiff_t begin, ptrdiff_t end, int) {
        for (ptrdiff_t i = begin; i < end; ++i) {
            const T* SYMCLUST_RESTRICT row = A + index[i] * n;
            T* SYMCLUST_RESTRICT to = out + i * m;
            for (ptrdiff_t j = 0; j < m; ++j) to[j] = row[index[j]];
        }
    });
}

}  // namespace symclust
