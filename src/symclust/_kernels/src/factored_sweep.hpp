// Row descent for A = diag(s) X diag(w) Xᵀ diag(s) + E with sparse X and E: Gram matrices, and what is made
// of them by hiding or adding entries. No row of A is formed.
//
// Z = diag(w) Xᵀ diag(s) H stands for H. Row i of AH is sᵢ xᵢᵀZ + eᵢᵀH, and when row i of H changes, so do
// the rows of Z in which xᵢ has entries: a sweep goes twice over the entries of X, the second time over rows
// of Z that are still in the cache, and over X only once where H does not move any more. Rows are taken in
// order on one thread. A row is a matter of microseconds, too little to be shared; lanes of rows, as for a
// sparse A, would each need a copy of the Z that they change.
//
// H may hold several starts side by side, start s in columns s*k to (s+1)*k: X is read once for all.
#pragma once

#include "gather.hpp"
#include "row_update.hpp"

namespace symclust {

// out = row i of A times the row-major B of `width` columns.
template <typename T, typename I>
void multiply_row(const Csr<T, I>& A, ptrdiff_t i, const T* B, ptrdiff_t width, const Prefetch<T, I>& fetch,
                  T* out) {
    const auto row_of = [=](I j) { return B + ptrdiff_t(j) * width; };
    gather_row(A.indices + A.indptr[i], A.values + A.indptr[i], A.count(i), row_of, fetch, width, out);
}

template <typename T, typename I>
struct FactoredMatrix {
    Csr<T, I> X, extra;
    const T *scale, *weights, *diagonal;  // the diagonal of A
    ptrdiff_t n;
};

template <typename T, typename I>
class FactoredSweep {
public:
    FactoredSweep(const FactoredMatrix<T, I>& A, T* Z, T* H, bool full, int k, int starts, int cycles,
                  IgnoredPairs ignored)
        : A(A), Z(Z), H(H), k(k), starts(starts), ignored(ignored), width(ptrdiff_t(k) * starts),
          worker(full, k, starts, cycles), product(width), own(width), change(width), few(width),
          places(width), fetch_Z(Z, width, A.X.indices + A.X.nonzeros()),
          fetch_H(H, width, A.extra.indices + A.extra.nonzeros()) {}

    // Adds to `decrease` and `squared_gradient`, one entry per start. Interrupted, it has changed some rows
    // of H, and not G.
    void run(double* G, double offset, const uint8_t* active, double* row_gradient, double* decrease,
             double* squared_gradient) {
        worker.load(G, offset);
        Pace pace;
        for (ptrdiff_t i = 0; i < A.n; ++i) {
            if (!active[i]) continue;
            pace((2 * A.X.count(i) + A.extra.count(i) + 4 * k) * width);
            multiply(i);
            row_gradient[i] = update(i, decrease, squared_gradient);
            if (const int moved = find_change(i)) carry(i, moved);
        }
        for (int s = 0; s < starts; ++s)
            for (int l = 0; l < k; ++l)
                for (int m = 0; m < k; ++m) G[(ptrdiff_t(s) * k + l) * k + m] = worker.gram(s, l, m) - offset;
    }

private:
    const FactoredMatrix<T, I>& A;
    T *Z, *H;
    int k, starts;
    IgnoredPairs ignored;
    ptrdiff_t width;
    RowWorker<T> worker;
    std::vector<T> product, own, change, few;
    std::vector<int> places;  // columns in which a row has changed, by the values in `few`
    Prefetch<T, I> fetch_Z, fetch_H;

    // product = row i of AH.
    void multiply(ptrdiff_t i) {
        multiply_row(A.X, i, Z, width, fetch_Z, product.data());
        multiply_row(A.extra, i, H, width, fetch_H, own.data());
        const T scale = A.scale[i];
        for (ptrdiff_t c = 0; c < width; ++c) product[c] = scale * product[c] + own[c];
    }

    // Moves row i of H and returns its squared gradient over all starts; `change` is the row before.
    double update(ptrdiff_t i, double* decrease, double* squared_gradient) {
        T* h = H + i * width;
        std::copy(h, h + width, change.begin());
        const double diagonal = double(A.diagonal[i]);
        const ptrdiff_t others = ignored.count(i);
        double squared = 0.0;
        for (int s = 0; s < starts; ++s) {
            const ptrdiff_t column = ptrdiff_t(s) * k;
            const T* b = product.data() + column;
            const auto other = [&](ptrdiff_t e) { return H + ignored.begin(i)[e] * width + column; };
            const RowChange row = others ? worker.run_without(s, h + column, b, diagonal, others, other)
                                         : worker.run(s, h + column, b, diagonal);
            decrease[s] += row.decrease;
            squared_gradient[s] += row.squared_gradient;
            squared += row.squared_gradient;
        }
        return squared;
    }

    // Makes `change` the change of row i, scaled; returns in how many columns there is one.
    int find_change(ptrdiff_t i) {
        const T* h = H + i * width;
        int size = 0;
        for (ptrdiff_t c = 0; c < width; ++c) {
            change[c] = A.scale[i] * (h[c] - change[c]);
            places[size] = int(c);
            few[size] = change[c];
            size += change[c] != T(0);
        }
        return size;
    }

    // Z += diag(w) xᵢ changeᵀ; by single columns where there are so few that whole vectors would be slower.
    void carry(ptrdiff_t i, int moved) {
        for (I p = A.X.indptr[i]; p < A.X.indptr[i + 1]; ++p) {
            const I j = A.X.indices[p];
            const T value = A.X.values[p] * A.weights[j];
            T* SYMCLUST_RESTRICT z = Z + ptrdiff_t(j) * width;
            if (4 * moved < width) {
                for (int e = 0; e < moved; ++e) z[places[e]] += value * few[e];
                continue;
            }
            const T* SYMCLUST_RESTRICT by = change.data();
#pragma omp simd
            for (ptrdiff_t c = 0; c < width; ++c) z[c] += value * by[c];
        }
    }
};

}  // namespace symclust
