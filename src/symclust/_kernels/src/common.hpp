// What every kernel shares: array views, threads, and work split by nonzeros.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#ifdef _OPENMP
#include <omp.h>
#endif

#if defined(_MSC_VER)
#define SYMCLUST_RESTRICT __restrict
#define SYMCLUST_PREFETCH(address)
#else
#define SYMCLUST_RESTRICT __restrict__
#define SYMCLUST_PREFETCH(address) __builtin_prefetch(address)
#endif

namespace symclust {

namespace nb = nanobind;

template <typename T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <typename T>
using Matrix = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <typename T>
using Cube = nb::ndarray<const T, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
template <typename T>
using MutableVector = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <typename T>
using MutableMatrix = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <typename T>
using MutableCube = nb::ndarray<T, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

inline int max_threads() {
#ifdef _OPENMP
    return omp_get_max_threads();
#else
    return 1;
#endif
}

inline int thread_number() {
#ifdef _OPENMP
    return omp_get_thread_num();
#else
    return 0;
#endif
}

// Multiplications below which waking other threads costs more than they save.
constexpr std::ptrdiff_t worth_threads = 1 << 16;

// Inner product in double precision, whatever the entries are.
template <typename T>
double dot(const T* x, const T* y, std::ptrdiff_t size) {
    double sum = 0.0;
#pragma omp simd reduction(+ : sum)
    for (std::ptrdiff_t e = 0; e < size; ++e) sum += static_cast<double>(x[e]) * static_cast<double>(y[e]);
    return sum;
}

// Row borders of `parts` pieces with about equal cost, a row costing its nonzeros plus one.
template <typename I>
std::vector<std::ptrdiff_t> balanced_rows(const I* indptr, std::ptrdiff_t n, int parts) {
    std::vector<std::ptrdiff_t> borders(parts + 1, n);
    borders[0] = 0;
    const double total = static_cast<double>(indptr[n]) + static_cast<double>(n);
    for (int p = 1; p < parts; ++p) {
        const double target = total * p / parts;
        std::ptrdiff_t low = borders[p - 1], high = n;
        while (low < high) {
            const std::ptrdiff_t middle = (low + high) / 2;
            if (static_cast<double>(indptr[middle]) + static_cast<double>(middle) < target)
                low = middle + 1;
            else
                high = middle;
        }
        borders[p] = low;
    }
    return borders;
}

}  // namespace symclust
