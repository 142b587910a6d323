// A graph cut in two: coarsen it, cut the smallest graph by rank-2 factors, and improve the cut on the way back.
#pragma once

#include "cut_coarsen.hpp"
#include "cut_factor.hpp"

namespace symclust {

// How a cut is looked for. The numbers were chosen by measurement; docs/community_trees.md says what they change.
struct Bisecting {
    static constexpr std::ptrdiff_t coarsest = 100;  // nodes of a graph that is cut from random starts
    static constexpr int starts = 8, start_sweeps = 30;
    static constexpr int level_sweeps = 3, level_passes = 2;
    static constexpr double least_shrinking = 0.9;  // a coarse graph with more nodes than this share is not worth having
    double balance, smallest;
};

struct Found {
    std::vector<std::uint8_t> side;
    double value = no_cut;
    bool any() const { return value > no_cut; }
};

// Nodes change sides, in order, wherever the cut becomes better; for some passes or until none does.
template <typename T>
void move_nodes(const CutGraph<T>& graph, const Judge& judge, Found& found) {
    Halves halves = measure(graph, found.side.data());
    found.value = judge(halves);
    bool moved = found.any();
    for (int pass = 0; pass < Bisecting::level_passes && moved; ++pass) {
        moved = false;
        for (std::ptrdiff_t i = 0; i < graph.n; ++i) {
            const int from = found.side[i];
            double to_side[2] = {0.0, 0.0};
            for (std::int64_t e = graph.indptr[i]; e < graph.indptr[i + 1]; ++e)
                to_side[found.side[graph.indices[e]]] += static_cast<double>(graph.weights[e]);
            if (to_side[1 - from] == 0.0) continue;
            const Halves after = halves.moved(graph, i, from, to_side[from], to_side[1 - from]);
            const double value = judge(after);
            if (value <= found.value + 1e-12) continue;  // less is rounding, and could go on for ever
            halves = after;
            found.value = value;
            found.side[i] = static_cast<std::uint8_t>(1 - from);
            moved = true;
        }
    }
}

template <typename T>
Found cut_by_factor(const CutGraph<T>& graph, const Judge& judge, std::vector<Pair> H, int sweeps) {
    const std::vector<double> roots = inverse_roots(graph);
    for (int sweep = 0; sweep < sweeps; ++sweep) factor_sweep(graph, roots, H);
    Found found{std::vector<std::uint8_t>(graph.n)};
    found.value = cut_along(graph, judge, H, found.side);
    if (found.any()) move_nodes(graph, judge, found);
    return found;
}

template <typename T>
Found cut_from_random(const CutGraph<T>& graph, const Judge& judge, SplitMix& random) {
    Found best;
    for (int start = 0; start < Bisecting::starts; ++start) {
        Found found = cut_by_factor(graph, judge, random_factor(graph, random), Bisecting::start_sweeps);
        if (start == 0 || found.value > best.value) best = std::move(found);
    }
    return best;
}

// The best cut known of a connected graph; none if no cut leaves both sides with `smallest` nodes.
template <typename T>
Found bisect_connected(const CutGraph<T>& graph, const Bisecting& how, SplitMix& random) {
    const Judge judge(graph, how.balance, how.smallest);
    if (graph.n <= Bisecting::coarsest) return cut_from_random(graph, judge, random);
    const CoarseGraph coarse = contract(graph, group_nodes(graph, 1.5 * graph.association / Bisecting::coarsest, random));
    if (static_cast<double>(coarse.n()) > Bisecting::least_shrinking * static_cast<double>(graph.n))
        return cut_from_random(graph, judge, random);
    const Found rough = bisect_connected(coarse.view(), how, random);
    if (!rough.any()) return cut_from_random(graph, judge, random);
    Found kept{std::vector<std::uint8_t>(graph.n)};
    for (std::ptrdiff_t i = 0; i < graph.n; ++i) kept.side[i] = rough.side[coarse.group[i]];
    move_nodes(graph, judge, kept);
    Found again = cut_by_factor(graph, judge, factor_of(graph, kept.side), Bisecting::level_sweeps);
    return again.value > kept.value ? again : kept;
}

}  // namespace symclust
