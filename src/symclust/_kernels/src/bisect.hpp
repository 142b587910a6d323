// A graph cut in two: coarsen it, cut the smallest graph by rank-2 factors, and improve the cut on the way
// back. Graphs in several pieces are cut between them.
#pragma once

#include "cut_graph.hpp"
#include "two_columns.hpp"

namespace symclust {

// Rank-2 factors: two columns H with S ≈ HHᵀ off the diagonal, S = D^-1/2 A D^-1/2, and the best cut along
// them.

using FactorRow = std::array<double, 2>;

// The same row of S starts side by side: both columns of all of them.
template <int S>
using FactorRows = std::array<std::array<double, S>, 2>;

template <typename T>
std::vector<double> inverse_roots(const CutGraph<T>& graph) {
    std::vector<double> roots(graph.n);
    for (ptrdiff_t i = 0; i < graph.n; ++i)
        roots[i] = graph.degrees[i] > 0.0 ? 1.0 / std::sqrt(graph.degrees[i]) : 0.0;
    return roots;
}

// Row descent without the diagonal: every row of H becomes the solution of its own problem, in order. Each
// start goes its own way; side by side they wait for each other's additions and share the edges.
template <typename T, int S>
void factor_sweep(const CutGraph<T>& graph, const std::vector<double>& roots,
                  std::vector<FactorRows<S>>& H) {
    Pace pace;
    double a[S] = {}, b[S] = {}, c[S] = {};  // HᵀH
    const auto add = [&](const FactorRows<S>& h, double sign) {
        for (int s = 0; s < S; ++s) {
            a[s] += sign * h[0][s] * h[0][s];
            b[s] += sign * h[0][s] * h[1][s];
            c[s] += sign * h[1][s] * h[1][s];
        }
    };
    for (const FactorRows<S>& h : H) add(h, 1.0);
    for (ptrdiff_t i = 0; i < graph.n; ++i) {
        double p[S] = {}, q[S] = {};
        pace(4 * (graph.indptr[i + 1] - graph.indptr[i]));
        for (int64_t e = graph.indptr[i]; e < graph.indptr[i + 1]; ++e) {
            const int32_t j = graph.indices[e];
            const double weight = double(graph.weights[e]) * roots[j];
            for (int s = 0; s < S; ++s) p[s] += weight * H[j][0][s];
            for (int s = 0; s < S; ++s) q[s] += weight * H[j][1][s];
        }
        FactorRows<S>& h = H[i];
        add(h, -1.0);
        for (int s = 0; s < S; ++s) p[s] *= roots[i], q[s] *= roots[i];
        solve_two_columns<S>(a, b, c, two_columns_dependence<double>, p, q, h[0].data(), h[1].data());
        add(h, 1.0);
    }
}

// A random start on the scale of S: rows of H go with the roots of the degrees.
template <typename T>
std::vector<FactorRow> random_factor(const CutGraph<T>& graph, SplitMix& random) {
    std::vector<FactorRow> H(graph.n);
    double squares = 0.0;
    for (ptrdiff_t i = 0; i < graph.n; ++i)
        for (double& entry : H[i]) {
            entry = std::sqrt(graph.degrees[i]) * random.unit();
            squares += entry * entry;
        }
    const double scale = squares > 0.0 ? 1.0 / std::sqrt(squares) : 0.0;
    for (FactorRow& h : H) h[0] *= scale, h[1] *= scale;
    return H;
}

// The start that labels give: the column of a node's side at sqrt(d_i / vol(side)), the other at a tenth of
// that.
template <typename T>
std::vector<FactorRow> factor_of(const CutGraph<T>& graph, const std::vector<uint8_t>& side) {
    FactorRow sums{};
    for (ptrdiff_t i = 0; i < graph.n; ++i) sums[side[i]] += graph.degrees[i];
    std::vector<FactorRow> H(graph.n);
    for (ptrdiff_t i = 0; i < graph.n; ++i)
        for (int column = 0; column < 2; ++column) {
            const double full = sums[column] > 0.0 ? std::sqrt(graph.degrees[i] / sums[column]) : 0.0;
            H[i][column] = column == side[i] ? full : 0.1 * full;
        }
    return H;
}

// Nodes by falling share of the left column. Nodes in no column come between the two.
inline std::vector<int32_t> by_share(const std::vector<FactorRow>& H) {
    std::vector<std::pair<double, int32_t>> keys(H.size());
    for (size_t i = 0; i < H.size(); ++i) {
        const double sum = H[i][0] + H[i][1];
        keys[i] = {sum > 0.0 ? H[i][1] / sum : 0.5, int32_t(i)};
    }
    std::sort(keys.begin(), keys.end());
    std::vector<int32_t> order(H.size());
    std::transform(keys.begin(), keys.end(), order.begin(), [](const auto& key) { return key.second; });
    return order;
}

// The best of all cuts that put the nodes of largest share left. Returns its value, no_cut if none is
// allowed.
template <typename T>
double cut_along(const CutGraph<T>& graph, const Judge& judge, const std::vector<FactorRow>& H,
                 std::vector<uint8_t>& side) {
    const std::vector<int32_t> order = by_share(H);
    Halves halves = all_on_the_right(graph);
    std::fill(side.begin(), side.end(), uint8_t(1));
    double best = no_cut;
    ptrdiff_t kept = 0;
    Pace pace;
    for (ptrdiff_t k = 0; k + 1 < graph.n; ++k) {
        const int32_t i = order[k];
        pace(4 * (graph.indptr[i + 1] - graph.indptr[i]));
        double left = 0.0;
        for (int64_t e = graph.indptr[i]; e < graph.indptr[i + 1]; ++e)
            if (!side[graph.indices[e]]) left += double(graph.weights[e]);
        halves = halves.moved(graph, i, 1, graph.degrees[i] - graph.loops[i] - left, left);
        side[i] = 0;
        const double value = judge(halves);
        if (value > best) best = value, kept = k + 1;
    }
    for (ptrdiff_t k = kept; k < graph.n; ++k) side[order[k]] = 1;
    return best;
}

// How a cut is looked for. The numbers were chosen by measurement; docs/evidence/trees.md says what they
// change.
struct Bisecting {
    static constexpr ptrdiff_t coarsest = 100;  // nodes of a graph that is cut from random starts
    static constexpr int starts = 8, start_sweeps = 30;
    static constexpr ptrdiff_t side_by_side = 1 << 12;  // nodes up to which all starts fit into the cache
    static constexpr int level_sweeps = 3, level_passes = 2;
    static constexpr double least_shrinking =
        0.9;  // a coarse graph with more nodes than this share is not worth having
    // Of a graph with many edges, up to `most_left_out` levels in a row with more than this share of them are
    // not held.
    static constexpr double fallen_together = 0.7;
    static constexpr ptrdiff_t many_edges = 1 << 18;
    static constexpr size_t most_left_out = 4;
    double balance, smallest;
};

struct Found {
    std::vector<uint8_t> side;
    double value = no_cut;
    bool any() const { return value > no_cut; }
};

// Nodes change sides, in order, wherever the cut becomes better; for some passes or until none does.
template <typename T>
void move_nodes(const CutGraph<T>& graph, const Judge& judge, Found& found) {
    Halves halves = measure(graph, found.side.data());
    found.value = judge(halves);
    bool moved = found.any();
    Pace pace;
    for (int pass = 0; pass < Bisecting::level_passes && moved; ++pass) {
        moved = false;
        for (ptrdiff_t i = 0; i < graph.n; ++i) {
            const int from = found.side[i];
            double to_side[2] = {0.0, 0.0};
            pace(4 * (graph.indptr[i + 1] - graph.indptr[i]));
            for (int64_t e = graph.indptr[i]; e < graph.indptr[i + 1]; ++e)
                to_side[found.side[graph.indices[e]]] += double(graph.weights[e]);
            if (to_side[1 - from] == 0.0) continue;
            const Halves after = halves.moved(graph, i, from, to_side[from], to_side[1 - from]);
            const double value = judge(after);
            if (value <= found.value + 1e-12) continue;  // less is rounding, and could go on for ever
            halves = after;
            found.value = value;
            found.side[i] = uint8_t(1 - from);
            moved = true;
        }
    }
}

// The best cut along each of some starts after some sweeps, and the best of these.
template <typename T, int S>
Found cut_by_factors(const CutGraph<T>& graph, const Judge& judge,
                     const std::array<std::vector<FactorRow>, S>& starts, int sweeps) {
    std::vector<FactorRows<S>> H(graph.n);
    for (ptrdiff_t i = 0; i < graph.n; ++i)
        for (int s = 0; s < S; ++s) H[i][0][s] = starts[s][i][0], H[i][1][s] = starts[s][i][1];
    const std::vector<double> roots = inverse_roots(graph);
    for (int sweep = 0; sweep < sweeps; ++sweep) factor_sweep<T, S>(graph, roots, H);
    Found best;
    std::vector<FactorRow> own(graph.n);
    for (int s = 0; s < S; ++s) {
        for (ptrdiff_t i = 0; i < graph.n; ++i) own[i] = {H[i][0][s], H[i][1][s]};
        Found found{std::vector<uint8_t>(graph.n)};
        found.value = cut_along(graph, judge, own, found.side);
        if (found.any()) move_nodes(graph, judge, found);
        if (s == 0 || found.value > best.value) best = std::move(found);
    }
    return best;
}

template <typename T, int S>
Found cut_from_random(const CutGraph<T>& graph, const Judge& judge, SplitMix& random) {
    Found best;
    for (int start = 0; start < Bisecting::starts; start += S) {
        std::array<std::vector<FactorRow>, S> starts;
        for (std::vector<FactorRow>& H : starts) H = random_factor(graph, random);
        Found found = cut_by_factors<T, S>(graph, judge, starts, Bisecting::start_sweeps);
        if (start == 0 || found.value > best.value) best = std::move(found);
    }
    return best;
}

template <typename T>
Found cut_from_random(const CutGraph<T>& graph, const Judge& judge, SplitMix& random) {
    return graph.n <= Bisecting::side_by_side ? cut_from_random<T, Bisecting::starts>(graph, judge, random)
                                              : cut_from_random<T, 1>(graph, judge, random);
}

// The cut of a graph that follows from one of the graph of its groups.
template <typename T>
Found improve(const CutGraph<T>& graph, const std::vector<int32_t>& group, const Found& rough,
              const Bisecting& how, SplitMix& random) {
    const Judge judge(graph, how.balance, how.smallest);
    if (!rough.any()) return cut_from_random(graph, judge, random);
    Found kept{std::vector<uint8_t>(graph.n)};
    for (ptrdiff_t i = 0; i < graph.n; ++i) kept.side[i] = rough.side[group[i]];
    move_nodes(graph, judge, kept);
    Found again = cut_by_factors<T, 1>(graph, judge, {factor_of(graph, kept.side)}, Bisecting::level_sweeps);
    return again.value > kept.value ? again : kept;
}

// The graph that groups of groups make of a graph.
template <typename T>
CoarseGraph contract_again(const CutGraph<T>& graph, const std::vector<std::vector<int32_t>>& groups,
                           size_t count) {
    CoarseGraph coarse = contract(graph, groups[0]);
    for (size_t level = 1; level < count; ++level) coarse = contract(coarse.view(), groups[level]);
    return coarse;
}

// The best cut known of a connected graph; none if no cut leaves both sides with `smallest` nodes.
//
// In graphs whose edges hardly fall together when nodes are joined, a level has nearly the edges of the one
// before. Such levels are not held while the smaller ones are cut: their groups are enough to make them
// again, to the bit. On a random graph, the worst case, that takes half of the memory and up to a quarter
// more time.
template <typename T>
Found bisect_connected(const CutGraph<T>& graph, const Bisecting& how, SplitMix& random) {
    const auto shrinks = [](ptrdiff_t from, ptrdiff_t to) {
        return to <= Bisecting::least_shrinking * double(from);
    };
    const double limit = 1.5 * graph.association / Bisecting::coarsest;
    const Judge judge(graph, how.balance, how.smallest);
    if (graph.n <= Bisecting::coarsest) return cut_from_random(graph, judge, random);
    CoarseGraph coarse = contract(graph, group_nodes(graph, limit, random));
    if (!shrinks(graph.n, coarse.n())) return cut_from_random(graph, judge, random);
    std::vector<std::vector<int32_t>> groups{coarse.group};
    bool ended = false;
    const bool is_large = graph.nonzeros() > Bisecting::many_edges;
    while (is_large && !ended && groups.size() <= Bisecting::most_left_out &&
           coarse.n() > Bisecting::coarsest &&
           double(coarse.indices.size()) > Bisecting::fallen_together * double(graph.nonzeros())) {
        const CutGraph<double> view = coarse.view();
        CoarseGraph next =
            contract(view, group_nodes(view, 1.5 * view.association / Bisecting::coarsest, random));
        ended = !shrinks(coarse.n(), next.n());
        if (!ended) groups.push_back(next.group), coarse = std::move(next);
    }
    Found found;
    {
        const CutGraph<double> view = coarse.view();
        found = ended ? cut_from_random(view, Judge(view, how.balance, how.smallest), random)
                      : bisect_connected(view, how, random);
    }
    coarse = CoarseGraph{};
    for (size_t level = groups.size(); level-- > 1;) {
        const CoarseGraph again = contract_again(graph, groups, level);
        found = improve(again.view(), groups[level], found, how, random);
    }
    return improve(graph, groups[0], found, how, random);
}

// Pieces: cut between them, at no cost, and inside one only if the others are too small to count.

struct Piece {
    bool large;  // enough nodes for a cluster, and edges among them
    double volume, size;
    int32_t number;

