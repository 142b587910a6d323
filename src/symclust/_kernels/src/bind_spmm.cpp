// Sparse times dense: out = A H for CSR A and row-major H.
#include "gather.hpp"

namespace symclust {

template <typename T, typename I>
void spmm(const I* indptr, const I* indices, const T* values, std::ptrdiff_t n, const T* H, std::ptrdiff_t width,
          T* out) {
    const auto row_of = [=](I j) { return H + static_cast<std::ptrdiff_t>(j) * width; };
    const int threads = max_threads();
    const int parts = static_cast<int>(std::min<std::ptrdiff_t>(n, threads == 1 ? 1 : 16 * threads));
    const auto borders = balanced_rows(indptr, n, std::max(parts, 1));
    const Prefetch<T, I> fetch(H, width, indices + indptr[n]);
#pragma omp parallel for schedule(dynamic, 1) if (indptr[n] * width > worth_threads)
    for (int part = 0; part < parts; ++part) {
        for (std::ptrdiff_t i = borders[part]; i < borders[part + 1]; ++i) {
            const std::ptrdiff_t begin = indptr[i], count = indptr[i + 1] - begin;
            gather_row(indices + begin, values + begin, count, row_of, fetch, width, out + i * width);
        }
    }
}

template <typename T, typename I>
void bind_spmm_types(nb::module_& m) {
    m.def("spmm", [](Vector<I> indptr, Vector<I> indices, Vector<T> values, Matrix<T> H, MutableMatrix<T> out) {
        const I *ip = indptr.data(), *ix = indices.data();
        const T *v = values.data(), *h = H.data();
        T* o = out.data();
        const std::ptrdiff_t n = indptr.shape(0) - 1, width = H.shape(1);
        nb::gil_scoped_release release;
        spmm(ip, ix, v, n, h, width, o);
    }, nb::arg("indptr").noconvert(), nb::arg("indices").noconvert(), nb::arg("values").noconvert(),
       nb::arg("H").noconvert(), nb::arg("out").noconvert());
}

void bind_spmm(nb::module_& m) {
    bind_spmm_types<double, std::int32_t>(m);
    bind_spmm_types<double, std::int64_t>(m);
    bind_spmm_types<float, std::int32_t>(m);
    bind_spmm_types<float, std::int64_t>(m);
}

}  // namespace symclust
