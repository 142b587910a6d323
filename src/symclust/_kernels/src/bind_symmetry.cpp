// How far a matrix is from symmetric, without its transpose.
#include "common.hpp"

#include <cmath>

namespace symclust {

// Largest |a_ij - a_ji| of a CSR matrix with sorted columns; an entry without partner counts as |a_ij|.
//
// Rows are visited in order, so the partners that row j is asked for, (j, 0), (j, 1), ..., come in the order in which
// row j stores them: one cursor a row only moves forward. Time O(nonzeros), memory O(n). NaN entries are not seen.
template <typename T, typename I>
double asymmetry(const I* indptr, const I* indices, const T* values, std::ptrdiff_t n) {
    std::vector<I> cursor(indptr, indptr + n);
    T worst = 0;
    const auto alone = [&](I p) { worst = std::max(worst, std::abs(values[p])); };
    for (std::ptrdiff_t i = 0; i < n; ++i) {
        // What lies left of the diagonal and is still ahead of the cursor was never asked for: it has no partner.
        I p = cursor[i];
        for (; p < indptr[i + 1] && indices[p] < i; ++p) alone(p);
        for (; p < indptr[i + 1]; ++p) {
            const I j = indices[p];
            if (j == i) continue;
            I& q = cursor[j];
            for (; q < indptr[j + 1] && indices[q] < i; ++q) alone(q);
            if (q < indptr[j + 1] && indices[q] == i)
                worst = std::max(worst, std::abs(values[p] - values[q++]));
            else
                alone(p);
        }
    }
    return static_cast<double>(worst);
}

// Largest |a_ij - a_ji| of a dense matrix, tile by tile: both tiles of a pair stay in the first cache. NaN entries are not seen.
template <typename T>
double asymmetry_dense(const T* A, std::ptrdiff_t n) {
    constexpr std::ptrdiff_t tile = 32;
    const std::ptrdiff_t tiles = (n + tile - 1) / tile;
    T worst = 0;
#pragma omp parallel for schedule(dynamic, 4) reduction(max : worst) if (n * n > worth_threads)
    for (std::ptrdiff_t row = 0; row < tiles; ++row)
        for (std::ptrdiff_t column = row; column < tiles; ++column)
            for (std::ptrdiff_t i = row * tile; i < std::min((row + 1) * tile, n); ++i)
                for (std::ptrdiff_t j = column * tile; j < std::min((column + 1) * tile, n); ++j)
                    worst = std::max(worst, std::abs(A[i * n + j] - A[j * n + i]));
    return static_cast<double>(worst);
}

template <typename T>
void bind_symmetry_dense(nb::module_& m) {
    m.def("asymmetry_dense", [](Matrix<T> A) {
        const T* a = A.data();
        const std::ptrdiff_t n = A.shape(0);
        nb::gil_scoped_release release;
        return asymmetry_dense(a, n);
    }, nb::arg("A").noconvert());
}

template <typename T, typename I>
void bind_symmetry_types(nb::module_& m) {
    m.def("asymmetry", [](Vector<I> indptr, Vector<I> indices, Vector<T> values) {
        const I *ip = indptr.data(), *ix = indices.data();
        const T* v = values.data();
        const std::ptrdiff_t n = static_cast<std::ptrdiff_t>(indptr.shape(0)) - 1;
        nb::gil_scoped_release release;
        return asymmetry(ip, ix, v, n);
    }, nb::arg("indptr").noconvert(), nb::arg("indices").noconvert(), nb::arg("values").noconvert());
}

void bind_symmetry(nb::module_& m) {
    bind_symmetry_dense<double>(m);
    bind_symmetry_dense<float>(m);
    bind_symmetry_types<double, std::int32_t>(m);
    bind_symmetry_types<double, std::int64_t>(m);
    bind_symmetry_types<float, std::int32_t>(m);
    bind_symmetry_types<float, std::int64_t>(m);
}

}  // namespace symclust
