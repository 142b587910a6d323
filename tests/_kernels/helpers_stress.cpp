// Rounds of blocks shared with helper threads: each block must run exactly once, and run() may return only when all have.
// Rounds follow each other at once and their numbers of blocks go up and down, so that helpers come late to many of them.
// Usage: helpers_stress <rounds> <threads>. Prints the number of bad rounds; the exit status says whether there was one.
#include <cstdio>
#include <cstdlib>

#include "helpers.hpp"

void symclust::ask_python() {}

int main(int, char** arguments) {
    const long rounds = std::atol(arguments[1]);
    const int threads = std::atoi(arguments[2]), most = 40;
    std::vector<std::atomic<int>> runs(most);
    symclust::Helpers helpers(threads);
    std::uint64_t random = 1;
    long bad = 0;
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
