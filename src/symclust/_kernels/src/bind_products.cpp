#include "products.hpp"

namespace symclust {

template <typename T, typename I>
void bind_products_of(nb::module_& m) {
    define(
        m, "spmm",
        [](Vector<I> indptr, Vector<I> indices, Vector<T> values, Matrix<T> H, MutableMatrix<T> out) {
        const ptrdiff_t rows = H.shape(0), width = H.shape(1);
        const Csr<T, I> A("A", indptr, indices, values, any_size, rows);
        shaped("out", out, A.n, width);
        nb::gil_scoped_release release;
        spmm(A, H.data(), rows, width, out.data());
        },
        "indptr", "indices", "values", "H", "out");
    define(
        m, "pattern_products",
        [](Vector<I> indptr, Vector<I> indices, Matrix<T> H, MutableVector<T> out) {
        const Pattern<I> A("A", indptr, indices, H.shape(0), H.shape(0));
        shaped("out", out, A.nonzeros());
        nb::gil_scoped_release release;
        pattern_products(A, H.data(), ptrdiff_t(H.shape(1)), out.data());
        },
        "indptr", "indices", "H", "out");
}

void bind_products(nb::module_& m) {
    bind_products_of<double, int32_t>(m);
    bind_products_of<double, int64_t>(m);
    bind_products_of<float, int32_t>(m);
    bind_products_of<float, int64_t>(m);
}

}  // namespace symclust
