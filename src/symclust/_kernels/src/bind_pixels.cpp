#include "pixels.hpp"

namespace symclust {

// The arguments that say how pixels are compared.
struct Compared {
    Matrix<float> across, down;
    Cube<float> features;
    Matrix<bool> valid;
    Matrix<int32_t> offsets;
    Vector<int32_t> before, order;

    PixelGraph graph(float sharpness) const {
        const ptrdiff_t rows = valid.shape(0), columns = valid.shape(1), count = offsets.shape(0);
        shaped("across", across, rows, columns), shaped("down", down, rows, columns);
        shaped("features", features, rows, columns, any_size), shaped("offsets", offsets, count, 2);
        shaped("before", before, count);
        within("before", before, -1, count), within("order", order, 0, count);
        for (ptrdiff_t e = 0; e < count; ++e)
            expect(offsets.data()[2 * e] >= 0, "offsets", "lead upwards");
        return {across, down, features, valid, Rays{offsets.data(), before.data(), count}, sharpness};
    }
};

template <typename I>
void bind_pixels_type(nb::module_& m) {
    define(
        m, "pixel_affinity",
        [](Matrix<float> across, Matrix<float> down, Cube<float> features, Matrix<bool> valid,
           Matrix<int32_t> offsets, Vector<int32_t> before, Vector<int32_t> order, float sharpness,
           Vector<I> indptr, MutableVector<I> indices, MutableVector<float> values) {
        const PixelGraph graph =
            Compared{across, down, features, valid, offsets, before, order}.graph(sharpness);
        shaped("indptr", indptr, graph.rows * graph.columns + 1);
        expect(indptr.data()[0] == 0, "indptr", "does not begin with 0");
        shaped("indices", indices, indptr.data()[graph.rows * graph.columns]);
        shaped("values", values, indices.shape(0));
        nb::gil_scoped_release release;
        fill_pixels(graph, order.data(), ptrdiff_t(order.shape(0)), indptr.data(), indices.data(),
                    values.data());
        },
        "across", "down", "features", "valid", "offsets", "before", "order", "sharpness"_a, "indptr",
        "indices", "values");
}

void bind_pixels(nb::module_& m) {
    define(
        m, "half_disk_differences",
        [](Matrix<int32_t> bins, Matrix<int32_t> offsets, Vector<int32_t> wedges, Vector<float> smoothing,
           int n_bins, MutableCube<float> out) {
        const ptrdiff_t rows = bins.shape(0), columns = bins.shape(1), area = offsets.shape(0),
                        m = out.shape(0);
        shaped("out", out, m, rows, columns), shaped("offsets", offsets, area, 2),
            shaped("wedges", wedges, area);
        expect(smoothing.shape(0) % 2 == 1, "smoothing", "needs an odd number of weights");
        within("wedges", wedges, 0, 2 * m), within("bins", bins, -1, n_bins);
        const HalfDisks disks(bins, offsets, wedges, smoothing, n_bins, int(m));
        float* to = out.data();
        nb::gil_scoped_release release;
        const int threads = threads_for(rows * columns * area);
        std::vector<HalfDisks::Scratch> scratch(std::max(threads, 1), disks.scratch());
        parallel_rows(rows * columns, 64, threads, [&](ptrdiff_t begin, ptrdiff_t end, int t) {
            for (ptrdiff_t i = begin; i < end; ++i)
                disks.pixel(i / columns, i % columns, scratch[t], to + i, rows * columns);
        });
        },
        "bins", "offsets", "wedges", "smoothing", "n_bins"_a, "out");
    // Pairs of groups, those of no group being −1, with their sums: see `GroupSums`.
    define(
        m, "group_affinity",
        [](Matrix<float> across, Matrix<float> down, Cube<float> features, Matrix<bool> valid,
           Matrix<int32_t> offsets, Vector<int32_t> before, Vector<int32_t> order, float sharpness,
           Matrix<int32_t> groups) {
        const PixelGraph graph =
            Compared{across, down, features, valid, offsets, before, order}.graph(sharpness);
        shaped("groups", groups, graph.rows, graph.columns);
        std::vector<int32_t> first, second;
        std::vector<double> plain, normalized;
        {
            nb::gil_scoped_release release;
            GroupSums(graph, order.data(), ptrdiff_t(order.shape(0)), groups.data())
                .write(first, second, plain, normalized);
        }
        return nb::make_tuple(as_array(std::move(first)), as_array(std::move(second)),
                              as_array(std::move(plain)), as_array(std::move(normalized)));
        },
        "across", "down", "features", "valid", "offsets", "before", "order", "sharpness"_a, "groups");
    bind_pixels_type<int32_t>(m);
    bind_pixels_type<int64_t>(m);
}

}  // namespace symclust
