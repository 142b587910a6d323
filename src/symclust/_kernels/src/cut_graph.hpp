// A graph that is to be cut in two, what a cut is worth, and smaller graphs with nearly the same good cuts.
#pragma once

#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "common.hpp"

namespace symclust {

constexpr double no_cut = -std::numeric_limits<double>::infinity();

// Steele, Lea and Flood's SplitMix64: small, fast, and the same on every machine.
class SplitMix {
public:
    explicit SplitMix(uint64_t seed) : state(seed) {}

    uint64_t next() {
        uint64_t z = (state += 0x9E3779B97F4A7C15ull);
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
        return z ^ (z >> 31);
    }
    double unit() { return double(next() >> 11) * 0x1.0p-53; }

private:
    uint64_t state;
};

// CSR without the diagonal; entry e of row i is the weight of the edge from i to indices[e].
template <typename T>
struct CutGraph : Pattern<int32_t, int64_t> {
    const T* weights;
    const double* loops;    // weight of the edge from a node to itself
    const double* volumes;  // degree of a node in the whole graph, of which this one may be a part
    const double* sizes;    // how many nodes of the whole graph a node stands for
    std::vector<double> degrees;
    double association = 0.0, volume = 0.0, size = 0.0;  // sums of degrees, volumes and sizes

    CutGraph(const Pattern& edges, const T* weights, const double* loops, const double* volumes,
             const double* sizes)
        : Pattern(edges), weights(weights), loops(loops), volumes(volumes), sizes(sizes), degrees(n) {
        for (ptrdiff_t i = 0; i < n; ++i) {
            double sum = loops[i];
            for (int64_t e = indptr[i]; e < indptr[i + 1]; ++e) sum += double(weights[e]);
            degrees[i] = sum;
            association += sum;
            volume += volumes[i];
            size += sizes[i];
        }
    }
};

// A graph as Python gives it; checked, and its edges not yet read.
template <typename T>
struct GivenGraph {
    Vector<int64_t> indptr;
    Vector<int32_t> indices;
    Vector<T> weights;
    Vector<double> loops, volumes, sizes;

    ptrdiff_t n() const { return ptrdiff_t(loops.shape(0)); }

    CutGraph<T> view() const {
        const Csr<T, int32_t, int64_t> edges("graph", indptr, indices, weights, n(), n());
        shaped("volumes", volumes, n()), shaped("sizes", sizes, n());
        return {edges, edges.values, loops.data(), volumes.data(), sizes.data()};
    }
};

// Adds a kernel whose first six arguments are the arrays of a graph.
template <typename T, typename... Given, typename Function, typename... Arguments>
void define_for_graph(nb::module_& m, const char* name, Function function, Arguments... arguments) {
    define(
        m, name,
        [=](Vector<int64_t> indptr, Vector<int32_t> indices, Vector<T> weights, Vector<double> loops,
            Vector<double> volumes, Vector<double> sizes, Given... given) {
        return function(GivenGraph<T>{indptr, indices, weights, loops, volumes, sizes}, given...);
        },
        "indptr", "indices", "weights", "loops", "volumes", "sizes", arguments...);
}

// Sums over the two sides of a cut.
struct Halves {
    std::array<double, 2> association{}, volume{}, size{};

