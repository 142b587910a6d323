// Nonnegative factors of many parts of one data matrix, each with several numbers of columns: what resampling
// asks for.
//
// A part is a few hundred rows, so that calls from Python would cost as much as the work. Here a thread takes
// one part and one number of columns from the start to the labels. Factors are stored with one row per
// column, padded: all loops run along samples or features, whose number is large, and a sweep of coordinate
// descent is then as good as free beside the products.
#pragma once

#include <cmath>
#include <limits>

#include "common.hpp"

namespace symclust {

constexpr ptrdiff_t lane = 16;  // entries that a block of a product holds in registers
constexpr int wide = 8;         // columns of a factor multiplied at a time

inline ptrdiff_t padded_size(ptrdiff_t size) { return (size + lane - 1) / lane * lane; }

// Uniform numbers between 0 and 1 from a counter: SplitMix64.
struct Uniform {
    uint64_t state;
    template <typename T>
    T next() {
        uint64_t z = (state += 0x9E3779B97F4A7C15ULL);
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
        return T(double((z ^ (z >> 31)) >> 11) * 0x1.0p-53);
    }
};

// Rows of equal length, padded.
template <typename T>
struct PaddedRows {
    ptrdiff_t count = 0, size = 0, stride = 0;
    std::vector<T> data;

    PaddedRows() = default;
    PaddedRows(ptrdiff_t count, ptrdiff_t size)
        : count(count), size(size), stride(padded_size(size)), data(count * padded_size(size)) {}
    T* row(ptrdiff_t i) { return data.data() + i * stride; }
    const T* row(ptrdiff_t i) const { return data.data() + i * stride; }
};

// out_l = Σ_i factor_l[i] M_i for K rows of the factor from `first` on.
template <int K, typename T>
void multiply_some(const PaddedRows<T>& M, const PaddedRows<T>& factor, ptrdiff_t first, PaddedRows<T>& out) {
    const T* f[K];
    for (int l = 0; l < K; ++l) f[l] = factor.row(first + l);
    for (ptrdiff_t j = 0; j < M.stride; j += lane) {
        T sum[K][lane] = {};
        for (ptrdiff_t i = 0; i < M.count; ++i) {
            const T* SYMCLUST_RESTRICT x = M.row(i) + j;
            for (int l = 0; l < K; ++l) {
                const T weight = f[l][i];
#pragma omp simd
                for (ptrdiff_t b = 0; b < lane; ++b) sum[l][b] += weight * x[b];
            }
        }
        for (int l = 0; l < K; ++l) std::copy(sum[l], sum[l] + lane, out.row(first + l) + j);
    }
}

template <typename T>
void multiply(const PaddedRows<T>& M, const PaddedRows<T>& factor, PaddedRows<T>& out) {
    ptrdiff_t l = 0;
    for (; l + wide <= factor.count; l += wide) multiply_some<wide>(M, factor, l, out);
    switch (factor.count - l) {
        case 7: return multiply_some<7>(M, factor, l, out);
        case 6: return multiply_some<6>(M, factor, l, out);
        case 5: return multiply_some<5>(M, factor, l, out);
        case 4: return multiply_some<4>(M, factor, l, out);
        case 3: return multiply_some<3>(M, factor, l, out);
        case 2: return multiply_some<2>(M, factor, l, out);
        case 1: return multiply_some<1>(M, factor, l, out);
        default: return;
    }
}

template <typename T>
void gram_of(const PaddedRows<T>& factor, std::vector<double>& G) {
    const ptrdiff_t k = factor.count;
    G.resize(k * k);
    for (ptrdiff_t l = 0; l < k; ++l)
        for (ptrdiff_t m = 0; m <= l; ++m)
            G[l * k + m] = G[m * k + l] = dot(factor.row(l), factor.row(m), factor.size);
}

// One sweep of coordinate descent on ½ tr(YᵀGY) − ⟨R, Y⟩ over rows of Y from `first` on, Y ≥ 0. Returns the
// squared norm of the projected gradient as each entry was met.
template <typename T>
double sweep(const std::vector<double>& G, const PaddedRows<T>& R, PaddedRows<T>& Y, ptrdiff_t first,
             std::vector<T>& slope) {
    const ptrdiff_t k = Y.count, size = Y.stride;
    double squared = 0;
    for (ptrdiff_t l = first; l < k; ++l) {
        const T own = T(G[l * k + l]);
        T* SYMCLUST_RESTRICT y = Y.row(l);
        if (own <=
            std::numeric_limits<T>::min()) {  // the other factor's column is zero: this one says nothing
            continue;
        }
        T* SYMCLUST_RESTRICT s = slope.data();
        std::copy(R.row(l), R.row(l) + size, s);
        for (ptrdiff_t m = 0; m < k; ++m) {
            const T g = T(G[l * k + m]);
            const T* SYMCLUST_RESTRICT other = Y.row(m);
#pragma omp simd
            for (ptrdiff_t j = 0; j < size; ++j) s[j] -= g * other[j];
        }
        const T inverse = T(1) / own;
        T sum = 0;
#pragma omp simd reduction(+ : sum)
        for (ptrdiff_t j = 0; j < size; ++j) {
            const T moved = std::max(y[j] + s[j] * inverse, T(0));
            const T held = y[j] > 0 || s[j] > 0 ? s[j] : T(0);
            sum += held * held;
            y[j] = moved;
        }
        squared += double(sum);
    }
    return squared;
}

struct PartOptions {
    bool has_offset;
    int n_init, max_iter, inner;
    double tol;
};

// X ≈ WCᵀ of the rows of one part; with an offset, the first row of W is held at `level` and that of C is the
// offset.
template <typename T>
class PartFactors {
public:
    PartFactors(const T* X, ptrdiff_t n_features, const int64_t* rows, ptrdiff_t n_rows, ptrdiff_t k,
                const PartOptions& options)
        : options(options), first(options.has_offset ? 1 : 0), M(n_rows, n_features), Mt(n_features, n_rows),
          W(k + first, n_rows), C(k + first, n_features), XC(k + first, n_rows), XtW(k + first, n_features),
          slope(std::max(M.stride, Mt.stride)) {
        for (ptrdiff_t i = 0; i < n_rows; ++i) {
            std::copy(X + rows[i] * n_features, X + (rows[i] + 1) * n_features, M.row(i));
            for (ptrdiff_t j = 0; j < n_features; ++j) Mt.row(j)[i] = M.row(i)[j];
        }
        for (ptrdiff_t i = 0; i < n_rows; ++i) squares += dot(M.row(i), M.row(i), n_features);
    }

