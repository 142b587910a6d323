// Pixels of an image: how different the two halves of a disk around each are, how similar pixels are to those
// around them, and how similar groups of pixels are.
#pragma once

#include <cmath>
#include <cstring>

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

    ptrdiff_t y(ptrdiff_t e) const { return offsets[2 * e]; }
    ptrdiff_t x(ptrdiff_t e) const { return offsets[2 * e + 1]; }
};

// exp(-x) for x >= 0, to a few units of the last place: simple enough that a loop over it is vectorised.
inline float decay(float x) {
    const float power = std::floor(-1.44269504f * x + 0.5f);
    const float rest = (-x - power * 0.693359375f) + power * 2.12194440e-4f;
    float sum = 1.9875691500e-4f;
    sum = sum * rest + 1.3981999507e-3f;
    sum = sum * rest + 8.3334519073e-3f;
    sum = sum * rest + 4.1665795894e-2f;
    sum = sum * rest + 1.6666665459e-1f;
    sum = sum * rest + 5.0000001201e-1f;
    sum = sum * rest * rest + rest + 1.0f;
    const int32_t bits = (int32_t(std::max(power, -127.0f)) + 127) << 23;
    float scale;
    std::memcpy(&scale, &bits, sizeof(scale));
    return power < -126.0f ? 0.0f : sum * scale;
}

// Similarities of pixels to those at all offsets of the lower half disk, for neighbouring pixels of a row at a
// time, so that loops go along the row.
class PixelGraph {
public:
    PixelGraph(Matrix<float> across, Matrix<float> down, Cube<float> features, Matrix<bool> valid, Rays rays,
               float sharpness)
        : rays(rays), rows(valid.shape(0)), columns(valid.shape(1)), across(across.data()),
          down(down.data()), features(features.data()), valid(valid.data()), depth(features.shape(2)),
          sharpness(sharpness) {}

    const Rays rays;
    const ptrdiff_t rows, columns;

    bool inside(ptrdiff_t y, ptrdiff_t x) const {
        return y >= 0 && x >= 0 && y < rows && x < columns && valid[y * columns + x];
    }

    // Pixels of a row that are compared at a time: their numbers stay in the cache.
    ptrdiff_t width() const {
        return std::max<ptrdiff_t>(16, std::min<ptrdiff_t>(256, (1 << 18) / (rays.count + 1)));
    }

    // Row e of `weights` holds the similarities at offset e; 0 where there is no pixel.
    struct Strip {
        ptrdiff_t y, begin, end;
        std::vector<float> heights, weights;
        ptrdiff_t width;

        explicit Strip(const PixelGraph& graph)
            : heights(graph.rays.count * graph.width()), weights(heights.size()), width(graph.width()) {}

        float* height(ptrdiff_t e) { return heights.data() + e * width - begin; }
        float* weight(ptrdiff_t e) { return weights.data() + e * width - begin; }
    };

    // Calls work(strip) for each strip of the rows from `begin` to `end`, from left to right and downwards.
    template <typename Work>
    void strips(ptrdiff_t begin, ptrdiff_t end, Strip& strip, const Work& work) const {
        for (ptrdiff_t y = begin; y < end; ++y)
            for (ptrdiff_t x = 0; x < columns; x += strip.width) {
                strip.y = y, strip.begin = x, strip.end = std::min(x + strip.width, columns);
                for (ptrdiff_t e = 0; e < rays.count; ++e) compare(strip, e);
                work(strip);
            }
    }

private:
    static constexpr float wall = 1e30f;
    const float *across, *down, *features;
    const bool* valid;
    ptrdiff_t depth;
    float sharpness;

    void compare(Strip& s, ptrdiff_t e) const {
        const ptrdiff_t v = s.y + rays.y(e), dx = rays.x(e);
        const ptrdiff_t begin = std::min(std::max(s.begin, -dx), s.end);
        const ptrdiff_t end = v < rows ? std::max(std::min(s.end, columns - dx), begin) : begin;
        float* SYMCLUST_RESTRICT height = s.height(e);
        float* SYMCLUST_RESTRICT weight = s.weight(e);
        for (ptrdiff_t x = s.begin; x < begin; ++x) height[x] = wall, weight[x] = 0.0f;
        for (ptrdiff_t x = end; x < s.end; ++x) height[x] = wall, weight[x] = 0.0f;
        climb(s, e, begin, end);
        const bool* own = valid + s.y * columns;
        const bool* other = valid + v * columns + dx;
        for (ptrdiff_t x = begin; x < end; ++x) weight[x] = sharpness * height[x];
        for (ptrdiff_t c = 0; c < depth; ++c) {
            const float* a = features + s.y * columns * depth + c;
            const float* b = features + (v * columns + dx) * depth + c;
            for (ptrdiff_t x = begin; x < end; ++x) {
                const float apart = a[x * depth] - b[x * depth];
                weight[x] += apart * apart;
            }
        }
#pragma omp simd
        for (ptrdiff_t x = begin; x < end; ++x) weight[x] = own[x] && other[x] ? decay(weight[x]) : 0.0f;
    }

