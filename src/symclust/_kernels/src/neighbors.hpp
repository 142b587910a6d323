// Nearest rows from products of blocks of rows, and distances of chosen pairs. Each call runs on one thread.
#pragma once

#include <cmath>
#include <limits>

#include "common.hpp"

namespace symclust {

// The nearest rows that each of some rows has met, nearest first, with half their squared distances.
template <typename T>
struct NearestLists {
    T* halves = nullptr;
    int64_t* numbers = nullptr;
    ptrdiff_t n = 0, size = 0;

    T last(ptrdiff_t i) const { return halves[(i + 1) * size - 1]; }

    void insert(ptrdiff_t i, T half, int64_t number) {
        T* SYMCLUST_RESTRICT own = halves + i * size;
        int64_t* SYMCLUST_RESTRICT of = numbers + i * size;
        ptrdiff_t place = size - 1;
        for (; place > 0 && own[place - 1] > half; --place) own[place] = own[place - 1], of[place] = of[place - 1];
        own[place] = half, of[place] = number;
    }
};

// One list takes in a row, the other a column of the products: each pair is met once and serves both ends.
// `rows` and `columns` hold |q|^2 / 2 and |x|^2 / 2, so that their sum less q'x is half the squared distance.
// Most pairs are near to neither end: columns are looked through in strips, and a strip without a hit costs
// two comparisons a column. An empty `of_columns` takes nothing.
template <typename T>
void keep_nearest(const T* products, const T* rows, const T* columns, int64_t first_row, int64_t first_column,
                  NearestLists<T> of_rows, NearestLists<T> of_columns, ptrdiff_t width) {
    constexpr ptrdiff_t strip = 32;
    std::vector<T> limits(width, -std::numeric_limits<T>::infinity());
    for (ptrdiff_t j = 0; j < of_columns.n; ++j) limits[j] = of_columns.last(j);
    for (ptrdiff_t i = 0; i < of_rows.n; ++i) {
        const T* SYMCLUST_RESTRICT row = products + i * width;
        const T own = rows[i];
        T limit = of_rows.last(i);
        for (ptrdiff_t begin = 0; begin < width; begin += strip) {
            const ptrdiff_t end = std::min(begin + strip, width);
            int hits = 0;
#pragma omp simd reduction(| : hits)
            for (ptrdiff_t j = begin; j < end; ++j)
                hits |= int(own + columns[j] - row[j] < std::max(limit, limits[j]));
            if (!hits) continue;
            for (ptrdiff_t j = begin; j < end; ++j) {
                const T half = own + columns[j] - row[j];
                if (half < limit) of_rows.insert(i, half, first_column + j), limit = of_rows.last(i);
                if (half < limits[j]) of_columns.insert(j, half, first_row + i), limits[j] = of_columns.last(j);
            }
        }
    }
}

// The nearest rows to sparse rows Q, by |x|^2 / 2 - q'x. The columns of X are rows of `columns`; `halves` has
// |x|^2 / 2, less products with parts of q and x that are not in these, for each row of Q or once for all.
template <typename T, typename I>
void nearest_sparse(const Csr<T, I>& Q, const Csr<T, I>& columns, const T* halves, ptrdiff_t stride, ptrdiff_t n,
                    NearestLists<T> lists) {
    constexpr ptrdiff_t strip = 64;
    std::vector<T> scores(n);
    Pace pace;
    for (ptrdiff_t i = 0; i < Q.n; ++i) {
        std::copy_n(halves + i * stride, n, scores.begin());
        for (ptrdiff_t e = Q.indptr[i]; e < ptrdiff_t(Q.indptr[i + 1]); ++e) {
            const T value = Q.values[e];
            const ptrdiff_t column = Q.indices[e];
            for (ptrdiff_t p = columns.indptr[column]; p < ptrdiff_t(columns.indptr[column + 1]); ++p)
                scores[columns.indices[p]] -= value * columns.values[p];
            pace(columns.count(column));
        }
        const T* SYMCLUST_RESTRICT row = scores.data();
        T limit = lists.last(i);
        for (ptrdiff_t begin = 0; begin < n; begin += strip) {
            const ptrdiff_t end = std::min(begin + strip, n);
            int hits = 0;
#pragma omp simd reduction(| : hits)
            for (ptrdiff_t j = begin; j < end; ++j) hits |= int(row[j] < limit);
            if (!hits) continue;
            for (ptrdiff_t j = begin; j < end; ++j)
                if (row[j] < limit) lists.insert(i, row[j], j), limit = lists.last(i);
        }
        pace(n);
    }
}

// out[p] = |q_i - x_j|, or q_i'x_j, for the pairs i = rows[p], j = columns[p], in double precision.
template <bool distances, typename T>
void compare_pairs(const T* Q, const T* X, ptrdiff_t d, const int64_t* rows, const int64_t* columns,
                   ptrdiff_t count, double* out) {
    Pace pace;
    for (ptrdiff_t p = 0; p < count; ++p, pace(d)) {
        const T* SYMCLUST_RESTRICT q = Q + rows[p] * d;
        const T* SYMCLUST_RESTRICT x = X + columns[p] * d;
        double sum = 0.0;
#pragma omp simd reduction(+ : sum)
        for (ptrdiff_t e = 0; e < d; ++e) {
            const double difference = double(q[e]) - double(x[e]);
            sum += distances ? difference * difference : double(q[e]) * double(x[e]);
        }
        out[p] = distances ? std::sqrt(sum) : sum;
    }
}

}  // namespace symclust
