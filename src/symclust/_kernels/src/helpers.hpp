// Blocks of work shared with helper threads that nobody has to wait for.
//
// At the end of an OpenMP loop all threads meet. On a machine that is busy with other things one of them may not run for
// many milliseconds, and a pass over a sparse matrix takes one or two. Here a thread that has not begun is not waited
// for: whoever runs takes the next block. While as many callers as threads work side by side, their helpers sleep.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace symclust {

class Helpers {
public:
    explicit Helpers(int threads) : threads(threads) {
        ++callers;
        for (int t = 1; t < threads; ++t) pool.emplace_back([this] { serve(); });
    }

    ~Helpers() {
        --callers;
        {
            std::lock_guard<std::mutex> lock(door);
            leave = true;
        }
        bell.notify_all();
        for (std::thread& thread : pool) thread.join();
    }

    // Calls work(0), ..., work(blocks - 1), in any order and on any thread.
    template <typename Work>
    void run(int blocks, const Work& work) {
        if (pool.empty() || blocks < 2 || callers >= threads) {
            for (int block = 0; block < blocks; ++block) work(block);
            return;
        }
        {
            std::lock_guard<std::mutex> lock(door);
            job = std::cref(work);
            count = static_cast<std::uint32_t>(blocks);
            finished = 0;
            ++round;
            ticket = static_cast<std::uint64_t>(round) << 32;
        }
        bell.notify_all();
        while (take(round)) {}
        while (finished.load(std::memory_order_acquire) < count) std::this_thread::yield();
    }

private:
    // Takes one block of that round, if any is left. A block is taken by moving the ticket, which also names the round:
    // a thread that comes late cannot take a block of the next one unknowingly, and `job` stays until all have finished.
    bool take(std::uint32_t wanted) {
        std::uint64_t seen = ticket.load(std::memory_order_acquire);
        do {
            if (static_cast<std::uint32_t>(seen >> 32) != wanted || static_cast<std::uint32_t>(seen) >= count) return false;
        } while (!ticket.compare_exchange_weak(seen, seen + 1, std::memory_order_acq_rel));
        job(static_cast<int>(static_cast<std::uint32_t>(seen)));
        finished.fetch_add(1, std::memory_order_release);
        return true;
    }

    void serve() {
        std::uint32_t known = 0;
        for (;;) {
            // The next pass follows within microseconds, and waking up takes tens of them.
            for (int spin = 0; spin < patience && round.load(std::memory_order_relaxed) == known && !leave; ++spin) pause();
            {
                std::unique_lock<std::mutex> lock(door);
                bell.wait(lock, [&] { return leave || round != known; });
                if (leave) return;
                known = round;
            }
            while (take(known)) {}
        }
    }

    static constexpr int patience = 2000;
    static inline std::atomic<int> callers{0};

    static void pause() {
#if defined(__x86_64__) || defined(__i386__)
        __builtin_ia32_pause();
#endif
    }

    const int threads;
    std::vector<std::thread> pool;
    std::mutex door;
    std::condition_variable bell;
    std::function<void(int)> job;
    std::atomic<std::uint64_t> ticket{0};
    std::atomic<std::uint32_t> finished{0}, count{0};
    std::atomic<std::uint32_t> round{0};
    std::atomic<bool> leave{false};
};

}  // namespace symclust
