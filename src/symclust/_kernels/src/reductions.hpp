// A number or a few of a whole matrix: sums over its rows, and how far it is from symmetric.
//
// Sums have the same bits on any number of threads: fixed chunks, partial sums added in order.
#pragma once

#include <cmath>
#include <cstring>
#include <limits>

#include "common.hpp"

namespace symclust {

constexpr ptrdiff_t chunk_rows = 4096;

// The lower triangle of G += x xᵀ for rows x that lie `width` apart, four at a time: a row of G is read and
// written once for all. Of long rows, zeros cost nothing; in short ones a guess that fails costs more.
template <typename T>
void add_outer(double* SYMCLUST_RESTRICT G, const T* X, ptrdiff_t rows, ptrdiff_t width, int k) {
    const auto add = [&](const T* SYMCLUST_RESTRICT x, int l) {
        const double value = double(x[l]);
        double* SYMCLUST_RESTRICT row = G + ptrdiff_t(l) * k;
#pragma omp simd
        for (int m = 0; m <= l; ++m) row[m] += value * double(x[m]);
    };
    const bool is_long = k > 32;
    ptrdiff_t i = 0;
    for (; i + 4 <= rows; i += 4) {
        const T *x0 = X + i * width, *x1 = x0 + width, *x2 = x1 + width, *x3 = x2 + width;
        for (int l = 0; l < k; ++l) {
            const double v0 = double(x0[l]), v1 = double(x1[l]), v2 = double(x2[l]), v3 = double(x3[l]);
            const int entries = (v0 != 0) + (v1 != 0) + (v2 != 0) + (v3 != 0);
            if (is_long && entries == 0) continue;
            if (is_long && entries == 1) {
                add(v0 != 0 ? x0 : v1 != 0 ? x1 : v2 != 0 ? x2 : x3, l);
                continue;
            }
            double* SYMCLUST_RESTRICT row = G + ptrdiff_t(l) * k;
#pragma omp simd
            for (int m = 0; m <= l; ++m)
                row[m] += (v0 * double(x0[m]) + v1 * double(x1[m])) + (v2 * double(x2[m]) + v3 * double(x3[m]));
        }
    }
    for (; i < rows; ++i)
        for (int l = 0; l < k; ++l)
            if (X[i * width + l] != T(0)) add(X + i * width, l);
}

// G = XᵀX in double precision for each of the starts that lie side by side in X.
template <typename T>
void gram(const T* X, ptrdiff_t n, int k, int starts, double* G) {
    const ptrdiff_t size = ptrdiff_t(k) * k * starts, width = ptrdiff_t(k) * starts;
    const ptrdiff_t chunks = (n + chunk_rows - 1) / chunk_rows;
    const ptrdiff_t group = 64;  // chunks whose partial sums are held at once: memory does not grow with n
    std::vector<double> partial(std::min(group, chunks) * size);
    std::fill(G, G + size, 0.0);
    for (ptrdiff_t first = 0; first < chunks; first += group) {
        const ptrdiff_t last = std::min(first + group, chunks);
        parallel_for(last - first, last - first > 1 ? max_threads() : 1, [&](ptrdiff_t place, int) {
            Pace pace;
            double* mine = partial.data() + place * size;
            std::fill(mine, mine + size, 0.0);
            const ptrdiff_t begin = (first + place) * chunk_rows, end = std::min(begin + chunk_rows, n);
            for (ptrdiff_t i = begin; i < end; i += 64, pace(64 * size))
                for (int s = 0; s < starts; ++s)
                    add_outer(mine + ptrdiff_t(s) * k * k, X + i * width + ptrdiff_t(s) * k,
                              std::min<ptrdiff_t>(64, end - i), width, k);
        });
        for (ptrdiff_t chunk = first; chunk < last; ++chunk)
            for (ptrdiff_t e = 0; e < size; ++e) G[e] += partial[(chunk - first) * size + e];
    }
    for (double* own = G; own != G + size; own += ptrdiff_t(k) * k)
        for (int l = 0; l < k; ++l)
            for (int m = 0; m < l; ++m) own[ptrdiff_t(m) * k + l] = own[ptrdiff_t(l) * k + m];
}

template <typename T>
double inner(const T* x, const T* y, ptrdiff_t size) {
    constexpr ptrdiff_t chunk_size = 1 << 15;
    const ptrdiff_t chunks = (size + chunk_size - 1) / chunk_size;
    std::vector<double> partial(chunks, 0.0);
    parallel_for(chunks, threads_for(size), [&](ptrdiff_t chunk, int) {
        const ptrdiff_t begin = chunk * chunk_size;
        partial[chunk] = dot(x + begin, y + begin, std::min(chunk_size, size - begin));
    });
    double sum = 0.0;
    for (const double part : partial) sum += part;
    return sum;
}

// Largest |a_ij - a_ji| of a CSR matrix with sorted columns; an entry without partner counts as |a_ij|.
//
// Rows are visited in order, so the partners that row j is asked for, (j, 0), (j, 1), ..., come in the order
// in which row j stores them: one cursor a row only moves forward. Time O(nonzeros), memory O(n). NaN entries
// are not seen.
template <typename T, typename I>
double asymmetry(const Csr<T, I>& A) {
    const I *indptr = A.indptr, *indices = A.indices;
    const T* values = A.values;
    std::vector<I> cursor(indptr, indptr + A.n);
    T worst = 0;
    Pace pace;
    const auto alone = [&](I p) { worst = std::max(worst, std::abs(values[p])); };
    for (ptrdiff_t i = 0; i < A.n; pace(4 * A.count(i)), ++i) {
        // What lies left of the diagonal and is still ahead of the cursor was never asked for: it has no
        // partner.
        I p = cursor[i];
        for (; p < indptr[i + 1] && indices[p] < i; ++p) alone(p);
        for (; p < indptr[i + 1]; ++p) {
            const I j = indices[p];
            if (j == i) continue;
            I& q = cursor[j];
            for (; q < indptr[j + 1] && indices[q] < i; ++q) alone(q);
            if (q < indptr[j + 1] && indices[q] == i)
                worst = std::max(worst, std::abs(values[p] - values[q++]));
            else alone(p);
        }
    }
    return double(worst);
}

// What one reading of a dense square matrix tells. NaN entries make the sum of squares NaN, and are not seen
// otherwise.
template <typename T>
struct Survey {
    double squares = 0.0;
    T smallest = std::numeric_limits<T>::infinity(), largest = -std::numeric_limits<T>::infinity();
    T asymmetry = 0;  // the largest |a_ij - a_ji|

