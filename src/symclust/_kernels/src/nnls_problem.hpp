// Nonnegative least squares from normal equations: minimise x'Gx/2 - r'x over x >= 0, one r per row of R.
// This file holds what the methods share: G in the layout they want, the gradient y = Gx - r, how large a
// negative multiplier must be to be more than rounding, and the factor of a block of G. The conditions are y
// >= 0, x >= 0, x'y = 0.
#pragma once

#include <cmath>
#include <limits>

#include "common.hpp"

namespace symclust {

// G with rows padded by zeros to whole vectors, so that loops over a row have no tail.
//
// A diagonal entry that is zero makes its row zero in a positive semidefinite G. Such a variable is pinned:
// its row, column and right-hand side read as zero, so that it never enters. (If its r is positive, the
// problem is unbounded.)
template <typename T>
struct NnlsProblem {
    static constexpr ptrdiff_t lanes = 8;

    ptrdiff_t k, stride;
    std::vector<T> G, root,
        inverse;  // of the diagonal: its square root, a variable's natural scale; its reciprocal
    T tolerance, dependence;

    NnlsProblem(const T* source, ptrdiff_t size)
        : k(size), stride((size + lanes - 1) / lanes * lanes), G(k * stride, T(0)), root(stride, T(0)),
          inverse(stride, T(0)) {
        for (ptrdiff_t j = 0; j < k; ++j) {
            const T diagonal = source[j * k + j];
            root[j] = diagonal > 0 ? std::sqrt(diagonal) : T(0);
            inverse[j] = diagonal > 0 ? 1 / diagonal : T(0);
        }
        for (ptrdiff_t i = 0; i < k; ++i)
            for (ptrdiff_t j = 0; j < k; ++j)
                if (root[i] > 0 && root[j] > 0) G[i * stride + j] = source[i * k + j];
        // Cholesky's backward error grows with the size of the block: about 3m units of rounding.
        tolerance = std::numeric_limits<T>::epsilon() * std::max<T>(32, T(4 * k));
        dependence = std::numeric_limits<T>::epsilon() * std::max<T>(8, T(k));
    }

    const T* row(ptrdiff_t j) const { return G.data() + j * stride; }

    void load(const T* source, T* r) const {
        for (ptrdiff_t j = 0; j < k; ++j) r[j] = root[j] > 0 ? source[j] : T(0);
    }
};

// y = Gx - r for x with m entries at the positions F: O(mk).
template <typename T>
void nnls_gradient(const NnlsProblem<T>& problem, const T* SYMCLUST_RESTRICT r, const int* F, const T* x,
                   int m, T* SYMCLUST_RESTRICT y) {
    constexpr int lanes = NnlsProblem<T>::lanes;
    const T* G = problem.G.data();
    for (ptrdiff_t block = 0; block < problem.stride; block += lanes) {
        T sum[lanes];
        for (int c = 0; c < lanes; ++c) sum[c] = -r[block + c];
        for (int i = 0; i < m; ++i) {
            const T* g = G + F[i] * problem.stride + block;
            for (int c = 0; c < lanes; ++c) sum[c] += x[i] * g[c];
        }
        for (int c = 0; c < lanes; ++c) y[block + c] = sum[c];
    }
}

// What rounding in y_j is measured against: |G_jl| <= root_j root_l, hence |y_j| errs by eps (|r_j| + root_j
// size).
template <typename T>
T nnls_size(const NnlsProblem<T>& problem, const int* F, const T* x, int m) {
    T size = 0;
    for (int i = 0; i < m; ++i) size += problem.root[F[i]] * std::abs(x[i]);
    return size;
}

template <typename T>
T nnls_lowest(const NnlsProblem<T>& problem, T r, T root, T size) {
    return -problem.tolerance * (std::abs(r) + root * size);
}

// Cholesky factor of the passive block G_FF, kept until another block is asked for.
//
// G_FF = U'U, U upper triangular and stored by rows, so that every inner loop runs along memory.
//
// A variable whose pivot is rounding (it depends on those before it) is dropped: its row of U and its
// reciprocal pivot are zero, and every solution has a zero there: a basic solution. The pivot is compared
// with the variable's own diagonal entry, which makes the decision independent of how variables are scaled.
template <typename T>
class NnlsCholesky {
public:
    explicit NnlsCholesky(const NnlsProblem<T>& problem)
        : problem_(problem), members_(problem.k), U_(problem.k * problem.stride), reciprocal_(problem.k) {}

    // Consecutive rows often share their passive set: the factor is then reused. Since it depends on G and F
    // alone, this changes no bit.
    void factor(const int* F, int m) {
        if (m == size_ && std::equal(F, F + m, members_.begin())) return;
        size_ = m;
        std::copy(F, F + m, members_.begin());
        for (int i = 0; i < m; ++i) factor_row(F, i, m);
    }

    bool kept(int i) const { return reciprocal_[i] > 0; }

    // x <- G_FF^-1 x.
    void solve(T* SYMCLUST_RESTRICT x) const {
        const int m = size_;
        for (int i = 0; i < m; ++i) {
            const T* u = row(i);
            x[i] *= reciprocal_[i];
            for (int c = i + 1; c < m; ++c) x[c] -= x[i] * u[c];
        }
        for (int i = m - 1; i >= 0; --i)
            x[i] = (x[i] - dot(row(i) + i + 1, x + i + 1, m - i - 1)) * reciprocal_[i];
    }

private:
    const NnlsProblem<T>& problem_;
    std::vector<int> members_;
    std::vector<T> U_, reciprocal_;
    int size_ = 0;

    const T* row(int i) const { return U_.data() + i * problem_.stride; }

    void factor_row(const int* F, int i, int m) {
        T* SYMCLUST_RESTRICT u = U_.data() + i * problem_.stride;
        const T* g = problem_.row(F[i]);
        for (int c = i; c < m; ++c) u[c] = g[F[c]];
        for (int l = 0; l < i; ++l) {
            const T* above = row(l);
            const T factor = above[i];
            for (int c = i; c < m; ++c) u[c] -= factor * above[c];
        }
        // Written so that a NaN is dropped too.
        const bool independent = u[i] > problem_.dependence * g[F[i]];
        reciprocal_[i] = independent ? 1 / std::sqrt(u[i]) : T(0);
        for (int c = i; c < m; ++c) u[c] *= reciprocal_[i];
    }

    // Four fixed partial sums: the order of summation is part of the source, so every thread computes the
    // same bits.
    static T dot(const T* a, const T* b, int count) {
        T sum[4] = {0, 0, 0, 0};
        int c = 0;
        for (; c + 4 <= count; c += 4)
            for (int lane = 0; lane < 4; ++lane) sum[lane] += a[c + lane] * b[c + lane];
        for (; c < count; ++c) sum[0] += a[c] * b[c];
        return (sum[0] + sum[1]) + (sum[2] + sum[3]);
    }
};

}  // namespace symclust
