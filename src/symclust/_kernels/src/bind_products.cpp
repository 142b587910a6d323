// Sparse times dense, and its counterpart: entries of HHᵀ on the pattern of a sparse matrix.
#include "gather.hpp"

namespace symclust {

// Rows in pieces of about equal cost: several for each thread, and none that takes longer than milliseconds.
template <typename I, typename Rows>
void for_balanced_rows(const I* indptr, std::ptrdiff_t n, std::ptrdiff_t width, const Rows& rows) {
    constexpr std::ptrdiff_t piece = 1 << 22, most = 1 << 16;
    const std::ptrdiff_t cost = static_cast<std::ptrdiff_t>(indptr[n]) * width;
    const int threads = threads_for(cost);
    const std::ptrdiff_t wanted = std::max<std::ptrdiff_t>(threads == 1 ? 1 : 16 * threads, std::min(cost / piece, most));
    const int parts = static_cast<int>(std::max<std::ptrdiff_t>(1, std::min(n, wanted)));
    const std::vector<std::ptrdiff_t> borders = balanced_rows(indptr, n, parts);
    parallel_for(parts, threads, [&](std::ptrdiff_t part, int) { rows(borders[part], borders[part + 1]); });
}

// out = A H for CSR A and row-major H.
template <typename T, typename I>
void spmm(const I* indptr, const I* indices, const T* values, std::ptrdiff_t n, const T* H, std::ptrdiff_t width,
          T* out) {
    const auto row_of = [=](I j) { return H + static_cast<std::ptrdiff_t>(j) * width; };
    const Prefetch<T, I> fetch(H, width, indices + indptr[n]);
    for_balanced_rows(indptr, n, width, [&](std::ptrdiff_t first, std::ptrdiff_t last) {
        for (std::ptrdiff_t i = first; i < last; ++i) {
            const std::ptrdiff_t begin = indptr[i], count = indptr[i + 1] - begin;
            gather_row(indices + begin, values + begin, count, row_of, fetch, width, out + i * width);
        }
    });
}

// out[p] = (HHᵀ)ᵢⱼ for the p-th entry (i, j) of the pattern: all of HHᵀ that sparse data ever needs.
template <typename T, typename I>
void pattern_products(const I* indptr, const I* indices, std::ptrdiff_t n, const T* H, std::ptrdiff_t k, T* out) {
    for_balanced_rows(indptr, n, k, [&](std::ptrdiff_t first, std::ptrdiff_t last) {
        for (std::ptrdiff_t i = first; i < last; ++i)
            for (I p = indptr[i]; p < indptr[i + 1]; ++p)
                out[p] = static_cast<T>(dot(H + i * k, H + std::ptrdiff_t(indices[p]) * k, k));
    });
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

template <typename T, typename I>
void bind_products_of(nb::module_& m) {
    bind_spmm_types<T, I>(m);
    bind_pattern_products<T, I>(m);
}

void bind_products(nb::module_& m) {
    bind_products_of<double, std::int32_t>(m);
    bind_products_of<double, std::int64_t>(m);
    bind_products_of<float, std::int32_t>(m);
    bind_products_of<float, std::int64_t>(m);
}

}  // namespace symclust
