// Pairs of rows that an objective leaves out, as the pattern of a symmetric CSR matrix without its diagonal. An empty `indptr`
// means that there are none.
#pragma once

#include "common.hpp"

namespace symclust {

struct IgnoredPairs {
    const std::int64_t* indptr = nullptr;
    const std::int64_t* indices = nullptr;

    IgnoredPairs() = default;
    IgnoredPairs(const Vector<std::int64_t>& indptr, const Vector<std::int64_t>& indices)
        : indptr(indptr.shape(0) ? indptr.data() : nullptr), indices(indices.data()) {}

    bool any() const { return indptr != nullptr; }
    std::ptrdiff_t count(std::ptrdiff_t i) const { return indptr ? indptr[i + 1] - indptr[i] : 0; }
    const std::int64_t* begin(std::ptrdiff_t i) const { return indptr ? indices + indptr[i] : nullptr; }
    const std::int64_t* end(std::ptrdiff_t i) const { return indptr ? indices + indptr[i + 1] : nullptr; }
};

}  // namespace symclust
