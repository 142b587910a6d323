// Threads of the kernels: how many there are, what stops them, and the one place where they are started.
//
// Three things can end work early, and all are thrown in the thread that called the kernel, when no other works any more: a
// signal such as Ctrl-C, a caller in Python that has given up, and an exception (no memory) in any thread. What such a kernel
// has written is not complete; those that change a factor in place say what can be relied on.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#ifdef _OPENMP
#include <omp.h>
#endif

namespace symclust {

// Multiplications below which waking other threads costs more than they save.
constexpr std::ptrdiff_t worth_threads = 1 << 16;

// Set in a forked child: OpenMP's threads stayed with the parent, and a parallel region would wait for them for ever.
inline std::atomic<bool> forked{false};

// SYMCLUST_STD_THREADS takes the place of OpenMP where a tool has to see all of the synchronisation (make sanitize).
inline int max_threads() {
    if (forked.load(std::memory_order_relaxed)) return 1;
#if defined(SYMCLUST_STD_THREADS)
    return 4;
#elif defined(_OPENMP)
    return omp_get_max_threads();
#else
    return 1;
#endif
}

inline int threads_for(std::ptrdiff_t cost) { return cost > worth_threads ? max_threads() : 1; }

// Raises what Python has to say: a signal's exception, or that the result is no longer wanted. Takes the GIL.
void ask_python();

// Thrown in the threads of a team that has to end, and caught where they were started.
struct TeamEnded {};

// What a thread knows of the team it works in.
struct Membership {
    const std::atomic<bool>* ends = nullptr;  // whether the team has to end
    bool helps = false;                       // the thread was started by us: Python does not know it
};
inline thread_local Membership membership;

// To be called at least several times a second by everything that may run longer than that, on any thread. Reads the clock;
// Python is asked ten times a second, since taking the GIL may have to wait for another thread to give it up.
inline void checkpoint() {
    if (membership.ends && membership.ends->load(std::memory_order_relaxed)) throw TeamEnded{};
    if (membership.helps) return;
    using clock = std::chrono::steady_clock;
    constexpr std::int64_t pause = std::chrono::duration_cast<clock::duration>(std::chrono::milliseconds(100)).count();
    thread_local std::int64_t last = 0;  // of this thread, whatever it runs: short kernels do not ask at all
    const std::int64_t now = clock::now().time_since_epoch().count();
    if (last == 0) last = now;
    if (now - last < pause) return;
    last = now;
    ask_python();
}

// Counts simple operations in loops too short to read the clock each time.
class Pace {
public:
    void operator()(std::ptrdiff_t operations) {
        left -= operations;
        if (left > 0) return;
        left = stretch;
        checkpoint();
    }

private:
    static constexpr std::ptrdiff_t stretch = 1 << 20;
    std::ptrdiff_t left = stretch;
};

// What the threads of a team share: whether it has to end, and why.
class Team {
public:
    bool ended() const { return ends.load(std::memory_order_relaxed); }

    // Runs body() as a member; what it throws ends the team.
    template <typename Body>
    void run(bool helps, const Body& body) {
        const Membership before = membership;  // a signal's handler may call a kernel in the middle of another
        membership = {&ends, helps};
        try {
            body();
        } catch (const TeamEnded&) {  // another thread has said why
        } catch (...) {
            std::lock_guard<std::mutex> lock(door);
            if (!why) why = std::current_exception();
            ends = true;
        }
        membership = before;
    }

    void rethrow() const {
        if (why) std::rethrow_exception(why);
    }

private:
    std::atomic<bool> ends{false};
    std::mutex door;
    std::exception_ptr why;
};

inline void spin() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

// Threads that have begun and not ended, and the one that waits for them: they need a moment or, in long blocks, seconds. It
// sleeps rather than gives way, since on a busy machine a thread that gave way would come last.
class Attendance {
public:
    void enter() {
        std::lock_guard<std::mutex> lock(door);
        ++present;
    }

    void leave() {
        {
            std::lock_guard<std::mutex> lock(door);
            --present;
        }
        bell.notify_one();
    }

    // Calls look() several times a second.
    template <typename Look>
    void wait(const Look& look) {
        for (int tries = 0; tries < patience && present.load(std::memory_order_acquire) > 0; ++tries) spin();
        std::unique_lock<std::mutex> lock(door);
        while (!bell.wait_for(lock, std::chrono::milliseconds(50), [&] { return present == 0; })) {
            lock.unlock();
            look();
            lock.lock();
        }
    }

private:
    static constexpr int patience = 10000;
    std::atomic<int> present{0};
    std::mutex door;
    std::condition_variable bell;
};

// Runs body(t) on up to `threads` threads, t = 0 on the calling one. Bodies share their work by atomic counters: there may be
// fewer threads than asked for.
template <typename Body>
void run_team(int threads, const Body& body) {
    if (threads <= 1) return body(0);
    Team team;
    Attendance helpers;
    const auto member = [&](int t) {
        if (t > 0) helpers.enter();
        team.run(t > 0, [&] { body(t); });
        if (t > 0) helpers.leave();
        if (t == 0) helpers.wait([&] { team.run(false, [] { checkpoint(); }); });
    };
#if defined(SYMCLUST_STD_THREADS)
    std::vector<std::thread> started;
    for (int t = 1; t < threads; ++t) started.emplace_back(member, t);
    member(0);
    for (std::thread& thread : started) thread.join();
#elif defined(_OPENMP)
#pragma omp parallel num_threads(threads)
    member(omp_get_thread_num());
#endif
    team.rethrow();
}

// work(block, t) for all blocks from 0 on, each on whichever thread t comes first. Blocks should take milliseconds at most, or
// call checkpoint() themselves.
template <typename Work>
void parallel_for(std::ptrdiff_t blocks, int threads, const Work& work) {
    std::atomic<std::ptrdiff_t> next{0};
    run_team(static_cast<int>(std::min<std::ptrdiff_t>(threads, blocks)), [&](int t) {
        for (std::ptrdiff_t block; (block = next.fetch_add(1, std::memory_order_relaxed)) < blocks;) {
            work(block, t);
            checkpoint();
        }
    });
}

// The same for rows in blocks of `size`: work(begin, end, t).
template <typename Work>
void parallel_rows(std::ptrdiff_t n, std::ptrdiff_t size, int threads, const Work& work) {
    parallel_for((n + size - 1) / size, threads, [&](std::ptrdiff_t block, int t) {
        work(block * size, std::min((block + 1) * size, n), t);
    });
}

}  // namespace symclust
