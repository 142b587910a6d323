// A graph that is to be cut in two, and what a cut is worth.
#pragma once

#include <array>
#include <cmath>
#include <limits>

#include "common.hpp"

namespace symclust {

constexpr double no_cut = -std::numeric_limits<double>::infinity();

// Steele, Lea and Flood's SplitMix64: small, fast, and the same on every machine.
class SplitMix {
public:
    explicit SplitMix(std::uint64_t seed) : state(seed) {}

    std::uint64_t next() {
        std::uint64_t z = (state += 0x9E3779B97F4A7C15ull);
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
        return z ^ (z >> 31);
    }
    double unit() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

private:
    std::uint64_t state;
};

// CSR without the diagonal; entry e of row i is the weight of the edge from i to indices[e].
template <typename T>
struct CutGraph {
    std::ptrdiff_t n;
    const std::int64_t* indptr;
    const std::int32_t* indices;
    const T* weights;
    const double* loops;    // weight of the edge from a node to itself
    const double* volumes;  // degree of a node in the whole graph, of which this one may be a part
    const double* sizes;    // how many nodes of the whole graph a node stands for
    std::vector<double> degrees;
    double association = 0.0, volume = 0.0, size = 0.0;  // sums of degrees, volumes and sizes

    CutGraph(std::ptrdiff_t n, const std::int64_t* indptr, const std::int32_t* indices, const T* weights, const double* loops,
             const double* volumes, const double* sizes)
        : n(n), indptr(indptr), indices(indices), weights(weights), loops(loops), volumes(volumes), sizes(sizes), degrees(n) {
        for (std::ptrdiff_t i = 0; i < n; ++i) {
            double sum = loops[i];
            for (std::int64_t e = indptr[i]; e < indptr[i + 1]; ++e) sum += static_cast<double>(weights[e]);
            degrees[i] = sum;
            association += sum;
            volume += volumes[i];
            size += sizes[i];
        }
    }
};

// Sums over the two sides of a cut.
struct Halves {
    std::array<double, 2> association{}, volume{}, size{};

    // A node moves to the other side; `same` and `other` are the weights of its edges to its side and to the other one.
    template <typename T>
    Halves moved(const CutGraph<T>& graph, std::ptrdiff_t i, int from, double same, double other) const {
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
Halves measure(const CutGraph<T>& graph, const std::uint8_t* side) {
    Halves halves;
    for (std::ptrdiff_t i = 0; i < graph.n; ++i) {
        double inside = graph.loops[i];
        for (std::int64_t e = graph.indptr[i]; e < graph.indptr[i + 1]; ++e)
            if (side[graph.indices[e]] == side[i]) inside += static_cast<double>(graph.weights[e]);
        halves.association[side[i]] += inside;
        halves.volume[side[i]] += graph.volumes[i];
        halves.size[side[i]] += graph.sizes[i];
    }
    return halves;
}

inline double ratio(double association, double volume) { return volume > 0.0 ? association / volume : 0.0; }

// What makes a cut good: the gain in normalised association, less where one side is small.
//
// Small pieces that hang on a large graph by an edge or two are the best normalised cuts of most graphs. Cutting them off
// one by one would take as many passes over the graph as there are pieces. So a side with less than a tenth of the volume
// counts less, by the power `balance` of its share of that tenth.
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
        const double value = gain(h), weight = weight_of(std::min(h.volume[0], h.volume[1]) / (h.volume[0] + h.volume[1]));
        return value > 0.0 ? value * weight : value - (1.0 - weight);
    }

private:
    double before, balance, smallest;

    double weight_of(double share) const {
        if (share >= fair_share || balance == 0.0) return 1.0;
        return share > 0.0 ? std::pow(share / fair_share, balance) : 0.0;
    }
};

}  // namespace symclust
