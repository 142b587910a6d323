// The one-variable problems that coordinate descent solves exactly.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace symclust {

// Largest root of x³ + a x + b by Newton's method from a point right of it, where the cubic is convex and the
// iterates fall monotonically. Returns 0 when the iterates leave the convex part, which happens only if there
// is no such root.
inline double largest_cubic_root(double a, double b, double x) {
    for (int step = 0; step < 200; ++step) {
        const double slope = 3.0 * x * x + a;
        if (slope <= 0.0) return 0.0;
        const double next = x - ((x * x + a) * x + b) / slope;
        if (next <= 0.0) return 0.0;
        // The error after a step is about the square of the step: a relative step of 1e-9 leaves rounding
        // only.
        if (x - next <= 1e-9 * x) return next;
        x = next;
    }
    return x;
}

// argmin over x >= 0 of x⁴/4 + a x²/2 + b x. `guess` is a value near the answer (or 0); it saves steps, not
// accuracy.
inline double quartic_minimiser(double a, double b, double guess) {
    if (b < 0.0) {  // the derivative x³ + a x + b has exactly one positive root
        const double slope = 3.0 * guess * guess + a;
        if (guess > 0.0 && slope > 0.0) {
            const double next = guess - ((guess * guess + a) * guess + b) / slope;  // lands right of the root
            if (std::abs(next - guess) <= 1e-9 * guess) return next;
            if (next > 0.0 && next < 4.0 * guess) return largest_cubic_root(a, b, next);
        }
        const double c = std::cbrt(-b);
        return largest_cubic_root(a, b, a >= 0.0 ? c : c + std::sqrt(-a));
    }
    if (a >= 0.0) return 0.0;
    // Zero is a local minimiser here; a second one, if any, lies left of sqrt(-a).
    const double x = largest_cubic_root(a, b, std::sqrt(-a));
    const double square = x * x;
    return square * (0.25 * square + 0.5 * a) + b * x < 0.0 ? x : 0.0;
}

// argmin over x >= 0 of a x²/2 + b x for a >= 0; where the problem is flat and empty of information, x stays.
// `a` is a diagonal entry of G less the row itself, so what is left of an empty column is not zero but the
// rounding of that difference: up to `flat` it counts as zero, or the quotient of two roundings would become
// an entry of H.
inline double quadratic_minimiser(double a, double b, double x, double flat) {
    return a > flat ? std::max(0.0, -b / a) : x;
}

// See quadratic_minimiser: the rounding of differences of a Gram matrix with these diagonal entries.
inline double rounding_of_gram(const double* G, int k) {
    double largest = 0.0;
    for (int l = 0; l < k; ++l) largest = std::max(largest, G[ptrdiff_t(l) * (k + 1)]);
    return 1e-14 * largest;
}

}  // namespace symclust
