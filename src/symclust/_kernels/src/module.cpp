// One Python module per instruction set; each family of kernels registers itself.
#include "common.hpp"
#include "helpers.hpp"

#if !defined(_WIN32)
#include <pthread.h>
#endif

namespace symclust {

void bind_products(nb::module_& m);
void bind_reductions(nb::module_& m);
void bind_subset(nb::module_& m);
void bind_order(nb::module_& m);
void bind_nnls(nb::module_& m);
void bind_row_descent(nb::module_& m);
void bind_sparse_factor(nb::module_& m);
void bind_factored_sweep(nb::module_& m);
void bind_coordinate(nb::module_& m);
void bind_absolute(nb::module_& m);
void bind_rank_two(nb::module_& m);
void bind_bisect(nb::module_& m);
void bind_moves(nb::module_& m);
void bind_kernel_k_means(nb::module_& m);
void bind_random_walk(nb::module_& m);
void bind_parts(nb::module_& m);
void bind_pixels(nb::module_& m);
void bind_words(nb::module_& m);
void bind_neighbors(nb::module_& m);

// A Python function that raises when the calling thread's work is no longer wanted. Lives as long as the
// process.
static PyObject* python_checkpoint = nullptr;

void ask_python() {
    nb::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();  // does something in the main thread alone
    if (!python_checkpoint) return;
    PyObject* done = PyObject_CallNoArgs(python_checkpoint);
    if (!done) throw nb::python_error();
    Py_DECREF(done);
}

static void bind_threads(nb::module_& m) {
    m.def("max_threads", &max_threads);
    m.def("set_default_threads", [](int threads) { default_threads = std::max(threads, 1); });
    m.def("set_thread_limit",
          [](int threads) { thread_limit = threads; });  // of calls from this thread; 0: none
    m.def("set_checkpoint", [](nb::object function) { python_checkpoint = function.release().ptr(); });
    m.attr("checks_indices") = checks_indices;
#if !defined(_WIN32)
    pthread_atfork(nullptr, nullptr, [] {
        forked = true;
        Helpers::after_fork();
    });
#endif
}

}  // namespace symclust

NB_MODULE(SYMCLUST_MODULE, m) {
    using namespace symclust;
    bind_products(m);
    bind_reductions(m);
    bind_subset(m);
    bind_order(m);
    bind_nnls(m);
    bind_row_descent(m);
    bind_sparse_factor(m);
    bind_factored_sweep(m);
    bind_coordinate(m);
    bind_absolute(m);
    bind_rank_two(m);
    bind_bisect(m);
    bind_moves(m);
    bind_kernel_k_means(m);
    bind_random_walk(m);
    bind_parts(m);
    bind_pixels(m);
    bind_words(m);
    bind_neighbors(m);
    bind_threads(m);
}
