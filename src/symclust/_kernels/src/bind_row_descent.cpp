// Row descent: sparse sweeps, and the update of a block of rows whose products with H are already known.
//
// One Gauss-Seidel sweep over the rows of H for a sparse A, on several threads, with the same bits on any number of them.
//
// Rows are taken in steps of lanes, see lanes.hpp; rows of other lanes are read from a snapshot made when the step began.
//
// Rows that are not `active` keep their place and are passed over: late in a run most rows are done.
//
// Pairs of rows may be ignored. The sweep then has a single lane: what lanes do to each other would have to be known without
// those pairs.
//
// H may hold several starts side by side, start s in columns s*k to (s+1)*k: A is read once for all.
//
// A may be a block of the rows of a larger matrix, from row `first` on; everything else that is given is as long as H. Calls for
// one block after the other do what one call for all rows does, to the bit, if every `first` is a multiple of row_sweep_step().
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
    std::size_t width, step_begin, step_rows, lane_begin, lane_rows;

    template <typename I>
    const T* operator()(I j) const {
        const std::size_t row = static_cast<std::size_t>(j), in_step = row - step_begin;
        const bool other_lane = in_step < step_rows && row - lane_begin >= lane_rows;
        return other_lane ? snapshot + in_step * width : H + row * width;
    }
};

template <typename T, typename I>
class RowSweep {
public:
    RowSweep(SparseMatrix<T, I> A, std::ptrdiff_t first, std::ptrdiff_t all_rows, T* H, double* G, double offset, bool full, int k,
             int starts, int cycles, IgnoredPairs ignored, const std::uint8_t* active, double* row_gradient)
        : A(A), first(first), last(first + A.n), H(H), G(G), offset(offset), full(full), k(k), starts(starts), cycles(cycles), ignored(ignored), active(active),
          row_gradient(row_gradient), width(std::ptrdiff_t(k) * starts), square(std::ptrdiff_t(k) * k),
          lanes(Lanes::of(all_rows, count_active(active, all_rows), ignored.any())),
          fetch(H, width, A.indices + A.indptr[A.n]), snapshot(lanes.step() * width),
          lane_change(lanes.count * starts), lane_cross(lanes.count * starts),
          lane_gram(lanes.count * starts * square), again(starts) {}

