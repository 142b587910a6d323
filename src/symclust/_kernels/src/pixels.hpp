// Pixels of an image: how different the two halves of a disk around each are, and how similar pixels are to
// those around them.
#pragma once

#include <cmath>

#include "common.hpp"

namespace symclust {

// Differences of half disks ----

// A disk is cut into 2m wedges, so that the half disks of m orientations are sums of m neighbouring wedges.
// The histograms of the wedges are counted once per pixel; the two halves then follow from one orientation to
// the next by moving two wedges across.
class HalfDisks {
public:
    HalfDisks(Matrix<int32_t> bins, Matrix<int32_t> offsets, Vector<int32_t> wedges, Vector<float> smoothing,
              int n_bins, int m)
        : bins(bins.data()), rows(bins.shape(0)), columns(bins.shape(1)), offsets(offsets.data()),
          wedges(wedges.data()), area(offsets.shape(0)), smoothing(smoothing.data()),
          reach(ptrdiff_t(smoothing.shape(0)) / 2), n_bins(n_bins), m(m) {}

    struct Scratch {
        std::vector<float> counts, smooth;
        std::vector<float> left, right;
    };

    Scratch scratch() const {
        return {std::vector<float>(2 * m * n_bins), std::vector<float>(2 * m * n_bins),
                std::vector<float>(n_bins), std::vector<float>(n_bins)};
    }

    // Writes the χ² difference at one pixel for all orientations, to out[o * stride].
    void pixel(ptrdiff_t y, ptrdiff_t x, Scratch& s, float* out, ptrdiff_t stride) const {
        count(y, x, s);
        smooth(s);
        std::fill(s.left.begin(), s.left.end(), 0.0f);
        std::fill(s.right.begin(), s.right.end(), 0.0f);
        for (int w = 0; w < m; ++w) move(s, w, s.left, 1.0f), move(s, w + m, s.right, 1.0f);
        for (int o = 0; o < m; ++o) {
            out[o * stride] = difference(s.left, s.right);
            move(s, o, s.left, -1.0f), move(s, o, s.right, 1.0f);
            move(s, o + m, s.right, -1.0f), move(s, o + m, s.left, 1.0f);
        }
    }

private:
    const int32_t* bins;
    ptrdiff_t rows, columns;
    const int32_t *offsets, *wedges;
    ptrdiff_t area;
    const float* smoothing;
    ptrdiff_t reach;
    int n_bins, m;

    void count(ptrdiff_t y, ptrdiff_t x, Scratch& s) const {
        std::fill(s.counts.begin(), s.counts.end(), 0.0f);
        for (ptrdiff_t e = 0; e < area; ++e) {
            const ptrdiff_t v = y + offsets[2 * e], u = x + offsets[2 * e + 1];
            if (v < 0 || u < 0 || v >= rows || u >= columns) continue;
            const int32_t bin = bins[v * columns + u];
            if (bin >= 0) s.counts[wedges[e] * n_bins + bin] += 1.0f;
        }
    }

    void smooth(Scratch& s) const {
        if (reach == 0) return std::swap(s.smooth, s.counts);
        std::fill(s.smooth.begin(), s.smooth.end(), 0.0f);
        for (int w = 0; w < 2 * m; ++w) {
            const float* from = s.counts.data() + w * n_bins;
            float* to = s.smooth.data() + w * n_bins;
            for (ptrdiff_t b = 0; b < n_bins; ++b) {
                if (from[b] == 0.0f) continue;
                const ptrdiff_t first = std::max<ptrdiff_t>(0, b - reach);
                const ptrdiff_t last = std::min<ptrdiff_t>(n_bins - 1, b + reach);
                for (ptrdiff_t c = first; c <= last; ++c) to[c] += from[b] * smoothing[c - b + reach];
            }
        }
    }

    void move(const Scratch& s, int wedge, std::vector<float>& half, float sign) const {
        const float* from = s.smooth.data() + wedge * n_bins;
        for (int b = 0; b < n_bins; ++b) half[b] += sign * from[b];
    }

    // Half of Σ (g − h)² / (g + h) for histograms that sum to one; nothing is known where one of them is
    // empty.
    float difference(const std::vector<float>& left, const std::vector<float>& right) const {
        float l = 0.0f, r = 0.0f, sum = 0.0f;
        for (int b = 0; b < n_bins; ++b) l += left[b], r += right[b];
        if (!(l > 0.5f && r > 0.5f)) return 0.0f;
        for (int b = 0; b < n_bins; ++b) {
            const float g = left[b] / l, h = right[b] / r, both = g + h;
            if (both > 1e-6f) sum += (g - h) * (g - h) / both;
        }
        return 0.5f * sum;
    }
};

// Similarities ----

// Where a ray from a pixel to those around it passes: the offsets of a disk in the order of their distance,
// and for each the one before it on the ray. All lie in the lower half plane (below, or right in the same
// row), so that each pair is met once.
struct Rays {
    const int32_t *offsets, *before;
    ptrdiff_t count;
};

class PixelGraph {
public:
    PixelGraph(Matrix<float> across, Matrix<float> down, Cube<float> features, Matrix<bool> valid, Rays rays,
               float sharpness)
        : across(across.data()), down(down.data()), features(features.data()), valid(valid.data()),
          rows(valid.shape(0)), columns(valid.shape(1)), depth(features.shape(2)), rays(rays),
          sharpness(sharpness) {}

