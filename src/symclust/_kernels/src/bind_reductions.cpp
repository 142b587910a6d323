#include "reductions.hpp"

namespace symclust {

template <typename T>
void bind_reductions_type(nb::module_& m) {
    // XᵀX in double precision for each of `n_starts` blocks of columns of X, as (n_starts, k, k).
    define(
        m, "gram",
        [](Matrix<T> X, int n_starts) {
        expect(n_starts > 0 && X.shape(1) % size_t(n_starts) == 0, "X",
               "needs as many columns for each of n_starts >= 1");
        const size_t starts = n_starts, k = X.shape(1) / starts;
        double* G = new double[starts * k * k];
        nb::capsule owner(G, [](void* data) noexcept { delete[] static_cast<double*>(data); });
        {
            nb::gil_scoped_release release;
            gram(X.data(), ptrdiff_t(X.shape(0)), int(k), n_starts, G);
        }
        return nb::ndarray<nb::numpy, double, nb::ndim<3>>(G, {starts, k, k}, owner);
        },
        "X", "n_starts"_a = 1);
    // ‖X‖, from squares in double precision: in single precision 1e20 would overflow. Arrays in another order
    // are copied.
    define(
        m, "norm",
        [](nb::ndarray<const T, nb::c_contig, nb::device::cpu> X) {
        nb::gil_scoped_release release;
        return std::sqrt(inner(X.data(), X.data(), ptrdiff_t(X.size())));
        },
        "X"_a);
    define(
        m, "inner",
        [](Vector<T> x, Vector<T> y) {
        shaped("y", y, x.shape(0));
        nb::gil_scoped_release release;
        return inner(x.data(), y.data(), ptrdiff_t(x.shape(0)));
        },
        "x", "y");
}

template <typename T, typename Bits>
void bind_dense(nb::module_& m) {
    // The sum of squares, the smallest and the largest entry and the largest |a_ij - a_ji| of a square
    // matrix.
    define(
        m, "survey_dense",
        [](Matrix<T> A) {
        const ptrdiff_t n = A.shape(0);
        shaped("A", A, n, n);
        Survey<T> found;
        {
            nb::gil_scoped_release release;
            found = survey_dense(A.data(), n);
        }
        return nb::make_tuple(found.squares, double(found.smallest), double(found.largest),
                              double(found.asymmetry));
        },
        "A");
    define(
        m, "row_keys",
        [](Matrix<T> X, Matrix<uint64_t> coefficients, MutableMatrix<uint64_t> keys) {
        const ptrdiff_t n = X.shape(0), d = X.shape(1);
        shaped("coefficients", coefficients, 2, d), shaped("keys", keys, n, 2);
        nb::gil_scoped_release release;
        row_keys<T, Bits>(X.data(), n, d, coefficients.data(), keys.data());
        },
        "X", "coefficients", "keys");
}

template <typename T, typename I>
void bind_symmetry_types(nb::module_& m) {
    define(
        m, "asymmetry",
        [](Vector<I> indptr, Vector<I> indices, Vector<T> values) {
        const Csr<T, I> A("A", indptr, indices, values, any_size, ptrdiff_t(indptr.shape(0)) - 1);
        nb::gil_scoped_release release;
        return asymmetry(A);
        },
        "indptr", "indices", "values");
}

template <typename T, typename I>
void bind_squared_outer(nb::module_& m) {
    define(
        m, "squared_outer",
        [](Vector<I> indptr, Vector<I> indices, Vector<T> values, Vector<I> columns_indptr,
           Vector<I> columns_indices, Vector<T> columns_values, Vector<double> v, Vector<double> u,
           bool diagonal) {
        const ptrdiff_t n = u.shape(0), d = v.shape(0);
        const SquaredOuter<T, I> outer{
            {"L", indptr, indices, values, n, d},
            {"the transpose", columns_indptr, columns_indices, columns_values, d, n},
            v.data(),
            u.data(),
            diagonal};
        nb::gil_scoped_release release;
        return outer.run();
        },
        "indptr", "indices", "values", "columns_indptr", "columns_indices", "columns_values", "v", "u",
        "diagonal"_a);
}

void bind_reductions(nb::module_& m) {
    bind_reductions_type<double>(m);
    bind_reductions_type<float>(m);
    bind_dense<double, uint64_t>(m);
    bind_dense<float, uint32_t>(m);
    bind_squared_outer<double, int32_t>(m);
    bind_squared_outer<double, int64_t>(m);
    bind_squared_outer<float, int32_t>(m);
    bind_squared_outer<float, int64_t>(m);
    bind_symmetry_types<double, int32_t>(m);
    bind_symmetry_types<double, int64_t>(m);
    bind_symmetry_types<float, int32_t>(m);
    bind_symmetry_types<float, int64_t>(m);
}

}  // namespace symclust