    // The height of the way to offset e is that of the way to the one before it, or of the last step. A
    // diagonal step goes round either corner, whichever is lower.
    void climb(Strip& s, ptrdiff_t e, ptrdiff_t begin, ptrdiff_t end) const {
        const int32_t p = rays.before[e];
        const ptrdiff_t dy = p < 0 ? 0 : rays.y(p), dx = p < 0 ? 0 : rays.x(p);
        const ptrdiff_t v = s.y + rays.y(e), u = rays.x(e), y = s.y + dy, left = std::min(dx, u);
        const float* SYMCLUST_RESTRICT so_far = p < 0 ? nullptr : s.height(p);
        float* SYMCLUST_RESTRICT height = s.height(e);
        if (begin >= end) return;
        if (y == v) {
            const float* step = across + y * columns + left;
            for (ptrdiff_t x = begin; x < end; ++x) height[x] = step[x];
        } else if (dx == u) {
            const float* step = down + y * columns + u;
            for (ptrdiff_t x = begin; x < end; ++x) height[x] = step[x];
        } else {
            const float *above = across + y * columns + left, *below = across + v * columns + left;
            const float *first = down + y * columns + dx, *second = down + y * columns + u;
            for (ptrdiff_t x = begin; x < end; ++x)
                height[x] = std::min(std::max(above[x], second[x]), std::max(first[x], below[x]));
        }
        for (ptrdiff_t x = begin; x < end; ++x)
            height[x] = std::max(so_far ? so_far[x] : 0.0f, height[x]);
    }
};

// Fills both halves of a symmetric CSR matrix. Row i holds its neighbours above (offset −o of the ray o from
// there) and below, in the order of their numbers. Each similarity is computed once, by the pixel above, and
// written to both places.
template <typename I>
void fill_pixels(const PixelGraph& graph, const int32_t* order, ptrdiff_t kept, const I* indptr, I* indices,
                 float* values) {
    const Rays rays = graph.rays;
    const ptrdiff_t rows = graph.rows, columns = graph.columns;
    const int threads = threads_for(rows * columns * rays.count);
    // The place of each neighbour above in its own row is the number of valid neighbours before it, which all
    // rows know of themselves: first the columns, then the values by searching the columns of the row below.
    parallel_rows(rows * columns, 64, threads, [&](ptrdiff_t begin, ptrdiff_t end, int) {
        for (ptrdiff_t i = begin; i < end; ++i) {
            const ptrdiff_t y = i / columns, x = i % columns;
            if (!graph.inside(y, x)) continue;
            I at = indptr[i];
            for (ptrdiff_t e = kept; e-- > 0;) {
                const ptrdiff_t v = y - rays.y(order[e]), u = x - rays.x(order[e]);
                if (graph.inside(v, u)) indices[at++] = I(v * columns + u);
            }
            for (ptrdiff_t e = 0; e < kept; ++e) {
                const ptrdiff_t v = y + rays.y(order[e]), u = x + rays.x(order[e]);
                if (graph.inside(v, u)) indices[at++] = I(v * columns + u);
            }
        }
    });
    std::vector<PixelGraph::Strip> scratch(std::max(threads, 1), PixelGraph::Strip(graph));
    parallel_rows(rows, 1, threads, [&](ptrdiff_t begin, ptrdiff_t end, int t) {
        graph.strips(begin, end, scratch[t], [&](PixelGraph::Strip& strip) {
            for (ptrdiff_t x = strip.begin; x < strip.end; ++x) {
                if (!graph.inside(strip.y, x)) continue;
                const ptrdiff_t i = strip.y * columns + x;
                I at = indptr[i];
                while (at < indptr[i + 1] && indices[at] < i) ++at;
                for (ptrdiff_t e = 0; e < kept; ++e) {
                    if (!graph.inside(strip.y + rays.y(order[e]), x + rays.x(order[e]))) continue;
                    const float weight = strip.weight(order[e])[x];
                    const I j = indices[at];
                    values[at++] = weight;
                    const I* place = std::lower_bound(indices + indptr[j], indices + indptr[j + 1], I(i));
                    values[place - indices] = weight;
                }
            }
        });
    });
}

// Similarities of groups of pixels: the sums over pairs with one pixel in each, as they are and divided by the
// roots of the pixels' degrees. No similarity of pixels is stored; they are computed once for the degrees and
// once for the sums, which takes less time than to write them down. Rows are cut into blocks that do not
// depend on the number of threads.
class GroupSums {
public:
    GroupSums(const PixelGraph& graph, const int32_t* order, ptrdiff_t kept, const int32_t* groups)
        : graph(graph), order(order), kept(kept), groups(groups),
          threads(threads_for(graph.rows * graph.columns * graph.rays.count)),
          roots(graph.rows * graph.columns) {
        for (ptrdiff_t e = 0; e < kept; ++e) reach = std::max(reach, graph.rays.y(order[e]));
        size = std::max<ptrdiff_t>(16, reach);
        blocks.resize((graph.rows + size - 1) / size);
        scratch.assign(std::max(threads, 1), PixelGraph::Strip(graph));
        sum_degrees();
        each_block([&](Block& block, PixelGraph::Strip& strip) { block.add(*this, strip); });
    }

