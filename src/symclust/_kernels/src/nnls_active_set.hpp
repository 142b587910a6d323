// Active set method (Lawson and Hanson 1974, from normal equations) on one row, for semidefinite G.
#pragma once

#include "nnls_cholesky.hpp"
#include "nnls_hals.hpp"

namespace symclust {

// x is feasible throughout and the objective falls with every step, so no passive set returns. One variable enters at
// a time, placed last in F: if its pivot is rounding, it depends on the others, and along the direction that keeps Gx
// the objective falls as a straight line until a variable reaches zero, or without end.
template <typename T>
class NnlsActiveSet {
public:
    NnlsActiveSet(const NnlsProblem<T>& problem, NnlsCholesky<T>& factor)
        : problem_(problem), factor_(factor), refine_(problem), F_(problem.k), x_(problem.k), target_(problem.k),
          direction_(problem.k), y_(problem.stride), barred_(problem.k) {}

    // Solves from the support of x, in place. After `max_steps` entries (rounding may make the method wander)
    // coordinate descent finishes.
    void solve(const T* r, T* x, std::ptrdiff_t max_steps) {
        start(r, x);
        bool done = false;
        for (std::ptrdiff_t step = 0; step < max_steps && !done; ++step) {
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

    // Newton direction to the minimiser on the passive set; returns the first variable to reach zero on the way, or -1.
    int aim(const T* r) {
        for (int i = 0; i < m_; ++i) target_[i] = r[F_[i]];
        factor_.solve(target_.data());
        for (int i = 0; i < m_; ++i) direction_[i] = target_[i] - x_[i];
        return first_to_zero([this](int i) { return target_[i] <= 0; });
    }

    // The last variable depends on the others: raise it while they keep Gx as it is. A fall that is rounding ends
    // nothing: it would carry x as far as 1/eps.
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
            if (x_[i] > 0)
                ++count;
            else
                barred_[F_[i]] = open;
        }
        m_ = count;
    }

    // Coordinate descent until it moves by rounding only; the bound makes an unbounded problem end as well.
    void refine(const T* r, T* x) {
        for (int sweep = 0; sweep < 1000; ++sweep) {
            const T change = refine_.sweep(r, x, 1);
            T size = 0;
            for (std::ptrdiff_t j = 0; j < problem_.k; ++j) size += problem_.root[j] * x[j];
            if (!(change > std::numeric_limits<T>::epsilon() * size)) break;
        }
    }
};

}  // namespace symclust
