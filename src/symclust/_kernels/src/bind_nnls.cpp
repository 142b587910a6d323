#include "nnls.hpp"

namespace symclust {

// All take the starting point X and write to out, which may be X itself. The bounds are parameters so that
// tests can reach the method behind them.
template <typename T>
void bind_nnls_types(nb::module_& m) {
    using In = const Matrix<T>&;
    using Out = const MutableMatrix<T>&;
    const auto check = [](In G, In R, In X, Out out) {
        const size_t n = R.shape(0), k = R.shape(1);
        shaped("G", G, k, k), shaped("X", X, n, k), shaped("out", out, n, k);
    };
    define(
        m, "nnls_block_pivoting",
        [=](In G, In R, In X, Out out, int max_exchanges, int steps_per_variable) {
        check(G, R, X, out);
        nb::gil_scoped_release release;
        block_pivoting(G.data(), R.data(), X.data(), out.data(), R.shape(0), R.shape(1), max_exchanges,
                       steps_per_variable);
        },
        "G", "R", "X", "out", "max_exchanges"_a = 100, "steps_per_variable"_a = 10);
    define(
        m, "nnls_active_set",
        [=](In G, In R, In X, Out out, int steps_per_variable) {
        check(G, R, X, out);
        nb::gil_scoped_release release;
        active_set(G.data(), R.data(), X.data(), out.data(), R.shape(0), R.shape(1), steps_per_variable);
        },
        "G", "R", "X", "out", "steps_per_variable"_a = 10);
    define(
        m, "nnls_hals",
        [=](In G, In R, In X, Out out, int n_sweeps) {
        check(G, R, X, out);
        nb::gil_scoped_release release;
        hals(G.data(), R.data(), X.data(), out.data(), R.shape(0), R.shape(1), n_sweeps);
        },
        "G", "R", "X", "out", "n_sweeps"_a = 1);
}

void bind_nnls(nb::module_& m) {
    bind_nnls_types<double>(m);
    bind_nnls_types<float>(m);
}

}  // namespace symclust
