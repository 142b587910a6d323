// A graph cut in two, and the graph of some of its nodes.
#include "cut_pieces.hpp"

namespace symclust {

// Edges of the nodes with place >= 0 among each other; place is the new number, `members` lists the nodes in that order.
// With out_indices null only the borders of the rows are written.
template <typename T>
void subgraph(const std::int64_t* indptr, const std::int32_t* indices, const T* weights, const std::int32_t* members,
              std::ptrdiff_t count, const std::int32_t* place, std::int64_t* out_indptr, std::int32_t* out_indices,
              T* out_weights) {
    std::int64_t at = 0;
    out_indptr[0] = 0;
    for (std::ptrdiff_t k = 0; k < count; ++k) {
        for (std::int64_t e = indptr[members[k]]; e < indptr[members[k] + 1]; ++e) {
            const std::int32_t j = place[indices[e]];
            if (j < 0) continue;
            if (out_indices) out_indices[at] = j, out_weights[at] = weights[e];
            ++at;
        }
        out_indptr[k + 1] = at;
    }
}

template <typename T>
void bind_subgraph(nb::module_& m) {
    m.def("subgraph", [](Vector<std::int64_t> indptr, Vector<std::int32_t> indices, Vector<T> weights,
                         Vector<std::int32_t> members, Vector<std::int32_t> place, MutableVector<std::int64_t> out_indptr,
                         MutableVector<std::int32_t> out_indices, MutableVector<T> out_weights) {
        const std::int64_t* ip = indptr.data();
        const std::int32_t *ix = indices.data(), *who = members.data(), *to = place.data();
        const T* w = weights.data();
        const auto count = static_cast<std::ptrdiff_t>(members.shape(0));
        std::int64_t* op = out_indptr.data();
        std::int32_t* ox = out_indices.shape(0) ? out_indices.data() : nullptr;
        T* ow = out_weights.data();
        nb::gil_scoped_release release;
        subgraph(ip, ix, w, who, count, to, op, ox, ow);
    }, nb::arg("indptr").noconvert(), nb::arg("indices").noconvert(), nb::arg("weights").noconvert(),
       nb::arg("members").noconvert(), nb::arg("place").noconvert(), nb::arg("out_indptr").noconvert(),
       nb::arg("out_indices").noconvert(), nb::arg("out_weights").noconvert());
}

// Returns what the cut is worth to a Judge, −∞ if there is none. `side` gets 0 or 1 for each node, 0 for the first; `sums` the association, volume and number of
// nodes of both sides (3 × 2). Runs on one thread: leaves are cut side by side.
template <typename T>
void bind_bisect_graph(nb::module_& m) {
    m.def("bisect_graph", [](Vector<std::int64_t> indptr, Vector<std::int32_t> indices, Vector<T> weights, Vector<double> loops,
                             Vector<double> volumes, double balance, double smallest, std::uint64_t seed,
                             MutableVector<std::uint8_t> side, MutableMatrix<double> sums) {
        const auto n = static_cast<std::ptrdiff_t>(indptr.shape(0)) - 1;
        const std::int64_t* ip = indptr.data();
        const std::int32_t* ix = indices.data();
        const T* w = weights.data();
        const double *l = loops.data(), *v = volumes.data();
        std::uint8_t* out = side.data();
        double* s = sums.data();
        nb::gil_scoped_release release;
        const std::vector<double> ones(n, 1.0);
        const CutGraph<T> graph(n, ip, ix, w, l, v, ones.data());
        SplitMix random(seed);
        const Found found = bisect(graph, Bisecting{balance, smallest}, random);
        if (!found.any()) return found.value;
        for (std::ptrdiff_t i = 0; i < n; ++i) out[i] = found.side[i] != found.side[0];
        const Halves halves = measure(graph, out);
        std::copy(halves.association.begin(), halves.association.end(), s);
        std::copy(halves.volume.begin(), halves.volume.end(), s + 2);
        std::copy(halves.size.begin(), halves.size.end(), s + 4);
        return found.value;
    }, nb::arg("indptr").noconvert(), nb::arg("indices").noconvert(), nb::arg("weights").noconvert(),
       nb::arg("loops").noconvert(), nb::arg("volumes").noconvert(), nb::arg("balance"), nb::arg("smallest"), nb::arg("seed"),
       nb::arg("side").noconvert(), nb::arg("sums").noconvert());
}

void bind_bisect(nb::module_& m) {
    bind_subgraph<double>(m);
    bind_subgraph<float>(m);
    bind_bisect_graph<double>(m);
    bind_bisect_graph<float>(m);
}

}  // namespace symclust
