// Three methods for nonnegative least squares on one row: coordinate descent, active sets, block principal
// pivoting. Each falls back on the one before it.
#pragma once

#include "nnls_problem.hpp"

namespace symclust {

// Cyclic coordinate descent (HALS): x_l <- max(0, x_l + (r_l - (Gx)_l) / G_ll).
template <typename T>
class NnlsHals {
public:
    explicit NnlsHals(const NnlsProblem<T>& problem)
        : problem_(problem), gradient_(problem.stride), support_(problem.k), values_(problem.k) {}

    // One or more sweeps over x in place. The gradient is carried along, so a coordinate that stays where it
    // is costs O(1) and only those that move cost O(k). A pinned coordinate (zero diagonal) keeps its value
    // unless r_l < 0, where 0 is best: it never moves away from zero. Returns the largest change of the last
    // sweep, each in the scale of its variable.
    T sweep(const T* r, T* x, int n_sweeps) {
        start(r, x);
        T largest = 0;
        for (int s = 0; s < n_sweeps; ++s) {
            largest = 0;
            for (ptrdiff_t l = 0; l < problem_.k; ++l) largest = std::max(largest, update(l, r, x));
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
        for (ptrdiff_t l = 0; l < problem_.k; ++l) {
            x[l] = std::max(T(0), x[l]);
            support_[m] = int(l);
            values_[m] = x[l];
            m += x[l] > 0;
        }
        nnls_gradient(problem_, r, support_.data(), values_.data(), m, gradient_.data());
    }

    T update(ptrdiff_t l, const T* r, T* SYMCLUST_RESTRICT x) {
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
        for (ptrdiff_t j = 0; j < problem_.stride; ++j) y[j] += change * g[j];
        return root * std::abs(change);
    }
};

// Active set method (Lawson and Hanson 1974, from normal equations), for semidefinite G.
//
// x is feasible throughout and the objective falls with every step, so no passive set returns. One variable
// enters at a time, placed last in F: if its pivot is rounding, it depends on the others, and along the
// direction that keeps Gx the objective falls as a straight line until a variable reaches zero, or without
// end.
template <typename T>
class NnlsActiveSet {
public:
    NnlsActiveSet(const NnlsProblem<T>& problem, NnlsCholesky<T>& factor)
        : problem_(problem), factor_(factor), refine_(problem), F_(problem.k), x_(problem.k),
          target_(problem.k), direction_(problem.k), y_(problem.stride), barred_(problem.k) {}

    // Solves from the support of x, in place. After `max_steps` entries (rounding may make the method wander)
    // coordinate descent finishes.
    void solve(const T* r, T* x, ptrdiff_t max_steps) {
        start(r, x);
        bool done = false;
        for (ptrdiff_t step = 0; step < max_steps && !done; ++step) {
            pace_(problem_.k * problem_.k);
            const int entering = most_negative(r);
            done = entering < 0;
            if (!done) enter(r, entering);
        }
        std::fill(x, x + problem_.k, T(0));
        for (int i = 0; i < m_; ++i) x[F_[i]] = x_[i];
        if (!done) refine(r, x);
    }

private:
    enum class Outcome { moved, stalled, unbounded };
    enum Bar : char { open, until_progress, for_good, passive };

    const NnlsProblem<T>& problem_;
    NnlsCholesky<T>& factor_;
    NnlsHals<T> refine_;
    std::vector<int> F_;
    std::vector<T> x_, target_, direction_, y_;
    std::vector<char> barred_;
    int m_ = 0;
    Pace pace_;

    // The passive set of a given x, without variables that depend on others, and the best point on it.
    void start(const T* r, const T* x) {
        m_ = 0;
        std::fill(barred_.begin(), barred_.end(), char(open));
        for (int j = 0; j < problem_.k; ++j)
            if (x[j] > 0) push(j, x[j]);
        factor_.factor(F_.data(), m_);
        for (int i = 0; i < m_; ++i)
            if (!factor_.kept(i)) x_[i] = 0;
        remove_zeros();
        descend(r);
    }

