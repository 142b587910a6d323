// Row descent for a sparse A and a factor H with few nonzeros a row, whose cost does not depend on the number
// of columns: sweeps, what is needed to judge a point, and HᵀH.
//
// The steps and lanes are those of lanes.hpp. H stands still during a step: each lane writes its new rows
// into a buffer of its own, where it reads its own earlier rows from; when the step is over they take their
// places.
//
// Far from a minimum many entries of zero would bring a little, and with many columns there are so many of
// them that H would fill up, only to become sparse again later. Those whose gradient is small (`opening`)
// therefore stay at zero until it is not small compared with the others, unless the row would be empty; the
// gradient that is reported has them. The sweep says how many entries of zero it has met.
#pragma once

#include <deque>

#include "sparse_rows.hpp"

namespace symclust {

// Sparse rows one after the other.
template <typename V>
struct RowList {
    struct Place {
        ptrdiff_t begin = 0, size = -1;
    };
    std::vector<Entry<V>> entries;

    ptrdiff_t end() const { return ptrdiff_t(entries.size()); }
    SparseRow<V> operator[](Place at) const { return {entries.data() + at.begin, at.size}; }
};

// The rows that a lane has visited, and what they have changed of G.
template <typename T>
class Lane {
public:
    std::vector<PairSum> gram;
    RowChange change;
    size_t zeros = 0;  // entries met that were zero and could have moved

    void begin(ptrdiff_t first_row, ptrdiff_t end_row) {
        first = first_row;
        visits.assign(end_row - first_row, {});
        rows.entries.clear(), steps.entries.clear();
        change = {};
        zeros = 0;
    }

    bool has(ptrdiff_t j) const {
        const auto place = size_t(j - first);
        return place < visits.size() && visits[place].row.size >= 0;
    }
    SparseRow<T> row(ptrdiff_t j) const { return rows[visits[j - first].row]; }
    SparseRow<double> step(ptrdiff_t j) const { return steps[visits[j - first].step]; }

    // Keeps a solved row, and adds new newᵀ − old oldᵀ to what the problem knows of G.
    template <typename I>
    void take(ptrdiff_t i, SparseRowProblem<T, I>& problem) {
        Visit& visit = visits[i - first];
        visit.row.begin = rows.end(), visit.step.begin = steps.end();
        for (size_t e = 0; e < problem.size; ++e) {
            const double now = problem.h[e], before = problem.old[e];
            if (now != 0.0) rows.entries.push_back({T(now), problem.columns[e]});
            if (now != before) steps.entries.push_back({now - before, problem.columns[e]});
        }
        visit.row.size = rows.end() - visit.row.begin, visit.step.size = steps.end() - visit.step.begin;
        if (visit.step.size > 0) add_to_gram(problem);
        change.decrease += problem.change.decrease;
        change.squared_gradient += problem.change.squared_gradient;
        zeros += problem.zeros;
    }

private:
    struct Visit {
        typename RowList<T>::Place row;
        RowList<double>::Place step;
    };
    ptrdiff_t first = 0;
    std::vector<Visit> visits;
    RowList<T> rows;
    RowList<double> steps;
    std::vector<size_t> used;

    template <typename I>
    void add_to_gram(SparseRowProblem<T, I>& problem) {
        const auto &h = problem.h, &old = problem.old;
        used.clear();
        for (size_t e = 0; e < problem.size; ++e)
            if (h[e] != 0.0 || old[e] != 0.0) used.push_back(e);
        for (size_t p = 0; p < used.size(); ++p)
            for (size_t q = p; q < used.size(); ++q) {
                const size_t e = used[p], f = used[q];
                const double moved = h[e] * h[f] - old[e] * old[f];
                if (moved != 0.0) problem.moved.add(problem.columns[e], problem.columns[f], moved);
            }
    }
};

// Row j as a lane sees it: its own rows as they are now, others as they were when the step began.
template <typename T>
struct LaneRows {
    const GrowingRows<T>& H;
    const Lane<T>& lane;
    SparseRow<T> operator[](ptrdiff_t j) const { return lane.has(j) ? lane.row(j) : H[j]; }
};

template <typename T, typename I>
class SparseSweep {
public:
    SparseSweep(SparseMatrix<T, I> A, CsrRows<T> rows, double* G, int k, double offset, bool full, int cycles,
                double opening, const uint8_t* active, double* row_gradient)
        : A(A), H(rows), G(G), k(k), offset(offset), full(full), cycles(cycles), opening(opening),
          active(active), row_gradient(row_gradient), lanes(Lanes::of(A.n, count_active(active, A.n))),
          step_lanes(lanes.count), sums(k) {}

    const GrowingRows<T>& rows() const { return H; }
    size_t zeros() const { return zeros_met; }