    // A node moves to the other side; `same` and `other` are the weights of its edges to its side and to the
    // other one.
    template <typename T>
    Halves moved(const CutGraph<T>& graph, ptrdiff_t i, int from, double same, double other) const {
        Halves after = *this;
        const int to = 1 - from;
        after.association[from] -= 2.0 * same + graph.loops[i];
        after.association[to] += 2.0 * other + graph.loops[i];
        after.volume[from] -= graph.volumes[i];
        after.volume[to] += graph.volumes[i];
        after.size[from] -= graph.sizes[i];
        after.size[to] += graph.sizes[i];
        return after;
    }
};

template <typename T>
Halves all_on_the_right(const CutGraph<T>& graph) {
    Halves halves;
    halves.association[1] = graph.association;
    halves.volume[1] = graph.volume;
    halves.size[1] = graph.size;
    return halves;
}

template <typename T>
Halves measure(const CutGraph<T>& graph, const uint8_t* side) {
    Halves halves;
    for (ptrdiff_t i = 0; i < graph.n; ++i) {
        double inside = graph.loops[i];
        for (int64_t e = graph.indptr[i]; e < graph.indptr[i + 1]; ++e)
            if (side[graph.indices[e]] == side[i]) inside += double(graph.weights[e]);
        halves.association[side[i]] += inside;
        halves.volume[side[i]] += graph.volumes[i];
        halves.size[side[i]] += graph.sizes[i];
    }
    return halves;
}

inline double ratio(double association, double volume) { return volume > 0.0 ? association / volume : 0.0; }

// What makes a cut good: the gain in normalised association, less where one side is small.
//
// Small pieces that hang on a large graph by an edge or two are the best normalised cuts of most graphs.
// Cutting them off one by one would take as many passes over the graph as there are pieces. So a side with
// less than a tenth of the volume counts less, by the power `balance` of its share of that tenth.
class Judge {
public:
    static constexpr double fair_share = 0.1;

    template <typename T>
    Judge(const CutGraph<T>& graph, double balance, double smallest)
        : before(ratio(graph.association, graph.volume)), balance(balance), smallest(smallest) {}

    double gain(const Halves& h) const {
        return ratio(h.association[0], h.volume[0]) + ratio(h.association[1], h.volume[1]) - before;
    }

    double operator()(const Halves& h) const {
        if (std::min(h.size[0], h.size[1]) < smallest) return no_cut;
        const double value = gain(h),
                     weight = weight_of(std::min(h.volume[0], h.volume[1]) / (h.volume[0] + h.volume[1]));
        return value > 0.0 ? value * weight : value - (1.0 - weight);
    }

private:
    double before, balance, smallest;

    double weight_of(double share) const {
        if (share >= fair_share || balance == 0.0) return 1.0;
        return share > 0.0 ? std::pow(share / fair_share, balance) : 0.0;
    }
};

// A graph that owns its arrays. Node k of it stands for the nodes i of the finer graph with group[i] == k.
struct CoarseGraph {
    std::vector<int32_t> group;
    std::vector<int64_t> indptr;
    std::vector<int32_t> indices;
    std::vector<double> weights, loops, volumes, sizes;

