// Cholesky factor of the passive block G_FF, kept until another block is asked for.
#pragma once

#include <cstring>

#include "nnls_problem.hpp"

namespace symclust {

// G_FF = U'U, U upper triangular and stored by rows, so that every inner loop runs along memory.
//
// A variable whose pivot is rounding (it depends on those before it) is dropped: its row of U and its reciprocal
// pivot are zero, and every solution has a zero there: a basic solution. The pivot is compared with the variable's
// own diagonal entry, which makes the decision independent of how variables are scaled.
template <typename T>
class NnlsCholesky {
public:
    explicit NnlsCholesky(const NnlsProblem<T>& problem)
        : problem_(problem), members_(problem.k), U_(problem.k * problem.stride), reciprocal_(problem.k) {}

    // Consecutive rows often share their passive set: the factor is then reused. Since it depends on G and F alone,
    // this changes no bit.
    void factor(const int* F, int m) {
        if (m == size_ && std::memcmp(F, members_.data(), sizeof(int) * m) == 0) return;
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
        for (int i = m - 1; i >= 0; --i) x[i] = (x[i] - dot(row(i) + i + 1, x + i + 1, m - i - 1)) * reciprocal_[i];
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

    // Four fixed partial sums: the order of summation is part of the source, so every thread computes the same bits.
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
