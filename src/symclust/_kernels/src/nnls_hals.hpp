// Cyclic coordinate descent (HALS) on one row: x_l <- max(0, x_l + (r_l - (Gx)_l) / G_ll).
#pragma once

#include "nnls_problem.hpp"

namespace symclust {

template <typename T>
class NnlsHals {
public:
    explicit NnlsHals(const NnlsProblem<T>& problem)
        : problem_(problem), gradient_(problem.stride), support_(problem.k), values_(problem.k) {}

    // One or more sweeps over x in place. The gradient is carried along, so a coordinate that stays where it is costs
    // O(1) and only those that move cost O(k). A pinned coordinate (zero diagonal) keeps its value unless r_l < 0,
    // where 0 is best: it never moves away from zero. Returns the largest change of the last sweep, each in the scale
    // of its variable.
    T sweep(const T* r, T* x, int n_sweeps) {
        start(r, x);
        T largest = 0;
        for (int s = 0; s < n_sweeps; ++s) {
            largest = 0;
            for (std::ptrdiff_t l = 0; l < problem_.k; ++l) largest = std::max(largest, update(l, r, x));
        }
        return largest;
    }

private:
    const NnlsProblem<T>& problem_;
    std::vector<T> gradient_;
    std::vector<int> support_;
    std::vector<T> values_;

    void start(const T* r, T* x) {
        int m = 0;
        for (std::ptrdiff_t l = 0; l < problem_.k; ++l) {
            x[l] = std::max(T(0), x[l]);
            support_[m] = static_cast<int>(l);
            values_[m] = x[l];
            m += x[l] > 0;
        }
        nnls_gradient(problem_, r, support_.data(), values_.data(), m, gradient_.data());
    }

    T update(std::ptrdiff_t l, const T* r, T* SYMCLUST_RESTRICT x) {
        const T root = problem_.root[l];
        if (root == 0) {
            if (r[l] < 0) x[l] = 0;
            return 0;
        }
        const T next = std::max(T(0), x[l] - gradient_[l] * problem_.inverse[l]);
        const T change = next - x[l];
        if (change == 0) return 0;
        x[l] = next;
        const T* g = problem_.row(l);
        T* SYMCLUST_RESTRICT y = gradient_.data();
        for (std::ptrdiff_t j = 0; j < problem_.stride; ++j) y[j] += change * g[j];
        return root * std::abs(change);
    }
};

}  // namespace symclust
