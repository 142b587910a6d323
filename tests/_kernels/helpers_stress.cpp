// Rounds of blocks shared with helper threads: each block must run exactly once, and run() may return only when all have.
// Rounds follow each other at once and their numbers of blocks go up and down, so that helpers come late to many of them.
// The same for the crew, whose threads several callers share; every hundredth round of theirs throws.
// Usage: helpers_stress <rounds> <threads>. Prints the number of bad rounds; the exit status says whether there was one.
#include <cstdio>
#include <cstdlib>

#include "helpers.hpp"

void symclust::ask_python() {}

constexpr int most = 40;

// One caller of the crew. Counts are plain numbers: only what run_team does keeps threads from racing for them.
long rounds_of_a_caller(long rounds, int threads) {
    std::vector<int> runs(most);
    long bad = 0;
    for (long round = 0; round < rounds; ++round) {
        const int blocks = 2 + static_cast<int>(round * 7 % (most - 2));
        const bool throws = round % 100 == 99;
        std::fill(runs.begin(), runs.end(), 0);
        bool caught = false;
        try {
            symclust::parallel_for(blocks, threads, [&](std::ptrdiff_t block, int) {
                ++runs[block];
                if (throws && block == blocks - 1) throw round;
            });
        } catch (long thrown) {
            caught = thrown == round;
        }
        bool right = caught == throws;
        for (int block = 0; block < most; ++block) right = right && runs[block] == (block < blocks);
        bad += !right;
    }
    return bad;
}

int main(int, char** arguments) {
    const long rounds = std::atol(arguments[1]);
    const int threads = std::atoi(arguments[2]);
    std::atomic<long> bad_of_crew{0};
    std::vector<std::thread> callers;
    for (int caller = 0; caller < 4; ++caller)
        callers.emplace_back([&] { bad_of_crew += rounds_of_a_caller(rounds / 40, threads); });
    for (std::thread& caller : callers) caller.join();
    std::vector<std::atomic<int>> runs(most);
    symclust::Helpers helpers(threads);
    std::uint64_t random = 1;
    long bad = bad_of_crew;
    for (long round = 0; round < rounds; ++round) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        const int blocks = round % 2 ? 2 + static_cast<int>((random >> 33) % (most - 2)) : 2;
        for (auto& count : runs) count.store(0, std::memory_order_relaxed);
        helpers.run(blocks, [&](int block) { runs[block].fetch_add(1, std::memory_order_relaxed); });
        bool right = true;
        for (int block = 0; block < most; ++block) right = right && runs[block].load(std::memory_order_relaxed) == (block < blocks);
        bad += !right;
    }
    std::printf("%ld bad rounds of %ld\n", bad, rounds);
    return bad > 0;
}
