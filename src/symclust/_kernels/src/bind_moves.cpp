// Clusters of a graph improved by local moves, and smaller graphs made by them.
#include "moves.hpp"

namespace symclust {

// Moves nodes between `count` clusters, in place, in the order of the nodes, until no move raises the modularity (with `both`:
// and the normalised association). No cluster falls below `smallest` nodes; 0 lets clusters become empty. Returns the number of
// moves. Interrupted, it leaves labels after some of the moves.
template <typename T>
void bind_move_nodes(nb::module_& m) {
    m.def("move_nodes", [](Vector<std::int64_t> indptr, Vector<std::int32_t> indices, Vector<T> weights, Vector<double> loops,
                           Vector<double> volumes, Vector<double> sizes, std::int64_t count, double smallest, bool both,
                           MutableVector<std::int32_t> labels) {
        const auto n = static_cast<std::ptrdiff_t>(indptr.shape(0)) - 1;
        std::int32_t* label = labels.data();
        nb::gil_scoped_release release;
        const CutGraph<T> graph(n, indptr.data(), indices.data(), weights.data(), loops.data(), volumes.data(), sizes.data());
        std::vector<std::int32_t> order(n);
        std::iota(order.begin(), order.end(), 0);
        return LocalMoves<T>(graph, MoveRules{nullptr, smallest, both}, label, count).run(std::move(order));
    }, nb::arg("indptr").noconvert(), nb::arg("indices").noconvert(), nb::arg("weights").noconvert(),
       nb::arg("loops").noconvert(), nb::arg("volumes").noconvert(), nb::arg("sizes").noconvert(), nb::arg("count"),
       nb::arg("smallest"), nb::arg("both"), nb::arg("labels").noconvert());
}

// Nodes joined by local moves that raise the modularity, as in Louvain's method; only nodes with the same number in `fence` are,
// unless it is empty. Returns the same as coarsen_graph.
template <typename T>
void bind_join_nodes(nb::module_& m) {
    m.def("join_nodes", [](Vector<std::int64_t> indptr, Vector<std::int32_t> indices, Vector<T> weights, Vector<double> loops,
                           Vector<double> volumes, Vector<double> sizes, Vector<std::int32_t> fence, std::uint64_t seed) {
        const auto n = static_cast<std::ptrdiff_t>(indptr.shape(0)) - 1;
        const std::int32_t* within = fence.shape(0) ? fence.data() : nullptr;
        return as_arrays([&] {
            nb::gil_scoped_release release;
            const CutGraph<T> graph(n, indptr.data(), indices.data(), weights.data(), loops.data(), volumes.data(), sizes.data());
            SplitMix random(seed);
            return contract(graph, group_by_moves(graph, within, random));
        }());
    }, nb::arg("indptr").noconvert(), nb::arg("indices").noconvert(), nb::arg("weights").noconvert(),
       nb::arg("loops").noconvert(), nb::arg("volumes").noconvert(), nb::arg("sizes").noconvert(), nb::arg("fence").noconvert(),
       nb::arg("seed"));
}

// The graph of given groups, numbered from 0 on with none empty. Returns the same as coarsen_graph.
template <typename T>
void bind_contract_graph(nb::module_& m) {
    m.def("contract_graph", [](Vector<std::int64_t> indptr, Vector<std::int32_t> indices, Vector<T> weights, Vector<double> loops,
                               Vector<double> volumes, Vector<double> sizes, Vector<std::int32_t> group) {
        const auto n = static_cast<std::ptrdiff_t>(indptr.shape(0)) - 1;
        return as_arrays([&] {
            nb::gil_scoped_release release;
            const CutGraph<T> graph(n, indptr.data(), indices.data(), weights.data(), loops.data(), volumes.data(), sizes.data());
            return contract(graph, std::vector<std::int32_t>(group.data(), group.data() + n));
        }());
    }, nb::arg("indptr").noconvert(), nb::arg("indices").noconvert(), nb::arg("weights").noconvert(),
       nb::arg("loops").noconvert(), nb::arg("volumes").noconvert(), nb::arg("sizes").noconvert(), nb::arg("group").noconvert());
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
