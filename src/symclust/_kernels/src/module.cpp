// One Python module per instruction set; each family of kernels registers itself.
#include "common.hpp"

namespace symclust {
void bind_spmm(nb::module_& m);
void bind_reductions(nb::module_& m);
void bind_symmetry(nb::module_& m);
void bind_nnls(nb::module_& m);
void bind_row_descent(nb::module_& m);
void bind_coordinate(nb::module_& m);
void bind_absolute(nb::module_& m);
void bind_pattern(nb::module_& m);
void bind_rank_two(nb::module_& m);
void bind_subset(nb::module_& m);
void bind_bisect(nb::module_& m);
void bind_kernel_k_means(nb::module_& m);
void bind_submatrix(nb::module_& m);
void bind_order(nb::module_& m);
}  // namespace symclust

NB_MODULE(SYMCLUST_MODULE, m) {
    using namespace symclust;
    bind_spmm(m);
    bind_reductions(m);
    bind_symmetry(m);
    bind_nnls(m);
    bind_row_descent(m);
    bind_coordinate(m);
    bind_absolute(m);
    bind_pattern(m);
    bind_rank_two(m);
    bind_subset(m);
    bind_bisect(m);
    bind_kernel_k_means(m);
    bind_submatrix(m);
    bind_order(m);
    m.def("max_threads", &max_threads);
#ifdef _OPENMP
    m.attr("openmp") = true;
#else
    m.attr("openmp") = false;
#endif
}
