// One iteration of kernel k-means for many runs, each on one thread: bits do not depend on how many threads
// there are.
//
// A run keeps the similarity of each sample to each cluster, `sums` (k x n). Moving the samples reads them
// once; of K only the rows of samples that moved are read, in place. Interrupted, the sums belong to no
// labels any more: a run cannot go on from them.
#pragma once

#include <cmath>
#include <limits>

#include "common.hpp"

namespace symclust {

constexpr ptrdiff_t tile = 256;  // columns whose sums of about ten clusters stay in the first cache

template <typename T>
struct KernelRun {
    const T* sums;
    const int64_t* own;
    int64_t* moved;
    int64_t* sizes;
    double* totals;
    double* lengths;
};

// Weight of each cluster and squared length of its centre, Σ_lm w_l w_m K_lm / s_j² + σ/s_j. Returns the
// largest of these.
template <typename T>
double measure_centres(const KernelRun<T>& run, const T* w, ptrdiff_t n, int k, double shift) {
    std::fill(run.totals, run.totals + k, 0.0);
    std::fill(run.lengths, run.lengths + k, 0.0);
    for (ptrdiff_t i = 0; i < n; ++i) {
        run.totals[run.own[i]] += w[i];
        run.lengths[run.own[i]] += double(w[i]) * run.sums[run.own[i] * n + i];
    }
    double largest = 0.0;
    for (int j = 0; j < k; ++j) {
        if (run.totals[j] > 0) run.lengths[j] = (run.lengths[j] / run.totals[j] + shift) / run.totals[j];
        largest = std::max(largest, std::abs(run.lengths[j]));
    }
    return largest;
}

// Put each sample to the nearest centre. Where another one is nearer by no more than `slack` of the longest,
// it stays.
template <typename T>
void move_run(const KernelRun<T>& run, const T* w, ptrdiff_t n, int k, double shift, double slack) {
    slack *= measure_centres(run, w, n, k, shift);
    std::vector<double> offset(k), factor(k);
    for (int j = 0; j < k; ++j) {  // the distance is offset − factor · sums; nobody goes to an empty cluster
        const bool empty = run.totals[j] <= 0;
        offset[j] = empty ? std::numeric_limits<double>::infinity() : run.lengths[j];
        factor[j] = empty ? 0.0 : 2 / run.totals[j];
    }
    std::fill(run.sizes, run.sizes + k, int64_t(0));
    double best[tile];
    int64_t nearest[tile];
    Pace pace;
    for (ptrdiff_t first = 0; first < n; first += tile, pace(tile * k)) {
        const ptrdiff_t width = std::min(tile, n - first);
        std::fill(best, best + width, std::numeric_limits<double>::infinity());
        std::fill(nearest, nearest + width, int64_t(0));
        for (int j = 0; j < k; ++j) {
            const T* SYMCLUST_RESTRICT s = run.sums + j * n + first;
            const double a = offset[j], b = factor[j];
#pragma omp simd
            for (ptrdiff_t c = 0; c < width; ++c) {
                const double distance = a - b * s[c];
                nearest[c] = distance < best[c] ? j : nearest[c];
                best[c] = distance < best[c] ? distance : best[c];
            }
        }
        for (ptrdiff_t c = 0; c < width; ++c) {
            const int64_t own = run.own[first + c];
            // Its own centre contains σ/w_i of the sample itself.
            const double here = offset[own] - factor[own] * (run.sums[own * n + first + c] + shift);
            const int64_t chosen = best[c] < here - slack ? nearest[c] : own;
            run.moved[first + c] = chosen;
            ++run.sizes[chosen];
        }
    }
}

// sums[new] += w_i K_i and sums[old] −= w_i K_i for the samples i that moved, in the columns from `first` on.
template <typename T>
void add_rows(const T* K, const T* w, ptrdiff_t n, const std::vector<ptrdiff_t>& changed,
              const int64_t* before, const int64_t* after, ptrdiff_t first, T* sums) {
    const ptrdiff_t width = std::min(tile, n - first);
    Pace pace;
    for (size_t e = 0; e < changed.size(); ++e, pace(width)) {
        const ptrdiff_t i = changed[e];
        if (e + 1 < changed.size())
            for (ptrdiff_t c = 0; c < width; c += 64 / ptrdiff_t(sizeof(T)))
                SYMCLUST_PREFETCH(K + changed[e + 1] * n + first + c);
        const T* SYMCLUST_RESTRICT row = K + i * n + first;
        T* SYMCLUST_RESTRICT to = sums + after[i] * n + first;
        T* SYMCLUST_RESTRICT from = sums + before[i] * n + first;
        const T weight = w[i];
#pragma omp simd
        for (ptrdiff_t c = 0; c < width; ++c) {
            const T part = weight * row[c];
            to[c] += part;
            from[c] -= part;
        }
    }
}

template <typename T>
void add_moves(const T* K, const T* w, ptrdiff_t n, int k, const int64_t* active, ptrdiff_t runs,
               const int64_t* before, const int64_t* after, T* sums) {
    std::vector<std::vector<ptrdiff_t>> changed(runs);
    for (ptrdiff_t a = 0; a < runs; ++a)
        for (ptrdiff_t i = active[a] * n; i < (active[a] + 1) * n; ++i)
            if (before[i] != after[i]) changed[a].push_back(i - active[a] * n);
    const ptrdiff_t tiles = (n + tile - 1) / tile;
    parallel_for(runs * tiles, max_threads(), [&](ptrdiff_t task, int) {
        const ptrdiff_t a = task / tiles, run = active[a];
        add_rows(K, w, n, changed[a], before + run * n, after + run * n, (task % tiles) * tile,
                 sums + run * k * n);
    });
}

}  // namespace symclust
