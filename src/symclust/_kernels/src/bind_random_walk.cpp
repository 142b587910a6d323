// How often short random walks from a node end at others, and what of it is more than chance: a row at a time.
//
// Row i of M is log max(1, (vol/T) Σ_{r=1..T} p_r(j) / d_j), with p_1 = e_i / Σ e_i the first step of a walk along the edges e_i
// and p_{r+1} = p_r D⁻¹W its next ones. A thread holds three dense vectors of n numbers and the places where they are not zero;
// a step costs the edges of the places it starts from. Of each row only the likeliest ends are kept, so that nothing ever has
// n² numbers.
#include <cmath>

#include "common.hpp"

namespace symclust {

// A sparse vector that is added to at random places.
struct Scatter {
    std::vector<double> value;
    std::vector<std::int64_t> places;

    explicit Scatter(std::ptrdiff_t n) : value(n, 0.0) {}

    void add(std::int64_t j, double amount) {
        if (value[j] == 0.0) places.push_back(j);
        value[j] += amount;
    }

    void clear() {
        for (const std::int64_t j : places) value[j] = 0.0;
        places.clear();
    }

    // Leaves the `most` largest entries; of equal ones those at lower places. Returns how many are left.
    std::ptrdiff_t keep_largest(std::ptrdiff_t most) {
        if (std::ptrdiff_t(places.size()) <= most) return places.size();
        const auto larger = [&](std::int64_t a, std::int64_t b) {
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
    Walk(const Csr<T, I>& W, const double* degrees, std::ptrdiff_t n, double volume, int window, std::ptrdiff_t frontier)
        : W(W), degrees(degrees), volume(volume), window(window), frontier(frontier), here(n), next(n), sum(n) {}

    // Writes the entries of one row at its likeliest ends, without `own`, in the order of their columns; returns how many.
    std::ptrdiff_t row(const I* indices, const T* values, std::ptrdiff_t count, std::int64_t own, I* columns, T* weights,
                       std::ptrdiff_t kept) {
        begin(indices, values, count);
        for (int r = 1; r < window && !here.places.empty(); ++r) step();
        here.clear();
        const std::ptrdiff_t found = finish(own, columns, weights, kept);
        sum.clear();
        return found;
    }

private:
    Csr<T, I> W;
    const double* degrees;
    double volume;
    int window;
    std::ptrdiff_t frontier;
    Scatter here, next, sum;
    Pace pace;

    void begin(const I* indices, const T* values, std::ptrdiff_t count) {
        double degree = 0.0;
        for (std::ptrdiff_t e = 0; e < count; ++e) degree += static_cast<double>(values[e]);
        if (!(degree > 0.0)) return;
        for (std::ptrdiff_t e = 0; e < count; ++e) arrive(here, indices[e], static_cast<double>(values[e]) / degree);
        pace(4 * count);
    }

    void arrive(Scatter& at, std::int64_t j, double share) {
        if (!(share > 0.0)) return;
        at.add(j, share);
        sum.add(j, share);
    }

    void step() {
        here.keep_largest(frontier);
        std::sort(here.places.begin(), here.places.end());  // reads W in order, and adds in an order of its own
        for (const std::int64_t l : here.places) {
            const I first = W.indptr[l], last = W.indptr[l + 1];
            const double share = here.value[l] / degrees[l];
            for (I e = first; e < last; ++e) arrive(next, W.indices[e], share * static_cast<double>(W.values[e]));
            pace(4 * (last - first));
        }
        here.clear();
        std::swap(here, next);
    }

    std::ptrdiff_t finish(std::int64_t own, I* columns, T* weights, std::ptrdiff_t kept) {
        auto& places = sum.places;
        const double scale = volume / window;
        std::size_t left = 0;
        for (const std::int64_t j : places) {
            if (j != own && scale * sum.value[j] > degrees[j]) places[left++] = j;
            else sum.value[j] = 0.0;
        }
        places.resize(left);
        const std::ptrdiff_t found = sum.keep_largest(kept);
        std::sort(places.begin(), places.end());
        for (std::ptrdiff_t e = 0; e < found; ++e) {
            columns[e] = static_cast<I>(places[e]);
            weights[e] = static_cast<T>(std::log(scale * sum.value[places[e]] / degrees[places[e]]));
        }
        return found;
    }
};

template <typename T, typename I>
void bind_random_walk_type(nb::module_& m) {
    define(m, "random_walk_rows", [](Vector<I> indptr, Vector<I> indices, Vector<T> values, Vector<double> degrees, double volume,
                                     Vector<I> from_indptr, Vector<I> from_indices, Vector<T> from_values, std::int64_t first,
                                     int window, std::int64_t frontier, MutableMatrix<I> columns, MutableMatrix<T> weights,
                                     MutableVector<std::int64_t> counts) {
        const std::ptrdiff_t n = degrees.shape(0), rows = counts.shape(0), kept = columns.shape(1);
        const Csr<T, I> W("W", indptr, indices, values, n, n), from("from", from_indptr, from_indices, from_values, rows, n);
        shaped("columns", columns, rows, kept), shaped("weights", weights, rows, kept);
        const double* d = degrees.data();
        I* c = columns.data();
        T* w = weights.data();
        std::int64_t* found = counts.data();
        nb::gil_scoped_release release;
        const int threads = static_cast<int>(std::min<std::ptrdiff_t>(max_threads(), (rows + 15) / 16));
        std::vector<Walk<T, I>> walks;
        for (int t = 0; t < std::max(threads, 1); ++t) walks.emplace_back(W, d, n, volume, window, frontier);
        parallel_rows(rows, 16, threads, [&](std::ptrdiff_t begin, std::ptrdiff_t end, int t) {
            for (std::ptrdiff_t i = begin; i < end; ++i) {
                const std::ptrdiff_t start = from.indptr[i];
                found[i] = walks[t].row(from.indices + start, from.values + start, from.count(i), first < 0 ? -1 : first + i,
                                        c + i * kept, w + i * kept, kept);
            }
        });
    }, "indptr", "indices", "values", "degrees", "volume"_a, "from_indptr", "from_indices", "from_values", "first"_a, "window"_a,
       "frontier"_a, "columns", "weights", "counts");
}

void bind_random_walk(nb::module_& m) {
    bind_random_walk_type<double, std::int32_t>(m);
    bind_random_walk_type<double, std::int64_t>(m);
    bind_random_walk_type<float, std::int32_t>(m);
    bind_random_walk_type<float, std::int64_t>(m);
}

}  // namespace symclust
