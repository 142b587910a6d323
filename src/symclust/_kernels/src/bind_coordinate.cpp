// Cyclic coordinate descent on one column of H, entry by entry. Sequential: the order of the entries is the method.
// Interrupted, it leaves H, x, G and the change of the objective as they are after one of the entries: all belong together.
#include "common.hpp"
#include "quartic.hpp"

namespace symclust {

// The entries of one column. `x` is the column itself, contiguous, so that products with rows of A read it in order.
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
    void descend(std::ptrdiff_t i, double product) const {
        T* h = H + i * k;
        double* g = G + std::ptrdiff_t(l) * k;
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
        const T next = static_cast<T>(full ? quartic_minimiser(curvature, slope, old)
                                           : quadratic_minimiser(curvature, slope, old, flat));
        const double now = next, step = now - old, sum = now + old;
        if (step == 0.0) return;
        const double fourth = full ? 0.25 * sum * (now * now + old * old) : 0.0;
        change[0] -= 4.0 * step * (fourth + 0.5 * curvature * sum + slope);
        x[i] = h[l] = next;
        for (int m = 0; m < k; ++m) {
            const double moved = m == l ? step * sum : step * static_cast<double>(h[m]);
            g[m] += moved;
            if (m != l) G[std::ptrdiff_t(m) * k + l] += moved;
        }
    }
};

// Checks what both kernels share.
template <typename T>
Column<T> column_of(const Vector<T>& diagonal, const MutableMatrix<T>& H, const MutableVector<T>& x, const MutableMatrix<double>& G,
                    int column, bool full, const Vector<std::int64_t>& ids, const Vector<std::int64_t>& ignored_indptr,
                    const Vector<std::int64_t>& ignored_indices, const MutableVector<double>& change) {
    const std::ptrdiff_t n = H.shape(0), k = H.shape(1);
    shaped("diagonal", diagonal, n), shaped("x", x, n), shaped("G", G, k, k), shaped("change", change, 2);
    expect(column >= 0 && column < k, "column", "is not one of H");
    indices_within("ids", ids, 0, n);
    return {diagonal.data(), H.data(), x.data(), G.data(), int(k), column, full, rounding_of_gram(G.data(), int(k)),
            IgnoredPairs(ignored_indptr, ignored_indices, n), change.data()};
}

// The entries `ids` are visited in that order.
template <typename T, typename I>
void bind_coordinate_sparse(nb::module_& m) {
    define(m, "coordinate_sparse", [](Vector<I> indptr, Vector<I> indices, Vector<T> values, Vector<T> diagonal,
                                      MutableMatrix<T> H, MutableVector<T> x, MutableMatrix<double> G, int column, bool full,
                                      Vector<std::int64_t> ids, Vector<std::int64_t> ignored_indptr,
                                      Vector<std::int64_t> ignored_indices, MutableVector<double> change) {
        const Csr<T, I> A("A", indptr, indices, values, H.shape(0), H.shape(0));
        const Column<T> task = column_of(diagonal, H, x, G, column, full, ids, ignored_indptr, ignored_indices, change);
        nb::gil_scoped_release release;
        Pace pace;
        const std::int64_t *i = ids.data(), *end = i + ids.shape(0);
        for (; i < end; pace(A.count(*i) + 4 * task.k), ++i) {
            double product = 0.0;
            for (I p = A.indptr[*i]; p < A.indptr[*i + 1]; ++p)
                product += static_cast<double>(A.values[p]) * static_cast<double>(task.x[A.indices[p]]);
            task.descend(*i, product);
        }
    }, "indptr", "indices", "values", "diagonal", "H", "x", "G", "column"_a, "full"_a, "ids", "ignored_indptr", "ignored_indices",
       "change");
}

// Row `places[e]` of `rows` belongs to entry `ids[e]`.
template <typename T>
void bind_coordinate_rows(nb::module_& m) {
    define(m, "coordinate_rows", [](Matrix<T> rows, Vector<std::int64_t> places, Vector<T> diagonal, MutableMatrix<T> H,
                                    MutableVector<T> x, MutableMatrix<double> G, int column, bool full,
                                    Vector<std::int64_t> ids, Vector<std::int64_t> ignored_indptr,
                                    Vector<std::int64_t> ignored_indices, MutableVector<double> change) {
        const std::ptrdiff_t count = ids.shape(0), n = H.shape(0);
        shaped("rows", rows, any_size, n), shaped("places", places, count);
        indices_within("places", places, 0, rows.shape(0));
        const Column<T> task = column_of(diagonal, H, x, G, column, full, ids, ignored_indptr, ignored_indices, change);
        nb::gil_scoped_release release;
        Pace pace;
        for (std::ptrdiff_t e = 0; e < count; ++e, pace(n))
            task.descend(ids.data()[e], dot(rows.data() + places.data()[e] * n, task.x, n));
    }, "rows", "places", "diagonal", "H", "x", "G", "column"_a, "full"_a, "ids", "ignored_indptr", "ignored_indices", "change");
}

void bind_coordinate(nb::module_& m) {
    bind_coordinate_sparse<double, std::int32_t>(m);
    bind_coordinate_sparse<double, std::int64_t>(m);
    bind_coordinate_sparse<float, std::int32_t>(m);
    bind_coordinate_sparse<float, std::int64_t>(m);
    bind_coordinate_rows<double>(m);
    bind_coordinate_rows<float>(m);
}

}  // namespace symclust