    bool inside(ptrdiff_t y, ptrdiff_t x) const {
        return y >= 0 && x >= 0 && y < rows && x < columns && valid[y * columns + x];
    }

    // Similarities of pixel (y, x) to those at all offsets of the lower half disk; 0 where there is no pixel.
    void half_row(ptrdiff_t y, ptrdiff_t x, float* height, float* weights) const {
        const float* own = features + (y * columns + x) * depth;
        for (ptrdiff_t e = 0; e < rays.count; ++e) {
            const ptrdiff_t v = y + rays.offsets[2 * e], u = x + rays.offsets[2 * e + 1];
            const int32_t p = rays.before[e];
            if (v < 0 || u < 0 || v >= rows || u >= columns) {
                height[e] = wall, weights[e] = 0.0f;
                continue;
            }
            const ptrdiff_t dy = p < 0 ? 0 : rays.offsets[2 * p], dx = p < 0 ? 0 : rays.offsets[2 * p + 1];
            height[e] = std::max(p < 0 ? 0.0f : height[p], step(y + dy, x + dx, v, u));
            weights[e] = valid[v * columns + u]
                             ? similarity(height[e], own, features + (v * columns + u) * depth)
                             : 0.0f;
        }
    }

private:
    static constexpr float wall = 1e30f;
    const float *across, *down, *features;
    const bool* valid;
    ptrdiff_t rows, columns, depth;
    Rays rays;
    float sharpness;

    // What stands between two pixels that touch. A diagonal step goes round either corner, whichever is
    // lower.
    float step(ptrdiff_t y, ptrdiff_t x, ptrdiff_t v, ptrdiff_t u) const {
        const ptrdiff_t left = std::min(x, u), top = std::min(y, v);
        if (y == v) return across[y * columns + left];
        if (x == u) return down[top * columns + x];
        const float first = std::max(across[y * columns + left], down[top * columns + u]);
        const float second = std::max(down[top * columns + x], across[v * columns + left]);
        return std::min(first, second);
    }

    float similarity(float height, const float* a, const float* b) const {
        float apart = height * sharpness;
        for (ptrdiff_t c = 0; c < depth; ++c) apart += (a[c] - b[c]) * (a[c] - b[c]);
        return std::exp(-apart);
    }
};

// Fills both halves of a symmetric CSR matrix. Row i holds its neighbours above (offset −o of the ray o from
// there) and below, in the order of their numbers. Each similarity is computed once, by the pixel above, and
// written to both places.
template <typename I>
void fill_pixels(const PixelGraph& graph, Rays rays, const int32_t* order, ptrdiff_t kept, ptrdiff_t rows,
                 ptrdiff_t columns, const I* indptr, I* indices, float* values) {
    const int threads = threads_for(rows * columns * rays.count);
    std::vector<std::vector<float>> heights(std::max(threads, 1), std::vector<float>(rays.count)),
        weights = heights;
    // The place of each neighbour above in its own row is the number of valid neighbours before it, which all
    // rows know of themselves: first the columns, then the values by searching the columns of the row below.
    parallel_rows(rows * columns, 64, threads, [&](ptrdiff_t begin, ptrdiff_t end, int) {
        for (ptrdiff_t i = begin; i < end; ++i) {
            const ptrdiff_t y = i / columns, x = i % columns;
            if (!graph.inside(y, x)) continue;
            I at = indptr[i];
            for (ptrdiff_t e = kept; e-- > 0;) {
                const int32_t* o = rays.offsets + 2 * order[e];
                if (graph.inside(y - o[0], x - o[1])) indices[at++] = I((y - o[0]) * columns + x - o[1]);
            }
            for (ptrdiff_t e = 0; e < kept; ++e) {
                const int32_t* o = rays.offsets + 2 * order[e];
                if (graph.inside(y + o[0], x + o[1])) indices[at++] = I((y + o[0]) * columns + x + o[1]);
            }
        }
    });
    parallel_rows(rows * columns, 64, threads, [&](ptrdiff_t begin, ptrdiff_t end, int t) {
        for (ptrdiff_t i = begin; i < end; ++i) {
            const ptrdiff_t y = i / columns, x = i % columns;
            if (!graph.inside(y, x)) continue;
            graph.half_row(y, x, heights[t].data(), weights[t].data());
            I at = indptr[i];
            while (at < indptr[i + 1] && indices[at] < i) ++at;
            for (ptrdiff_t e = 0; e < kept; ++e) {
                const int32_t* o = rays.offsets + 2 * order[e];
                if (!graph.inside(y + o[0], x + o[1])) continue;
                const float weight = weights[t][order[e]];
                const I j = indices[at];
                values[at++] = weight;
                const I* place = std::lower_bound(indices + indptr[j], indices + indptr[j + 1], I(i));
                values[place - indices] = weight;
            }
        }
    });
}

}  // namespace symclust
