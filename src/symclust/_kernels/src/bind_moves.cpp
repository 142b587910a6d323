// Clusters of a graph improved by local moves, and smaller graphs made by them.
#include "moves.hpp"

namespace symclust {

// Moves nodes between `count` clusters, in place, in the order of the nodes, until no move raises the
// modularity at that resolution (with `both`: and the normalised association). No cluster falls below `smallest` nodes; 0 lets
// clusters become empty. Returns the number of moves. Interrupted, it leaves labels after some of the moves.
template <typename T>
void bind_move_nodes(nb::module_& m) {
    using Labels = MutableVector<int32_t>;
    define_for_graph<T, int64_t, double, bool, double, Labels>(
        m, "move_nodes",
        [](const GivenGraph<T>& given, int64_t count, double smallest, bool both, double resolution,
           Labels labels) {
        shaped("labels", labels, given.n());
        within("labels", labels, 0, count);
        nb::gil_scoped_release release;
        const CutGraph<T> graph = given.view();
        std::vector<int32_t> order(graph.n);
        std::iota(order.begin(), order.end(), 0);
        return LocalMoves<T>(graph, MoveRules{nullptr, smallest, both, resolution}, labels.data(), count)
            .run(std::move(order));
        },
        "count"_a, "smallest"_a, "both"_a, "resolution"_a, "labels");
}

// Nodes joined by local moves that raise the modularity at a resolution, as in Louvain's method; only nodes with the same
// number in `fence` are, unless it is empty. Returns the same as coarsen_graph.
template <typename T>
void bind_join_nodes(nb::module_& m) {
    define_for_graph<T, Vector<int32_t>, double, uint64_t>(
        m, "join_nodes",
        [](const GivenGraph<T>& given, Vector<int32_t> fence, double resolution, uint64_t seed) {
        if (fence.shape(0)) shaped("fence", fence, given.n());
        const int32_t* within = fence.shape(0) ? fence.data() : nullptr;
        return as_arrays([&] {
            nb::gil_scoped_release release;
            const CutGraph<T> graph = given.view();
            SplitMix random(seed);
            return contract(graph, group_by_moves(graph, within, resolution, random));
        }());
        },
        "fence", "resolution"_a, "seed"_a);
}

// The graph of given groups, numbered from 0 on with none empty. Returns the same as coarsen_graph.
template <typename T>
void bind_contract_graph(nb::module_& m) {
    define_for_graph<T, Vector<int32_t>>(
        m, "contract_graph",
        [](const GivenGraph<T>& given, Vector<int32_t> group) {
        shaped("group", group, given.n());
        within("group", group, 0, given.n());
        return as_arrays([&] {
            nb::gil_scoped_release release;
            return contract(given.view(), std::vector<int32_t>(group.data(), group.data() + given.n()));
        }());
        },
        "group");
}

void bind_moves(nb::module_& m) {
    bind_move_nodes<double>(m);
    bind_move_nodes<float>(m);
    bind_join_nodes<double>(m);
    bind_join_nodes<float>(m);
    bind_contract_graph<double>(m);
    bind_contract_graph<float>(m);
}

}  // namespace symclust