    void add(const Survey& other) {
        squares += other.squares;
        smallest = std::min(smallest, other.smallest);
        largest = std::max(largest, other.largest);
        asymmetry = std::max(asymmetry, other.asymmetry);
    }
};

constexpr ptrdiff_t survey_tile =
    64;  // two tiles of doubles stay in the second cache, two of floats in the first

// Takes in a row of a tile and the mirrored one, unless the tile is on the diagonal and is its own mirror.
template <bool counts_both, typename T>
void survey_pair(const T* SYMCLUST_RESTRICT x, const T* SYMCLUST_RESTRICT mirrored, ptrdiff_t size,
                 Survey<T>& found) {
    double squares = 0.0;
    T smallest = found.smallest, largest = found.largest, worst = found.asymmetry;
#pragma omp simd reduction(+ : squares) reduction(min : smallest) reduction(max : largest, worst)
    for (ptrdiff_t e = 0; e < size; ++e) {
        const T own = x[e], other = counts_both ? mirrored[e] : own, gap = std::abs(own - mirrored[e]);
        squares += double(own) * double(own);
        if (counts_both) squares += double(other) * double(other);
        smallest = own < smallest ? own : smallest;
        smallest = other < smallest ? other : smallest;
        largest = own > largest ? own : largest;
        largest = other > largest ? other : largest;
        worst = gap > worst ? gap : worst;
    }
    found = {found.squares + squares, smallest, largest, worst};
}

// Tile by tile: a tile below the diagonal is transposed into the cache and compared with the one above, so
// that A is read once.
template <typename T>
Survey<T> survey_dense(const T* A, ptrdiff_t n) {
    const ptrdiff_t tiles = (n + survey_tile - 1) / survey_tile;
    std::vector<Survey<T>> found(tiles);  // of each row of tiles: added in order, on any number of threads
    parallel_for(tiles, threads_for(n * n), [&](ptrdiff_t row, int) {
        Pace pace;
        std::vector<T> mirrored(survey_tile * survey_tile);
        const ptrdiff_t top = row * survey_tile, bottom = std::min(top + survey_tile, n);
        for (ptrdiff_t left = top; left < n; left += survey_tile, pace(8 * survey_tile * survey_tile)) {
            const ptrdiff_t width = std::min(survey_tile, n - left);
            // The next tile below is scattered over as many pages as it has rows: asked for early, it costs
            // half as much.
            for (ptrdiff_t j = left + survey_tile; j < std::min(left + 2 * survey_tile, n); ++j)
                for (ptrdiff_t i = top; i < bottom; i += ptrdiff_t(64 / sizeof(T)))
                    SYMCLUST_PREFETCH(A + j * n + i);
            for (ptrdiff_t j = 0; j < width; ++j)
                for (ptrdiff_t i = top; i < bottom; ++i)
                    mirrored[(i - top) * survey_tile + j] = A[(left + j) * n + i];
            for (ptrdiff_t i = top; i < bottom; ++i)
                (left == top ? survey_pair<false, T>
                             : survey_pair<true, T>)(A + i * n + left,
                                                     mirrored.data() + (i - top) * survey_tile, width,
                                                     found[row]);
        }
    });
    Survey<T> all;
    for (const Survey<T>& part : found) all.add(part);
    return all;
}

// Two sums Σ_j c_j m(x_j) modulo 2⁶⁴ for each row x, where m mixes the bits of a number and keeps zero: 16
// bytes that tell rows from each other. `c` holds both coefficients of every column side by side in two rows.
template <typename T, typename Bits>
void row_keys(const T* X, ptrdiff_t n, ptrdiff_t d, const uint64_t* c, uint64_t* keys) {
    constexpr uint64_t mixer = 0xBF58476D1CE4E5B9;
    parallel_rows(n, std::max<ptrdiff_t>(1, (1 << 15) / std::max<ptrdiff_t>(d, 1)), threads_for(n * d),
                  [&](ptrdiff_t begin, ptrdiff_t end, int) {
        Pace pace;
        for (ptrdiff_t i = begin; i < end; ++i, pace(4 * d)) {
            uint64_t first = 0, second = 0;
#pragma omp simd reduction(+ : first, second)
            for (ptrdiff_t j = 0; j < d; ++j) {
                const T number = X[i * d + j] + T(0);  // -0.0 is 0.0
                Bits pattern;
                std::memcpy(&pattern, &number, sizeof pattern);
                uint64_t bits = pattern;
                bits ^= bits >> 32;
                bits *= mixer;
                bits ^= bits >> 32;
                first += c[j] * bits;
                second += c[d + j] * bits;
            }
            keys[2 * i] = first;
            keys[2 * i + 1] = second;
        }
    });
}

// Σ u_p u_q m_pq² for M = L diag(v) Lᵀ, L in compressed rows and transposed: the squared norm of a Gram
// matrix, in double precision.
//
// A row of M is gathered in an array of its length; of each pair p < q one entry is computed. Rows p are
// shared in blocks, and each row's sum is a number of its own, so that the total has the same bits on any
// number of threads.
template <typename T, typename I>
class SquaredOuter {
public:
    Csr<T, I> L, columns;  // and its transpose
    const double *v, *u;
    bool diagonal;

