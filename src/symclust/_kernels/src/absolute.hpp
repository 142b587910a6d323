// Coordinate descent under the absolute loss, one column of H at a time: every entry is a constrained
// weighted median. Sequential: the order of the entries is the method. Interrupted, it leaves the column as
// it is after one of the entries.
#pragma once

#include "common.hpp"
#include "weighted_median.hpp"

namespace symclust {

// How an entry is chosen once its problem is gathered.
enum class Rule : int { measure = 0, median = 1, binary = 2 };

// Relative, of a sum of entries of H.
template <typename T>
constexpr double rounding_of_weights = sizeof(T) == sizeof(float) ? 1e-5 : 1e-12;

struct EntryStep {
    Rule rule;
    double* change;  // decrease of the objective: every pair counts twice

    // The new value of an entry that is `old` now.
    double operator()(WeightedMedian& problem, double old) const {
        const double next =
            rule == Rule::binary ? (problem.difference(1.0, 0.0) < 0.0 ? 1.0 : 0.0) : problem.solve(old);
        if (next == old) return old;
        change[0] += 2.0 * problem.difference(old, next);
        return rule == Rule::measure ? old : next;
    }
};

// Rows of the residual P without the column, given in full. Row `places[v]` of `P` belongs to entry `ids[v]`.
// P is made on the way from a residual R that still holds the column as it was, `before`, and lacks the last
// change of the column before it: P = R + earlier earlierᵀ − later laterᵀ + before beforeᵀ, of which the
// first change is stored. So R is read and written once a column. Vectors of zeros say that there is nothing
// to correct.
template <typename T>
struct ResidualRows {
    T* R;
    const int64_t *places, *ids;
    ptrdiff_t count, n;
    const T *earlier, *later, *before;

    void catch_up(T* row, ptrdiff_t i) const {
        const T e = earlier[i], l = later[i];
        if (e == T(0) && l == T(0)) return;
#pragma omp simd
        for (ptrdiff_t j = 0; j < n; ++j) row[j] += e * earlier[j] - l * later[j];
    }

    void descend(T* x, const IgnoredPairs& ignored, const EntryStep& step) const {
        WeightedMedian problem(n, rounding_of_weights<T>);
        std::vector<T> hidden;
        Pace pace;
        for (ptrdiff_t v = 0; v < count; ++v, pace(16 * n)) {
            const ptrdiff_t i = ids[v];
            T* row = R + places[v] * n;
            catch_up(row, i);
            // Terms that do not count have weight zero while this entry is worked on.
            const T old = x[i];
            x[i] = T(0);
            hidden.assign(ignored.count(i), T(0));
            for (size_t e = 0; e < hidden.size(); ++e) std::swap(hidden[e], x[ignored.begin(i)[e]]);
            problem.set(x, row, double(before[i]), before, n);
            for (size_t e = 0; e < hidden.size(); ++e) std::swap(hidden[e], x[ignored.begin(i)[e]]);
            x[i] = T(step(problem, double(old)));
        }
    }
};

// Sparse A without a residual. A term whose entry of A is not positive cannot have a positive breakpoint, so
// a row costs its nonzeros, not n: the rest is known by its weight.
template <typename T, typename I>
struct SparseRows {
    Csr<T, I> A;
    T* H;
    const int64_t* ids;
    ptrdiff_t count;
    int k, l;
    static constexpr I ahead =
        8;  // nonzeros whose rows of H are asked for in advance: they lie anywhere in memory

    void gather(ptrdiff_t i, const T* x, double others, WeightedMedian& problem) const {
        const T* h = H + i * k;
        problem.clear();
        double seen = 0.0;
        for (I p = A.indptr[i]; p < A.indptr[i + 1]; ++p) {
            if (A.indptr[A.n] - p > ahead) SYMCLUST_PREFETCH(H + ptrdiff_t(A.indices[p + ahead]) * k);
            const ptrdiff_t j = A.indices[p];
            const double a = x[j];
            if (a == 0.0 || j == i) continue;
            const double rest = dot(h, H + j * k, k) - double(h[l]) * a;
            const double b = double(A.values[p]) - rest;
            if (b <= 0.0) continue;
            problem.add(a, b);
            seen += a;
        }
        problem.add_below(std::max(others - seen, 0.0));
    }

    void descend(T* x, const IgnoredPairs& ignored, const EntryStep& step) const {
        ptrdiff_t longest = 0;
        for (ptrdiff_t i = 0; i < A.n; ++i) longest = std::max(longest, A.count(i));
        WeightedMedian problem(longest, rounding_of_weights<T>);
        double total = 0.0;
        for (ptrdiff_t j = 0; j < A.n; ++j) total += x[j];
        Pace pace;
        for (ptrdiff_t v = 0; v < count; pace(k * A.count(ids[v]) + 1), ++v) {
            const ptrdiff_t i = ids[v];
            double others = total - x[i];
            for (const auto* j = ignored.begin(i); j != ignored.end(i); ++j) others -= x[*j];
            gather(i, x, others, problem);
            const T next = T(step(problem, double(x[i])));
            total += double(next) - double(x[i]);
            x[i] = H[i * k + l] = next;
        }
    }
};

}  // namespace symclust
