// Nonnegative least squares for many right-hand sides: rows are independent, so threads share nothing but G.
#pragma once

#include <deque>

#include "nnls_methods.hpp"

namespace symclust {

// Runs solve(worker, i) for every row, with one worker per thread. Ended early, it leaves rows unfinished.
template <typename Worker, typename T, typename Solve>
void for_each_row(const NnlsProblem<T>& problem, ptrdiff_t n, Solve solve) {
    const int threads = n < 256 ? 1 : max_threads();
    std::deque<Worker> workers;
    for (int t = 0; t < threads; ++t) workers.emplace_back(problem);
    parallel_rows(n, 128, threads, [&](ptrdiff_t begin, ptrdiff_t end, int t) {
        Pace pace;
        for (ptrdiff_t i = begin; i < end; ++i, pace(4 * problem.k * problem.k)) solve(workers[t], i);
    });
}

// One row's method with room for its right-hand side, padded like a row of G.
template <typename T>
struct BlockPivotingWorker {
    NnlsBlockPivoting<T> method;
    std::vector<T> r;
    explicit BlockPivotingWorker(const NnlsProblem<T>& problem) : method(problem), r(problem.stride) {}
};

template <typename T>
struct ActiveSetWorker {
    NnlsCholesky<T> factor;
    NnlsActiveSet<T> method;
    std::vector<T> r;
    explicit ActiveSetWorker(const NnlsProblem<T>& problem)
        : factor(problem), method(problem, factor), r(problem.stride) {}
};

template <typename T>
struct HalsWorker {
    NnlsHals<T> method;
    std::vector<T> r;
    explicit HalsWorker(const NnlsProblem<T>& problem) : method(problem), r(problem.stride) {}
};

template <typename T>
void block_pivoting(const T* G, const T* R, const T* X, T* out, ptrdiff_t n, ptrdiff_t k, int max_exchanges,
                    int steps_per_variable) {
    const NnlsProblem<T> problem(G, k);
    for_each_row<BlockPivotingWorker<T>>(problem, n, [&](BlockPivotingWorker<T>& worker, ptrdiff_t i) {
        problem.load(R + i * k, worker.r.data());
        worker.method.solve(worker.r.data(), X + i * k, out + i * k, max_exchanges, k * steps_per_variable);
    });
}

template <typename T>
void active_set(const T* G, const T* R, const T* X, T* out, ptrdiff_t n, ptrdiff_t k,
                int steps_per_variable) {
    const NnlsProblem<T> problem(G, k);
    for_each_row<ActiveSetWorker<T>>(problem, n, [&](ActiveSetWorker<T>& worker, ptrdiff_t i) {
        problem.load(R + i * k, worker.r.data());
        if (X != out) std::copy(X + i * k, X + (i + 1) * k, out + i * k);
        worker.method.solve(worker.r.data(), out + i * k, k * steps_per_variable);
    });
}

template <typename T>
void hals(const T* G, const T* R, const T* X, T* out, ptrdiff_t n, ptrdiff_t k, int n_sweeps) {
    const NnlsProblem<T> problem(G, k);
    for_each_row<HalsWorker<T>>(problem, n, [&](HalsWorker<T>& worker, ptrdiff_t i) {
        std::copy(R + i * k, R + (i + 1) * k, worker.r.begin());
        if (X != out) std::copy(X + i * k, X + (i + 1) * k, out + i * k);
        worker.method.sweep(worker.r.data(), out + i * k, n_sweeps);
    });
}

}  // namespace symclust