    double run() const {
        constexpr ptrdiff_t block = 16;
        const ptrdiff_t n = L.n;
        const int threads = threads_for(n);
        std::vector<double> sums(n, 0.0);
        std::vector<std::vector<double>> rows(threads, std::vector<double>(n, 0.0));
        parallel_rows(n, block, threads, [&](ptrdiff_t begin, ptrdiff_t end, int t) {
            Pace pace;
            for (ptrdiff_t p = begin; p < end; ++p) sums[p] = row_sum(p, rows[t].data(), pace);
        });
        double total = 0.0;
        for (const double sum : sums) total += sum;
        return total;
    }

private:
    // visit(value, q, entry) for the entries of L that make m_pq for q >= p; returns how many.
    template <typename Visit>
    ptrdiff_t each(ptrdiff_t p, const Visit& visit) const {
        ptrdiff_t count = 0;
        for (I e = L.indptr[p]; e < L.indptr[p + 1]; ++e) {
            const ptrdiff_t f = L.indices[e];
            const double value = double(L.values[e]) * v[f];
            const I* last = columns.indices + columns.indptr[f + 1];
            const I* q = std::lower_bound(columns.indices + columns.indptr[f], last, I(p));
            count += last - q;
            for (const T* entry = columns.values + (q - columns.indices); q < last; ++q, ++entry)
                visit(value, ptrdiff_t(*q), double(*entry));
        }
        return count;
    }

    // What row p adds from the diagonal on to the right; leaves `row` at zero. A row with few entries is not
    // read as a whole.
    double row_sum(ptrdiff_t p, double* row, Pace& pace) const {
        const ptrdiff_t count =
            each(p, [&](double value, ptrdiff_t q, double entry) { row[q] += value * entry; });
        const ptrdiff_t n = L.n;
        pace(2 * count);
        const double own = diagonal ? u[p] * row[p] * row[p] : 0.0;
        row[p] = 0.0;
        double sum = 0.0;
        if (4 * count < n - p) {
            each(p, [&](double, ptrdiff_t q, double) {
                sum += u[q] * row[q] * row[q];
                row[q] = 0.0;
            });
            return u[p] * (own + 2.0 * sum);
        }
        pace(n - p);
#pragma omp simd reduction(+ : sum)
        for (ptrdiff_t q = p + 1; q < n; ++q) sum += u[q] * row[q] * row[q];
        std::fill(row + p, row + n, 0.0);
        return u[p] * (own + 2.0 * sum);
    }
};

}  // namespace symclust
