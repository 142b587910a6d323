#include "random_walk.hpp"

namespace symclust {

template <typename T, typename I>
void bind_random_walk_type(nb::module_& m) {
    define(
        m, "random_walk_rows",
        [](Vector<I> indptr, Vector<I> indices, Vector<T> values, Vector<double> degrees, double volume,
           Vector<I> from_indptr, Vector<I> from_indices, Vector<T> from_values, int64_t first, int window,
           int64_t frontier, MutableMatrix<I> columns, MutableMatrix<T> weights,
           MutableVector<int64_t> counts) {
        const ptrdiff_t n = degrees.shape(0), rows = counts.shape(0), kept = columns.shape(1);
        const Csr<T, I> W("W", indptr, indices, values, n, n),
            from("from", from_indptr, from_indices, from_values, rows, n);
        shaped("columns", columns, rows, kept), shaped("weights", weights, rows, kept);
        const double* d = degrees.data();
        I* c = columns.data();
        T* w = weights.data();
        int64_t* found = counts.data();
        nb::gil_scoped_release release;
        const int threads = int(std::min<ptrdiff_t>(max_threads(), (rows + 15) / 16));
        std::vector<Walk<T, I>> walks;
        for (int t = 0; t < std::max(threads, 1); ++t) walks.emplace_back(W, d, n, volume, window, frontier);
        parallel_rows(rows, 16, threads, [&](ptrdiff_t begin, ptrdiff_t end, int t) {
            for (ptrdiff_t i = begin; i < end; ++i) {
                const ptrdiff_t start = from.indptr[i];
                found[i] = walks[t].row(from.indices + start, from.values + start, from.count(i),
                                        first < 0 ? -1 : first + i, c + i * kept, w + i * kept, kept);
            }
        });
        },
        "indptr", "indices", "values", "degrees", "volume"_a, "from_indptr", "from_indices", "from_values",
        "first"_a, "window"_a, "frontier"_a, "columns", "weights", "counts");
}

void bind_random_walk(nb::module_& m) {
    bind_random_walk_type<double, int32_t>(m);
    bind_random_walk_type<double, int64_t>(m);
    bind_random_walk_type<float, int32_t>(m);
    bind_random_walk_type<float, int64_t>(m);
}

}  // namespace symclust
