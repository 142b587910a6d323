// How often short random walks from a node end at others, and what of it is more than chance: a row at a
// time.
//
// Row i of M is log max(1, (vol/T) Σ_{r=1..T} p_r(j) / d_j), with p_1 = e_i / Σ e_i the first step of a walk
// along the edges e_i and p_{r+1} = p_r D⁻¹W its next ones. A thread holds three dense vectors of n numbers
// and the places where they are not zero; a step costs the edges of the places it starts from. Of each row
// only the likeliest ends are kept, so that nothing ever has n² numbers.
#pragma once

#include <cmath>

#include "common.hpp"

namespace symclust {

// A sparse vector that is added to at random places.
struct Scatter {
    std::vector<double> value;
    std::vector<int64_t> places;

    explicit Scatter(ptrdiff_t n) : value(n, 0.0) {}

    void add(int64_t j, double amount) {
        if (value[j] == 0.0) places.push_back(j);
        value[j] += amount;
    }

    void clear() {
        for (const int64_t j : places) value[j] = 0.0;
        places.clear();
    }

    // Leaves the `most` largest entries; of equal ones those at lower places. Returns how many are left.
    ptrdiff_t keep_largest(ptrdiff_t most) {
        if (ptrdiff_t(places.size()) <= most) return places.size();
        const auto larger = [&](int64_t a, int64_t b) {
            return value[a] > value[b] || (value[a] == value[b] && a < b);
        };
        std::nth_element(places.begin(), places.begin() + most, places.end(), larger);
        for (auto j = places.begin() + most; j != places.end(); ++j) value[*j] = 0.0;
        places.resize(most);
        return most;
    }
};

template <typename T, typename I>
class Walk {
public:
    Walk(const Csr<T, I>& W, const double* degrees, ptrdiff_t n, double volume, int window,
         ptrdiff_t frontier)
        : W(W), degrees(degrees), volume(volume), window(window), frontier(frontier), here(n), next(n),
          sum(n) {}

    // Writes the entries of one row at its likeliest ends, without `own`, in the order of their columns;
    // returns how many.
    ptrdiff_t row(const I* indices, const T* values, ptrdiff_t count, int64_t own, I* columns, T* weights,
                  ptrdiff_t kept) {
        begin(indices, values, count);
        for (int r = 1; r < window && !here.places.empty(); ++r) step();
        here.clear();
        const ptrdiff_t found = finish(own, columns, weights, kept);
        sum.clear();
        return found;
    }

private:
    Csr<T, I> W;
    const double* degrees;
    double volume;
    int window;
    ptrdiff_t frontier;
    Scatter here, next, sum;
    Pace pace;

    void begin(const I* indices, const T* values, ptrdiff_t count) {
        double degree = 0.0;
        for (ptrdiff_t e = 0; e < count; ++e) degree += double(values[e]);
        if (!(degree > 0.0)) return;
        for (ptrdiff_t e = 0; e < count; ++e) arrive(here, indices[e], double(values[e]) / degree);
        pace(4 * count);
    }

    void arrive(Scatter& at, int64_t j, double share) {
        if (!(share > 0.0)) return;
        at.add(j, share);
        sum.add(j, share);
    }

    void step() {
        here.keep_largest(frontier);
        std::sort(here.places.begin(),
                  here.places.end());  // reads W in order, and adds in an order of its own
        for (const int64_t l : here.places) {
            const I first = W.indptr[l], last = W.indptr[l + 1];
            const double share = here.value[l] / degrees[l];
            for (I e = first; e < last; ++e) arrive(next, W.indices[e], share * double(W.values[e]));
            pace(4 * (last - first));
        }
        here.clear();
        std::swap(here, next);
    }

    ptrdiff_t finish(int64_t own, I* columns, T* weights, ptrdiff_t kept) {
        auto& places = sum.places;
        const double scale = volume / window;
        size_t left = 0;
        for (const int64_t j : places) {
            if (j != own && scale * sum.value[j] > degrees[j]) places[left++] = j;
            else sum.value[j] = 0.0;
        }
        places.resize(left);
        const ptrdiff_t found = sum.keep_largest(kept);
        std::sort(places.begin(), places.end());
        for (ptrdiff_t e = 0; e < found; ++e) {
            columns[e] = I(places[e]);
            weights[e] = T(std::log(scale * sum.value[places[e]] / degrees[places[e]]));
        }
        return found;
    }
};

}  // namespace symclust
