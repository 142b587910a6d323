// Entries of HHᵀ on the pattern of a sparse matrix: all of HHᵀ that sparse data ever needs.
#include "common.hpp"

namespace symclust {

template <typename T, typename I>
void pattern_products(const I* indptr, const I* indices, std::ptrdiff_t n, const T* H, std::ptrdiff_t k, T* out) {
    const int parts = std::ptrdiff_t(indptr[n]) * k < worth_threads ? 1 : max_threads();
    const std::vector<std::ptrdiff_t> borders = balanced_rows(indptr, n, parts);
#pragma omp parallel for schedule(static) num_threads(parts) if (parts > 1)
    for (int part = 0; part < parts; ++part)
        for (std::ptrdiff_t i = borders[part]; i < borders[part + 1]; ++i)
            for (I p = indptr[i]; p < indptr[i + 1]; ++p)
                out[p] = static_cast<T>(dot(H + i * k, H + std::ptrdiff_t(indices[p]) * k, k));
}

template <typename T, typename I>
void bind_pattern_products(nb::module_& m) {
    m.def("pattern_products", [](Vector<I> indptr, Vector<I> indices, Matrix<T> H, MutableVector<T> out) {
        const I *ip = indptr.data(), *ix = indices.data();
        const std::ptrdiff_t n = H.shape(0), k = H.shape(1);
        const T* h = H.data();
        T* o = out.data();
        nb::gil_scoped_release release;
        pattern_products(ip, ix, n, h, k, o);
    }, nb::arg("indptr").noconvert(), nb::arg("indices").noconvert(), nb::arg("H").noconvert(),
       nb::arg("out").noconvert());
}

void bind_pattern(nb::module_& m) {
    bind_pattern_products<double, std::int32_t>(m);
    bind_pattern_products<double, std::int64_t>(m);
    bind_pattern_products<float, std::int32_t>(m);
    bind_pattern_products<float, std::int64_t>(m);
}

}  // namespace symclust
