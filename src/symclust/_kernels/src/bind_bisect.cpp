// A graph cut in two.
#include "bisect.hpp"

namespace symclust {

// Returns what the cut is worth to a Judge, −∞ if there is none. `side` gets 0 or 1 for each node, 0 for the
// first; `sums` the association, volume and number of nodes of both sides (3 × 2). Runs on one thread: leaves
// are cut side by side. Interrupted, it leaves `side` and `sums` as they were.
template <typename T>
void bind_bisect_graph(nb::module_& m) {
    using Side = MutableVector<uint8_t>;
    using Sums = MutableMatrix<double>;
    define_for_graph<T, double, double, uint64_t, Side, Sums>(
        m, "bisect_graph",
        [](const GivenGraph<T>& given, double balance, double smallest, uint64_t seed, Side side, Sums sums) {
        shaped("side", side, given.n()), shaped("sums", sums, 3, 2);
        uint8_t* out = side.data();
        nb::gil_scoped_release release;
        const CutGraph<T> graph = given.view();
        SplitMix random(seed);
        const Found found = bisect(graph, Bisecting{balance, smallest}, random);
        if (!found.any()) return found.value;
        for (ptrdiff_t i = 0; i < graph.n; ++i) out[i] = found.side[i] != found.side[0];
        const Halves halves = measure(graph, out);
        std::copy(halves.association.begin(), halves.association.end(), sums.data());
        std::copy(halves.volume.begin(), halves.volume.end(), sums.data() + 2);
        std::copy(halves.size.begin(), halves.size.end(), sums.data() + 4);
        return found.value;
        },
        "balance"_a, "smallest"_a, "seed"_a, "side", "sums");
}

// A smaller graph with nearly the same good cuts: nodes joined to groups of a sum of degrees of at most
// `limit`. Returns the group of each node, and indptr, indices, weights, loops, volumes and sizes of the
// graph of groups.
template <typename T>
void bind_coarsen_graph(nb::module_& m) {
    define_for_graph<T, double, uint64_t>(
        m, "coarsen_graph",
        [](const GivenGraph<T>& given, double limit, uint64_t seed) {
        return as_arrays([&] {
            nb::gil_scoped_release release;
            const CutGraph<T> graph = given.view();
            SplitMix random(seed);
            return contract(graph, group_nodes(graph, limit, random));
        }());
        },
        "limit"_a, "seed"_a);
}

void bind_bisect(nb::module_& m) {
    bind_bisect_graph<double>(m);
    bind_bisect_graph<float>(m);
    bind_coarsen_graph<double>(m);
    bind_coarsen_graph<float>(m);
}

}  // namespace symclust
