// Row descent: sparse sweeps, and the update of a block of rows whose products with H are already known.
//
// One Gauss-Seidel sweep over the rows of H for a sparse A, on several threads, with the same bits on any
// number of them.
//
// Rows are taken in steps of lanes, see lanes.hpp; rows of other lanes are read from a snapshot made when the
// step began.
//
// Rows that are not `active` keep their place and are passed over: late in a run most rows are done.
//
// Pairs of rows may be ignored. The sweep then has a single lane: what lanes do to each other would have to
// be known without those pairs.
//
// H may hold several starts side by side, start s in columns s*k to (s+1)*k: A is read once for all.
//
// A may be a block of the rows of a larger matrix, from row `first` on; everything else that is given is as
// long as H. Calls for one block after the other do what one call for all rows does, to the bit, if every
// `first` is a multiple of row_sweep_step().
#pragma once

#include <cstring>
#include <deque>

#include "gather.hpp"
#include "lanes.hpp"
#include "row_update.hpp"

namespace symclust {

// Address of row j as one lane sees it.
template <typename T>
struct LaneView {
    const T *H, *snapshot;
    size_t width, step_begin, step_rows, lane_begin, lane_rows;

    template <typename I>
    const T* operator()(I j) const {
        const size_t row = size_t(j), in_step = row - step_begin;
        const bool other_lane = in_step < step_rows && row - lane_begin >= lane_rows;
        return other_lane ? snapshot + in_step * width : H + row * width;
    }
};

template <typename T, typename I>
class RowSweep {
public:
    RowSweep(SparseMatrix<T, I> A, ptrdiff_t first, ptrdiff_t all_rows, T* H, double* G, double offset,
             bool full, int k, int starts, int cycles, IgnoredPairs ignored, const uint8_t* active,
             double* row_gradient)
        : A(A), first(first), last(first + A.n), H(H), G(G), offset(offset), full(full), k(k), starts(starts),
          cycles(cycles), ignored(ignored), active(active), row_gradient(row_gradient),
          width(ptrdiff_t(k) * starts), square(ptrdiff_t(k) * k),
          lanes(Lanes::of(all_rows, count_active(active, all_rows), ignored.any())),
          fetch(H, width, A.indices + A.indptr[A.n]), snapshot(lanes.step() * width),
          lane_change(lanes.count * starts), lane_cross(lanes.count * starts),
          lane_gram(lanes.count * starts * square), again(starts) {}

    // Adds to `decrease` and `squared_gradient`, one entry per start. Interrupted, it stops between two
    // steps: H, G and both sums belong together, as after a sweep over fewer rows.
    void run(double* decrease, double* squared_gradient) {
        const int threads = int(std::min<ptrdiff_t>(lanes.count, lanes.count > 1 ? max_threads() : 1));
        std::deque<Lane> workers;  // made before there are threads
        for (int t = 0; t < std::max(threads, 1); ++t) workers.emplace_back(*this);
        take_snapshot(first);
        StepGate gate;
        std::exception_ptr interrupt;  // what the calling thread was told when a step began
        // That it was, and the consequence, drawn when the step is complete: nobody has begun the next one.
        std::atomic<bool> interrupted{false}, stop{false};
        run_team(threads, [&](int t) {
            Lane& lane = workers[t];
            ptrdiff_t step = 0;
            for (ptrdiff_t begin = first; begin < last && !stop; begin += lanes.step(), ++step) {
                const ptrdiff_t end = std::min(begin + lanes.step(), last);
                const ptrdiff_t used = (end - begin + lanes.rows - 1) / lanes.rows;
                const auto sweep = [&](ptrdiff_t number) { lane.sweep(number, begin, end); };
                if (t == 0 && !interrupt) interrupted = bool(interrupt = asked());
                gate.run(step, used, sweep, [&] {
                    for (ptrdiff_t number = 0; number < used; ++number) measure_edges(number, begin, end);
                    combine(begin, end, used, lane, decrease, squared_gradient);
                    take_snapshot(end);
                    stop = interrupted.load();
                });
            }
        });
        if (interrupt) std::rethrow_exception(interrupt);
    }

private:
    // What one thread needs to sweep a lane.
    struct Lane {
        RowSweep& sweep_;
        RowWorker<T> worker;
        std::vector<T> product;

        explicit Lane(RowSweep& sweep)
            : sweep_(sweep), worker(sweep.full, sweep.k, sweep.starts, sweep.cycles), product(sweep.width) {}

