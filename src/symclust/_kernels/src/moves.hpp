// Clusters of a graph improved by local moves: a node goes to the neighbouring cluster where it raises the
// modularity the most, at a given resolution.
#pragma once

#include "cut_graph.hpp"

namespace symclust {

// Sums over the nodes of each cluster.
struct Clusters {
    std::vector<double> association, volume, size;

    template <typename T>
    Clusters(const CutGraph<T>& graph, const int32_t* label, ptrdiff_t count)
        : association(count, 0.0), volume(count, 0.0), size(count, 0.0) {
        Pace pace;
        for (ptrdiff_t i = 0; i < graph.n; ++i) {
            double inside = graph.loops[i];
            pace(4 * (graph.indptr[i + 1] - graph.indptr[i]));
            for (int64_t e = graph.indptr[i]; e < graph.indptr[i + 1]; ++e)
                if (label[graph.indices[e]] == label[i]) inside += double(graph.weights[e]);
            association[label[i]] += inside;
            volume[label[i]] += graph.volumes[i];
            size[label[i]] += graph.sizes[i];
        }
    }

    // A node with edges of weight `tie` to the others of cluster k enters it (sign 1) or leaves it (sign −1).
    template <typename T>
    void change(const CutGraph<T>& graph, int32_t i, int32_t k, double tie, double sign) {
        association[k] += sign * (2.0 * tie + graph.loops[i]);
        volume[k] += sign * graph.volumes[i];
        size[k] += sign * graph.sizes[i];
    }
};

// Nodes in a ring, each in it at most once: all at first, in the given order, and later those beside which
// something moved.
class Waiting {
public:
    explicit Waiting(std::vector<int32_t> order)
        : ring(std::move(order)), queued(ring.size(), 1), count(ring.size()) {}

    bool any() const { return count > 0; }

    int32_t take() {
        const int32_t i = ring[first];
        first = first + 1 == ring.size() ? 0 : first + 1;
        --count;
        queued[i] = 0;
        return i;
    }

    void add(int32_t i) {
        if (queued[i]) return;
        queued[i] = 1;
        size_t last = first + count++;
        ring[last < ring.size() ? last : last - ring.size()] = i;
    }

private:
    std::vector<int32_t> ring;
    std::vector<uint8_t> queued;
    size_t first = 0, count;
};

// What a move has to heed.
struct MoveRules {
    const int32_t* fence;  // nodes may join only nodes with the same number here; null: any
    double smallest;       // size that no cluster may fall below by a move; 0 lets clusters become empty
    bool both;             // the normalised association Σ assoc(C, C) / vol(C) has to rise too
    double resolution;     // γ: larger values make smaller clusters; 1 is the modularity itself
};

// One thread, one node after the other: what is moved next depends on what was moved before.
template <typename T>
class LocalMoves {
public:
    LocalMoves(const CutGraph<T>& graph, const MoveRules& rules, int32_t* label, ptrdiff_t count)
        : graph(graph), rules(rules), label(label), clusters(graph, label, count), ties(count, 0.0),
          tied(count, 0) {}

    // Visits nodes until none has a better cluster. Returns the number of moves.
    int64_t run(std::vector<int32_t> order) {
        Waiting waiting(std::move(order));
        Pace pace;
        int64_t moves = 0;
        while (waiting.any()) {
            const int32_t i = waiting.take(), from = label[i];
            pace(8 * (graph.indptr[i + 1] - graph.indptr[i]) + 8);
            if (rules.smallest > 0.0 && clusters.size[from] - graph.sizes[i] < rules.smallest) continue;
            gather(i);
            const int32_t to = best_for(i);
            if (to != from) {
                clusters.change(graph, i, from, ties[from], -1.0);
                clusters.change(graph, i, to, ties[to], 1.0);
                label[i] = to;
                ++moves;
                for (int64_t e = graph.indptr[i]; e < graph.indptr[i + 1]; ++e)
                    if (label[graph.indices[e]] != to && allowed(i, graph.indices[e]))
                        waiting.add(graph.indices[e]);
            }
            for (const int32_t k : near) ties[k] = 0.0, tied[k] = 0;
        }
        return moves;
    }

private:
    bool allowed(int32_t i, int32_t j) const { return !rules.fence || rules.fence[i] == rules.fence[j]; }

    // The weights of the edges of a node to each cluster nearby.
    void gather(int32_t i) {
        near.clear();
        for (int64_t e = graph.indptr[i]; e < graph.indptr[i + 1]; ++e) {
            const int32_t j = graph.indices[e], k = label[j];
            if (!allowed(i, j)) continue;
            if (!tied[k]) tied[k] = 1, near.push_back(k);
            ties[k] += double(graph.weights[e]);
        }
    }

    // The modularity times vol(V) is Σ assoc(C, C) − γ vol(C)² / vol(V). What is less than rounding could go on
    // for ever.
    int32_t best_for(int32_t i) const {
        const int32_t from = label[i];
        const double own = graph.volumes[i], share = rules.resolution * own / graph.volume;
        double best = ties[from] - share * (clusters.volume[from] - own) + 1e-12 * graph.volume;
        int32_t to = from;
        for (const int32_t k : near) {
            const double here = ties[k] - share * clusters.volume[k];
            if (k != from && here > best && (!rules.both || less_cut(i, k))) best = here, to = k;
        }
        return to;
    }

    // Whether the normalised association rises where a node goes to cluster `to`.
    bool less_cut(int32_t i, int32_t to) const {
        const int32_t from = label[i];
        const std::vector<double>&a = clusters.association, &v = clusters.volume;
        const double own = graph.volumes[i], loop = graph.loops[i];
        const double before = ratio(a[from], v[from]) + ratio(a[to], v[to]);
        const double after = ratio(a[from] - 2.0 * ties[from] - loop, v[from] - own) +
                             ratio(a[to] + 2.0 * ties[to] + loop, v[to] + own);
        return after > before + 1e-12;
    }

    const CutGraph<T>& graph;
    const MoveRules rules;
    int32_t* label;
    Clusters clusters;
    std::vector<double> ties;   // of the present node to each cluster
    std::vector<uint8_t> tied;  // whether there is one: edges may weigh next to nothing
    std::vector<int32_t> near;  // clusters that there are ties to
};

// Groups of nodes that local moves from single nodes make, in random order: each has most of its edges
// inside, if any has.
template <typename T>
std::vector<int32_t> group_by_moves(const CutGraph<T>& graph, const int32_t* fence, double resolution,
                                    SplitMix& random) {
    std::vector<int32_t> group(graph.n);
    std::iota(group.begin(), group.end(), 0);
    LocalMoves<T>(graph, MoveRules{fence, 0.0, false, resolution}, group.data(), graph.n)
        .run(shuffled(graph.n, random));
    number_in_order(group, size_t(graph.n));
    return group;
}

}  // namespace symclust
