// Cyclic coordinate descent on one column of H, entry by entry. Sequential: the order of the entries is the
// method. Interrupted, it leaves H, x, G and the change of the objective as they are after one of the
// entries: all belong together.
#pragma once

#include "common.hpp"
#include "quartic.hpp"

namespace symclust {

// The entries of one column. `x` is the column itself, contiguous, so that products with rows of A read it in
// order.
template <typename T>
struct Column {
    const T* diagonal;
    T* H;
    T* x;
    double* G;  // k × k, plus whatever the objective adds to every entry
    int k, l;
    bool full;
    double flat;  // curvature that is nothing but rounding
    IgnoredPairs ignored;
    double* change;  // decrease of the objective, squared norm of the projected gradient

    // Minimise over entry i given Σ aᵢⱼ xⱼ over all j.
    void descend(ptrdiff_t i, double product) const {
        T* h = H + i * k;
        double* g = G + ptrdiff_t(l) * k;
        const double old = x[i], a = diagonal[i];
        double cross = 0.0, others = 0.0;
        for (int m = 0; m < k; ++m) {
            const double value = h[m];
            cross += g[m] * value;
            others += value * value;
        }
        others -= old * old;
        // Without row i, G loses hᵢhᵢᵀ, and hⱼhⱼᵀ for every ignored pair.
        double rest = g[l] - old * old, slope = cross - g[l] * old - old * others - (product - a * old);
        for (const auto* j = ignored.begin(i); j != ignored.end(i); ++j) {
            const double value = x[*j];
            rest -= value * value;
            slope -= value * (dot(h, H + *j * k, k) - value * old);
        }
        const double curvature = full ? others - a + rest : rest;
        const double gradient = slope + curvature * old + (full ? old * old * old : 0.0);
        const double projected = old > 0.0 ? gradient : std::min(gradient, 0.0);
        change[1] += 16.0 * projected * projected;
        const T next = T(full ? quartic_minimiser(curvature, slope, old)
                              : quadratic_minimiser(curvature, slope, old, flat));
        const double now = next, step = now - old, sum = now + old;
        if (step == 0.0) return;
        const double fourth = full ? 0.25 * sum * (now * now + old * old) : 0.0;
        change[0] -= 4.0 * step * (fourth + 0.5 * curvature * sum + slope);
        x[i] = h[l] = next;
        for (int m = 0; m < k; ++m) {
            const double moved = m == l ? step * sum : step * double(h[m]);
            g[m] += moved;
            if (m != l) G[ptrdiff_t(m) * k + l] += moved;
        }
    }
};

}  // namespace symclust
