#include "parts.hpp"

namespace symclust {

template <typename T>
void bind_parts_types(nb::module_& m) {
    define(
        m, "label_parts",
        [](Matrix<T> X, Vector<int64_t> indptr, Vector<int64_t> indices, Vector<int64_t> counts,
           Vector<uint64_t> seeds, bool has_offset, int n_init, int max_iter, int inner, double tol,
           bool place, MutableCube<int32_t> labels) {
        const ptrdiff_t n = X.shape(0), n_counts = counts.shape(0);
        const Pattern<int64_t> parts("parts", indptr, indices, seeds.shape(0), n);
        parts.check_entries("parts", n);
        shaped("labels", labels, parts.n, n_counts, n);
        within("counts", counts, 1, std::numeric_limits<ptrdiff_t>::max());
        expect(n_init > 0, "n_init", "is not positive");
        nb::gil_scoped_release release;
        label_parts(X.data(), n, ptrdiff_t(X.shape(1)), parts, counts.data(), n_counts, seeds.data(),
                    PartOptions{has_offset, n_init, max_iter, inner, tol}, place, labels.data());
        },
        "X", "indptr"_a, "indices"_a, "counts"_a, "seeds"_a, "has_offset"_a, "n_init"_a, "max_iter"_a,
        "inner"_a, "tol"_a, "place"_a, "labels");
}

void bind_parts(nb::module_& m) {
    bind_parts_types<double>(m);
    bind_parts_types<float>(m);
}

}  // namespace symclust
