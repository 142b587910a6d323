// Graphs in several pieces: cut between pieces, at no cost, and inside one only if the others are too small to count.
#pragma once

#include "bisect.hpp"

namespace symclust {

struct Piece {
    bool large;  // enough nodes for a cluster, and edges among them
    double volume, size;
    std::int32_t number;

    // Large ones first, then by volume.
    bool operator<(const Piece& other) const {
        if (large != other.large) return large;
        if (volume != other.volume) return volume > other.volume;
        return number < other.number;
    }
};

// The connected piece of each node, numbered by its first node.
template <typename T>
std::vector<std::int32_t> find_pieces(const CutGraph<T>& graph) {
    std::vector<std::int32_t> piece(graph.n, -1), waiting;
    std::int32_t count = 0;
    for (std::ptrdiff_t first = 0; first < graph.n; ++first) {
        if (piece[first] >= 0) continue;
        piece[first] = count;
        waiting.push_back(static_cast<std::int32_t>(first));
        while (!waiting.empty()) {
            const std::int32_t i = waiting.back();
            waiting.pop_back();
            for (std::int64_t e = graph.indptr[i]; e < graph.indptr[i + 1]; ++e) {
                const std::int32_t j = graph.indices[e];
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
std::vector<Piece> sorted_pieces(const CutGraph<T>& graph, const std::vector<std::int32_t>& piece, double smallest) {
    std::vector<Piece> pieces(Members::count(piece));
    for (std::size_t k = 0; k < pieces.size(); ++k) pieces[k] = {false, 0.0, 0.0, static_cast<std::int32_t>(k)};
    for (std::ptrdiff_t i = 0; i < graph.n; ++i) {
        pieces[piece[i]].volume += graph.volumes[i];
        pieces[piece[i]].size += graph.sizes[i];
    }
    for (Piece& p : pieces) p.large = p.size >= smallest && p.volume > 0.0;
    std::sort(pieces.begin(), pieces.end());
    return pieces;
}

// Whole pieces to either side: the left takes them in order until it has half of the volume, and leaves the last large one
// in any case; without two large ones it takes half of the nodes.
inline std::vector<std::uint8_t> deal_pieces(const std::vector<Piece>& pieces, std::ptrdiff_t large) {
    const bool by_volume = large > 1;
    const auto worth = [&](const Piece& p) { return by_volume ? p.volume : p.size; };
    double total = 0.0, taken = 0.0;
    for (const Piece& p : pieces) total += worth(p);
    std::vector<std::uint8_t> side(pieces.size(), 1);
    const std::ptrdiff_t most = (by_volume ? large : static_cast<std::ptrdiff_t>(pieces.size())) - 1;
    for (std::ptrdiff_t k = 0; k < most && (k == 0 || 2.0 * taken < total); ++k) {
        taken += worth(pieces[k]);
        side[pieces[k].number] = 0;
    }
    return side;
}

// One piece as a graph of its own; `group` holds the numbers of its nodes.
template <typename T>
CoarseGraph extract_piece(const CutGraph<T>& graph, const std::vector<std::int32_t>& piece, std::int32_t number) {
    CoarseGraph part;
    std::vector<std::int32_t> place(graph.n, -1);
    for (std::ptrdiff_t i = 0; i < graph.n; ++i) {
        if (piece[i] != number) continue;
        place[i] = static_cast<std::int32_t>(part.group.size());
        part.group.push_back(static_cast<std::int32_t>(i));
    }
    part.indptr.push_back(0);
    for (const std::int32_t i : part.group) {
        for (std::int64_t e = graph.indptr[i]; e < graph.indptr[i + 1]; ++e) {
            if (place[graph.indices[e]] < 0) continue;  // an edge of weight zero
            part.indices.push_back(place[graph.indices[e]]);
            part.weights.push_back(static_cast<double>(graph.weights[e]));
        }
        part.indptr.push_back(static_cast<std::int64_t>(part.indices.size()));
        part.loops.push_back(graph.loops[i]);
        part.volumes.push_back(graph.volumes[i]);
        part.sizes.push_back(graph.sizes[i]);
    }
    return part;
}

// The only large piece is cut; all others follow its heavier side.
template <typename T>
Found cut_inside(const CutGraph<T>& graph, const std::vector<std::int32_t>& piece, std::int32_t number, const Bisecting& how,
                 SplitMix& random) {
    const CoarseGraph part = extract_piece(graph, piece, number);
    const CutGraph<double> view = part.view();
    Found inner = bisect_connected(view, how, random);
    if (!inner.any()) return inner;
    const Halves halves = measure(view, inner.side.data());
    Found found{std::vector<std::uint8_t>(graph.n, halves.volume[1] > halves.volume[0]), inner.value};
    for (std::size_t k = 0; k < part.group.size(); ++k) found.side[part.group[k]] = inner.side[k];
    return found;
}

template <typename T>
Found bisect(const CutGraph<T>& graph, const Bisecting& how, SplitMix& random) {
    const std::vector<std::int32_t> piece = find_pieces(graph);
    const std::vector<Piece> pieces = sorted_pieces(graph, piece, how.smallest);
    if (pieces.size() == 1) return bisect_connected(graph, how, random);
    const std::ptrdiff_t large = std::count_if(pieces.begin(), pieces.end(), [](const Piece& p) { return p.large; });
    if (large == 1) {
        Found found = cut_inside(graph, piece, pieces[0].number, how, random);
        if (found.any()) return found;
    }
    const std::vector<std::uint8_t> dealt = deal_pieces(pieces, large);
    Found found{std::vector<std::uint8_t>(graph.n)};
    for (std::ptrdiff_t i = 0; i < graph.n; ++i) found.side[i] = dealt[piece[i]];
    found.value = Judge(graph, how.balance, how.smallest)(measure(graph, found.side.data()));
    return found;
}

}  // namespace symclust
