// Coordinate descent under the absolute loss, one column of H at a time: every entry is a constrained weighted median.
// Sequential: the order of the entries is the method. Interrupted, it leaves the column as it is after one of the entries.
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
        const double next = rule == Rule::binary ? (problem.difference(1.0, 0.0) < 0.0 ? 1.0 : 0.0) : problem.solve(old);
        if (next == old) return old;
        change[0] += 2.0 * problem.difference(old, next);
        return rule == Rule::measure ? old : next;
    }
};

// Rows of the residual P without the column, given in full. Row `places[v]` of `P` belongs to entry `ids[v]`. P is made on the
// way from a residual R that still holds the column as it was, `before`, and lacks the last change of the column before it:
// P = R + earlier earlierᵀ − later laterᵀ + before beforeᵀ, of which the first change is stored. So R is read and written once
// a column. Vectors of zeros say that there is nothing to correct.
template <typename T>
struct ResidualRows {
    T* R;
    const std::int64_t *places, *ids;
    std::ptrdiff_t count, n;
    const T *earlier, *later, *before;

    void catch_up(T* row, std::ptrdiff_t i) const {
        const T e = earlier[i], l = later[i];
        if (e == T(0) && l == T(0)) return;
#pragma omp simd
        for (std::ptrdiff_t j = 0; j < n; ++j) row[j] += e * earlier[j] - l * later[j];
    }

    void descend(T* x, const IgnoredPairs& ignored, const EntryStep& step) const {
        WeightedMedian problem(n, rounding_of_weights<T>);
        std::vector<T> hidden;
        Pace pace;
        for (std::ptrdiff_t v = 0; v < count; ++v, pace(16 * n)) {
            const std::ptrdiff_t i = ids[v];
            T* row = R + places[v] * n;
            catch_up(row, i);
            // Terms that do not count have weight zero while this entry is worked on.
            const T old = x[i];
            x[i] = T(0);
            hidden.assign(ignored.count(i), T(0));
            for (std::size_t e = 0; e < hidden.size(); ++e) std::swap(hidden[e], x[ignored.begin(i)[e]]);
            problem.set(x, row, static_cast<double>(before[i]), before, n);
            for (std::size_t e = 0; e < hidden.size(); ++e) std::swap(hidden[e], x[ignored.begin(i)[e]]);
            x[i] = static_cast<T>(step(problem, static_cast<double>(old)));
        }
    }
};

// Sparse A without a residual. A term whose entry of A is not positive cannot have a positive breakpoint, so a row costs its
// nonzeros, not n: the rest is known by its weight.
template <typename T, typename I>
struct SparseRows {
    Csr<T, I> A;
    T* H;
    const std::int64_t* ids;
    std::ptrdiff_t count;
    int k, l;
    static constexpr I ahead = 8;  // nonzeros whose rows of H are asked for in advance: they lie anywhere in memory

    void gather(std::ptrdiff_t i, const T* x, double others, WeightedMedian& problem) const {
        const T* h = H + i * k;
        problem.clear();
        double seen = 0.0;
        for (I p = A.indptr[i]; p < A.indptr[i + 1]; ++p) {
            if (A.indptr[A.n] - p > ahead) SYMCLUST_PREFETCH(H + std::ptrdiff_t(A.indices[p + ahead]) * k);
            const std::ptrdiff_t j = A.indices[p];
            const double a = x[j];
            if (a == 0.0 || j == i) continue;
            const double rest = dot(h, H + j * k, k) - static_cast<double>(h[l]) * a;
            const double b = static_cast<double>(A.values[p]) - rest;
            if (b <= 0.0) continue;
            problem.add(a, b);
            seen += a;
        }
        problem.add_below(std::max(others - seen, 0.0));
    }