    // The best of several random starts.
    void fit(uint64_t seed) {
        double best = std::numeric_limits<double>::infinity();
        Uniform uniform{seed};
        PaddedRows<T> kept;
        for (int start = 0; start < options.n_init; ++start) {
            begin(uniform);
            const double value = descend();
            if (value < best) best = value, kept = C;
        }
        // NaN is not less than infinity: entries overflow in T, or are not finite to begin with.
        expect(std::isfinite(best), "X", "is too large or not finite: the misfit overflows from every start");
        C = kept;
        gram_of(C, GC);
        multiply(Mt, C, XC);
        settle(XC, W);
        scale_memberships();
    }

    // Labels of rows of X: the largest membership relative to that of a typical member; −1 where all are
    // zero.
    void label(const T* X, const int64_t* rows, ptrdiff_t n_rows, int32_t* labels) {
        const ptrdiff_t k = W.count - first, n_features = M.size;
        PaddedRows<T> Y(W.count, n_rows), R(W.count, n_rows);
        if (options.has_offset) std::fill(Y.row(0), Y.row(0) + n_rows, level);
        for (ptrdiff_t i = 0; i < n_rows; ++i)
            for (ptrdiff_t l = 0; l < W.count; ++l)
                R.row(l)[i] = T(dot(X + rows[i] * n_features, C.row(l), n_features));
        slope.resize(std::max<size_t>(slope.size(), Y.stride));
        settle(R, Y);
        for (ptrdiff_t i = 0; i < n_rows; ++i) {
            ptrdiff_t largest = -1;
            double most = 0;
            for (ptrdiff_t l = 0; l < k; ++l) {
                const double weight = Y.row(first + l)[i] * scales[l];
                if (weight > most) most = weight, largest = l;
            }
            labels[rows[i]] = int32_t(largest);
        }
    }

private:
    // A typical member has Σw²/Σw, whatever the size of its cluster. With components of length 1 instead,
    // samples that were not in the part and belong nowhere would all go to one cluster, which looks like
    // agreement.
    void scale_memberships() {
        scales.assign(W.count - first, 0);
        for (ptrdiff_t l = first; l < W.count; ++l) {
            const double square = dot(W.row(l), W.row(l), W.size);
            double sum = 0;
            for (ptrdiff_t i = 0; i < W.size; ++i) sum += W.row(l)[i];
            if (square > 0) scales[l - first] = sum / square;
        }
    }

    // W and C uniform between 0 and the number that gives the mean of X, less the smallest entries where
    // there is an offset.
    void begin(Uniform& uniform) {
        double total = 0;
        for (ptrdiff_t j = 0; j < Mt.count; ++j) {
            const T* x = Mt.row(j);
            const T least = options.has_offset ? *std::min_element(x, x + Mt.size) : T(0);
            double sum = 0;
            for (ptrdiff_t i = 0; i < Mt.size; ++i) sum += x[i];
            total += sum;
            if (options.has_offset) C.row(0)[j] = least, total -= double(least) * Mt.size;
        }
        const double mean = total / (double(M.count) * M.size);
        const T scale = T(2 * std::sqrt(std::max(mean, 1e-30) / (W.count - first)));
        if (options.has_offset) balance(mean);
        for (ptrdiff_t l = first; l < W.count; ++l) {
            for (ptrdiff_t i = 0; i < W.size; ++i) W.row(l)[i] = scale * uniform.next<T>();
            for (ptrdiff_t j = 0; j < C.size; ++j) C.row(l)[j] = scale * uniform.next<T>();
        }
    }