    // The pairs of groups with the sums of both kinds; each pair of pixels is counted once.
    void write(std::vector<int32_t>& first, std::vector<int32_t>& second, std::vector<double>& plain,
               std::vector<double>& normalized) const {
        for (const Block& block : blocks)
            for (const Pair& pair : block.pairs) {
                if (pair.first < 0) continue;
                first.push_back(pair.first), second.push_back(pair.second);
                plain.push_back(pair.plain), normalized.push_back(pair.normalized);
            }
    }

private:
    struct Pair {
        int32_t first = -1, second = -1;
        double plain = 0.0, normalized = 0.0;
    };

    // The sums of some rows of pixels, in a table with open addresses.
    struct Block {
        ptrdiff_t begin = 0, end = 0;
        std::vector<Pair> pairs = std::vector<Pair>(1024);
        size_t used = 0;

        void add(const GroupSums& all, PixelGraph::Strip& strip) {
            const ptrdiff_t columns = all.graph.columns, row = strip.y * columns;
            for (ptrdiff_t e = 0; e < all.kept; ++e) {
                const ptrdiff_t ray = all.order[e], v = strip.y + all.graph.rays.y(ray);
                if (v >= all.graph.rows) continue;
                const ptrdiff_t dx = all.graph.rays.x(ray), other = v * columns + dx;
                const float* weight = strip.weight(ray);
                const ptrdiff_t last = std::min(strip.end, columns - dx);
                for (ptrdiff_t x = std::max(strip.begin, -dx); x < last;) {
                    Pair sum{all.groups[row + x], all.groups[other + x]};
                    for (; x < last && all.groups[row + x] == sum.first && all.groups[other + x] == sum.second;
                         ++x) {
                        sum.plain += double(weight[x]);
                        sum.normalized += double(weight[x]) * all.roots[row + x] * all.roots[other + x];
                    }
                    if (sum.first >= 0 && sum.second >= 0) put(sum);
                }
            }
        }

        void put(const Pair& sum) {
            if (2 * ++used > pairs.size()) grow();
            Pair& place = find(sum);
            if (place.first >= 0) --used;
            place.first = sum.first, place.second = sum.second;
            place.plain += sum.plain, place.normalized += sum.normalized;
        }

        Pair& find(const Pair& sum) {
            const uint64_t key = (uint64_t(uint32_t(sum.first)) << 32) | uint32_t(sum.second);
            size_t at = (key * 0x9E3779B97F4A7C15ull >> 20) & (pairs.size() - 1);
            while (pairs[at].first >= 0 && (pairs[at].first != sum.first || pairs[at].second != sum.second))
                at = (at + 1) & (pairs.size() - 1);
            return pairs[at];
        }

        void grow() {
            std::vector<Pair> before(2 * pairs.size());
            std::swap(pairs, before);
            for (const Pair& pair : before)
                if (pair.first >= 0) find(pair) = pair;
        }
    };

    const PixelGraph& graph;
    const int32_t* order;
    ptrdiff_t kept;
    const int32_t* groups;
    int threads;
    std::vector<double> roots;
    ptrdiff_t reach = 0, size;
    std::vector<Block> blocks;
    std::vector<PixelGraph::Strip> scratch;

    template <typename Work>
    void each_block(const Work& work) {
        parallel_rows(graph.rows, size, threads, [&](ptrdiff_t begin, ptrdiff_t end, int t) {
            Block& block = blocks[begin / size];
            block.begin = begin, block.end = end;
            graph.strips(begin, end, scratch[t], [&](PixelGraph::Strip& strip) { work(block, strip); });
        });
    }

    // A block adds to its own rows and to those within reach below.
    void sum_degrees() {
        const ptrdiff_t columns = graph.columns;
        std::vector<std::vector<double>> degrees(blocks.size());
        each_block([&](Block& block, PixelGraph::Strip& strip) {
            std::vector<double>& own = degrees[&block - blocks.data()];
            own.resize((size + reach) * columns);
            for (ptrdiff_t e = 0; e < kept; ++e) {
                const ptrdiff_t dy = graph.rays.y(order[e]), dx = graph.rays.x(order[e]);
                if (strip.y + dy >= graph.rows) continue;
                const float* SYMCLUST_RESTRICT weight = strip.weight(order[e]);
                double* upper = own.data() + (strip.y - block.begin) * columns;
                double* lower = upper + dy * columns + dx;
                const ptrdiff_t last = std::min(strip.end, columns - dx);
                for (ptrdiff_t x = std::max(strip.begin, -dx); x < last; ++x) upper[x] += double(weight[x]);
                for (ptrdiff_t x = std::max(strip.begin, -dx); x < last; ++x) lower[x] += double(weight[x]);
            }
        });
        for (size_t b = 0; b < blocks.size(); ++b)
            for (size_t e = 0; e < degrees[b].size() && b * size * columns + e < roots.size(); ++e)
                roots[b * size * columns + e] += degrees[b][e];
        for (double& root : roots) root = root > 0.0 ? 1.0 / std::sqrt(root) : 0.0;
    }
};

}  // namespace symclust