    void descend(T* x, const IgnoredPairs& ignored, const EntryStep& step) const {
        std::ptrdiff_t longest = 0;
        for (std::ptrdiff_t i = 0; i < A.n; ++i) longest = std::max(longest, A.count(i));
        WeightedMedian problem(longest, rounding_of_weights<T>);
        double total = 0.0;
        for (std::ptrdiff_t j = 0; j < A.n; ++j) total += x[j];
        Pace pace;
        for (std::ptrdiff_t v = 0; v < count; pace(k * A.count(ids[v]) + 1), ++v) {
            const std::ptrdiff_t i = ids[v];
            double others = total - x[i];
            for (const auto* j = ignored.begin(i); j != ignored.end(i); ++j) others -= x[*j];
            gather(i, x, others, problem);
            const T next = static_cast<T>(step(problem, static_cast<double>(x[i])));
            total += static_cast<double>(next) - static_cast<double>(x[i]);
            x[i] = H[i * k + l] = next;
        }
    }
};

template <typename T>
void bind_residual_rows(nb::module_& m) {
    define(m, "absolute_rows", [](MutableMatrix<T> R, Vector<std::int64_t> places, Vector<std::int64_t> ids, Vector<T> earlier,
                                  Vector<T> later, Vector<T> before, MutableVector<T> x, Vector<std::int64_t> ignored_indptr,
                                  Vector<std::int64_t> ignored_indices, int rule, MutableVector<double> change) {
        const auto n = static_cast<std::ptrdiff_t>(x.shape(0));
        shaped("R", R, any_size, n);
        shaped("places", places, ids.shape(0));
        shaped("earlier", earlier, n), shaped("later", later, n), shaped("before", before, n), shaped("change", change, 1);
        indices_within("places", places, 0, R.shape(0)), indices_within("ids", ids, 0, n);
        const ResidualRows<T> rows{R.data(), places.data(), ids.data(), std::ptrdiff_t(ids.shape(0)), n, earlier.data(),
                                   later.data(), before.data()};
        const IgnoredPairs ignored(ignored_indptr, ignored_indices, n);
        nb::gil_scoped_release release;
        rows.descend(x.data(), ignored, EntryStep{Rule(rule), change.data()});
    }, "R", "places", "ids", "earlier", "later", "before", "x", "ignored_indptr", "ignored_indices", "rule"_a, "change");
}

template <typename T, typename I>
void bind_sparse_rows(nb::module_& m) {
    define(m, "absolute_sparse", [](Vector<I> indptr, Vector<I> indices, Vector<T> values, MutableMatrix<T> H, MutableVector<T> x,
                                    int column, Vector<std::int64_t> ids, Vector<std::int64_t> ignored_indptr,
                                    Vector<std::int64_t> ignored_indices, int rule, MutableVector<double> change) {
        const std::ptrdiff_t n = H.shape(0), k = H.shape(1);
        shaped("x", x, n), shaped("change", change, 1);
        expect(column >= 0 && column < k, "column", "is not one of H");
        indices_within("ids", ids, 0, n);
        const SparseRows<T, I> rows{Csr<T, I>("A", indptr, indices, values, n, n), H.data(), ids.data(),
                                    std::ptrdiff_t(ids.shape(0)), int(k), column};
        const IgnoredPairs ignored(ignored_indptr, ignored_indices, n);
        nb::gil_scoped_release release;
        rows.descend(x.data(), ignored, EntryStep{Rule(rule), change.data()});
    }, "indptr", "indices", "values", "H", "x", "column"_a, "ids", "ignored_indptr", "ignored_indices", "rule"_a, "change");
}

void bind_absolute(nb::module_& m) {
    bind_residual_rows<double>(m);
    bind_residual_rows<float>(m);
    bind_sparse_rows<double, std::int32_t>(m);
    bind_sparse_rows<double, std::int64_t>(m);
    bind_sparse_rows<float, std::int32_t>(m);
    bind_sparse_rows<float, std::int64_t>(m);
}

}  // namespace symclust