    // Adds to `decrease` and `squared_gradient`, one entry per start. Interrupted, it stops between two steps: H, G and both sums
    // belong together, as after a sweep over fewer rows.
    void run(double* decrease, double* squared_gradient) {
        const int threads = static_cast<int>(std::min<std::ptrdiff_t>(lanes.count, lanes.count > 1 ? max_threads() : 1));
        std::deque<Lane> workers;  // made before there are threads
        for (int t = 0; t < std::max(threads, 1); ++t) workers.emplace_back(*this);
        take_snapshot(first);
        StepGate gate;
        std::exception_ptr interrupt;  // what the calling thread was told when a step began
        // That it was, and the consequence, drawn when the step is complete: nobody has begun the next one.
        std::atomic<bool> interrupted{false}, stop{false};
        run_team(threads, [&](int t) {
            Lane& lane = workers[t];
            std::ptrdiff_t step = 0;
            for (std::ptrdiff_t begin = first; begin < last && !stop; begin += lanes.step(), ++step) {
                const std::ptrdiff_t end = std::min(begin + lanes.step(), last);
                const std::ptrdiff_t used = (end - begin + lanes.rows - 1) / lanes.rows;
                const auto sweep = [&](std::ptrdiff_t number) { lane.sweep(number, begin, end); };
                if (t == 0 && !interrupt) interrupted = bool(interrupt = asked());
                gate.run(step, used, sweep, [&] {
                    for (std::ptrdiff_t number = 0; number < used; ++number) measure_edges(number, begin, end);
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

        void row(std::ptrdiff_t i, const LaneView<T>& view, RowChange* change, const char* only) {
            const auto& A = sweep_.A;
            const I* bounds = A.indptr + (i - sweep_.first);
            const std::ptrdiff_t begin = bounds[0], count = bounds[1] - begin;
            gather_row(A.indices + begin, A.values + begin, count, view, sweep_.fetch, sweep_.width, product.data());
            double squared = 0.0;
            for (int s = 0; s < sweep_.starts; ++s) {
                if (only && !only[s]) continue;
                const std::ptrdiff_t column = std::ptrdiff_t(s) * sweep_.k;
                T* h = sweep_.H + i * sweep_.width + column;
                const T* b = product.data() + column;
                const double own = static_cast<double>(A.diagonal[i]);
                const std::ptrdiff_t others = sweep_.ignored.count(i);
                const auto other = [&](std::ptrdiff_t e) { return view(sweep_.ignored.begin(i)[e]) + column; };
                const RowChange row = others ? worker.run_without(s, h, b, own, others, other) : worker.run(s, h, b, own);
                change[s].decrease += row.decrease;
                change[s].squared_gradient += row.squared_gradient;
                squared += row.squared_gradient;
            }
            sweep_.row_gradient[i] = squared;
        }

        void sweep(std::ptrdiff_t number, std::ptrdiff_t begin, std::ptrdiff_t end) {
            const std::ptrdiff_t from = begin + number * sweep_.lanes.rows, to = std::min(from + sweep_.lanes.rows, end);
            const LaneView<T> view{sweep_.H, sweep_.snapshot.data(), std::size_t(sweep_.width), std::size_t(begin),
                                   std::size_t(end - begin), std::size_t(from), std::size_t(to - from)};
            worker.load(sweep_.G, sweep_.offset);
            RowChange* change = sweep_.lane_change.data() + number * sweep_.starts;
            std::fill(change, change + sweep_.starts, RowChange{});
            for (std::ptrdiff_t i = from; i < to; ++i)
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
    std::ptrdiff_t first, last;  // rows of H that those of A belong to
    T* H;
    double* G;
    double offset;
    bool full;
    int k, starts, cycles;
    IgnoredPairs ignored;
    const std::uint8_t* active;
    double* row_gradient;  // squared projected gradient of each visited row, summed over the starts
    std::ptrdiff_t width, square;
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

    void take_snapshot(std::ptrdiff_t begin) {
        const std::ptrdiff_t rows = std::min(lanes.step(), last - begin);
        if (lanes.count > 1 && rows > 0) std::memcpy(snapshot.data(), H + begin * width, rows * width * sizeof(T));
    }

    // Σ aᵢⱼ Δhᵢ·Δhⱼ over the lane's edges to later lanes of the same step.
    void measure_edges(std::ptrdiff_t number, std::ptrdiff_t begin, std::ptrdiff_t end) {
        const std::ptrdiff_t from = begin + number * lanes.rows, to = std::min(from + lanes.rows, end);
        double* cross = lane_cross.data() + number * starts;
        std::fill(cross, cross + starts, 0.0);
        for (std::ptrdiff_t i = from; i < to && to < end; ++i) {
            if (!active[i]) continue;
            const I* bounds = A.indptr + (i - first);
            const I *from_here = A.indices + bounds[0], *to_there = A.indices + bounds[1];
            for (const I* p = std::lower_bound(from_here, to_there, static_cast<I>(to)); p < to_there && *p < end; ++p)
                add_edge(i, *p, static_cast<double>(A.values[p - A.indices]), begin, cross);
        }
    }

    void add_edge(std::ptrdiff_t i, std::ptrdiff_t j, double value, std::ptrdiff_t begin, double* cross) const {
        const T *now_i = H + i * width, *before_i = snapshot.data() + (i - begin) * width;
        const T *now_j = H + j * width, *before_j = snapshot.data() + (j - begin) * width;
        for (int s = 0; s < starts; ++s) {
            double sum = 0.0;
            for (std::ptrdiff_t c = std::ptrdiff_t(s) * k; c < std::ptrdiff_t(s + 1) * k; ++c)
                sum += (static_cast<double>(now_i[c]) - before_i[c]) * (static_cast<double>(now_j[c]) - before_j[c]);
            cross[s] += value * sum;
        }
    }

    void combine(std::ptrdiff_t begin, std::ptrdiff_t end, std::ptrdiff_t used, Lane& lane, double* decrease,
                 double* squared_gradient) {
        bool any_again = false;
        for (int s = 0; s < starts; ++s) {
            for (std::ptrdiff_t number = 0; number < used; ++number)
                squared_gradient[s] += lane_change[number * starts + s].squared_gradient;
            const double gain = step_decrease(s, used);
            again[s] = used > 1 && gain < 0.0;
            any_again = any_again || again[s];
            if (again[s]) continue;
            decrease[s] += gain;
            for (std::ptrdiff_t number = 0; number < used; ++number)
                add_to_gram(s, lane_gram.data() + (number * starts + s) * square);
        }
        if (any_again) repeat_in_order(begin, end, lane, decrease);
    }

    double step_decrease(int s, std::ptrdiff_t used) const {
        double gain = 0.0, cross = 0.0, own = 0.0, together = 0.0;
        for (std::ptrdiff_t number = 0; number < used; ++number) gain += lane_change[number * starts + s].decrease;
        if (used == 1) return gain;
        for (std::ptrdiff_t number = 0; number < used; ++number) cross += lane_cross[number * starts + s];
        for (std::ptrdiff_t e = 0; e < square; ++e) {
            double sum = 0.0;
            for (std::ptrdiff_t number = 0; number < used; ++number) {
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
        for (std::ptrdiff_t e = 0; e < square; ++e) G[s * square + e] += change[e];
    }

    void repeat_in_order(std::ptrdiff_t begin, std::ptrdiff_t end, Lane& lane, double* decrease) {
        for (std::ptrdiff_t i = begin; i < end; ++i)
            for (int s = 0; s < starts; ++s)
                if (again[s])
                    std::memcpy(H + i * width + s * k, snapshot.data() + (i - begin) * width + s * k, k * sizeof(T));
        lane.worker.load(G, offset);
        const LaneView<T> view{H, nullptr, std::size_t(width), 0, 0, 0, 0};
        std::vector<RowChange> change(starts);
        for (std::ptrdiff_t i = begin; i < end; ++i)
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

// A block of rows in order, the first of which is row `begin` of H. `P` holds A[rows] H on entry and is corrected as rows of the
// block change, so that the bulk of the work stays in the matrix product that made P. Interrupted, it has changed some rows of H
// and not G.
template <typename T>
void sweep_block(const T* block, std::ptrdiff_t rows, std::ptrdiff_t begin, T* P, T* H, double* G, double offset, bool full,
                 int k, int starts, int cycles, IgnoredPairs ignored, double* decrease, double* squared_gradient) {
    const std::ptrdiff_t width = std::ptrdiff_t(k) * starts;
    RowWorker<T> worker(full, k, starts, cycles);
    worker.load(G, offset);
    std::vector<T> change(width);
    Pace pace;
    for (std::ptrdiff_t i = 0; i < rows; pace((rows - i) * width + 4 * k * width), ++i) {
        T* h = H + (begin + i) * width;
        std::copy(h, h + width, change.begin());
        for (int s = 0; s < starts; ++s) {
            const std::ptrdiff_t column = std::ptrdiff_t(s) * k;
            const T* b = P + i * width + column;
            const double own = static_cast<double>(block[i * rows + i]);
            const std::ptrdiff_t others = ignored.count(begin + i);
            const auto other = [&](std::ptrdiff_t e) { return H + ignored.begin(begin + i)[e] * width + column; };
            const RowChange row = others ? worker.run_without(s, h + column, b, own, others, other)
                                         : worker.run(s, h + column, b, own);
            decrease[s] += row.decrease;
            squared_gradient[s] += row.squared_gradient;
        }
        for (std::ptrdiff_t c = 0; c < width; ++c) change[c] = h[c] - change[c];
        for (std::ptrdiff_t j = i + 1; j < rows; ++j) {
            const T value = block[j * rows + i];
            if (value == T(0)) continue;
            T* row = P + j * width;
#pragma omp simd
            for (std::ptrdiff_t c = 0; c < width; ++c) row[c] += value * change[c];
        }
    }
    for (int s = 0; s < starts; ++s)
        for (int l = 0; l < k; ++l)
            for (int m = 0; m < k; ++m)
                G[(std::ptrdiff_t(s) * k + l) * k + m] = worker.gram(s, l, m) - offset;
}

template <typename T>
void bind_block(nb::module_& m) {
    define(m, "row_sweep_block", [](Matrix<T> block, std::ptrdiff_t begin, MutableMatrix<T> P, MutableMatrix<T> H,
                                    MutableCube<double> G, double offset, bool full, int cycles,
                                    Vector<std::int64_t> ignored_indptr, Vector<std::int64_t> ignored_indices,
                                    MutableVector<double> decrease, MutableVector<double> squared_gradient) {
        const std::ptrdiff_t rows = block.shape(0), all = H.shape(0), starts = G.shape(0), k = G.shape(1);
        const IgnoredPairs ignored(ignored_indptr, ignored_indices, all);
        expect(begin >= 0 && begin + rows <= all, "block", "has rows that H does not have");
        shaped("block", block, rows, rows), shaped("P", P, rows, starts * k), shaped("H", H, all, starts * k);
        shaped("G", G, starts, k, k), shaped("decrease", decrease, starts), shaped("squared_gradient", squared_gradient, starts);
        nb::gil_scoped_release release;
        sweep_block(block.data(), rows, begin, P.data(), H.data(), G.data(), offset, full, int(k), int(starts), cycles, ignored,
                    decrease.data(), squared_gradient.data());
    }, "block", "begin"_a, "P", "H", "G", "offset"_a, "full"_a, "cycles"_a, "ignored_indptr", "ignored_indices", "decrease",
       "squared_gradient");
}

template <typename T, typename I>
void bind_sparse(nb::module_& m) {
    define(m, "row_sweep_sparse", [](Vector<I> indptr, Vector<I> indices, Vector<T> values, Vector<T> diagonal,
                                     MutableMatrix<T> H, MutableCube<double> G, double offset, bool full, int cycles,
                                     Vector<std::int64_t> ignored_indptr, Vector<std::int64_t> ignored_indices,
                                     Vector<std::uint8_t> active, MutableVector<double> row_gradient,
                                     MutableVector<double> decrease, MutableVector<double> squared_gradient,
                                     std::ptrdiff_t first) {
        const std::ptrdiff_t all = H.shape(0), starts = G.shape(0), k = G.shape(1);
        const IgnoredPairs ignored(ignored_indptr, ignored_indices, all);
        const SparseMatrix<T, I> A{{"A", indptr, indices, values, any_size, all}, diagonal.data()};
        expect(first >= 0 && first + A.n <= all, "A", "has rows that H does not have");
        shaped("diagonal", diagonal, all), shaped("H", H, all, starts * k), shaped("G", G, starts, k, k);
        shaped("active", active, all), shaped("row_gradient", row_gradient, all);
        shaped("decrease", decrease, starts), shaped("squared_gradient", squared_gradient, starts);
        nb::gil_scoped_release release;
        RowSweep<T, I>(A, first, all, H.data(), G.data(), offset, full, int(k), int(starts), cycles, ignored, active.data(),
                       row_gradient.data()).run(decrease.data(), squared_gradient.data());
    }, "indptr", "indices", "values", "diagonal", "H", "G", "offset"_a, "full"_a, "cycles"_a, "ignored_indptr", "ignored_indices",
       "active", "row_gradient", "decrease", "squared_gradient", "first"_a = 0);
}

void bind_row_descent(nb::module_& m) {
    define(m, "row_sweep_step", [](std::ptrdiff_t n, std::ptrdiff_t active, bool alone) { return Lanes::of(n, active, alone).step(); },
           "n"_a, "active"_a, "alone"_a);
    bind_sparse<double, std::int32_t>(m);
    bind_sparse<double, std::int64_t>(m);
    bind_sparse<float, std::int32_t>(m);
    bind_sparse<float, std::int64_t>(m);
    bind_block<double>(m);
    bind_block<float>(m);
}

}  // namespace symclust
