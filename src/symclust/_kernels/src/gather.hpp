// One row of A times H: the inner loop of the sparse product and of the sparse row descent.
//
// The row of the result is cut into panels that fit in registers. A panel's width is a template parameter, so
// that the accumulators stay in registers; rows of H that will be needed soon are prefetched, because on a
// graph they lie anywhere in memory and the processor cannot guess where.
#pragma once

#include <cmath>
#include <cstring>
#include <type_traits>

#include "common.hpp"

namespace symclust {

constexpr int widest_panel = 32;

// Where the rows of H lie, and how far ahead to ask for them. `ahead` counts nonzeros, also beyond the end of
// the row: the nonzeros of the next row follow in memory. A `Width` above 0 is that of H, known when this is
// compiled.
template <typename T, typename I, int Width = 0>
struct Prefetch {
    const T* H;
    ptrdiff_t width;
    const I* last;
    ptrdiff_t ahead;

    Prefetch(const T* H, ptrdiff_t width, const I* last) : H(H), width(width), last(last), ahead(32) {
        const ptrdiff_t bytes = width * ptrdiff_t(sizeof(T));  // zero if there are no columns
        if (bytes > 0) ahead = std::clamp<ptrdiff_t>(2048 / bytes, 4, 32);
    }

    template <int Other>
    explicit Prefetch(const Prefetch<T, I, Other>& same)
        : H(same.H), width(same.width), last(same.last), ahead(same.ahead) {}

    void operator()(const I* index) const {
        constexpr ptrdiff_t line = 64 / sizeof(T);
        const ptrdiff_t size = Width > 0 ? Width : width;
        // At the end the last row is asked for again: that is cheaper than to find out whether there is one.
        const T* row = H + ptrdiff_t(*std::min(index + ahead, last - 1)) * size;
        SYMCLUST_PREFETCH(row);
        for (ptrdiff_t c = line; c < size; c += line) SYMCLUST_PREFETCH(row + c);
        // A row that does not fill whole lines may reach into one more.
        if (size * sizeof(T) > 16) SYMCLUST_PREFETCH(row + size - 1);
    }
};

struct NoPrefetch {
    template <typename I>
    void operator()(const I*) const {}
};

// The same for rows whose width K is known when this is compiled.
template <int K, typename T, typename I>
Prefetch<T, I, K> of_width(const Prefetch<T, I>& fetch) {
    return Prefetch<T, I, K>(fetch);
}
template <int K>
NoPrefetch of_width(NoPrefetch fetch) {
    return fetch;
}

// value * factor + sum, rounded once where the processor can, and so in every loop: the compiler alone
// decides by what is around.
template <typename V, typename T>
inline V multiply_add(T value, const V& factor, const V& sum) {
#if defined(__FMA__) || defined(__aarch64__)
    if constexpr (std::is_same_v<V, T>) return std::fma(value, factor, sum);
#endif
    return value * factor + sum;
}

#if defined(_MSC_VER)
constexpr bool has_vectors = false;
template <typename T, int Bytes>
struct VectorOf {
    using type = T;
};
#else
constexpr bool has_vectors = true;
template <typename T, int Bytes>
struct VectorOf {
    using type [[gnu::vector_size(Bytes)]] = T;
};
#endif

// `Count` accumulators of type V in registers. Spelled out with vector types: left to itself the compiler
// vectorises the choice of the row instead of the sum.
template <typename T, typename V, int Count>
struct Accumulator {
    static constexpr int width = int(sizeof(V) / sizeof(T));
    V sum[Count > 0 ? Count : 1] = {};

    void add(T value, const T* h) {
        for (int v = 0; v < Count; ++v) {
            V part;
            std::memcpy(&part, h + v * width, sizeof(V));
            sum[v] = multiply_add(value, part, sum[v]);
        }
    }
    void store(T* out) const { std::memcpy(out, sum, Count * sizeof(V)); }
};

template <int K, typename T, typename I, typename RowOf, typename Fetch>
inline void gather_panel(const I* SYMCLUST_RESTRICT indices, const T* SYMCLUST_RESTRICT values,
                         ptrdiff_t count, const RowOf& row_of, const Fetch& fetch, ptrdiff_t offset,
                         T* SYMCLUST_RESTRICT out) {
    constexpr int full = has_vectors ? 32 / int(sizeof(T)) : 1, half = has_vectors ? full / 2 : 1;
    constexpr int wide = K / full, narrow = (K - wide * full) / half;
    constexpr int rest = K - wide * full - narrow * half, rest_at = K - rest;
    Accumulator<T, typename VectorOf<T, 32>::type, wide> a;
    Accumulator<T, typename VectorOf<T, 16>::type, narrow> b;
    Accumulator<T, T, rest> c;
    for (ptrdiff_t p = 0; p < count; ++p) {
        fetch(indices + p);
        const T* h = row_of(indices[p]) + offset;
        a.add(values[p], h);
        b.add(values[p], h + wide * full);
        c.add(values[p], h + rest_at);
    }
    a.store(out);
    b.store(out + wide * full);
    c.store(out + rest_at);
}

// work(K) for the K that is `width`, as a constant of the compiler; K = 0 if it is wider than a panel.
template <int K = widest_panel, typename Work>
inline void with_panel(ptrdiff_t width, const Work& work) {
    if constexpr (K == 0) work(std::integral_constant<int, 0>{});
    else if (width == K) work(std::integral_constant<int, K>{});
    else with_panel<K - 1>(width, work);
}

// out[0:width] = sum over the row's nonzeros of value * row_of(index)[0:width], K being the panel of that
// width. The first panel prefetches for all.
template <int K, typename T, typename I, typename RowOf, typename Fetch>
inline void gather_row(const I* indices, const T* values, ptrdiff_t count, const RowOf& row_of,
                       const Fetch& fetch, ptrdiff_t width, T* out) {
    if constexpr (K > 0) {
        gather_panel<K>(indices, values, count, row_of, of_width<K>(fetch), 0, out);
    } else if (width > 0) {
        gather_panel<widest_panel>(indices, values, count, row_of, fetch, 0, out);
        ptrdiff_t offset = widest_panel;
        for (; width - offset > widest_panel; offset += widest_panel)
            gather_panel<widest_panel>(indices, values, count, row_of, NoPrefetch{}, offset, out + offset);
        with_panel(width - offset, [&](auto last) {
            gather_panel<last>(indices, values, count, row_of, NoPrefetch{}, offset, out + offset);
        });
    }
}

// The same for a width that is looked up for each row.
template <typename T, typename I, typename RowOf>
inline void gather_row(const I* indices, const T* values, ptrdiff_t count, const RowOf& row_of,
                       const Prefetch<T, I>& fetch, ptrdiff_t width, T* out) {
    with_panel(width,
               [&](auto panel) { gather_row<panel>(indices, values, count, row_of, fetch, width, out); });
}

}  // namespace symclust
