// Sparse times dense, and its counterpart: entries of HHᵀ on the pattern of a sparse matrix.
#pragma once

#include <cstdlib>
#include <cstring>
#include <memory>

#include "gather.hpp"

namespace symclust {

// Rows in pieces of about equal cost: several for each thread, and none that takes longer than milliseconds.
template <typename I, typename Rows>
void for_balanced_rows(const Pattern<I>& A, ptrdiff_t width, const Rows& rows) {
    constexpr ptrdiff_t piece = 1 << 22, most = 1 << 16;
    const ptrdiff_t cost = A.nonzeros() * width;
    const int threads = threads_for(cost);
    const ptrdiff_t wanted =
        std::max<ptrdiff_t>(threads == 1 ? 1 : 16 * threads, std::min(cost / piece, most));
    const int parts = int(std::max<ptrdiff_t>(1, std::min(A.n, wanted)));
    const std::vector<ptrdiff_t> borders = balanced_rows(A.indptr, A.n, parts);
    parallel_for(parts, threads, [&](ptrdiff_t part, int) { rows(borders[part], borders[part + 1]); });
}

// Share of the nonzeros, by a sample, that lie more than `reach` places from the diagonal: what they ask for
// is seldom in the cache.
template <typename I>
double far_share(const Pattern<I>& A, ptrdiff_t reach) {
    constexpr ptrdiff_t most = 1024;
    const ptrdiff_t nonzeros = A.nonzeros(), sample = std::min(most, nonzeros);
    ptrdiff_t far = 0;
    for (ptrdiff_t s = 0; s < sample; ++s) {
        const ptrdiff_t p = s * (nonzeros / sample);
        const ptrdiff_t i = std::upper_bound(A.indptr, A.indptr + A.n + 1, I(p)) - A.indptr - 1;
        far += std::abs(ptrdiff_t(A.indices[p]) - i) > reach;
    }
    return sample ? double(far) / sample : 0.0;
}

constexpr ptrdiff_t in_cache = 1 << 18;  // bytes around the diagonal that stay in the cache of a processor

// H, or a copy of it that begins with a line of the cache. NumPy's arrays begin 16 bytes after one: each row
// of 64 bytes then takes two lines, and from memory that is twice the traffic. Rows that are no multiple of
// half a line cross lines anyway.
template <typename T>
class OnLines {
public:
    OnLines(const T* H, ptrdiff_t rows, ptrdiff_t width, double far_nonzeros) : H(H) {
        constexpr ptrdiff_t line = 64;
        const ptrdiff_t row = width * ptrdiff_t(sizeof(T)), all = rows * width;
        if (reinterpret_cast<std::uintptr_t>(H) % line == 0 || row % (line / 2) != 0) return;
        // A copy reads once, writes, and takes pages that are new to the process.
        const double saved = far_nonzeros * (row % line ? line / 2 : line);
        if (saved < 8.0 * double(rows * row) || rows * row < 16 * in_cache) return;
        copy.reset(new T[all + line / sizeof(T)]);
        T* first =
            copy.get() + (line - reinterpret_cast<std::uintptr_t>(copy.get()) % line) % line / sizeof(T);
        parallel_rows(all, 1 << 16, threads_for(all), [&](ptrdiff_t begin, ptrdiff_t end, int) {
            std::memcpy(first + begin, H + begin, (end - begin) * sizeof(T));
        });
        this->H = first;
    }
    const T* data() const { return H; }

private:
    const T* H;
    std::unique_ptr<T[]> copy;
};

// out = A H for CSR A and row-major H. Whether lines are asked for early and H is copied first is a matter of
// speed alone.
template <typename T, typename I>
void spmm(const Csr<T, I>& A, const T* given, ptrdiff_t rows, ptrdiff_t width, T* out) {
    if (width == 0) return;
    constexpr int narrow = 32 / sizeof(T);  // columns up to which asking costs more than a line that is near
    const double far = far_share(A, in_cache / (width * ptrdiff_t(sizeof(T))));
    const OnLines<T> lines(given, rows, width, far * double(A.nonzeros()));
    const T* H = lines.data();
    const Prefetch<T, I> fetch(H, width, A.indices + A.nonzeros());
    for_balanced_rows<I>(A, width, [&](ptrdiff_t first, ptrdiff_t last) {
        with_panel(width, [&](auto panel) {
            const ptrdiff_t size = panel > 0 ? panel : width;
            const auto row_of = [=](I j) { return H + ptrdiff_t(j) * size; };
            const auto multiply = [&](const auto& ask) {
                for (ptrdiff_t i = first; i < last; ++i) {
                    const ptrdiff_t begin = A.indptr[i];
                    gather_row<panel>(A.indices + begin, A.values + begin, A.count(i), row_of, ask, width,
                                      out + i * width);
                }
            };
            if constexpr (panel > 0 && panel <= narrow) {
                if (far < 0.25) return multiply(NoPrefetch{});
            }
            multiply(fetch);
        });
    });
}

// out[p] = (HHᵀ)ᵢⱼ for the p-th entry (i, j) of the pattern: all of HHᵀ that sparse data ever needs.
template <typename T, typename I>
void pattern_products(const Pattern<I>& A, const T* H, ptrdiff_t k, T* out) {
    for_balanced_rows(A, k, [&](ptrdiff_t first, ptrdiff_t last) {
        for (ptrdiff_t i = first; i < last; ++i)
            for (I p = A.indptr[i]; p < A.indptr[i + 1]; ++p)
                out[p] = T(dot(H + i * k, H + ptrdiff_t(A.indices[p]) * k, k));
    });
}

}  // namespace symclust