    // The held row of W has the size of the others, whatever the unit of X is.
    void balance(double mean) {
        level = T(std::sqrt(std::max(mean, 1e-30)));
        std::fill(W.row(0), W.row(0) + W.size, level);
        for (ptrdiff_t j = 0; j < C.size; ++j) C.row(0)[j] /= level;
    }

    // Alternates between the two factors until the projected gradient is tol times its first norm; returns
    // the objective.
    //
    // Each factor is improved against the other prolonged along its last step (Ang and Gillis 2019). The
    // share of the step that is added grows as long as the objective falls, and is cut when it rises, after
    // which plain steps begin anew: a third to a tenth of the iterations where an offset and the components
    // can stand for each other.
    double descend() {
        double reference = 0, last = std::numeric_limits<double>::infinity(), share = 0.5, most = 1;
        PaddedRows<T> Wy = W, Cy = C, before;
        for (int iteration = 0; iteration < options.max_iter; ++iteration) {
            gram_of(Wy, GW);
            multiply(M, Wy, XtW);
            before = C;
            const double of_features = improve(GW, XtW, C, 0);
            const double value = misfit(C, XtW, GW);
            if (iteration < 10) Cy = C;
            else prolong(C, before, share, Cy);
            gram_of(Cy, GC);
            multiply(Mt, Cy, XC);
            before = W;
            const double squared = of_features + improve(GC, XC, W, first);
            if (iteration == 0) reference = squared;
            if (squared <= options.tol * options.tol * reference) break;
            if (iteration < 10) {
                Wy = W;
            } else if (value > last) {
                Wy = W, most = share, share /= 1.5;
            } else {
                prolong(W, before, share, Wy);
                share = std::min(most, 1.05 * share), most = std::min(1.0, 1.01 * most);
            }
            last = value;
            checkpoint();
        }
        gram_of(C, GC);
        multiply(Mt, C, XC);
        return misfit(W, XC, GC);
    }

    // ‖X − WCᵀ‖² from one factor, the product of X with the other, and the Gram matrix of that.
    double misfit(const PaddedRows<T>& Y, const PaddedRows<T>& product, const std::vector<double>& G) {
        double value = squares;
        gram_of(Y, own);
        for (ptrdiff_t l = 0; l < Y.count; ++l) value -= 2 * dot(Y.row(l), product.row(l), Y.size);
        for (size_t e = 0; e < G.size(); ++e) value += G[e] * own[e];
        return value;
    }

    static void prolong(const PaddedRows<T>& now, const PaddedRows<T>& before, double share,
                        PaddedRows<T>& out) {
        const T s = T(share);
        for (size_t e = 0; e < now.data.size(); ++e)
            out.data[e] = std::max(now.data[e] + s * (now.data[e] - before.data[e]), T(0));
    }

    double improve(const std::vector<double>& G, const PaddedRows<T>& R, PaddedRows<T>& Y, ptrdiff_t from) {
        const double squared = sweep(G, R, Y, from, slope);
        for (int again = 1; again < options.inner; ++again) sweep(G, R, Y, from, slope);
        return squared;
    }

    // Memberships for a fixed C: sweeps until the projected gradient has fallen by six digits, or to
    // rounding.
    void settle(const PaddedRows<T>& R, PaddedRows<T>& Y) {
        double reference = 0;
        for (int count = 0; count < 1000; ++count) {
            const double squared = sweep(GC, R, Y, first, slope);
            if (count == 0) reference = squared;
            if (squared <= 1e-12 * reference) break;
        }
    }

    PartOptions options;
    ptrdiff_t first;
    T level = 1;
    PaddedRows<T> M, Mt, W, C, XC, XtW;
    std::vector<T> slope;
    std::vector<double> GW, GC, own, scales;
    double squares = 0;
};

// Labels of all n rows of X for every part and number of columns; rows outside a part are placed if `place`.
template <typename T>
void label_parts(const T* X, ptrdiff_t n, ptrdiff_t n_features, const Pattern<int64_t>& parts,
                 const int64_t* counts, ptrdiff_t n_counts, const uint64_t* seeds, const PartOptions& options,
                 bool place, int32_t* labels) {
    std::vector<int64_t> all(n);
    for (ptrdiff_t i = 0; i < n; ++i) all[i] = i;
    parallel_for(parts.n * n_counts, max_threads(), [&](ptrdiff_t task, int) {
        const ptrdiff_t part = task / n_counts, count = task % n_counts;
        const int64_t* rows = parts.indices + parts.indptr[part];
        const ptrdiff_t n_rows = parts.count(part);
        if (counts[count] > n_rows) return;
        PartFactors<T> factors(X, n_features, rows, n_rows, counts[count], options);
        factors.fit(seeds[part]);
        factors.label(X, place ? all.data() : rows, place ? n : n_rows, labels + task * n);
    });
}

}  // namespace symclust
