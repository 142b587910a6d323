// The problem of one row h of H, all others fixed:
//
//   full          ‖h‖⁴ − 2 a ‖h‖² + 2 hᵀGh − 4 bᵀh     (a the diagonal entry of A)
//   off-diagonal                    2 hᵀGh − 4 bᵀh
//
// with G = Σ hⱼhⱼᵀ and b = Σ aᵢⱼ hⱼ over the other rows j. Coordinates are minimised exactly, one after the
// other.
//
// Everything is in double precision, whatever H is stored in, and padded with zeros to a multiple of four
// columns. The padded width is a template parameter for the common cases, so that the short loops over a row
// unroll; 0 means any width.
#pragma once

#include "common.hpp"
#include "quartic.hpp"

namespace symclust {

constexpr int padded(int k) { return (k + 3) / 4 * 4; }

// A row counts as solved when going over it once more has brought no more than this share of the first time.
constexpr double solved = 1e-2;

struct RowChange {
    double decrease = 0.0;          // of the objective
    double squared_gradient = 0.0;  // norm of the projected gradient before the row changed
};

struct RowTask {
    double* h;     // the row, changed in place (padded)
    double* b;     // Σ aᵢⱼ hⱼ over all j including i (padded); changed
    double* G;     // padded k × k, including h hᵀ on entry and the new h hᵀ on exit
    double* Gh;    // scratch (padded)
    int* support;  // scratch: the columns where h is nonzero
    double diagonal;
    double flat;  // curvature that is nothing but rounding
    int k, ld, cycles;
    bool single;  // round new values to single precision
};

using RowUpdate = RowChange (*)(const RowTask&);

inline int find_support(const double* h, int k, int* support) {
    int size = 0;
    for (int l = 0; l < k; ++l) {
        support[size] = l;
        size += h[l] != 0.0;
    }
    return size;
}

// G += sign * h hᵀ, touching only rows where h is nonzero: rows of H soon become sparse.
inline void add_outer(double* SYMCLUST_RESTRICT G, const double* SYMCLUST_RESTRICT h, const int* support,
                      int size, int ld, double sign) {
    for (int e = 0; e < size; ++e) {
        const double value = sign * h[support[e]];
        double* SYMCLUST_RESTRICT row = G + ptrdiff_t(support[e]) * ld;
#pragma omp simd
        for (int m = 0; m < ld; ++m) row[m] += value * h[m];
    }
}

template <bool Full, int Padded>
RowChange update_row(const RowTask& task) {
    const int ld = Padded ? Padded : task.ld, k = task.k;
    double* SYMCLUST_RESTRICT h = task.h;
    double* SYMCLUST_RESTRICT b = task.b;
    double* SYMCLUST_RESTRICT Gh = task.Gh;
    double* SYMCLUST_RESTRICT G = task.G;
    const double diagonal = task.diagonal;

    int size = find_support(h, k, task.support);
    add_outer(G, h, task.support, size, ld, -1.0);
    std::fill(Gh, Gh + ld, 0.0);
    for (int e = 0; e < size; ++e) {
        const double* SYMCLUST_RESTRICT row = G + ptrdiff_t(task.support[e]) * ld;
        const double value = h[task.support[e]];
#pragma omp simd
        for (int m = 0; m < ld; ++m) Gh[m] += value * row[m];
    }
    double square = 0.0;
#pragma omp simd reduction(+ : square)
    for (int l = 0; l < ld; ++l) square += h[l] * h[l];

    RowChange change;
    const double own = Full ? square - diagonal : 0.0;
    double squared = 0.0;
#pragma omp simd reduction(+ : squared)
    for (int l = 0; l < ld; ++l) {
        b[l] -= diagonal * h[l];
        const double slope = Gh[l] + own * h[l] - b[l];
        const double projected = h[l] > 0.0 ? slope : std::min(slope, 0.0);
        squared += projected * projected;
    }
    change.squared_gradient = 16.0 * squared;

    double first = 0.0;
    for (int cycle = 0; cycle < task.cycles; ++cycle) {
        const double before = change.decrease;
        for (int l = 0; l < k; ++l) {
            const double* SYMCLUST_RESTRICT row = G + ptrdiff_t(l) * ld;
            const double x = h[l], rest = row[l];
            const double slope = Gh[l] - x * rest - b[l];
            const double curvature = Full ? square - x * x - diagonal + rest : rest;
            if (x == 0.0 && slope >= 0.0 && curvature >= 0.0) continue;
            double next = Full ? quartic_minimiser(curvature, slope, x)
                               : quadratic_minimiser(curvature, slope, x, task.flat);
            if (task.single) next = float(next);
            const double step = next - x, sum = next + x;
            if (step == 0.0) continue;
            const double fourth = Full ? 0.25 * sum * (next * next + x * x) : 0.0;
            change.decrease -= 4.0 * step * (fourth + 0.5 * curvature * sum + slope);
            square += step * sum;
            h[l] = next;
#pragma omp simd
            for (int m = 0; m < ld; ++m) Gh[m] += step * row[m];
        }
        const double gain = change.decrease - before;
        if (cycle == 0) first = gain;
        if (gain <= solved * first) break;
    }
    size = find_support(h, k, task.support);
    add_outer(G, h, task.support, size, ld, 1.0);
    return change;
}

template <bool Full>
RowUpdate choose_update(int k) {
    switch (padded(k)) {
        case 4: return update_row<Full, 4>;
        case 8: return update_row<Full, 8>;
        case 12: return update_row<Full, 12>;
        case 16: return update_row<Full, 16>;
        case 20: return update_row<Full, 20>;
        case 24: return update_row<Full, 24>;
        case 32: return update_row<Full, 32>;
        case 40: return update_row<Full, 40>;
        case 64: return update_row<Full, 64>;
        default: return update_row<Full, 0>;
    }
}

// Buffers for the rows of several starts that lie side by side, and the Gram matrix of each.
template <typename T>
class RowWorker {
public:
    RowWorker(bool full, int k, int starts, int cycles)
        : k(k), starts(starts), ld(padded(k)), square(ptrdiff_t(ld) * ld), cycles(cycles),
          update(full ? choose_update<true>(k) : choose_update<false>(k)), h(ld), b(ld), Gh(ld),
          support(ld + 1), G(square * starts), flat(starts) {}

