// A[index][:, index] of a dense matrix, row by row: NumPy's indexing with two arrays takes several times as long.
#include "common.hpp"

namespace symclust {

template <typename T>
void submatrix(const T* A, std::ptrdiff_t n, const std::int64_t* index, std::ptrdiff_t m, T* out) {
#pragma omp parallel for schedule(static) if (m * m > worth_threads)
    for (std::ptrdiff_t i = 0; i < m; ++i) {
        const T* SYMCLUST_RESTRICT row = A + index[i] * n;
        T* SYMCLUST_RESTRICT to = out + i * m;
        for (std::ptrdiff_t j = 0; j < m; ++j) to[j] = row[index[j]];
    }
}

template <typename T>
void bind_submatrix_type(nb::module_& m) {
    m.def("submatrix", [](Matrix<T> A, Vector<std::int64_t> index, MutableMatrix<T> out) {
        const T* a = A.data();
        const std::int64_t* chosen = index.data();
        const std::ptrdiff_t n = A.shape(1), size = index.shape(0);
        T* o = out.data();
        nb::gil_scoped_release release;
        submatrix(a, n, chosen, size, o);
    }, nb::arg("A").noconvert(), nb::arg("index").noconvert(), nb::arg("out").noconvert());
}

void bind_submatrix(nb::module_& m) {
    bind_submatrix_type<double>(m);
    bind_submatrix_type<float>(m);
}

}  // namespace symclust