    // Large ones first, then by volume.
    bool operator<(const Piece& other) const {
        if (large != other.large) return large;
        if (volume != other.volume) return volume > other.volume;
        return number < other.number;
    }
};

// The connected piece of each node, numbered by its first node.
template <typename T>
std::vector<int32_t> find_pieces(const CutGraph<T>& graph) {
    std::vector<int32_t> piece(graph.n, -1), waiting;
    int32_t count = 0;
    Pace pace;
    for (ptrdiff_t first = 0; first < graph.n; ++first) {
        if (piece[first] >= 0) continue;
        piece[first] = count;
        waiting.push_back(int32_t(first));
        while (!waiting.empty()) {
            const int32_t i = waiting.back();
            waiting.pop_back();
            pace(4 * (graph.indptr[i + 1] - graph.indptr[i]));
            for (int64_t e = graph.indptr[i]; e < graph.indptr[i + 1]; ++e) {
                const int32_t j = graph.indices[e];
                if (piece[j] >= 0 || !(graph.weights[e] > T(0))) continue;
                piece[j] = count;
                waiting.push_back(j);
            }
        }
        ++count;
    }
    return piece;
}

template <typename T>
std::vector<Piece> sorted_pieces(const CutGraph<T>& graph, const std::vector<int32_t>& piece,
                                 double smallest) {
    std::vector<Piece> pieces(Members::count(piece));
    for (size_t k = 0; k < pieces.size(); ++k) pieces[k] = {false, 0.0, 0.0, int32_t(k)};
    for (ptrdiff_t i = 0; i < graph.n; ++i) {
        pieces[piece[i]].volume += graph.volumes[i];
        pieces[piece[i]].size += graph.sizes[i];
    }
    for (Piece& p : pieces) p.large = p.size >= smallest && p.volume > 0.0;
    std::sort(pieces.begin(), pieces.end());
    return pieces;
}

// Whole pieces to either side: the left takes them in order until it has half of the volume, and leaves the
// last large one in any case; without two large ones it takes half of the nodes.
inline std::vector<uint8_t> deal_pieces(const std::vector<Piece>& pieces, ptrdiff_t large) {
    const bool by_volume = large > 1;
    const auto worth = [&](const Piece& p) { return by_volume ? p.volume : p.size; };
    double total = 0.0, taken = 0.0;
    for (const Piece& p : pieces) total += worth(p);
    std::vector<uint8_t> side(pieces.size(), 1);
    const ptrdiff_t most = (by_volume ? large : ptrdiff_t(pieces.size())) - 1;
    for (ptrdiff_t k = 0; k < most && (k == 0 || 2.0 * taken < total); ++k) {
        taken += worth(pieces[k]);
        side[pieces[k].number] = 0;
    }
    return side;
}

// One piece as a graph of its own; `group` holds the numbers of its nodes.
template <typename T>
CoarseGraph extract_piece(const CutGraph<T>& graph, const std::vector<int32_t>& piece, int32_t number) {
    CoarseGraph part;
    std::vector<int32_t> place(graph.n, -1);
    for (ptrdiff_t i = 0; i < graph.n; ++i) {
        if (piece[i] != number) continue;
        place[i] = int32_t(part.group.size());
        part.group.push_back(int32_t(i));
    }
    int64_t edges = 0;
    for (const int32_t i : part.group) edges += graph.count(i);
    part.indices.reserve(edges), part.weights.reserve(edges), part.indptr.reserve(part.group.size() + 1);
    part.indptr.push_back(0);
    for (const int32_t i : part.group) {
        for (int64_t e = graph.indptr[i]; e < graph.indptr[i + 1]; ++e) {
            if (place[graph.indices[e]] < 0) continue;  // an edge of weight zero
            part.indices.push_back(place[graph.indices[e]]);
            part.weights.push_back(double(graph.weights[e]));
        }
        part.indptr.push_back(int64_t(part.indices.size()));
        part.loops.push_back(graph.loops[i]);
        part.volumes.push_back(graph.volumes[i]);
        part.sizes.push_back(graph.sizes[i]);
    }
    return part;
}

// The only large piece is cut; all others follow its heavier side.
template <typename T>
Found cut_inside(const CutGraph<T>& graph, const std::vector<int32_t>& piece, int32_t number,
                 const Bisecting& how, SplitMix& random) {
    const CoarseGraph part = extract_piece(graph, piece, number);
    const CutGraph<double> view = part.view();
    Found inner = bisect_connected(view, how, random);
    if (!inner.any()) return inner;
    const Halves halves = measure(view, inner.side.data());
    Found found{std::vector<uint8_t>(graph.n, halves.volume[1] > halves.volume[0]), inner.value};
    for (size_t k = 0; k < part.group.size(); ++k) found.side[part.group[k]] = inner.side[k];
    return found;
}

template <typename T>
Found bisect(const CutGraph<T>& graph, const Bisecting& how, SplitMix& random) {
    const std::vector<int32_t> piece = find_pieces(graph);
    const std::vector<Piece> pieces = sorted_pieces(graph, piece, how.smallest);
    if (pieces.size() == 1) return bisect_connected(graph, how, random);
    const ptrdiff_t large =
        std::count_if(pieces.begin(), pieces.end(), [](const Piece& p) { return p.large; });
    if (large == 1) {
        Found found = cut_inside(graph, piece, pieces[0].number, how, random);
        if (found.any()) return found;
    }
    const std::vector<uint8_t> dealt = deal_pieces(pieces, large);
    Found found{std::vector<uint8_t>(graph.n)};
    for (ptrdiff_t i = 0; i < graph.n; ++i) found.side[i] = dealt[piece[i]];
    found.value = Judge(graph, how.balance, how.smallest)(measure(graph, found.side.data()));
    return found;
}

}  // namespace symclust
