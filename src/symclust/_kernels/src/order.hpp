// Numbers from high to low. NumPy's stable sort takes ten times as long, and sorting terms is most of what a
// score costs.
#pragma once

#include <array>
#include <cstring>

#include "common.hpp"

namespace symclust {

constexpr int digit_bits = 11, n_digits = 3;
constexpr uint32_t n_values = 1u << digit_bits;

// The bits of a nonnegative float grow with it: inverted, they sort from high to low.
inline uint32_t falling_key(float weight) {
    uint32_t bits;
    std::memcpy(&bits, &weight, sizeof bits);
    return ~bits;
}

// order = argsort of -weights, stable, by digits from the last to the first. Weights are at least 0 and are
// compared in single precision, so that double ones that differ by rounding alone keep their order.
template <typename T>
void falling_order(const T* weights, ptrdiff_t n, int64_t* order) {
    std::vector<uint32_t> keys(n);
    std::array<std::array<ptrdiff_t, n_values>, n_digits> starts{};
    for (ptrdiff_t i = 0; i < n; ++i) {
        keys[i] = falling_key(float(weights[i]));
        for (int d = 0; d < n_digits; ++d) ++starts[d][(keys[i] >> (d * digit_bits)) % n_values];
    }
    std::vector<int64_t> from(n), to(n);
    for (ptrdiff_t i = 0; i < n; ++i) from[i] = i;
    for (int d = 0; d < n_digits; ++d) {
        checkpoint();
        ptrdiff_t before = 0;
        for (ptrdiff_t& count : starts[d]) {
            const ptrdiff_t here = count;
            count = before;
            before += here;
        }
        for (const int64_t i : from) to[starts[d][(keys[i] >> (d * digit_bits)) % n_values]++] = i;
        from.swap(to);
    }
    std::copy(from.begin(), from.end(), order);
}

}  // namespace symclust