    void push(int j, T value) {
        F_[m_] = j;
        x_[m_++] = value;
        barred_[j] = passive;
    }

    // Most negative multiplier in the scale of its variable, or -1.
    int most_negative(const T* r) {
        nnls_gradient(problem_, r, F_.data(), x_.data(), m_, y_.data());
        const T size = nnls_size(problem_, F_.data(), x_.data(), m_);
        int best = -1;
        T steepest = 0;
        for (int j = 0; j < problem_.k; ++j) {
            const T root = problem_.root[j];
            if (barred_[j] != open || !(y_[j] < nnls_lowest(problem_, r[j], root, size))) continue;
            const T slope = -y_[j] / root;
            if (slope > steepest) {
                steepest = slope;
                best = j;
            }
        }
        return best;
    }

    void enter(const T* r, int j) {
        push(j, T(0));
        const Outcome outcome = descend(r);
        if (outcome == Outcome::stalled) barred_[j] = until_progress;
        if (outcome == Outcome::unbounded) barred_[j] = for_good;
        if (outcome == Outcome::moved)
            for (char& bar : barred_)
                if (bar == until_progress) bar = open;
    }

    // Move to the minimiser on the passive set, dropping variables that reach zero on the way.
    Outcome descend(const T* r) {
        while (m_ > 0) {
            factor_.factor(F_.data(), m_);
            const bool flat = !factor_.kept(m_ - 1);
            const int blocking = flat ? slide() : aim(r);
            if (blocking < 0) return flat ? give_up() : arrive();
            const T length = length_to_zero(blocking);
            for (int i = 0; i < m_; ++i) x_[i] = std::max(T(0), x_[i] + length * direction_[i]);
            x_[blocking] = 0;
            remove_zeros();
            if (length == 0) return Outcome::stalled;
        }
        return Outcome::moved;
    }

    // Newton direction to the minimiser on the passive set; returns the first variable to reach zero on the
    // way, or -1.
    int aim(const T* r) {
        for (int i = 0; i < m_; ++i) target_[i] = r[F_[i]];
        factor_.solve(target_.data());
        for (int i = 0; i < m_; ++i) direction_[i] = target_[i] - x_[i];
        return first_to_zero([this](int i) { return target_[i] <= 0; });
    }

    // The last variable depends on the others: raise it while they keep Gx as it is. A fall that is rounding
    // ends nothing: it would carry x as far as 1/eps.
    int slide() {
        const T* g = problem_.row(F_[m_ - 1]);
        for (int i = 0; i < m_; ++i) direction_[i] = -g[F_[i]];
        factor_.solve(direction_.data());
        direction_[m_ - 1] = 1;
        const T rounding = problem_.tolerance * problem_.root[F_[m_ - 1]];
        return first_to_zero([=](int i) { return direction_[i] * problem_.root[F_[i]] < -rounding; });
    }

    template <typename Falls>
    int first_to_zero(Falls falls) const {
        int first = -1;
        for (int i = 0; i < m_; ++i)
            if (falls(i) && (first < 0 || length_to_zero(i) < length_to_zero(first))) first = i;
        return first;
    }

    T length_to_zero(int i) const { return x_[i] > 0 ? x_[i] / -direction_[i] : T(0); }

    Outcome arrive() {
        std::copy(target_.begin(), target_.begin() + m_, x_.begin());
        return Outcome::moved;
    }

    Outcome give_up() {
        x_[m_ - 1] = 0;
        remove_zeros();
        return Outcome::unbounded;
    }

    void remove_zeros() {
        int count = 0;
        for (int i = 0; i < m_; ++i) {
            F_[count] = F_[i];
            x_[count] = x_[i];
            if (x_[i] > 0) ++count;
            else barred_[F_[i]] = open;
        }
        m_ = count;
    }

