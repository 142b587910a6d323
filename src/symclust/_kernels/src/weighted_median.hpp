// argmin over x >= 0 of Σ |weight x − b| = Σ weight |x − at|: the problem of one entry of H under the
// absolute loss, in expected linear time.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace symclust {

class WeightedMedian {
public:
    // Weights on both sides that are equal up to `rounding` count as equal. Such ties are common (the first
    // two entries of a column that grows are the same number, made in two ways), and the form or the scale of
    // A must not decide them.
    WeightedMedian(ptrdiff_t most, double rounding)
        : at(most), weight(most), kept_at(most), kept_weight(most), flags(most), places(most),
          share(0.5 * (1.0 + rounding)) {}

    void clear() {
        size = 0;
        below = 0.0;
    }

    // The term |a x − b|.
    void add(double a, double b) {
        if (a <= nothing) return;
        at[size] = b / a;
        weight[size++] = a;
    }

    // The terms |a_j x − (b_j + factor c_j)|.
    template <typename T>
    void set(const T* SYMCLUST_RESTRICT a, const T* SYMCLUST_RESTRICT b, double factor,
             const T* SYMCLUST_RESTRICT c, ptrdiff_t count) {
        double* SYMCLUST_RESTRICT to = at.data();
        double* SYMCLUST_RESTRICT w = weight.data();
#pragma omp simd
        for (ptrdiff_t j = 0; j < count; ++j) {
            const double value = a[j], divisor = value > nothing ? value : 1.0;
            w[j] = value > nothing ? value : 0.0;
            to[j] = (double(b[j]) + factor * double(c[j])) / divisor;
        }
        size = count;
        below = 0.0;
    }

    // Terms with a breakpoint at or below zero, known by their weight only: that is all x >= 0 feels of them.
    void add_below(double a) { below += a; }

    // The smallest minimiser. `guess` is a value near it; it saves time, not accuracy.
    double solve(double guess) {
        const Weights sum = weigh({guess, guess});
        half = share * (below + sum.total);
        if (sum.positive <= half) return 0.0;
        if (sum.above <= half && sum.above + sum.inside > half) return guess;
        left = {at.data(), weight.data(), size};
        over = 0.0;
        mass = sum.total;
        if (sum.above > half) return select({guess, infinity, false, true}, 0.0);
        return select({0.0, guess, true, false}, sum.above + sum.inside);
    }

    // Value at `x` less the value at `y`, both >= 0.
    double difference(double x, double y) const {
        double sum = 0.0;
#pragma omp simd reduction(+ : sum)
        for (ptrdiff_t e = 0; e < size; ++e) sum += weight[e] * (std::abs(at[e] - x) - std::abs(at[e] - y));
        return sum + below * (x - y);
    }

private:
    // An end that does not belong to a range is said so: the next number after 0 is 0 where denormals are
    // flushed to zero.
    struct Range {
        double low, high;
        bool has_low = true, has_high = true;
    };
    struct Weights {
        double total, positive, above, inside;
    };
    struct Points {
        const double *at, *weight;
        ptrdiff_t size;
    };
    static constexpr double infinity = HUGE_VAL;
    static constexpr double nothing = 1e-150;  // a weight that cannot be felt: its breakpoint might overflow
    static constexpr ptrdiff_t few = 24;

    std::vector<double> at, weight;            // all points
    std::vector<double> kept_at, kept_weight;  // those among which the answer is
    std::vector<uint8_t> flags;
    std::vector<int32_t> places;
    double share;
    Points left{};  // either
    ptrdiff_t size = 0;
    double below = 0.0, half = 0.0;
    double over = 0.0, mass = 0.0;  // weight above all that are left, and of these
    uint64_t random = 1;

    Weights weigh(Range range) {
        left = {at.data(), weight.data(), size};
        double total = 0.0, positive = 0.0;
#pragma omp simd reduction(+ : total, positive)
        for (ptrdiff_t e = 0; e < size; ++e) {
            total += weight[e];
            positive += at[e] > 0.0 ? weight[e] : 0.0;
        }
        const auto [above, inside] = weigh_left(range);
        return {total, positive, above, inside};
    }

    struct Split {
        double above, inside;
    };

