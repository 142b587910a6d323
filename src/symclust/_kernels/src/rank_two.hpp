// Rank two: least squares with two columns, and the whole loop of a rank-2 NMF, so that thousands of small
// ones cost what they compute and not what it takes to call them.
#pragma once

#include "common.hpp"
#include "helpers.hpp"
#include "two_columns.hpp"

namespace symclust {

// What a pass over rows adds up: the Gram matrix of its result, <result, right-hand sides>, and the squared
// norm of the projected gradient at the point the pass started from.
struct PassSums {
    double a = 0, b = 0, c = 0, explained = 0, gradient = 0;

    void add(const PassSums& other) {
        a += other.a;
        b += other.b;
        c += other.c;
        explained += other.explained;
        gradient += other.gradient;
    }
};

// A CSR matrix whose rows are cut into blocks. The cut depends on the matrix alone, and the sums of the
// blocks are added in order: the same bits on any number of threads.
template <typename T, typename I>
struct BlockedRows : Csr<T, I> {
    static constexpr ptrdiff_t block_cost = 1 << 15, most_blocks = 1024;

    std::vector<ptrdiff_t> borders;

    explicit BlockedRows(const Csr<T, I>& rows)
        : Csr<T, I>(rows), borders(balanced_rows(rows.indptr, rows.n, int(n_blocks()))) {}

    ptrdiff_t n_blocks() const {
        const ptrdiff_t cost = this->nonzeros() + this->n;
        return std::min(most_blocks, std::max<ptrdiff_t>(1, cost / block_cost));
    }
};

// Two numbers that are added and multiplied together; compilers that know no such type do it one after the
// other.
#if defined(__GNUC__)
using Pair = double __attribute__((vector_size(2 * sizeof(double))));
#else
struct Pair {
    double first, second;
    Pair& operator+=(const Pair& other) {
        first += other.first;
        second += other.second;
        return *this;
    }
    double operator[](int e) const { return e ? second : first; }
};
inline Pair operator+(Pair a, const Pair& b) { return a += b; }
inline Pair operator*(double v, const Pair& a) { return {v * a.first, v * a.second}; }
#endif

// (r1, r2) = row times F, with four sums so that an addition need not wait for the one before.
template <typename T, typename I, bool Far>
inline void gather_two(const I* SYMCLUST_RESTRICT indices, const T* SYMCLUST_RESTRICT values, ptrdiff_t count,
                       const I* last, const T* SYMCLUST_RESTRICT F, double& r1, double& r2) {
    constexpr ptrdiff_t ahead = 32;
    const auto term = [=](ptrdiff_t p) {
        const T* f = F + 2 * ptrdiff_t(indices[p]);
        return double(values[p]) * Pair{double(f[0]), double(f[1])};
    };
    Pair s0{}, s1{}, s2{}, s3{};
    ptrdiff_t p = 0;
    for (; p + 4 <= count; p += 4) {
        for (int e = 0; Far && e < 4; ++e) {
            if (indices + p + e + ahead < last) SYMCLUST_PREFETCH(F + 2 * ptrdiff_t(indices[p + e + ahead]));
        }
        s0 += term(p);
        s1 += term(p + 1);
        s2 += term(p + 2);
        s3 += term(p + 3);
    }
    for (; p < count; ++p) s0 += term(p);
    const Pair sum = (s0 + s1) + (s2 + s3);
    r1 = sum[0];
    r2 = sum[1];
}

// What a pass makes of a row's right-hand side (r1, r2): the product itself, or the best nonnegative row.
struct KeepProduct {
    static constexpr bool measures = false;
    void solve(double r1, double r2, double& x1, double& x2) const {
        x1 = r1;
        x2 = r2;
    }
};

struct Solve : TwoColumns {
    static constexpr bool measures = false;
    using TwoColumns::TwoColumns;
};

// The same, with the projected gradient (9) at the row as it was: it counts where it is negative or the entry
// positive.
struct MeasureAndSolve : TwoColumns {
    static constexpr bool measures = true;
    using TwoColumns::TwoColumns;