        void row(ptrdiff_t i, const LaneView<T>& view, RowChange* change, const char* only) {
            const auto& A = sweep_.A;
            const I* bounds = A.indptr + (i - sweep_.first);
            const ptrdiff_t begin = bounds[0], count = bounds[1] - begin;
            gather_row(A.indices + begin, A.values + begin, count, view, sweep_.fetch, sweep_.width,
                       product.data());
            double squared = 0.0;
            for (int s = 0; s < sweep_.starts; ++s) {
                if (only && !only[s]) continue;
                const ptrdiff_t column = ptrdiff_t(s) * sweep_.k;
                T* h = sweep_.H + i * sweep_.width + column;
                const T* b = product.data() + column;
                const double own = double(A.diagonal[i]);
                const ptrdiff_t others = sweep_.ignored.count(i);
                const auto other = [&](ptrdiff_t e) { return view(sweep_.ignored.begin(i)[e]) + column; };
                const RowChange row =
                    others ? worker.run_without(s, h, b, own, others, other) : worker.run(s, h, b, own);
                change[s].decrease += row.decrease;
                change[s].squared_gradient += row.squared_gradient;
                squared += row.squared_gradient;
            }
            sweep_.row_gradient[i] = squared;
        }

        void sweep(ptrdiff_t number, ptrdiff_t begin, ptrdiff_t end) {
            const ptrdiff_t from = begin + number * sweep_.lanes.rows,
                            to = std::min(from + sweep_.lanes.rows, end);
            const LaneView<T> view{sweep_.H,         sweep_.snapshot.data(), size_t(sweep_.width),
                                   size_t(begin),    size_t(end - begin),    size_t(from),
                                   size_t(to - from)};
            worker.load(sweep_.G, sweep_.offset);
            RowChange* change = sweep_.lane_change.data() + number * sweep_.starts;
            std::fill(change, change + sweep_.starts, RowChange{});
            for (ptrdiff_t i = from; i < to; ++i)
                if (sweep_.active[i]) row(i, view, change, nullptr);
            double* gram = sweep_.lane_gram.data() + number * sweep_.starts * sweep_.square;
            for (int s = 0; s < sweep_.starts; ++s) gram_change(s, gram + s * sweep_.square);
        }

        // ΔG of start s since the last load.
        void gram_change(int s, double* out) const {
            const int k = sweep_.k;
            const double* before = sweep_.G + s * sweep_.square;
            for (int l = 0; l < k; ++l)
                for (int m = 0; m < k; ++m)
                    out[l * k + m] = worker.gram(s, l, m) - (before[l * k + m] + sweep_.offset);
        }
    };

    SparseMatrix<T, I> A;
    ptrdiff_t first, last;  // rows of H that those of A belong to
    T* H;
    double* G;
    double offset;
    bool full;
    int k, starts, cycles;
    IgnoredPairs ignored;
    const uint8_t* active;
    double* row_gradient;  // squared projected gradient of each visited row, summed over the starts
    ptrdiff_t width, square;
    Lanes lanes;
    Prefetch<T, I> fetch;
    std::vector<T> snapshot;
    std::vector<RowChange> lane_change;
    std::vector<double> lane_cross, lane_gram;
    std::vector<char> again;

    // What checkpoint() throws, if it does.
    static std::exception_ptr asked() {
        try {
            checkpoint();
        } catch (const TeamEnded&) {
            throw;
        } catch (...) {
            return std::current_exception();
        }
        return nullptr;
    }

    void take_snapshot(ptrdiff_t begin) {
        const ptrdiff_t rows = std::min(lanes.step(), last - begin);
        if (lanes.count > 1 && rows > 0)
            std::memcpy(snapshot.data(), H + begin * width, rows * width * sizeof(T));
    }

    // Σ aᵢⱼ Δhᵢ·Δhⱼ over the lane's edges to later lanes of the same step.
    void measure_edges(ptrdiff_t number, ptrdiff_t begin, ptrdiff_t end) {
        const ptrdiff_t from = begin + number * lanes.rows, to = std::min(from + lanes.rows, end);
        double* cross = lane_cross.data() + number * starts;
        std::fill(cross, cross + starts, 0.0);
        for (ptrdiff_t i = from; i < to && to < end; ++i) {
            if (!active[i]) continue;
            const I* bounds = A.indptr + (i - first);
            const I *from_here = A.indices + bounds[0], *to_there = A.indices + bounds[1];
            for (const I* p = std::lower_bound(from_here, to_there, I(to)); p < to_there && *p < end; ++p)
                add_edge(i, *p, double(A.values[p - A.indices]), begin, cross);
        }
    }

    void add_edge(ptrdiff_t i, ptrdiff_t j, double value, ptrdiff_t begin, double* cross) const {
        const T *now_i = H + i * width, *before_i = snapshot.data() + (i - begin) * width;
        const T *now_j = H + j * width, *before_j = snapshot.data() + (j - begin) * width;
        for (int s = 0; s < starts; ++s) {
            double sum = 0.0;
            for (ptrdiff_t c = ptrdiff_t(s) * k; c < ptrdiff_t(s + 1) * k; ++c)
                sum += (double(now_i[c]) - before_i[c]) * (double(now_j[c]) - before_j[c]);
            cross[s] += value * sum;
        }
    }

