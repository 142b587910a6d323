// Nonnegative least squares for many right-hand sides: rows are independent, so threads share nothing but G.
#include <deque>

#include "nnls_block_pivoting.hpp"

namespace symclust {

// Runs solve(worker, i) for every row, with one worker per thread.
template <typename Worker, typename T, typename Solve>
void for_each_row(const NnlsProblem<T>& problem, std::ptrdiff_t n, Solve solve) {
    const int threads = n < 256 ? 1 : max_threads();
    std::deque<Worker> workers;
    for (int t = 0; t < threads; ++t) workers.emplace_back(problem);
#pragma omp parallel for schedule(dynamic, 128) num_threads(threads)
    for (std::ptrdiff_t i = 0; i < n; ++i) solve(workers[thread_number()], i);
}

// A method for single rows, with the row's right-hand side copied behind zeros as long as a row of G.
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
void bind_nnls_types(nb::module_& m) {
    m.def("nnls_block_pivoting", [](Matrix<T> G, Matrix<T> R, Matrix<T> X, MutableMatrix<T> out, int max_exchanges,
                                    int steps_per_variable) {
        const T *g = G.data(), *right = R.data(), *start = X.data();
        T* o = out.data();
        const std::ptrdiff_t n = R.shape(0), k = R.shape(1);
        nb::gil_scoped_release release;
        const NnlsProblem<T> problem(g, k);
        for_each_row<BlockPivotingWorker<T>>(problem, n, [&](BlockPivotingWorker<T>& worker, std::ptrdiff_t i) {
            problem.load(right + i * k, worker.r.data());
            worker.method.solve(worker.r.data(), start + i * k, o + i * k, max_exchanges, k * steps_per_variable);
        });
    }, nb::arg("G").noconvert(), nb::arg("R").noconvert(), nb::arg("X").noconvert(), nb::arg("out").noconvert(),
       nb::arg("max_exchanges") = 100, nb::arg("steps_per_variable") = 10);

    m.def("nnls_active_set", [](Matrix<T> G, Matrix<T> R, MutableMatrix<T> X, int steps_per_variable) {
        const T *g = G.data(), *right = R.data();
        T* x = X.data();
        const std::ptrdiff_t n = R.shape(0), k = R.shape(1);
        nb::gil_scoped_release release;
        const NnlsProblem<T> problem(g, k);
        for_each_row<ActiveSetWorker<T>>(problem, n, [&](ActiveSetWorker<T>& worker, std::ptrdiff_t i) {
            problem.load(right + i * k, worker.r.data());
            worker.method.solve(worker.r.data(), x + i * k, k * steps_per_variable);
        });
    }, nb::arg("G").noconvert(), nb::arg("R").noconvert(), nb::arg("X").noconvert(),
       nb::arg("steps_per_variable") = 10);

    m.def("nnls_hals", [](Matrix<T> G, Matrix<T> R, MutableMatrix<T> X, int n_sweeps) {
        const T *g = G.data(), *right = R.data();
        T* x = X.data();
        const std::ptrdiff_t n = R.shape(0), k = R.shape(1);
        nb::gil_scoped_release release;
        const NnlsProblem<T> problem(g, k);
        for_each_row<HalsWorker<T>>(problem, n, [&](HalsWorker<T>& worker, std::ptrdiff_t i) {
            std::copy(right + i * k, right + (i + 1) * k, worker.r.begin());
            worker.method.sweep(worker.r.data(), x + i * k, n_sweeps);
        });
    }, nb::arg("G").noconvert(), nb::arg("R").noconvert(), nb::arg("X").noconvert(), nb::arg("n_sweeps") = 1);
}

void bind_nnls(nb::module_& m) {
    bind_nnls_types<double>(m);
    bind_nnls_types<float>(m);
}

}  // namespace symclust