    // Take the Gram matrices (starts × k × k), each entry plus `offset`.
    void load(const double* source, double offset) {
        for (int s = 0; s < starts; ++s) {
            flat[s] = rounding_of_gram(source + ptrdiff_t(s) * k * k, k);
            for (int l = 0; l < k; ++l)
                for (int m = 0; m < k; ++m)
                    G[s * square + l * ld + m] = source[(ptrdiff_t(s) * k + l) * k + m] + offset;
        }
    }

    double gram(int s, int l, int m) const { return G[s * square + l * ld + m]; }

    RowChange run(int s, T* row, const T* product, double diagonal) {
        return run_with(G.data() + s * square, s, row, product, diagonal);
    }

    // The same for a row that ignores others: the Gram matrix it sees lacks them. `other(e)` is row e of
    // those, of start s.
    template <typename Other>
    RowChange run_without(int s, T* row, const T* product, double diagonal, ptrdiff_t ignored,
                          const Other& other) {
        double* whole = G.data() + s * square;
        seen.assign(whole, whole + square);
        for (ptrdiff_t e = 0; e < ignored; ++e) add_row(seen.data(), other(e), -1.0);
        add_row(whole, row, -1.0);
        const RowChange change = run_with(seen.data(), s, row, product, diagonal);
        add_row(whole, row, 1.0);
        return change;
    }

private:
    int k, starts, ld;
    ptrdiff_t square;
    int cycles;
    RowUpdate update;
    std::vector<double> h, b, Gh;
    std::vector<double> seen, other_row;  // scratch for rows that ignore others
    std::vector<int> support;
    std::vector<double> G;
    std::vector<double> flat;

    RowChange run_with(double* gram, int s, T* row, const T* product, double diagonal) {
        for (int l = 0; l < k; ++l) {
            h[l] = row[l];
            b[l] = product[l];
        }
        std::fill(b.begin() + k, b.end(), 0.0);
        const RowChange change = update({h.data(), b.data(), gram, Gh.data(), support.data(), diagonal,
                                         flat[s], k, ld, cycles, sizeof(T) == sizeof(float)});
        for (int l = 0; l < k; ++l) row[l] = T(h[l]);
        return change;
    }

    void add_row(double* gram, const T* row, double sign) {
        other_row.assign(ld, 0.0);
        std::copy(row, row + k, other_row.begin());
        const int size = find_support(other_row.data(), k, support.data());
        add_outer(gram, other_row.data(), support.data(), size, ld, sign);
    }
};

}  // namespace symclust