    void run(int sweeps, RowChange& total) {
        const int threads = int(std::min<ptrdiff_t>(lanes.count, lanes.count > 1 ? max_threads() : 1));
        std::deque<SparseRowProblem<T, I>> problems;  // made before there are threads
        for (int t = 0; t < std::max(threads, 1); ++t) problems.emplace_back(k);
        find_flat();
        StepGate gate;
        run_team(threads, [&](int t) {
            ptrdiff_t step = 0;
            for (int sweep = 0; sweep < sweeps; ++sweep)
                for (ptrdiff_t begin = 0; begin < A.n; begin += lanes.step(), ++step) {
                    const ptrdiff_t end = std::min(begin + lanes.step(), A.n);
                    const ptrdiff_t used = (end - begin + lanes.rows - 1) / lanes.rows;
                    checkpoint();
                    gate.run(
                        step, used,
                        [&](ptrdiff_t number) {
                        const ptrdiff_t from = begin + number * lanes.rows;
                        visit(step_lanes[number], from, std::min(from + lanes.rows, end), problems[t]);
                        },
                        [&] { combine(begin, end, used, problems[t], total); });
                }
        });
    }

private:
    SparseMatrix<T, I> A;
    GrowingRows<T> H;
    double* G;
    int k;
    double offset;
    bool full;
    int cycles;
    double opening;
    const uint8_t* active;
    double* row_gradient;  // squared projected gradient of each visited row
    Lanes lanes;
    std::vector<Lane<T>> step_lanes;
    Lane<T> again;               // a whole step, row after row
    PairSums sums;               // zero between steps
    std::vector<PairSum> moved;  // what a step has changed of G
    double flat = 0.0;
    size_t zeros_met = 0;

    void visit(Lane<T>& lane, ptrdiff_t from, ptrdiff_t to, SparseRowProblem<T, I>& problem) const {
        lane.begin(from, to);
        const LaneRows<T> seen{H, lane};
        const GramTerms terms{G, offset, flat, k, full, opening};
        for (ptrdiff_t i = from; i < to; ++i) {
            if (!active[i]) continue;
            H.look_ahead(A, i);
            problem.load(A, i, seen, terms);
            problem.descend(cycles);
            row_gradient[i] = problem.change.squared_gradient;
            lane.take(i, problem);
        }
        problem.moved.take(lane.gram);
    }

    void combine(ptrdiff_t begin, ptrdiff_t end, ptrdiff_t used, SparseRowProblem<T, I>& problem,
                 RowChange& total) {
        for (ptrdiff_t number = 0; number < used; ++number) {
            total.squared_gradient += step_lanes[number].change.squared_gradient;
            zeros_met += step_lanes[number].zeros;
        }
        const double gain = step_decrease(begin, end, used);
        if (used == 1 || gain >= 0.0) {
            total.decrease += gain;
            for (ptrdiff_t i = begin; i < end; ++i) place(i, step_lanes[(i - begin) / lanes.rows]);
            add_to_gram(moved);
        } else {
            visit(again, begin, end, problem);
            total.decrease += again.change.decrease;
            for (ptrdiff_t i = begin; i < end; ++i) place(i, again);
            add_to_gram(again.gram);
        }
        find_flat();
    }

    void find_flat() {
        if (!full) flat = rounding_of_gram(G, k);  // a diagonal of k entries that lie far apart
    }

    void place(ptrdiff_t i, const Lane<T>& lane) {
        if (lane.has(i)) H.replace(i, lane.row(i));
    }

    void add_to_gram(const std::vector<PairSum>& changes) {
        for (const PairSum& entry : changes) {
            G[ptrdiff_t(entry.l) * k + entry.m] += entry.sum;
            if (entry.l != entry.m) G[ptrdiff_t(entry.m) * k + entry.l] += entry.sum;
        }
    }

    // Leaves the change of G by the whole step in `moved`.
    double step_decrease(ptrdiff_t begin, ptrdiff_t end, ptrdiff_t used) {
        double gain = 0.0, own = 0.0, together = 0.0, cross = 0.0;
        for (ptrdiff_t number = 0; number < used; ++number) {
            gain += step_lanes[number].change.decrease;
            for (const PairSum& entry : step_lanes[number].gram) {
                own += entry.weight() * entry.sum * entry.sum;
                sums.add(entry.l, entry.m, entry.sum);
            }
        }
        sums.take(moved);
        if (used == 1) return gain;
        for (const PairSum& entry : moved) together += entry.weight() * entry.sum * entry.sum;
        for (ptrdiff_t number = 0; number + 1 < used; ++number)
            cross += edges_to_later_lanes(number, begin, end);
        // Σ_{p<q} 2⟨ΔG_p, ΔG_q⟩ = ‖ΣΔG‖² − Σ‖ΔG_p‖²
        return gain - (together - own) + 4.0 * cross;
    }

