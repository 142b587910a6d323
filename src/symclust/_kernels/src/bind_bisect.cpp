// A graph cut in two.
#include "bisect.hpp"

namespace symclust {

// Returns what the cut is worth to a Judge, −∞ if there is none. `side` gets 0 or 1 for each node, 0 for the first; `sums` the
// association, volume and number of nodes of both sides (3 × 2). Runs on one thread: leaves are cut side by side. Interrupted, it
// leaves `side` and `sums` as they were.
template <typename T>
void bind_bisect_graph(nb::module_& m) {
    m.def("bisect_graph", [](Vector<std::int64_t> indptr, Vector<std::int32_t> indices, Vector<T> weights, Vector<double> loops,
                             Vector<double> volumes, Vector<double> sizes, double balance, double smallest, std::uint64_t seed,
                             MutableVector<std::uint8_t> side, MutableMatrix<double> sums) {
        const auto n = static_cast<std::ptrdiff_t>(indptr.shape(0)) - 1;
        const std::int64_t* ip = indptr.data();
        const std::int32_t* ix = indices.data();
        const T* w = weights.data();
        const double *l = loops.data(), *v = volumes.data(), *z = sizes.data();
        std::uint8_t* out = side.data();
        double* s = sums.data();
        nb::gil_scoped_release release;
        const CutGraph<T> graph(n, ip, ix, w, l, v, z);
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
       nb::arg("loops").noconvert(), nb::arg("volumes").noconvert(), nb::arg("sizes").noconvert(), nb::arg("balance"), nb::arg("smallest"), nb::arg("seed"),
       nb::arg("side").noconvert(), nb::arg("sums").noconvert());
}

// A smaller graph with nearly the same good cuts: nodes joined to groups of a sum of degrees of at most `limit`. Returns the
// group of each node, and indptr, indices, weights, loops, volumes and sizes of the graph of groups.
template <typename T>
void bind_coarsen_graph(nb::module_& m) {
    m.def("coarsen_graph", [](Vector<std::int64_t> indptr, Vector<std::int32_t> indices, Vector<T> weights, Vector<double> loops,
                              Vector<double> volumes, Vector<double> sizes, double limit, std::uint64_t seed) {
        const auto n = static_cast<std::ptrdiff_t>(indptr.shape(0)) - 1;
        return as_arrays([&] {
            nb::gil_scoped_release release;
            const CutGraph<T> graph(n, indptr.data(), indices.data(), weights.data(), loops.data(), volumes.data(), sizes.data());
            SplitMix random(seed);
            return contract(graph, group_nodes(graph, limit, random));
        }());
    }, nb::arg("indptr").noconvert(), nb::arg("indices").noconvert(), nb::arg("weights").noconvert(),
       nb::arg("loops").noconvert(), nb::arg("volumes").noconvert(), nb::arg("sizes").noconvert(), nb::arg("limit"),
       nb::arg("seed"));
}

void bind_bisect(nb::module_& m) {
    bind_bisect_graph<double>(m);
    bind_bisect_graph<float>(m);
    bind_coarsen_graph<double>(m);
    bind_coarsen_graph<float>(m);
}

}  // namespace symclust