    Split weigh_left(Range range) const {
        const Points points = left;
        double above = 0.0, inside = 0.0;
#pragma omp simd reduction(+ : above, inside)
        for (ptrdiff_t e = 0; e < points.size; ++e) {
            const double w = points.weight[e], value = points.at[e];
            above += value > range.high ? w : 0.0;
            inside += value >= range.low && value <= range.high ? w : 0.0;
        }
        return {above, inside};
    }

    // Forget the points outside the range and those of no weight. Comparing and collecting are two loops: the
    // first is done by vectors, the second carries nothing but a counter.
    void keep(Range range) {
        const Points points = left;
        uint8_t* SYMCLUST_RESTRICT inside = flags.data();
#pragma omp simd
        for (ptrdiff_t e = 0; e < points.size; ++e)
            inside[e] = (points.at[e] >= range.low) & (points.at[e] <= range.high) &
                        (points.weight[e] > 0.0) & (range.has_low | (points.at[e] != range.low)) &
                        (range.has_high | (points.at[e] != range.high));
        ptrdiff_t kept = 0;
        for (ptrdiff_t e = 0; e < points.size; ++e) {
            places[kept] = int32_t(e);
            kept += inside[e];
        }
        for (ptrdiff_t e = 0; e < kept; ++e) {
            kept_at[e] = points.at[places[e]];
            kept_weight[e] = points.weight[places[e]];
        }
        left = {kept_at.data(), kept_weight.data(), kept};
    }

    // The smallest point with at most `half` of the weight above it; it is known to lie in `side`, with the
    // weight `beyond` on the points above that. A sample suggests a narrow range for it; if the answer is not
    // in there, it is in what lies above or below.
    double select(Range side, double beyond) {
        bool single = false;
        while (left.size > few) {
            const Range range = suggest(side, single);
            const Split split = weigh_left(range);
            const ptrdiff_t before = left.size;
            if (over + split.above > half) {
                side.low = range.high;
                side.has_low = false;
                over += beyond;
                mass = split.above - beyond;
            } else if (over + split.above + split.inside > half) {
                if (range.low == range.high) return range.low;
                over += split.above;
                mass = split.inside;
                side = range;
            } else {
                over += split.above + split.inside;
                mass -= split.above + split.inside;
                side.high = range.low;
                side.has_high = false;
            }
            keep(side);
            beyond = 0.0;
            single = left.size == before;
        }
        over += beyond;
        keep(side);
        return scan();
    }

    // A range of values that holds the answer more often than not, from a sample taken in irregular order; a
    // single value if asked, which always leaves fewer points.
    Range suggest(Range side, bool single) {
        const int sample = left.size > 1024 ? 31 : 9, margin = left.size > 1024 ? 4 : 1;
        double values[31], masses[31], all = 0.0;
        for (int e = 0; e < sample; ++e) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            const ptrdiff_t place = ptrdiff_t((random >> 33) % uint64_t(left.size));
            all += left.weight[place];
            insert(values, masses, e, left.at[place], left.weight[place]);
        }
        const double wanted = all * (half - over) / mass;
        int rank = 0;
        for (double sum = masses[0]; rank < sample - 1 && sum <= wanted; sum += masses[++rank]) {
        }
        const double middle = std::clamp(values[rank], side.low, side.high);
        if (single) return {middle, middle};
        const double low = values[std::min(rank + margin, sample - 1)],
                     high = values[std::max(rank - margin, 0)];
        return {std::clamp(low, side.low, middle), std::clamp(high, middle, side.high)};
    }

    // Put a point in its place among `count` sorted from the top.
    static void insert(double* values, double* masses, ptrdiff_t count, double value, double own) {
        ptrdiff_t slot = count;
        for (; slot > 0 && values[slot - 1] < value; --slot) {
            values[slot] = values[slot - 1];
            masses[slot] = masses[slot - 1];
        }
        values[slot] = value;
        masses[slot] = own;
    }

    // The last few: sorted, then read from the top.
    double scan() {
        double values[few], masses[few];
        for (ptrdiff_t e = 0; e < left.size; ++e) insert(values, masses, e, left.at[e], left.weight[e]);
        for (ptrdiff_t e = 0; e < left.size; ++e) {
            over += masses[e];
            if (over > half) return values[e];
        }
        return left.size ? values[left.size - 1] : 0.0;  // sums in another order differ in their last bits
    }
};

}  // namespace symclust
