// A smaller graph with nearly the same good cuts: nodes joined with the neighbour they are most tied to.
#pragma once

#include <numeric>

#include "cut_graph.hpp"

namespace symclust {

// A graph that owns its arrays. Node k of it stands for the nodes i of the finer graph with group[i] == k.
struct CoarseGraph {
    std::vector<std::int32_t> group;
    std::vector<std::int64_t> indptr;
    std::vector<std::int32_t> indices;
    std::vector<double> weights, loops, volumes, sizes;

    std::ptrdiff_t n() const { return static_cast<std::ptrdiff_t>(loops.size()); }
    CutGraph<double> view() const {
        return {n(), indptr.data(), indices.data(), weights.data(), loops.data(), volumes.data(), sizes.data()};
    }
};

inline std::vector<std::int32_t> shuffled(std::ptrdiff_t n, SplitMix& random) {
    std::vector<std::int32_t> order(n);
    std::iota(order.begin(), order.end(), 0);
    for (std::ptrdiff_t i = n - 1; i > 0; --i) std::swap(order[i], order[random.next() % static_cast<std::uint64_t>(i + 1)]);
    return order;
}

// Groups numbered by their first node: neighbours that are close in memory stay so on the coarser graph.
inline void number_in_order(std::vector<std::int32_t>& group, std::size_t count) {
    std::vector<std::int32_t> number(count, -1);
    std::int32_t next = 0;
    for (std::int32_t& k : group) {
        if (number[k] < 0) number[k] = next++;
        k = number[k];
    }
}

// Each node in random order joins the group (or the lone node) that it has the heaviest edge to, compared with the volume
// there; groups stay below `limit`, so that a hub does not swallow the graph.
template <typename T>
std::vector<std::int32_t> group_nodes(const CutGraph<T>& graph, double limit, SplitMix& random) {
    std::vector<std::int32_t> group(graph.n, -1);
    std::vector<double> held;  // sum of degrees of each group
    for (const std::int32_t i : shuffled(graph.n, random)) {
        if (group[i] >= 0) continue;
        std::int32_t best = -1;
        double strongest = 0.0;
        for (std::int64_t e = graph.indptr[i]; e < graph.indptr[i + 1]; ++e) {
            const std::int32_t j = graph.indices[e];
            const double there = group[j] >= 0 ? held[group[j]] : graph.degrees[j];
            const double strength = static_cast<double>(graph.weights[e]) / there;
            if (strength > strongest && there + graph.degrees[i] <= limit) {
                strongest = strength;
                best = j;
            }
        }
        if (best < 0 || group[best] < 0) {
            group[i] = static_cast<std::int32_t>(held.size());
            held.push_back(graph.degrees[i]);
            if (best < 0) continue;
            group[best] = group[i];
            held.back() += graph.degrees[best];
        } else {
            group[i] = group[best];
            held[group[i]] += graph.degrees[i];
        }
    }
    number_in_order(group, held.size());
    return group;
}

// Nodes by group: those of group k are members[starts[k]] to members[starts[k + 1]].
struct Members {
    std::vector<std::int64_t> starts;
    std::vector<std::int32_t> members;

    explicit Members(const std::vector<std::int32_t>& group) : starts(count(group) + 1, 0), members(group.size()) {
        for (const std::int32_t k : group) ++starts[k + 1];
        std::partial_sum(starts.begin(), starts.end(), starts.begin());
        std::vector<std::int64_t> next(starts.begin(), starts.end() - 1);
        for (std::size_t i = 0; i < group.size(); ++i) members[next[group[i]]++] = static_cast<std::int32_t>(i);
    }
    static std::ptrdiff_t count(const std::vector<std::int32_t>& group) {
        return group.empty() ? 0 : *std::max_element(group.begin(), group.end()) + 1;
    }
};

// Sums of the edges between groups; edges inside a group become its loop.
template <typename T>
CoarseGraph contract(const CutGraph<T>& graph, std::vector<std::int32_t> group) {
    const Members by(group);
    const std::ptrdiff_t n = static_cast<std::ptrdiff_t>(by.starts.size()) - 1;
    CoarseGraph coarse{std::move(group), std::vector<std::int64_t>(n + 1, 0), {}, {}, std::vector<double>(n, 0.0),
                       std::vector<double>(n, 0.0), std::vector<double>(n, 0.0)};
    std::vector<std::int64_t> place(n, -1);  // of the entry of each column, if it lies in the present row
    for (std::ptrdiff_t k = 0; k < n; ++k) {
        const auto first = static_cast<std::int64_t>(coarse.indices.size());
        for (std::int64_t m = by.starts[k]; m < by.starts[k + 1]; ++m) {
            const std::int32_t i = by.members[m];
            coarse.loops[k] += graph.loops[i];
            coarse.volumes[k] += graph.volumes[i];
            coarse.sizes[k] += graph.sizes[i];
            for (std::int64_t e = graph.indptr[i]; e < graph.indptr[i + 1]; ++e) {
                const std::int32_t to = coarse.group[graph.indices[e]];
                const double weight = static_cast<double>(graph.weights[e]);
                if (to == k) {
                    coarse.loops[k] += weight;
                } else if (place[to] < first) {
                    place[to] = static_cast<std::int64_t>(coarse.indices.size());
                    coarse.indices.push_back(to);
                    coarse.weights.push_back(weight);
                } else {
                    coarse.weights[place[to]] += weight;
                }
            }
        }
        coarse.indptr[k + 1] = static_cast<std::int64_t>(coarse.indices.size());
    }
    return coarse;
}

}  // namespace symclust
