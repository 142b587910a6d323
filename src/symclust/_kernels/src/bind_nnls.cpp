// Nonnegative least squares for many right-hand sides: rows are independent, so threads share nothing but G.
#include <deque>

#include "nnls_methods.hpp"

namespace symclust {

// Runs solve(worker, i) for every row, with one worker per thread. Ended early, it leaves rows unfinished.
template <typename Worker, typename T, typename Solve>
void for_each_row(const NnlsProblem<T>& problem, std::ptrdiff_t n, Solve solve) {
    const int threads = n < 256 ? 1 : max_threads();
    std::deque<Worker> workers;
    for (int t = 0; t < threads; ++t) workers.emplace_back(problem);
    parallel_rows(n, 128, threads, [&](std::ptrdiff_t begin, std::ptrdiff_t end, int t) {
        Pace pace;
        for (std::ptrdiff_t i = begin; i < end; ++i, pace(4 * problem.k * problem.k)) solve(workers[t], i);
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
void block_pivoting(const T* G, const T* R, const T* X, T* out, std::ptrdiff_t n, std::ptrdiff_t k, int max_exchanges,
                    int steps_per_variable) {
    const NnlsProblem<T> problem(G, k);
    for_each_row<BlockPivotingWorker<T>>(problem, n, [&](BlockPivotingWorker<T>& worker, std::ptrdiff_t i) {
        problem.load(R + i * k, worker.r.data());
        worker.method.solve(worker.r.data(), X + i * k, out + i * k, max_exchanges, k * steps_per_variable);
    });
}

template <typename T>
void active_set(const T* G, const T* R, const T* X, T* out, std::ptrdiff_t n, std::ptrdiff_t k,
                int steps_per_variable) {
    const NnlsProblem<T> problem(G, k);
    for_each_row<ActiveSetWorker<T>>(problem, n, [&](ActiveSetWorker<T>& worker, std::ptrdiff_t i) {
        problem.load(R + i * k, worker.r.data());
        if (X != out) std::copy(X + i * k, X + (i + 1) * k, out + i * k);
        worker.method.solve(worker.r.data(), out + i * k, k * steps_per_variable);
    });
}

template <typename T>
void hals(const T* G, const T* R, const T* X, T* out, std::ptrdiff_t n, std::ptrdiff_t k, int n_sweeps) {
    const NnlsProblem<T> problem(G, k);
    for_each_row<HalsWorker<T>>(problem, n, [&](HalsWorker<T>& worker, std::ptrdiff_t i) {
        std::copy(R + i * k, R + (i + 1) * k, worker.r.begin());
        if (X != out) std::copy(X + i * k, X + (i + 1) * k, out + i * k);
        worker.method.sweep(worker.r.data(), out + i * k, n_sweeps);
    });
}

// All take the starting point X and write to out, which may be X itself. The bounds are parameters so that tests can
// reach the method behind them.
template <typename T>
void bind_nnls_types(nb::module_& m) {
    using In = const Matrix<T>&;
    using Out = const MutableMatrix<T>&;
    const auto check = [](In G, In R, In X, Out out) {
        const std::size_t n = R.shape(0), k = R.shape(1);
        shaped("G", G, k, k), shaped("X", X, n, k), shaped("out", out, n, k);
    };
    define(m, "nnls_block_pivoting", [=](In G, In R, In X, Out out, int max_exchanges, int steps_per_variable) {
        check(G, R, X, out);
        nb::gil_scoped_release release;
        block_pivoting(G.data(), R.data(), X.data(), out.data(), R.shape(0), R.shape(1), max_exchanges,
                       steps_per_variable);
    }, "G", "R", "X", "out", "max_exchanges"_a = 100, "steps_per_variable"_a = 10);
    define(m, "nnls_active_set", [=](In G, In R, In X, Out out, int steps_per_variable) {
        check(G, R, X, out);
        nb::gil_scoped_release release;
        active_set(G.data(), R.data(), X.data(), out.data(), R.shape(0), R.shape(1), steps_per_variable);
    }, "G", "R", "X", "out", "steps_per_variable"_a = 10);
    define(m, "nnls_hals", [=](In G, In R, In X, Out out, int n_sweeps) {
        check(G, R, X, out);
        nb::gil_scoped_release release;
        hals(G.data(), R.data(), X.data(), out.data(), R.shape(0), R.shape(1), n_sweeps);
    }, "G", "R", "X", "out", "n_sweeps"_a = 1);
}

void bind_nnls(nb::module_& m) {
    bind_nnls_types<double>(m);
    bind_nnls_types<float>(m);
}

}  // namespace symclust
