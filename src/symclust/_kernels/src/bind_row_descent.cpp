// Row descent: sparse sweeps, and the update of a block of rows whose products with H are already known.
#include "row_sweep.hpp"

namespace symclust {

// A block of rows in order, the first of which is row `begin` of H. `P` holds A[rows] H on entry and is corrected as rows of the block change, so that the bulk of
// the work stays in the matrix product that made P.
template <typename T>
void sweep_block(const T* block, std::ptrdiff_t rows, std::ptrdiff_t begin, T* P, T* H, double* G, double offset, bool full,
                 int k, int starts, int cycles, IgnoredPairs ignored, double* decrease, double* squared_gradient) {
    const std::ptrdiff_t width = std::ptrdiff_t(k) * starts;
    RowWorker<T> worker(full, k, starts, cycles);
    worker.load(G, offset);
    std::vector<T> change(width);
    for (std::ptrdiff_t i = 0; i < rows; ++i) {
        T* h = H + (begin + i) * width;
        std::copy(h, h + width, change.begin());
        for (int s = 0; s < starts; ++s) {
            const std::ptrdiff_t column = std::ptrdiff_t(s) * k;
            const T* b = P + i * width + column;
            const double own = static_cast<double>(block[i * rows + i]);
            const std::ptrdiff_t others = ignored.count(begin + i);
            const auto other = [&](std::ptrdiff_t e) { return H + ignored.begin(begin + i)[e] * width + column; };
            const RowChange row = others ? worker.run_without(s, h + column, b, own, others, other)
                                         : worker.run(s, h + column, b, own);
            decrease[s] += row.decrease;
            squared_gradient[s] += row.squared_gradient;
        }
        for (std::ptrdiff_t c = 0; c < width; ++c) change[c] = h[c] - change[c];
        for (std::ptrdiff_t j = i + 1; j < rows; ++j) {
            const T value = block[j * rows + i];
            if (value == T(0)) continue;
            T* row = P + j * width;
#pragma omp simd
            for (std::ptrdiff_t c = 0; c < width; ++c) row[c] += value * change[c];
        }
    }
    for (int s = 0; s < starts; ++s)
        for (int l = 0; l < k; ++l)
            for (int m = 0; m < k; ++m)
                G[(std::ptrdiff_t(s) * k + l) * k + m] = worker.gram(s, l, m) - offset;
}

template <typename T>
void bind_block(nb::module_& m) {
    m.def("row_sweep_block", [](Matrix<T> block, std::ptrdiff_t begin, MutableMatrix<T> P, MutableMatrix<T> H,
                                MutableCube<double> G, double offset, bool full, int cycles,
                                Vector<std::int64_t> ignored_indptr, Vector<std::int64_t> ignored_indices,
                                MutableVector<double> decrease, MutableVector<double> squared_gradient) {
        const IgnoredPairs ignored(ignored_indptr, ignored_indices);
        const std::ptrdiff_t rows = block.shape(0);
        const int starts = int(G.shape(0)), k = int(G.shape(1));
        const T* b = block.data();
        T *p = P.data(), *h = H.data();
        double *g = G.data(), *d = decrease.data(), *q = squared_gradient.data();
        nb::gil_scoped_release release;
        sweep_block(b, rows, begin, p, h, g, offset, full, k, starts, cycles, ignored, d, q);
    }, nb::arg("block").noconvert(), nb::arg("begin"), nb::arg("P").noconvert(), nb::arg("H").noconvert(), nb::arg("G").noconvert(),
       nb::arg("offset"), nb::arg("full"), nb::arg("cycles"), nb::arg("ignored_indptr").noconvert(),
       nb::arg("ignored_indices").noconvert(), nb::arg("decrease").noconvert(), nb::arg("squared_gradient").noconvert());
}

template <typename T, typename I>
void bind_sparse(nb::module_& m) {
    m.def("row_sweep_sparse", [](Vector<I> indptr, Vector<I> indices, Vector<T> values, Vector<T> diagonal,
                                 MutableMatrix<T> H, MutableCube<double> G, double offset, bool full, int cycles,
                                 Vector<std::int64_t> ignored_indptr, Vector<std::int64_t> ignored_indices,
                                 Vector<std::uint8_t> active, MutableVector<double> row_gradient,
                                 MutableVector<double> decrease, MutableVector<double> squared_gradient) {
        const IgnoredPairs ignored(ignored_indptr, ignored_indices);
        const std::uint8_t* on = active.data();
        double* r = row_gradient.data();
        const SparseMatrix<T, I> A{indptr.data(), indices.data(), values.data(), diagonal.data(),
                                   std::ptrdiff_t(indptr.shape(0)) - 1};
        const int starts = int(G.shape(0)), k = int(G.shape(1));
        T* h = H.data();
        double *g = G.data(), *d = decrease.data(), *q = squared_gradient.data();
        nb::gil_scoped_release release;
        RowSweep<T, I>(A, h, g, offset, full, k, starts, cycles, ignored, on, r).run(d, q);
    }, nb::arg("indptr").noconvert(), nb::arg("indices").noconvert(), nb::arg("values").noconvert(),
       nb::arg("diagonal").noconvert(), nb::arg("H").noconvert(), nb::arg("G").noconvert(), nb::arg("offset"),
       nb::arg("full"), nb::arg("cycles"), nb::arg("ignored_indptr").noconvert(), nb::arg("ignored_indices").noconvert(),
       nb::arg("active").noconvert(), nb::arg("row_gradient").noconvert(), nb::arg("decrease").noconvert(), nb::arg("squared_gradient").noconvert());
}

void bind_row_descent(nb::module_& m) {
    bind_sparse<double, std::int32_t>(m);
    bind_sparse<double, std::int64_t>(m);
    bind_sparse<float, std::int32_t>(m);
    bind_sparse<float, std::int64_t>(m);
    bind_block<double>(m);
    bind_block<float>(m);
}

}  // namespace symclust
