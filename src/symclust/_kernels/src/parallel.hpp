// Threads of the kernels: how many there are, what stops them, and the one place where they are started.
//
// Three things can end work early, and all are thrown in the thread that called the kernel, when no other
// works any more: a signal such as Ctrl-C, a caller in Python that has given up, and an exception (no memory)
// in any thread. What such a kernel has written is not complete; those that change a factor in place say what
// can be relied on.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace symclust {

// Multiplications below which waking other threads costs more than they save.
constexpr ptrdiff_t worth_threads = 1 << 16;

// Set in a forked child: the threads of the crew stayed with the parent.
inline std::atomic<bool> forked{false};

inline std::atomic<int> default_threads{1};  // set when the module is loaded
inline thread_local int thread_limit = 0;  // of calls from this thread, if it is positive: see threadpoolctl

inline int max_threads() {
    if (forked.load(std::memory_order_relaxed)) return 1;
    return thread_limit > 0 ? thread_limit : default_threads.load(std::memory_order_relaxed);
}

inline int threads_for(ptrdiff_t cost) { return cost > worth_threads ? max_threads() : 1; }

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

// To be called at least several times a second by everything that may run longer than that, on any thread.
// Reads the clock; Python is asked ten times a second, since taking the GIL may have to wait for another
// thread to give it up.
inline void checkpoint() {
    if (membership.ends && membership.ends->load(std::memory_order_relaxed)) throw TeamEnded{};
    if (membership.helps) return;
    using clock = std::chrono::steady_clock;
    constexpr int64_t pause =
        std::chrono::duration_cast<clock::duration>(std::chrono::milliseconds(100)).count();
    thread_local int64_t last = 0;  // of this thread, whatever it runs: short kernels do not ask at all
    const int64_t now = clock::now().time_since_epoch().count();
    if (last == 0) last = now;
    if (now - last < pause) return;
    last = now;
    ask_python();
}

// Counts simple operations in loops too short to read the clock each time.
class Pace {
public:
    void operator()(ptrdiff_t operations) {
        left -= operations;
        if (left > 0) return;
        left = stretch;
        checkpoint();
    }

private:
    static constexpr ptrdiff_t stretch = 1 << 20;
    ptrdiff_t left = stretch;
};

// What the threads of a team share: whether it has to end, and why.
class Team {
public:
    bool ended() const { return ends.load(std::memory_order_relaxed); }

    // Runs body() as a member; what it throws ends the team.
    template <typename Body>
    void run(bool helps, const Body& body) {
        const Membership before =
            membership;  // a signal's handler may call a kernel in the middle of another
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

// Threads that wait for work, shared by all callers. They are started when they are first needed, stay for
// the life of the process, and never call Python.
class Crew {
public:
    // Lives as long as the process: its threads do.
    static Crew& get() {
        static Crew* crew = new Crew;
        return *crew;
    }

    // Runs member(0) here, and member(1) to member(threads - 1) on other threads, as far as some are free.
    // One that has not begun when member(0) returns is not waited for: on a busy machine it may not run for
    // many milliseconds. Calls look() several times a second while it waits. Neither may throw.
    template <typename Look>
    void run(int threads, std::function<void(int)> member, const Look& look) {
        Call call{std::move(member), threads};
        {
            std::lock_guard<std::mutex> lock(door);
            start(threads - 1);
            calls.push_back(&call);
            open.store(true, std::memory_order_relaxed);
        }
        bell.notify_all();
        call.member(0);
        std::unique_lock<std::mutex> lock(door);
        close(&call);
        lock.unlock();
        for (int tries = 0; tries < patience && call.present.load(std::memory_order_relaxed) > 0; ++tries)
            spin();
        lock.lock();
        while (!left.wait_for(lock, std::chrono::milliseconds(50), [&] { return call.present == 0; })) {
            lock.unlock();
            look();
            lock.lock();
        }
    }

private:
    struct Call {
        std::function<void(int)> member;
        int wanted, begun = 1;
        std::atomic<int> present{0};  // threads that have begun and not ended
    };

    static constexpr int patience =
        2000;  // about a tenth of a millisecond, in which the next call often comes
    std::mutex door;
    std::condition_variable bell, left;
    std::vector<Call*> calls;  // that more threads may join
    std::atomic<bool> open{false};
    int started = 0;

    void start(int count) {
        try {
            for (; started < count; ++started) std::thread([this] { serve(); }).detach();
        } catch (const std::system_error&) {  // the system has no more threads: those that are there will do
        }
    }

    void close(Call* call) {
        calls.erase(std::remove(calls.begin(), calls.end(), call), calls.end());
        open.store(!calls.empty(), std::memory_order_relaxed);
    }

    void serve() {
        std::unique_lock<std::mutex> lock(door);
        for (;;) {
            if (calls.empty()) {
                lock.unlock();
                for (int tries = 0; tries < patience && !open.load(std::memory_order_relaxed); ++tries)
                    spin();
                lock.lock();
                bell.wait(lock, [&] { return !calls.empty(); });
            }
            Call& call = *calls.front();
            const int t = call.begun++;
            if (call.begun == call.wanted) close(&call);
            ++call.present;
            lock.unlock();
            call.member(t);
            lock.lock();
            if (--call.present == 0) left.notify_all();
        }
    }
};

// Runs body(t) on up to `threads` threads, t = 0 on the calling one. Bodies share their work by atomic
// counters: there may be fewer threads than asked for. Inside of another team there is one.
template <typename Body>
void run_team(int threads, const Body& body) {
    if (threads <= 1 || membership.helps) return body(0);
    Team team;
    Crew::get().run(
        threads, [&](int t) { team.run(t > 0, [&] { body(t); }); },
        [&] { team.run(false, [] { checkpoint(); }); });
    team.rethrow();
}

// work(block, t) for all blocks from 0 on, each on whichever thread t comes first. Blocks should take
// milliseconds at most, or call checkpoint() themselves.
template <typename Work>
void parallel_for(ptrdiff_t blocks, int threads, const Work& work) {
    std::atomic<ptrdiff_t> next{0};
    run_team(int(std::min<ptrdiff_t>(threads, blocks)), [&](int t) {
        for (ptrdiff_t block; (block = next.fetch_add(1, std::memory_order_relaxed)) < blocks;) {
            work(block, t);
            checkpoint();
        }
    });
}

// The same for rows in blocks of `size`: work(begin, end, t).
template <typename Work>
void parallel_rows(ptrdiff_t n, ptrdiff_t size, int threads, const Work& work) {
    parallel_for((n + size - 1) / size, threads,
                 [&](ptrdiff_t block, int t) { work(block * size, std::min((block + 1) * size, n), t); });
}

}  // namespace symclust
