// Two columns H with S ≈ HHᵀ off the diagonal, S = D^-1/2 A D^-1/2, and the best cut along them.
#pragma once

#include <numeric>

#include "cut_graph.hpp"

namespace symclust {

using Pair = std::array<double, 2>;  // a row of H

// argmin over x, y ≥ 0 of a x² + 2b xy + c y² − 2px − 2qy: the point where both are free, else the better edge
// (rank-2 nonnegative least squares, Kuang 2014, Algorithm 4).
inline Pair best_pair(double a, double b, double c, double p, double q) {
    const double determinant = a * c - b * b, x = c * p - b * q, y = a * q - b * p;
    if (determinant > 1e-12 * a * c && x >= 0.0 && y >= 0.0) return {x / determinant, y / determinant};
    const double alone_x = a > 0.0 ? p / a : 0.0, alone_y = c > 0.0 ? q / c : 0.0;
    if (alone_x * p >= alone_y * q) return {alone_x, 0.0};
    return {0.0, alone_y};
}

template <typename T>
std::vector<double> inverse_roots(const CutGraph<T>& graph) {
    std::vector<double> roots(graph.n);
    for (std::ptrdiff_t i = 0; i < graph.n; ++i) roots[i] = graph.degrees[i] > 0.0 ? 1.0 / std::sqrt(graph.degrees[i]) : 0.0;
    return roots;
}

// Row descent without the diagonal: every row of H becomes the solution of its own problem, in order.
template <typename T>
void factor_sweep(const CutGraph<T>& graph, const std::vector<double>& roots, std::vector<Pair>& H) {
    double a = 0.0, b = 0.0, c = 0.0;  // HᵀH
    for (const Pair& h : H) a += h[0] * h[0], b += h[0] * h[1], c += h[1] * h[1];
    for (std::ptrdiff_t i = 0; i < graph.n; ++i) {
        double p = 0.0, q = 0.0;
        for (std::int64_t e = graph.indptr[i]; e < graph.indptr[i + 1]; ++e) {
            const std::int32_t j = graph.indices[e];
            const double weight = static_cast<double>(graph.weights[e]) * roots[j];
            p += weight * H[j][0];
            q += weight * H[j][1];
        }
        Pair& h = H[i];
        a -= h[0] * h[0], b -= h[0] * h[1], c -= h[1] * h[1];
        h = best_pair(a, b, c, p * roots[i], q * roots[i]);
        a += h[0] * h[0], b += h[0] * h[1], c += h[1] * h[1];
    }
}

// A random start on the scale of S: rows of H go with the roots of the degrees.
template <typename T>
std::vector<Pair> random_factor(const CutGraph<T>& graph, SplitMix& random) {
    std::vector<Pair> H(graph.n);
    double squares = 0.0;
    for (std::ptrdiff_t i = 0; i < graph.n; ++i)
        for (double& entry : H[i]) {
            entry = std::sqrt(graph.degrees[i]) * random.unit();
            squares += entry * entry;
        }
    const double scale = squares > 0.0 ? 1.0 / std::sqrt(squares) : 0.0;
    for (Pair& h : H) h[0] *= scale, h[1] *= scale;
    return H;
}

// The start that labels give: the column of a node's side at sqrt(d_i / vol(side)), the other at a tenth of that.
template <typename T>
std::vector<Pair> factor_of(const CutGraph<T>& graph, const std::vector<std::uint8_t>& side) {
    Pair sums{};
    for (std::ptrdiff_t i = 0; i < graph.n; ++i) sums[side[i]] += graph.degrees[i];
    std::vector<Pair> H(graph.n);
    for (std::ptrdiff_t i = 0; i < graph.n; ++i)
        for (int column = 0; column < 2; ++column) {
            const double full = sums[column] > 0.0 ? std::sqrt(graph.degrees[i] / sums[column]) : 0.0;
            H[i][column] = column == side[i] ? full : 0.1 * full;
        }
    return H;
}

// Nodes by falling share of the left column. Nodes in no column come between the two.
inline std::vector<std::int32_t> by_share(const std::vector<Pair>& H) {
    std::vector<std::pair<double, std::int32_t>> keys(H.size());
    for (std::size_t i = 0; i < H.size(); ++i) {
        const double sum = H[i][0] + H[i][1];
        keys[i] = {sum > 0.0 ? H[i][1] / sum : 0.5, static_cast<std::int32_t>(i)};
    }
    std::sort(keys.begin(), keys.end());
    std::vector<std::int32_t> order(H.size());
    std::transform(keys.begin(), keys.end(), order.begin(), [](const auto& key) { return key.second; });
    return order;
}

// The best of all cuts that put the nodes of largest share left. Returns its value, no_cut if none is allowed.
template <typename T>
double cut_along(const CutGraph<T>& graph, const Judge& judge, const std::vector<Pair>& H, std::vector<std::uint8_t>& side) {
    const std::vector<std::int32_t> order = by_share(H);
    Halves halves = all_on_the_right(graph);
    std::fill(side.begin(), side.end(), std::uint8_t(1));
    double best = no_cut;
    std::ptrdiff_t kept = 0;
    for (std::ptrdiff_t k = 0; k + 1 < graph.n; ++k) {
        const std::int32_t i = order[k];
        double left = 0.0;
        for (std::int64_t e = graph.indptr[i]; e < graph.indptr[i + 1]; ++e)
            if (!side[graph.indices[e]]) left += static_cast<double>(graph.weights[e]);
        halves = halves.moved(graph, i, 1, graph.degrees[i] - graph.loops[i] - left, left);
        side[i] = 0;
        const double value = judge(halves);
        if (value > best) best = value, kept = k + 1;
    }
    for (std::ptrdiff_t k = kept; k < graph.n; ++k) side[order[k]] = 1;
    return best;
}

}  // namespace symclust
