#include "kernel_k_means.hpp"

namespace symclust {

template <typename T>
void bind_kernel_k_means_type(nb::module_& m) {
    define(
        m, "kernel_k_means_move",
        [](Cube<T> sums, Vector<T> weights, Vector<int64_t> active, double shift, double slack,
           Matrix<int64_t> labels, MutableMatrix<int64_t> moved, MutableMatrix<int64_t> sizes,
           MutableMatrix<double> totals, MutableMatrix<double> lengths) {
        const ptrdiff_t n = sums.shape(2), k = sums.shape(1), all = sums.shape(0), count = active.shape(0);
        shaped("weights", weights, n), shaped("labels", labels, all, n), shaped("moved", moved, all, n);
        shaped("sizes", sizes, all, k), shaped("totals", totals, all, k), shaped("lengths", lengths, all, k);
        within("active", active, 0, all), within("labels", labels, 0, k);
        nb::gil_scoped_release release;
        parallel_for(count, threads_for(count * n * k), [&](ptrdiff_t a, int) {
            const ptrdiff_t r = active.data()[a];
            const KernelRun<T> run{sums.data() + r * k * n, labels.data() + r * n, moved.data() + r * n,
                                   sizes.data() + r * k,    totals.data() + r * k, lengths.data() + r * k};
            move_run(run, weights.data(), n, int(k), shift, slack);
        });
        },
        "sums", "weights", "active", "shift"_a, "slack"_a, "labels", "moved", "sizes", "totals", "lengths");
    define(
        m, "kernel_k_means_update",
        [](Matrix<T> K, Vector<T> weights, Vector<int64_t> active, Matrix<int64_t> before,
           Matrix<int64_t> after, MutableCube<T> sums) {
        const ptrdiff_t n = K.shape(0), k = sums.shape(1), all = sums.shape(0);
        shaped("K", K, n, n), shaped("weights", weights, n), shaped("sums", sums, all, k, n);
        shaped("before", before, all, n), shaped("after", after, all, n);
        within("active", active, 0, all), within("before", before, 0, k), within("after", after, 0, k);
        nb::gil_scoped_release release;
        add_moves(K.data(), weights.data(), n, int(k), active.data(), ptrdiff_t(active.shape(0)),
                  before.data(), after.data(), sums.data());
        },
        "K", "weights", "active", "before", "after", "sums");
}

void bind_kernel_k_means(nb::module_& m) {
    bind_kernel_k_means_type<double>(m);
    bind_kernel_k_means_type<float>(m);
}

}  // namespace symclust
