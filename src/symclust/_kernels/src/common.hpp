// What every kernel shares: results for Python, inner products, and work split by nonzeros.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "parallel.hpp"
#include "views.hpp"

#if defined(_MSC_VER)
#define SYMCLUST_RESTRICT __restrict
#define SYMCLUST_PREFETCH(address)
#else
#define SYMCLUST_RESTRICT __restrict__
#define SYMCLUST_PREFETCH(address) __builtin_prefetch(address)
#endif

namespace symclust {

// An array for Python that owns these numbers.
template <typename T>
nb::ndarray<nb::numpy, T, nb::ndim<1>> as_array(std::vector<T>&& numbers) {
    auto* kept = new std::vector<T>(std::move(numbers));
    nb::capsule owner(kept, [](void* vector) noexcept { delete static_cast<std::vector<T>*>(vector); });
    return nb::ndarray<nb::numpy, T, nb::ndim<1>>(kept->data(), {kept->size()}, owner);
}

// Inner product in double precision, whatever the entries are.
template <typename T>
double dot(const T* x, const T* y, ptrdiff_t size) {
    double sum = 0.0;
#pragma omp simd reduction(+ : sum)
    for (ptrdiff_t e = 0; e < size; ++e) sum += double(x[e]) * double(y[e]);
    return sum;
}

// Row borders of `parts` pieces with about equal cost, a row costing its nonzeros plus one.
template <typename I>
std::vector<ptrdiff_t> balanced_rows(const I* indptr, ptrdiff_t n, int parts) {
    std::vector<ptrdiff_t> borders(parts + 1, n);
    borders[0] = 0;
    const double total = double(indptr[n]) + double(n);
    for (int p = 1; p < parts; ++p) {
        const double target = total * p / parts;
        ptrdiff_t low = borders[p - 1], high = n;
        while (low < high) {
            const ptrdiff_t middle = (low + high) / 2;
            if (double(indptr[middle]) + double(middle) < target) low = middle + 1;
            else high = middle;
        }
        borders[p] = low;
    }
    return borders;
}

}  // namespace symclust