    ptrdiff_t n() const { return ptrdiff_t(loops.size()); }
    CutGraph<double> view() const {
        return {
            {indptr.data(), indices.data(), n()}, weights.data(), loops.data(), volumes.data(), sizes.data()};
    }
};

// For Python: the group of each node of the finer graph, and indptr, indices, weights, loops, volumes and
// sizes of the coarse one.
inline nb::tuple as_arrays(CoarseGraph&& coarse) {
    return nb::make_tuple(as_array(std::move(coarse.group)), as_array(std::move(coarse.indptr)),
                          as_array(std::move(coarse.indices)), as_array(std::move(coarse.weights)),
                          as_array(std::move(coarse.loops)), as_array(std::move(coarse.volumes)),
                          as_array(std::move(coarse.sizes)));
}

inline std::vector<int32_t> shuffled(ptrdiff_t n, SplitMix& random) {
    std::vector<int32_t> order(n);
    std::iota(order.begin(), order.end(), 0);
    for (ptrdiff_t i = n - 1; i > 0; --i) std::swap(order[i], order[random.next() % uint64_t(i + 1)]);
    return order;
}

// Groups numbered by their first node: neighbours that are close in memory stay so on the coarser graph.
inline void number_in_order(std::vector<int32_t>& group, size_t count) {
    std::vector<int32_t> number(count, -1);
    int32_t next = 0;
    for (int32_t& k : group) {
        if (number[k] < 0) number[k] = next++;
        k = number[k];
    }
}

// Each node in random order joins the group (or the lone node) that it has the heaviest edge to, compared
// with the volume there; groups stay below `limit`, so that a hub does not swallow the graph.
template <typename T>
std::vector<int32_t> group_nodes(const CutGraph<T>& graph, double limit, SplitMix& random) {
    std::vector<int32_t> group(graph.n, -1);
    std::vector<double> held;  // sum of degrees of each group
    Pace pace;
    for (const int32_t i : shuffled(graph.n, random)) {
        pace(8 * (graph.indptr[i + 1] - graph.indptr[i]));
        if (group[i] >= 0) continue;
        int32_t best = -1;
        double strongest = 0.0;
        for (int64_t e = graph.indptr[i]; e < graph.indptr[i + 1]; ++e) {
            const int32_t j = graph.indices[e];
            const double there = group[j] >= 0 ? held[group[j]] : graph.degrees[j];
            const double strength = double(graph.weights[e]) / there;
            if (strength > strongest && there + graph.degrees[i] <= limit) {
                strongest = strength;
                best = j;
            }
        }
        if (best < 0 || group[best] < 0) {
            group[i] = int32_t(held.size());
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
    std::vector<int64_t> starts;
    std::vector<int32_t> members;

    explicit Members(const std::vector<int32_t>& group) : starts(count(group) + 1, 0), members(group.size()) {
        for (const int32_t k : group) ++starts[k + 1];
        std::partial_sum(starts.begin(), starts.end(), starts.begin());
        std::vector<int64_t> next(starts.begin(), starts.end() - 1);
        for (size_t i = 0; i < group.size(); ++i) members[next[group[i]]++] = int32_t(i);
    }
    static ptrdiff_t count(const std::vector<int32_t>& group) {
        return group.empty() ? 0 : *std::max_element(group.begin(), group.end()) + 1;
    }
};

// Sums of the edges between groups; edges inside a group become its loop.
template <typename T>
CoarseGraph contract(const CutGraph<T>& graph, std::vector<int32_t> group) {
    const Members by(group);
    const ptrdiff_t n = ptrdiff_t(by.starts.size()) - 1;
    CoarseGraph coarse{std::move(group),
                       std::vector<int64_t>(n + 1, 0),
                       {},
                       {},
                       std::vector<double>(n, 0.0),
                       std::vector<double>(n, 0.0),
                       std::vector<double>(n, 0.0)};
    // Room for all edges, of which only that for the edges there are is ever touched: growing vectors would
    // be copied, and the old one and one of twice its size be held at once.
    coarse.indices.reserve(graph.nonzeros()), coarse.weights.reserve(graph.nonzeros());
    std::vector<int64_t> place(n, -1);  // of the entry of each column, if it lies in the present row
    Pace pace;
    for (ptrdiff_t k = 0; k < n; ++k) {
        const auto first = int64_t(coarse.indices.size());
        for (int64_t m = by.starts[k]; m < by.starts[k + 1]; ++m) {
            const int32_t i = by.members[m];
            coarse.loops[k] += graph.loops[i];
            coarse.volumes[k] += graph.volumes[i];
            coarse.sizes[k] += graph.sizes[i];
            pace(8 * (graph.indptr[i + 1] - graph.indptr[i]));
            for (int64_t e = graph.indptr[i]; e < graph.indptr[i + 1]; ++e) {
                const int32_t to = coarse.group[graph.indices[e]];
                const double weight = double(graph.weights[e]);
                if (to == k) {
                    coarse.loops[k] += weight;
                } else if (place[to] < first) {
                    place[to] = int64_t(coarse.indices.size());
                    coarse.indices.push_back(to);
                    coarse.weights.push_back(weight);
                } else {
                    coarse.weights[place[to]] += weight;
                }
            }
        }
        coarse.indptr[k + 1] = int64_t(coarse.indices.size());
    }
    return coarse;
}

}  // namespace symclust