    double gradient(double r1, double r2, double h1, double h2) const {
        const double g1 = a * h1 + b * h2 - r1, g2 = b * h1 + c * h2 - r2;
        return ((g1 < 0) | (h1 > 0) ? g1 * g1 : 0) + ((g2 < 0) | (h2 > 0) ? g2 * g2 : 0);
    }
};

// Makes rows of H of their right-hand sides, and adds up what the other factor and the stopping rule need.
template <typename Rule, typename T>
PassSums finish_rows(const Rule& rule, const double* r1, const double* r2, T* H, ptrdiff_t rows) {
    double a = 0, b = 0, c = 0, explained = 0, gradient = 0;
#pragma omp simd reduction(+ : a, b, c, explained, gradient)
    for (ptrdiff_t j = 0; j < rows; ++j) {
        T* h = H + 2 * j;
        double x1, x2;
        if constexpr (Rule::measures) gradient += rule.gradient(r1[j], r2[j], h[0], h[1]);
        rule.solve(r1[j], r2[j], x1, x2);
        h[0] = T(x1);
        h[1] = T(x2);
        a += x1 * x1;
        b += x1 * x2;
        c += x2 * x2;
        explained += x1 * r1[j] + x2 * r2[j];
    }
    return {a, b, c, explained, gradient};
}

// Rows [begin, end) of H from those of X times F: gathers right-hand sides and makes rows of H of them.
template <bool Far, typename Rule, typename T, typename I>
PassSums pass_over_block(const BlockedRows<T, I>& X, ptrdiff_t begin, ptrdiff_t end, const T* F,
                         const Rule& rule, T* H) {
    PassSums sums;
    const I* last = X.indices + X.indptr[X.n];
    constexpr ptrdiff_t batch = 64;  // rows whose small problems are solved together, without branches
    double r1[batch], r2[batch];
    for (ptrdiff_t i = begin; i < end; i += batch) {
        const ptrdiff_t rows = std::min(batch, end - i);
        for (ptrdiff_t j = 0; j < rows; ++j) {
            const ptrdiff_t from = X.indptr[i + j];
            gather_two<T, I, Far>(X.indices + from, X.values + from, X.indptr[i + j + 1] - from, last, F,
                                  r1[j], r2[j]);
        }
        sums.add(finish_rows(rule, r1, r2, H + 2 * i, rows));
    }
    return sums;
}

// H has a row for each row of X, F one for each of its columns.
template <typename Rule, typename T, typename I>
PassSums pass(const BlockedRows<T, I>& X, const T* F, ptrdiff_t n_columns, const Rule& rule, T* H,
              Helpers& helpers) {
    const int blocks = int(X.n_blocks());
    const bool far = n_columns * 2 * ptrdiff_t(sizeof(T)) > (1 << 20);  // beyond the second cache
    std::vector<PassSums> parts(blocks);
    helpers.run(blocks, [&](int block) {
        const ptrdiff_t begin = X.borders[block], end = X.borders[block + 1];
        parts[block] = far ? pass_over_block<true>(X, begin, end, F, rule, H)
                           : pass_over_block<false>(X, begin, end, F, rule, H);
    });
    PassSums sums;
    for (const PassSums& part : parts) sums.add(part);
    return sums;
}

template <typename T>
PassSums gram_of_two(const T* F, ptrdiff_t n) {
    PassSums g;
    for (ptrdiff_t j = 0; j < n; ++j) {
        const double f1 = F[2 * j], f2 = F[2 * j + 1];
        g.a += f1 * f1;
        g.b += f1 * f2;
        g.c += f2 * f2;
    }
    return g;
}

// Makes the columns of F orthonormal; a second one that depends on the first becomes zero.
template <typename T>
void orthonormalise(T* F, ptrdiff_t n, const PassSums& g) {
    const double first = g.a > 0 ? 1 / std::sqrt(g.a) : 0, along = g.a > 0 ? g.b / g.a : 0;
    double rest = 0;
    for (ptrdiff_t j = 0; j < n; ++j) {
        const double f = F[2 * j + 1] - along * F[2 * j];
        F[2 * j + 1] = T(f);
        F[2 * j] = T(first * F[2 * j]);
        rest += f * f;
    }
    const double least = two_columns_dependence<T> * two_columns_dependence<T> * g.c;
    const double second = rest > least ? 1 / std::sqrt(rest) : 0;
    for (ptrdiff_t j = 0; j < n; ++j) F[2 * j + 1] = T(second * F[2 * j + 1]);
}

// Orthogonal iteration towards the two leading right singular vectors: V comes in as any two columns and
// leaves orthonormal, U = X V; returns U'U.
template <typename T, typename I>
PassSums two_singular_vectors(const BlockedRows<T, I>& X, const BlockedRows<T, I>& Xt, T* V, T* U, int steps,
                              int threads) {
    Helpers helpers(threads);
    const ptrdiff_t n = X.n, d = Xt.n;
    PassSums g = gram_of_two(V, d);
    for (int step = 0; step < steps; ++step) {
        orthonormalise(V, d, g);
        pass(X, V, d, KeepProduct{}, U, helpers);
        g = pass(Xt, U, n, KeepProduct{}, V, helpers);
    }
    orthonormalise(V, d, g);
    return pass(X, V, d, KeepProduct{}, U, helpers);
}

struct RankTwoReport {
    int iterations;
    double stationarity, explained;
};

// As many threads as asked for, all if none is named, one in a forked child.
inline int allowed(int threads) { return threads > 0 && !forked ? threads : max_threads(); }

template <typename T>
void scale_columns(T* F, ptrdiff_t n, const PassSums& g) {
    const T scale1 = T(g.a > 0 ? 1 / std::sqrt(g.a) : 0);
    const T scale2 = T(g.c > 0 ? 1 / std::sqrt(g.c) : 0);
    for (ptrdiff_t j = 0; j < n; ++j) {
        F[2 * j] *= scale1;
        F[2 * j + 1] *= scale2;
    }
}

// The Gram matrix of columns with Gram matrix g once they have unit length, or are zero.
inline PassSums gram_of_unit(const PassSums& g) {
    PassSums unit;
    unit.a = g.a > 0;
    unit.b = g.a > 0 && g.c > 0 ? g.b / std::sqrt(g.a * g.c) : 0;
    unit.c = g.c > 0;
    return unit;
}

// Moves C, which came from `before`, on in the same direction by a part of the step, and keeps where it was
// in `before`. Columns keep unit length; returns their Gram matrix.
template <typename T>
PassSums extrapolate(T* C, T* before, ptrdiff_t n, double part) {
    for (ptrdiff_t j = 0; j < 2 * n; ++j) {
        const T here = C[j];
        C[j] = std::max(T(0), T(here + part * (here - before[j])));
        before[j] = here;
    }
    const PassSums g = gram_of_two(C, n);
    scale_columns(C, n, g);
    return gram_of_unit(g);
}

// min |X - W C'|^2 over W, C >= 0 by alternating least squares; C comes in as the start, with columns of unit
// length.
//
// Each iteration reads X once and its transpose once. W is best for C when C's turn comes, so the projected
// gradient at (W, C) is that of C alone, and is known before C changes: Delta of (10) costs nothing. The
// columns of C have unit length, which fixes the scale that Delta depends on.
//
// After each iteration C goes on in the direction it came, by a part of the step that grows to one; where
// that explains less of X than C did, it goes back, at the price of half an iteration, and the part is
// halved. So the objective falls from iteration to iteration, in two thirds to a half as many as without (20
// Newsgroups, TDT2).
//
// Interrupted, it leaves W and C nonnegative and finite, from one iteration or the next row by row, and
// columns of any length.
template <typename T, typename I>
RankTwoReport rank_two_nmf(const BlockedRows<T, I>& X, const BlockedRows<T, I>& Xt, T* C, T* W, double tol,
                           int max_iter, int threads) {
    constexpr double dependence = two_columns_dependence<T>, first_part = 0.5, growth = 1.1;
    const ptrdiff_t n = X.n, d = Xt.n;
    Helpers helpers(threads);
    const auto best_W = [&](const PassSums& g) {
        return pass(X, C, d, Solve(g.a, g.b, g.c, dependence), W, helpers);
    };
    std::vector<T> before(C, C + 2 * d);
    PassSums g = gram_of_two(C, d), plain = g;
    double start = 0, now = 0, explained = 0, part = first_part;
    int iteration = 0;
    while (iteration < max_iter) {
        ++iteration;
        PassSums w = best_W(g);
        if (w.explained < explained) {
            part /= 2;
            std::copy(before.begin(), before.end(), C);
            w = best_W(plain);
        }
        const PassSums c = pass(Xt, W, n, MeasureAndSolve(w.a, w.b, w.c, dependence), C, helpers);
        scale_columns(C, d, c);
        g = plain = gram_of_unit(c);
        explained = c.explained;
        now = std::sqrt(c.gradient);
        if (iteration == 1) start = now;
        if (now <= std::max(tol * start, dependence * explained) || iteration == max_iter)
            break;  // or rounding
        g = extrapolate(C, before.data(), d, part);
        part = std::min(1.0, growth * part);
    }
    return {iteration, start > 0 ? now / start : 0.0, best_W(g).explained};
}

template <typename T>
void rank_two_nnls(const T* G, const T* R, ptrdiff_t n, T* out) {
    const TwoColumns columns(G[0], G[1], G[3], two_columns_dependence<T>);
    parallel_rows(n, 1 << 14, threads_for(n), [&](ptrdiff_t begin, ptrdiff_t end, int) {
#pragma omp simd
        for (ptrdiff_t i = begin; i < end; ++i) {
            double x1, x2;
            columns.solve(R[2 * i], R[2 * i + 1], x1, x2);
            out[2 * i] = T(x1);
            out[2 * i + 1] = T(x2);
        }
    });
}

}  // namespace symclust