    void combine(ptrdiff_t begin, ptrdiff_t end, ptrdiff_t used, Lane& lane, double* decrease,
                 double* squared_gradient) {
        bool any_again = false;
        for (int s = 0; s < starts; ++s) {
            for (ptrdiff_t number = 0; number < used; ++number)
                squared_gradient[s] += lane_change[number * starts + s].squared_gradient;
            const double gain = step_decrease(s, used);
            again[s] = used > 1 && gain < 0.0;
            any_again = any_again || again[s];
            if (again[s]) continue;
            decrease[s] += gain;
            for (ptrdiff_t number = 0; number < used; ++number)
                add_to_gram(s, lane_gram.data() + (number * starts + s) * square);
        }
        if (any_again) repeat_in_order(begin, end, lane, decrease);
    }

    double step_decrease(int s, ptrdiff_t used) const {
        double gain = 0.0, cross = 0.0, own = 0.0, together = 0.0;
        for (ptrdiff_t number = 0; number < used; ++number) gain += lane_change[number * starts + s].decrease;
        if (used == 1) return gain;
        for (ptrdiff_t number = 0; number < used; ++number) cross += lane_cross[number * starts + s];
        for (ptrdiff_t e = 0; e < square; ++e) {
            double sum = 0.0;
            for (ptrdiff_t number = 0; number < used; ++number) {
                const double value = lane_gram[(number * starts + s) * square + e];
                sum += value;
                own += value * value;
            }
            together += sum * sum;
        }
        // Σ_{p<q} 2⟨ΔG_p, ΔG_q⟩ = ‖ΣΔG‖² − Σ‖ΔG_p‖²
        return gain - (together - own) + 4.0 * cross;
    }

    void add_to_gram(int s, const double* change) {
        for (ptrdiff_t e = 0; e < square; ++e) G[s * square + e] += change[e];
    }

    void repeat_in_order(ptrdiff_t begin, ptrdiff_t end, Lane& lane, double* decrease) {
        for (ptrdiff_t i = begin; i < end; ++i)
            for (int s = 0; s < starts; ++s)
                if (again[s])
                    std::memcpy(H + i * width + s * k, snapshot.data() + (i - begin) * width + s * k,
                                k * sizeof(T));
        lane.worker.load(G, offset);
        const LaneView<T> view{H, nullptr, size_t(width), 0, 0, 0, 0};
        std::vector<RowChange> change(starts);
        for (ptrdiff_t i = begin; i < end; ++i)
            if (active[i]) lane.row(i, view, change.data(), again.data());
        std::vector<double> moved(square);
        for (int s = 0; s < starts; ++s) {
            if (!again[s]) continue;
            decrease[s] += change[s].decrease;
            lane.gram_change(s, moved.data());
            add_to_gram(s, moved.data());
        }
    }
};

// A block of rows in order, the first of which is row `begin` of H. `P` holds A[rows] H on entry and is
// corrected as rows of the block change, so that the bulk of the work stays in the matrix product that made
// P. Interrupted, it has changed some rows of H and not G.
template <typename T>
void sweep_block(const T* block, ptrdiff_t rows, ptrdiff_t begin, T* P, T* H, double* G, double offset,
                 bool full, int k, int starts, int cycles, IgnoredPairs ignored, double* decrease,
                 double* squared_gradient) {
    const ptrdiff_t width = ptrdiff_t(k) * starts;
    RowWorker<T> worker(full, k, starts, cycles);
    worker.load(G, offset);
    std::vector<T> change(width);
    Pace pace;
    for (ptrdiff_t i = 0; i < rows; pace((rows - i) * width + 4 * k * width), ++i) {
        T* h = H + (begin + i) * width;
        std::copy(h, h + width, change.begin());
        for (int s = 0; s < starts; ++s) {
            const ptrdiff_t column = ptrdiff_t(s) * k;
            const T* b = P + i * width + column;
            const double own = double(block[i * rows + i]);
            const ptrdiff_t others = ignored.count(begin + i);
            const auto other = [&](ptrdiff_t e) { return H + ignored.begin(begin + i)[e] * width + column; };
            const RowChange row = others ? worker.run_without(s, h + column, b, own, others, other)
                                         : worker.run(s, h + column, b, own);
            decrease[s] += row.decrease;
            squared_gradient[s] += row.squared_gradient;
        }
        for (ptrdiff_t c = 0; c < width; ++c) change[c] = h[c] - change[c];
        for (ptrdiff_t j = i + 1; j < rows; ++j) {
            const T value = block[j * rows + i];
            if (value == T(0)) continue;
            T* row = P + j * width;
#pragma omp simd
            for (ptrdiff_t c = 0; c < width; ++c) row[c] += value * change[c];
        }
    }
    for (int s = 0; s < starts; ++s)
        for (int l = 0; l < k; ++l)
            for (int m = 0; m < k; ++m) G[(ptrdiff_t(s) * k + l) * k + m] = worker.gram(s, l, m) - offset;
}

}  // namespace symclust
