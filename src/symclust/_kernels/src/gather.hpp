// One row of A times H: the inner loop of the sparse product and of the sparse row descent.
//
// The row of the result is cut into panels that fit in registers. A panel's width is a template parameter, so that the
// accumulators stay in registers; rows of H that will be needed soon are prefetched, because on a graph they lie anywhere
// in memory and the processor cannot guess where.
#pragma once

#include "common.hpp"

namespace symclust {

constexpr int widest_panel = 32;
constexpr int prefetch_distance = 12;  // nonzeros ahead; 8 to 24 measure alike

template <int K, typename T, typename I, typename RowOf>
inline void gather_panel(const I* SYMCLUST_RESTRICT indices, const T* SYMCLUST_RESTRICT values, std::ptrdiff_t count,
                         const RowOf& row_of, std::ptrdiff_t offset, T* SYMCLUST_RESTRICT out) {
    T sum[K] = {};
    for (std::ptrdiff_t p = 0; p < count; ++p) {
        const T value = values[p];
        const T* SYMCLUST_RESTRICT h = row_of(indices[p]) + offset;
#pragma omp simd
        for (int c = 0; c < K; ++c) sum[c] += value * h[c];
    }
    for (int c = 0; c < K; ++c) out[c] = sum[c];
}

template <int K, typename T, typename I, typename RowOf>
inline void gather_panel_of_width(int width, const I* indices, const T* values, std::ptrdiff_t count,
                                  const RowOf& row_of, std::ptrdiff_t offset, T* out) {
    if constexpr (K > 0) {
        if (width == K)
            gather_panel<K>(indices, values, count, row_of, offset, out);
        else
            gather_panel_of_width<K - 1>(width, indices, values, count, row_of, offset, out);
    }
}

// out[0:width] = sum over the row's nonzeros of value * row_of(index)[0:width]
template <typename T, typename I, typename RowOf>
inline void gather_row(const I* indices, const T* values, std::ptrdiff_t count, const RowOf& row_of,
                       std::ptrdiff_t width, T* out) {
    std::ptrdiff_t offset = 0;
    for (; width - offset > widest_panel; offset += widest_panel)
        gather_panel<widest_panel>(indices, values, count, row_of, offset, out + offset);
    gather_panel_of_width<widest_panel>(static_cast<int>(width - offset), indices, values, count, row_of, offset,
                                        out + offset);
}

// Ask for the rows of H that the next `count` nonzeros from `indices` refer to, `prefetch_distance` ahead.
template <typename T, typename I>
inline void prefetch_rows(const I* indices, const I* last, std::ptrdiff_t count, const T* H, std::ptrdiff_t width) {
    constexpr std::ptrdiff_t line = 64 / sizeof(T);
    const I* stop = std::min(indices + count, last);
    for (; indices < stop; ++indices) {
        const T* row = H + static_cast<std::ptrdiff_t>(*indices) * width;
        for (std::ptrdiff_t c = 0; c < width; c += line) SYMCLUST_PREFETCH(row + c);
    }
}

}  // namespace symclust
