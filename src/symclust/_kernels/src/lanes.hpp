// Sweeps over rows on several threads with the same bits on any number of them: steps, and lanes that threads
// share.
//
// Rows are taken in steps. A step has a fixed number of lanes of consecutive rows; inside a lane every row
// sees all earlier changes, rows of other lanes are seen as they were when the step began. A thread takes
// whole lanes, so the arithmetic does not depend on how many threads there are. After the step the lanes'
// changes are combined in order.
//
// Lanes that move at once could in principle raise the objective. The change of the objective by the whole
// step is known exactly: the lanes' own decreases plus, for lanes p < q, 2⟨ΔG_p, ΔG_q⟩ − 4 Σ aᵢⱼ Δhᵢ·Δhⱼ.
// Should it be positive, the step is undone and done again row after row; so a sweep descends always.
#pragma once

#include "common.hpp"

namespace symclust {

struct Lanes {
    ptrdiff_t count, rows;
    ptrdiff_t step() const { return count * rows; }
    // Few rows: one lane. Many: eight with 64 active rows each, few enough that they hardly touch each other.
    // Depends on the numbers of rows alone, never on that of threads.
    static Lanes of(ptrdiff_t n, ptrdiff_t active, bool alone = false) {
        if (n < 8192 || alone) return {1, 512};
        const ptrdiff_t rows = 64 * n / std::max<ptrdiff_t>(active, 1);
        return {8, std::min<ptrdiff_t>(rows, 2048)};
    }
};

template <typename T, typename I>
struct SparseMatrix : Csr<T, I> {
    const T* diagonal;
};

inline ptrdiff_t count_active(const uint8_t* active, ptrdiff_t n) {
    ptrdiff_t sum = 0;
    for (ptrdiff_t i = 0; i < n; ++i) sum += active[i];
    return sum;
}

// Lets threads share the lanes of a step and leave it together. Whoever finishes the last lane runs
// `combine`; the others wait, briefly spinning and then giving way. (OpenMP's own barriers spin for
// milliseconds when a processor is shared.)
class StepGate {
public:
    template <typename Work, typename Combine>
    void run(ptrdiff_t step, ptrdiff_t lanes, const Work& work, const Combine& combine) {
        // Tickets count on through all steps, `lanes` places a step and one number of the step above them.
        // How many lanes a step has follows from its number, so that ticket and lanes cannot belong to
        // different steps.
        for (;;) {
            ptrdiff_t ticket = next.load(std::memory_order_relaxed);
            if (ticket / stride != step || ticket % stride >= lanes) break;
            if (!next.compare_exchange_weak(ticket, ticket + 1, std::memory_order_acq_rel)) continue;
            work(ticket % stride);
            if (done.fetch_add(1, std::memory_order_acq_rel) + 1 < lanes) continue;
            combine();
            done.store(0, std::memory_order_relaxed);
            next.store((step + 1) * stride, std::memory_order_relaxed);
            finished.store(step + 1, std::memory_order_release);
        }
        for (int tries = 0; finished.load(std::memory_order_acquire) <= step; ++tries)
            if (tries > 500) wait();
    }

private:
    static constexpr ptrdiff_t stride = 1024;  // more than the lanes of any step
    std::atomic<ptrdiff_t> next{0}, done{0}, finished{0};

    // Throws when the team ends, since a step that a thread has left by an exception will never be finished.
    static void wait() {
        std::this_thread::yield();
        if (membership.ends && membership.ends->load(std::memory_order_relaxed)) throw TeamEnded{};
    }
};

}  // namespace symclust