    // Coordinate descent until it moves by rounding only; the bound makes an unbounded problem end as well.
    void refine(const T* r, T* x) {
        for (int sweep = 0; sweep < 1000; ++sweep) {
            const T change = refine_.sweep(r, x, 1);
            T size = 0;
            for (ptrdiff_t j = 0; j < problem_.k; ++j) size += problem_.root[j] * x[j];
            if (!(change > std::numeric_limits<T>::epsilon() * size)) break;
        }
    }
};

// Block principal pivoting (Kim and Park 2011): exchange all infeasible variables at once.
template <typename T>
class NnlsBlockPivoting {
public:
    explicit NnlsBlockPivoting(const NnlsProblem<T>& problem)
        : problem_(problem), factor_(problem), active_set_(problem, factor_), sweeps_(problem), F_(problem.k),
          next_(problem.k), guess_(problem.k), x_(problem.k), y_(problem.stride), kept_(problem.k) {}

    // Solves from the support of `start` into `out` (which may be the same). Every exchange costs O(|F|^3 +
    // |F| k). After `max_exchanges`, or when dependent variables make an exchange change nothing, the active
    // set method takes over, which needs no assumption on G.
    void solve(const T* r, const T* start, T* out, int max_exchanges, ptrdiff_t max_steps) {
        support(start);
        if (m_ == 0) guess_support(r);
        ptrdiff_t fewest = problem_.k + 1;
        int chances = full_exchanges;
        for (int exchange = 0;; ++exchange) {
            const ptrdiff_t infeasible = solve_passive(r);
            pace_(problem_.k * problem_.k);
            if (infeasible > 0 && exchange < max_exchanges) {
                // Full exchange while the number of infeasible variables falls, and three times more when it
                // does not; then Murty's rule, the last infeasible variable alone, which cannot cycle.
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
    Pace pace_;

    void support(const T* x) {
        int m = 0;
        for (int j = 0; j < problem_.k; ++j) {
            F_[m] = j;
            m += x[j] > 0;
        }
        m_ = m;
    }

    // Without a start, the first full exchange would factor a block of all r_j > 0. Three sweeps of
    // coordinate descent cost less and mostly find the support.
    void guess_support(const T* r) {
        std::fill(guess_.begin(), guess_.end(), T(0));
        sweeps_.sweep(r, guess_.data(), 3);
        support(guess_.data());
    }

    // Solves on F and returns how many variables are infeasible. A passive variable's place in y gets 0 if x
    // is feasible there and minus infinity if not, so that one comparison with the tolerance serves both
    // kinds.
    ptrdiff_t solve_passive(const T* r) {
        factor_.factor(F_.data(), m_);
        for (int i = 0; i < m_; ++i) x_[i] = r[F_[i]];
        factor_.solve(x_.data());
        nnls_gradient(problem_, r, F_.data(), x_.data(), m_, y_.data());
        size_ = nnls_size(problem_, F_.data(), x_.data(), m_);
        for (int i = 0; i < m_; ++i)
            if (factor_.kept(i)) y_[F_[i]] = x_[i] < 0 ? -std::numeric_limits<T>::infinity() : T(0);
        return count_infeasible(r);
    }

    ptrdiff_t count_infeasible(const T* SYMCLUST_RESTRICT r) const {
        const T* SYMCLUST_RESTRICT y = y_.data();
        const T* SYMCLUST_RESTRICT root = problem_.root.data();
        const T size = size_;
        int count = 0;
        for (ptrdiff_t j = 0; j < problem_.stride; ++j)
            count += y[j] < nnls_lowest(problem_, r[j], root[j], size);
        return count;
    }

    // The next passive set, in increasing order; false if it is the present one. Variables that Cholesky
    // dropped count as not passive.
    bool exchange_variables(const T* r, bool all) {
        std::fill(kept_.begin(), kept_.end(), char(0));
        for (int i = 0; i < m_; ++i) kept_[F_[i]] = factor_.kept(i);
        int last = int(problem_.k) - 1;
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

    bool infeasible(const T* r, int j) const {
        return y_[j] < nnls_lowest(problem_, r[j], problem_.root[j], size_);
    }

    void write(T* out) const {
        std::fill(out, out + problem_.k, T(0));
        for (int i = 0; i < m_; ++i) out[F_[i]] = std::max(T(0), x_[i]);
    }
};

}  // namespace symclust
