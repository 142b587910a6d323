// Nonnegative least squares with two columns, without branches (thesis, Algorithms 4 and 5).
#pragma once

#include <cmath>
#include <limits>

namespace symclust {

// Minimises x'Gx/2 - r'x over x >= 0 for a 2 x 2 matrix G = (a b; b c).
//
// In units of the columns' lengths, z = x |column| and rho = r / |column|, G is (1 q; q 1). If the minimum
// without bounds is nonnegative it is the answer, otherwise the better of the two columns alone: the one with
// the larger rho, if that is positive. Columns that are parallel up to rounding leave the choice to the
// single ones, which loses at most rounding. All cases are computed and the answer is selected, so that a
// loop over rows has no branches to guess.
struct TwoColumns {
    double a, b, c, shrink1, shrink2, q, inverse;

    TwoColumns(double a, double b, double c, double dependence)
        : a(a), b(b), c(c), shrink1(a > 0 ? 1 / std::sqrt(a) : 0), shrink2(c > 0 ? 1 / std::sqrt(c) : 0),
          q(b * shrink1 * shrink2) {
        const double determinant = 1 - q * q;
        const bool independent = a > 0 && c > 0 && determinant > dependence;
        inverse = independent ? 1 / determinant : 0;
    }

    void solve(double r1, double r2, double& x1, double& x2) const {
        const double rho1 = r1 * shrink1, rho2 = r2 * shrink2;
        const double z1 = rho1 - q * rho2, z2 = rho2 - q * rho1;
        const bool both = (inverse > 0) & (z1 >= 0) & (z2 >= 0);  // lines 6 and 7 of Algorithm 5
        const bool first = rho1 >= rho2;                          // line 9
        const double alone1 = rho1 > 0 ? rho1 : 0, alone2 = rho2 > 0 ? rho2 : 0;
        x1 = shrink1 * (both ? z1 * inverse : (first ? alone1 : 0));
        x2 = shrink2 * (both ? z2 * inverse : (first ? 0 : alone2));
    }
};

// The same for S problems at once: without a branch in any loop, so that they are vectorised. What does not
// count is divided by infinity.
template <int S>
void solve_two_columns(const double* a, const double* b, const double* c, double dependence,
                       const double* r1, const double* r2, double* x1, double* x2) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    double shrink1[S], shrink2[S], q[S], inverse[S];
    for (int s = 0; s < S; ++s) shrink1[s] = 1 / std::sqrt(a[s] > 0 ? a[s] : infinity);
    for (int s = 0; s < S; ++s) shrink2[s] = 1 / std::sqrt(c[s] > 0 ? c[s] : infinity);
    for (int s = 0; s < S; ++s) {
        q[s] = b[s] * shrink1[s] * shrink2[s];
        const double determinant = 1 - q[s] * q[s], known = determinant > dependence ? determinant : infinity;
        const double first = a[s] > 0 ? known : infinity;
        inverse[s] = 1 / (c[s] > 0 ? first : infinity);
    }
    for (int s = 0; s < S; ++s) {
        const double rho1 = r1[s] * shrink1[s], rho2 = r2[s] * shrink2[s];
        const double z1 = rho1 - q[s] * rho2, z2 = rho2 - q[s] * rho1;
        const double one = inverse[s] > 0 ? 1.0 : 0.0, two = z1 >= 0 ? one : 0.0, both = z2 >= 0 ? two : 0.0;
        const double alone1 = rho1 > 0 ? rho1 : 0.0, alone2 = rho2 > 0 ? rho2 : 0.0;
        const double first = rho1 >= rho2 ? 1.0 : 0.0;
        x1[s] = shrink1[s] * (both * (z1 * inverse[s]) + (1 - both) * (first * alone1));
        x2[s] = shrink2[s] * (both * (z2 * inverse[s]) + (1 - both) * ((1 - first) * alone2));
    }
}

template <typename T>
constexpr double two_columns_dependence = 8 * double(std::numeric_limits<T>::epsilon());

}  // namespace symclust
