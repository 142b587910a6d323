// Block principal pivoting (Kim and Park 2011) on one row: exchange all infeasible variables at once.
#pragma once

#include "nnls_active_set.hpp"

namespace symclust {

template <typename T>
class NnlsBlockPivoting {
public:
    explicit NnlsBlockPivoting(const NnlsProblem<T>& problem)
        : problem_(problem), factor_(problem), active_set_(problem, factor_), sweeps_(problem), F_(problem.k),
          next_(problem.k), guess_(problem.k), x_(problem.k), y_(problem.stride), kept_(problem.k) {}

    // Solves from the support of `start` into `out` (which may be the same). Every exchange costs O(|F|^3 + |F| k).
    // After `max_exchanges`, or when dependent variables make an exchange change nothing, the active set method
    // takes over, which needs no assumption on G.
    void solve(const T* r, const T* start, T* out, int max_exchanges, std::ptrdiff_t max_steps) {
        support(start);
        if (m_ == 0) guess_support(r);
        std::ptrdiff_t fewest = problem_.k + 1;
        int chances = full_exchanges;
        for (int exchange = 0;; ++exchange) {
            const std::ptrdiff_t infeasible = solve_passive(r);
            if (infeasible > 0 && exchange < max_exchanges) {
                // Full exchange while the number of infeasible variables falls, and three times more when it does
                // not; then Murty's rule, the last infeasible variable alone, which cannot cycle.
                if (infeasible < fewest) {
                    fewest = infeasible;
                    chances = full_exchanges;
                } else {
                    --chances;
                }
                if (exchange_variables(r, chances >= 0)) continue;
            }
            write(out);
            if (infeasible > 0) active_set_.solve(r, out, max_steps);
            return;
        }
    }

private:
    static constexpr int full_exchanges = 3;

    const NnlsProblem<T>& problem_;
    NnlsCholesky<T> factor_;
    NnlsActiveSet<T> active_set_;
    NnlsHals<T> sweeps_;
    std::vector<int> F_, next_;
    std::vector<T> guess_, x_, y_;
    std::vector<char> kept_;
    int m_ = 0;
    T size_ = 0;

    void support(const T* x) {
        int m = 0;
        for (int j = 0; j < problem_.k; ++j) {
            F_[m] = j;
            m += x[j] > 0;
        }
        m_ = m;
    }

    // Without a start, the first full exchange would factor a block of all r_j > 0. Three sweeps of coordinate descent
    // cost less and mostly find the support.
    void guess_support(const T* r) {
        std::fill(guess_.begin(), guess_.end(), T(0));
        sweeps_.sweep(r, guess_.data(), 3);
        support(guess_.data());
    }

    // Solves on F and returns how many variables are infeasible. A passive variable's place in y gets 0 if x is
    // feasible there and minus infinity if not, so that one comparison with the tolerance serves both kinds.
    std::ptrdiff_t solve_passive(const T* r) {
        factor_.factor(F_.data(), m_);
        for (int i = 0; i < m_; ++i) x_[i] = r[F_[i]];
        factor_.solve(x_.data());
        nnls_gradient(problem_, r, F_.data(), x_.data(), m_, y_.data());
        size_ = nnls_size(problem_, F_.data(), x_.data(), m_);
        for (int i = 0; i < m_; ++i)
            if (factor_.kept(i)) y_[F_[i]] = x_[i] < 0 ? -std::numeric_limits<T>::infinity() : T(0);
        return count_infeasible(r);
    }

    std::ptrdiff_t count_infeasible(const T* SYMCLUST_RESTRICT r) const {
        const T* SYMCLUST_RESTRICT y = y_.data();
        const T* SYMCLUST_RESTRICT root = problem_.root.data();
        const T size = size_;
        int count = 0;
        for (std::ptrdiff_t j = 0; j < problem_.stride; ++j)
            count += y[j] < nnls_lowest(problem_, r[j], root[j], size);
        return count;
    }

    // The next passive set, in increasing order; false if it is the present one. Variables that Cholesky dropped
    // count as not passive.
    bool exchange_variables(const T* r, bool all) {
        std::fill(kept_.begin(), kept_.end(), char(0));
        for (int i = 0; i < m_; ++i) kept_[F_[i]] = factor_.kept(i);
        int last = static_cast<int>(problem_.k) - 1;
        while (!infeasible(r, last)) --last;
        int m = 0;
        for (int j = 0; j < problem_.k; ++j) {
            const bool exchanged = infeasible(r, j) && (all || j == last);
            next_[m] = j;
            m += (kept_[j] != 0) != exchanged;
        }
        const bool changed = m != m_ || !std::equal(F_.begin(), F_.begin() + m, next_.begin());
        F_.swap(next_);
        m_ = m;
        return changed;
    }

    bool infeasible(const T* r, int j) const { return y_[j] < nnls_lowest(problem_, r[j], problem_.root[j], size_); }

    void write(T* out) const {
        std::fill(out, out + problem_.k, T(0));
        for (int i = 0; i < m_; ++i) out[F_[i]] = std::max(T(0), x_[i]);
    }
};

}  // namespace symclust
