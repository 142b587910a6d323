// Blocks of work shared with helper threads that nobody has to wait for.
//
// At the end of an OpenMP loop all threads meet. On a machine that is busy with other things one of them may
// not run for many milliseconds, and a pass over a sparse matrix takes one or two. Here a thread that has not
// begun is not waited for: whoever runs takes the next block. While as many callers as threads work side by
// side, their helpers sleep.
#pragma once

#include "parallel.hpp"

namespace symclust {

class Helpers {
public:
    explicit Helpers(int threads) : threads(threads) {
        ++callers;
        try {
            for (int t = 1; t < threads; ++t) pool.emplace_back([this] { serve(); });
        } catch (const std::system_error&) {  // the system has no more threads: those that are there will do
        } catch (...) {
            dismiss();
            throw;
        }
    }

    ~Helpers() { dismiss(); }

    // Calls work(0), ..., work(blocks - 1), in any order and on any thread. What one of them throws, or an
    // interrupt, is thrown here when none is running; blocks that have not begun are then left out.
    template <typename Work>
    void run(int blocks, const Work& work) {
        if (pool.empty() || blocks < 2 || callers >= threads) {
            for (int block = 0; block < blocks; ++block) {
                work(block);
                checkpoint();
            }
            return;
        }
        Round mine{std::cref(work), uint32_t(blocks)};
        uint32_t number;
        {
            std::lock_guard<std::mutex> lock(door);
            job = &mine;
            number = ++round;
            ticket.store(uint64_t(number) << 32 | mine.count, std::memory_order_release);
        }
        bell.notify_all();
        while (take(number, false)) {
        }
        while (mine.finished.load(std::memory_order_acquire) < mine.count) {
            std::this_thread::yield();
            mine.team.run(false, [] { checkpoint(); });
        }
        mine.team.rethrow();
    }

    // In a forked child nobody else calls.
    static void after_fork() { callers = 0; }

private:
    // One call of run().
    struct Round {
        std::function<void(int)> work;
        uint32_t count;
        std::atomic<uint32_t> finished{0};
        Team team;
    };

    // Takes one block of that round, if any is left. The ticket holds the round and how many of its blocks
    // are left in one word: nobody can see the one without the other. A thread that has taken a block keeps
    // run() from returning, so that `job` is that round's until the block has finished; before that nothing
    // of it may be read.
    bool take(uint32_t wanted, bool helps) {
        uint64_t seen = ticket.load(std::memory_order_acquire);
        do {
            if (uint32_t(seen >> 32) != wanted || uint32_t(seen) == 0) return false;
        } while (!ticket.compare_exchange_weak(seen, seen - 1, std::memory_order_acq_rel,
                                               std::memory_order_acquire));
        Round& mine = *job;
        mine.team.run(helps, [&] {
            if (!mine.team.ended()) mine.work(int(mine.count - uint32_t(seen)));
            checkpoint();
        });
        mine.finished.fetch_add(1, std::memory_order_release);
        return true;
    }

    void serve() {
        uint32_t known = 0;
        for (;;) {
            // The next pass follows within microseconds, and waking up takes tens of them.
            for (int tries = 0; tries < patience && round.load(std::memory_order_relaxed) == known && !leave;
                 ++tries)
                spin();
            {
                std::unique_lock<std::mutex> lock(door);
                bell.wait(lock, [&] { return leave || round != known; });
                if (leave) return;
                known = round;
            }
            while (take(known, true)) {
            }
        }
    }

    void dismiss() {
        --callers;
        {
            std::lock_guard<std::mutex> lock(door);
            leave = true;
        }
        bell.notify_all();
        for (std::thread& thread : pool) thread.join();
    }

    static constexpr int patience = 2000;
    static inline std::atomic<int> callers{0};

    const int threads;
    std::vector<std::thread> pool;
    std::mutex door;
    std::condition_variable bell;
    Round* job = nullptr;
    std::atomic<uint64_t> ticket{0};
    std::atomic<uint32_t> round{0};
    std::atomic<bool> leave{false};
};

}  // namespace symclust
