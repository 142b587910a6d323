#include "rank_two.hpp"

#include <nanobind/stl/tuple.h>

namespace symclust {

template <typename T>
void bind_rank_two_nnls(nb::module_& m) {
    define(
        m, "nnls_rank_two",
        [](Matrix<T> G, Matrix<T> R, MutableMatrix<T> out) {
        const ptrdiff_t n = R.shape(0);
        shaped("G", G, 2, 2), shaped("R", R, n, 2), shaped("out", out, n, 2);
        nb::gil_scoped_release release;
        rank_two_nnls(G.data(), R.data(), n, out.data());
        },
        "G", "R", "out");
}

// X and its transpose, with two columns for the rows of each.
template <typename T, typename I>
struct BothLayouts {
    Csr<T, I> X, Xt;

    BothLayouts(const Vector<I>& indptr, const Vector<I>& indices, const Vector<T>& values,
                const Vector<I>& t_indptr, const Vector<I>& t_indices, const Vector<T>& t_values,
                const MutableMatrix<T>& of_rows, const MutableMatrix<T>& of_columns)
        : X("X", indptr, indices, values, of_rows.shape(0), of_columns.shape(0)),
          Xt("the transpose", t_indptr, t_indices, t_values, of_columns.shape(0), of_rows.shape(0)) {
        shaped("the factor of the rows", of_rows, any_size, 2),
            shaped("the factor of the columns", of_columns, any_size, 2);
    }
};

template <typename T, typename I>
void bind_two_singular_vectors(nb::module_& m) {
    define(
        m, "two_singular_vectors",
        [](Vector<I> indptr, Vector<I> indices, Vector<T> values, Vector<I> t_indptr, Vector<I> t_indices,
           Vector<T> t_values, MutableMatrix<T> V, MutableMatrix<T> U, int steps, int threads) {
        const BothLayouts<T, I> given(indptr, indices, values, t_indptr, t_indices, t_values, U, V);
        nb::gil_scoped_release release;
        const BlockedRows<T, I> X(given.X), Xt(given.Xt);
        const PassSums g = two_singular_vectors(X, Xt, V.data(), U.data(), steps, allowed(threads));
        return std::make_tuple(g.a, g.b, g.c);
        },
        "indptr", "indices", "values", "t_indptr", "t_indices", "t_values", "V", "U", "steps"_a,
        "threads"_a = 0);
}

template <typename T, typename I>
void bind_rank_two_nmf(nb::module_& m) {
    define(
        m, "rank_two_nmf",
        [](Vector<I> indptr, Vector<I> indices, Vector<T> values, Vector<I> t_indptr, Vector<I> t_indices,
           Vector<T> t_values, MutableMatrix<T> C, MutableMatrix<T> W, double tol, int max_iter,
           int threads) {
        const BothLayouts<T, I> given(indptr, indices, values, t_indptr, t_indices, t_values, W, C);
        nb::gil_scoped_release release;
        const BlockedRows<T, I> X(given.X), Xt(given.Xt);
        const RankTwoReport report = rank_two_nmf(X, Xt, C.data(), W.data(), tol, max_iter, allowed(threads));
        return std::make_tuple(report.iterations, report.stationarity, report.explained);
        },
        "indptr", "indices", "values", "t_indptr", "t_indices", "t_values", "C", "W", "tol"_a, "max_iter"_a,
        "threads"_a = 0);
}

void bind_rank_two(nb::module_& m) {
    bind_rank_two_nnls<double>(m);
    bind_rank_two_nnls<float>(m);
    bind_rank_two_nmf<double, int32_t>(m);
    bind_rank_two_nmf<double, int64_t>(m);
    bind_rank_two_nmf<float, int32_t>(m);
    bind_rank_two_nmf<float, int64_t>(m);
    bind_two_singular_vectors<double, int32_t>(m);
    bind_two_singular_vectors<double, int64_t>(m);
    bind_two_singular_vectors<float, int32_t>(m);
    bind_two_singular_vectors<float, int64_t>(m);
}

}  // namespace symclust
