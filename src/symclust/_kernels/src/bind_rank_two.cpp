// Rank two: least squares with two columns, and the whole loop of a rank-2 NMF, so that thousands of small ones cost
// what they compute and not what it takes to call them.
#include "rank_two.hpp"

#include <nanobind/stl/tuple.h>

namespace symclust {

template <typename T>
void rank_two_nnls(const T* G, const T* R, std::ptrdiff_t n, T* out) {
    const TwoColumns columns(G[0], G[1], G[3], two_columns_dependence<T>);
#pragma omp parallel for simd schedule(static) if (n > worth_threads)
    for (std::ptrdiff_t i = 0; i < n; ++i) {
        double x1, x2;
        columns.solve(R[2 * i], R[2 * i + 1], x1, x2);
        out[2 * i] = static_cast<T>(x1);
        out[2 * i + 1] = static_cast<T>(x2);
    }
}

template <typename T>
void bind_rank_two_nnls(nb::module_& m) {
    m.def("nnls_rank_two", [](Matrix<T> G, Matrix<T> R, MutableMatrix<T> out) {
        const T *g = G.data(), *r = R.data();
        T* o = out.data();
        const std::ptrdiff_t n = R.shape(0);
        nb::gil_scoped_release release;
        rank_two_nnls(g, r, n, o);
    }, nb::arg("G").noconvert(), nb::arg("R").noconvert(), nb::arg("out").noconvert());
}

template <typename T, typename I>
void bind_two_singular_vectors(nb::module_& m) {
    m.def("two_singular_vectors", [](Vector<I> indptr, Vector<I> indices, Vector<T> values, Vector<I> t_indptr,
                                     Vector<I> t_indices, Vector<T> t_values, MutableMatrix<T> V, MutableMatrix<T> U,
                                     int steps, int threads) {
        PassSums g;
        {
            T *v = V.data(), *u = U.data();
            const std::ptrdiff_t n = U.shape(0), d = V.shape(0);
            nb::gil_scoped_release release;
            const BlockedRows<T, I> X(indptr.data(), indices.data(), values.data(), n);
            const BlockedRows<T, I> Xt(t_indptr.data(), t_indices.data(), t_values.data(), d);
            g = two_singular_vectors(X, Xt, v, u, steps, threads > 0 ? threads : max_threads());
        }
        return std::make_tuple(g.a, g.b, g.c);
    }, nb::arg("indptr").noconvert(), nb::arg("indices").noconvert(), nb::arg("values").noconvert(),
       nb::arg("t_indptr").noconvert(), nb::arg("t_indices").noconvert(), nb::arg("t_values").noconvert(),
       nb::arg("V").noconvert(), nb::arg("U").noconvert(), nb::arg("steps"), nb::arg("threads") = 0);
}

template <typename T, typename I>
void bind_rank_two_nmf(nb::module_& m) {
    m.def("rank_two_nmf", [](Vector<I> indptr, Vector<I> indices, Vector<T> values, Vector<I> t_indptr,
                             Vector<I> t_indices, Vector<T> t_values, MutableMatrix<T> C, MutableMatrix<T> W, double tol,
                             int max_iter, int threads) {
        RankTwoReport report;
        {
            T *c = C.data(), *w = W.data();
            const std::ptrdiff_t n = W.shape(0), d = C.shape(0);
            nb::gil_scoped_release release;
            const BlockedRows<T, I> X(indptr.data(), indices.data(), values.data(), n);
            const BlockedRows<T, I> Xt(t_indptr.data(), t_indices.data(), t_values.data(), d);
            report = rank_two_nmf(X, Xt, c, w, tol, max_iter, threads > 0 ? threads : max_threads());
        }
        return std::make_tuple(report.iterations, report.stationarity, report.explained);
    }, nb::arg("indptr").noconvert(), nb::arg("indices").noconvert(), nb::arg("values").noconvert(),
       nb::arg("t_indptr").noconvert(), nb::arg("t_indices").noconvert(), nb::arg("t_values").noconvert(),
       nb::arg("C").noconvert(), nb::arg("W").noconvert(), nb::arg("tol"), nb::arg("max_iter"), nb::arg("threads") = 0);
}

void bind_rank_two(nb::module_& m) {
    bind_rank_two_nnls<double>(m);
    bind_rank_two_nnls<float>(m);
    bind_rank_two_nmf<double, std::int32_t>(m);
    bind_rank_two_nmf<double, std::int64_t>(m);
    bind_rank_two_nmf<float, std::int32_t>(m);
    bind_rank_two_nmf<float, std::int64_t>(m);
    bind_two_singular_vectors<double, std::int32_t>(m);
    bind_two_singular_vectors<double, std::int64_t>(m);
    bind_two_singular_vectors<float, std::int32_t>(m);
    bind_two_singular_vectors<float, std::int64_t>(m);
}

}  // namespace symclust