    // Σ aᵢⱼ Δhᵢ·Δhⱼ over the lane's edges to later lanes of the same step.
    double edges_to_later_lanes(ptrdiff_t number, ptrdiff_t begin, ptrdiff_t end) const {
        const ptrdiff_t from = begin + number * lanes.rows, to = from + lanes.rows;
        double sum = 0.0;
        for (ptrdiff_t i = from; i < to; ++i) {
            if (!active[i]) continue;
            const I *first = A.indices + A.indptr[i], *last = A.indices + A.indptr[i + 1];
            for (const I* p = std::lower_bound(first, last, I(to)); p < last && *p < end; ++p)
                if (active[*p])
                    sum +=
                        double(A.values[p - A.indices]) *
                        product(step_lanes[number].step(i), step_lanes[(*p - begin) / lanes.rows].step(*p));
        }
        return sum;
    }

    static double product(SparseRow<double> x, SparseRow<double> y) {
        double sum = 0.0;
        for (const Entry<double>*e = x.begin(), *f = y.begin(); e < x.end() && f < y.end();) {
            if (e->column == f->column) sum += e++->value * f++->value;
            else if (e->column < f->column) ++e;
            else ++f;
        }
        return sum;
    }
};

// What can be said of a point without changing it. Gradients are of f; A H includes the diagonal.
struct Judgement {
    double fit = 0.0;               // ⟨H, AH⟩
    double squared_gradient = 0.0;  // ‖∇ᴾf‖²
    double squared_product = 0.0;   // ‖AH‖²
    double lowest = 0.0;            // the smallest gradient entry where H = 0, if negative
    double complementarity = 0.0;   // the largest |h ∇f| of an entry

    template <typename T, typename I>
    void add(const SparseRowProblem<T, I>& row) {
        squared_gradient += row.change.squared_gradient;
        for (size_t e = 0; e < row.size; ++e) {
            const double product = row.b[e] + row.diagonal_entry() * row.h[e], gradient = 4.0 * row.slope(e);
            fit += row.h[e] * product;
            squared_product += product * product;
            if (row.h[e] == 0.0) lowest = std::min(lowest, gradient);
            complementarity = std::max(complementarity, std::abs(row.h[e] * gradient));
        }
    }

    void add(const Judgement& other) {
        fit += other.fit;
        squared_gradient += other.squared_gradient;
        squared_product += other.squared_product;
        lowest = std::min(lowest, other.lowest);
        complementarity = std::max(complementarity, other.complementarity);
    }
};

template <typename T, typename I>
Judgement judge(const SparseMatrix<T, I>& A, CsrRows<T> given, const GramTerms& terms) {
    const GrowingRows<T> H(given);
    constexpr ptrdiff_t rows = 1024;
    const int threads = threads_for(A.indptr[A.n]);
    std::vector<Judgement> parts((A.n + rows - 1) / rows);
    std::deque<SparseRowProblem<T, I>> problems;
    for (int t = 0; t < threads; ++t) problems.emplace_back(terms.k);
    parallel_rows(A.n, rows, threads, [&](ptrdiff_t begin, ptrdiff_t end, int t) {
        for (ptrdiff_t i = begin; i < end; ++i) {
            H.look_ahead(A, i);
            problems[t].load(A, i, H, terms);
            parts[begin / rows].add(problems[t]);
        }
    });
    Judgement all;
    for (const Judgement& part : parts) all.add(part);
    return all;
}

// HᵀH; a row costs the square of its nonzeros.
template <typename T>
void sparse_gram(CsrRows<T> H, double* G, ptrdiff_t k) {
    std::fill(G, G + k * k, 0.0);
    Pace pace;
    for (ptrdiff_t i = 0; i < H.n; ++i) {
        const int64_t end = H.indptr[i + 1], size = end - H.indptr[i];
        for (int64_t e = H.indptr[i]; e < end; ++e)
            for (int64_t f = e; f < end; ++f)
                G[H.indices[e] * k + H.indices[f]] += double(H.values[e]) * double(H.values[f]);
        pace(size * size + 1);
    }
    for (ptrdiff_t l = 0; l < k; ++l)
        for (ptrdiff_t m = l + 1; m < k; ++m) G[m * k + l] = G[l * k + m];
}

template <typename T>
struct CsrArrays {
    std::vector<int64_t> indptr;
    std::vector<int32_t> columns;
    std::vector<T> values;

    explicit CsrArrays(const GrowingRows<T>& rows) : indptr(rows.n() + 1) {
        for (ptrdiff_t j = 0; j < rows.n(); ++j) indptr[j + 1] = indptr[j] + rows[j].size;
        columns.reserve(indptr.back()), values.reserve(indptr.back());
        for (ptrdiff_t j = 0; j < rows.n(); ++j)
            for (const auto& [value, column] : rows[j]) {
                columns.push_back(column);
                values.push_back(value);
            }
    }
};

}  // namespace symclust
