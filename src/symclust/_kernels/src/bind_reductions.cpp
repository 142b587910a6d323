// A number or a few of a whole matrix: sums over its rows, and how far it is from symmetric.
//
// Sums have the same bits on any number of threads: fixed chunks, partial sums added in order.
#include "common.hpp"

#include <cmath>
#include <cstring>
#include <limits>

namespace symclust {

constexpr std::ptrdiff_t chunk_rows = 4096;

// G += x xᵀ, touching only rows where x is nonzero.
template <typename T>
void add_outer(double* SYMCLUST_RESTRICT G, const T* SYMCLUST_RESTRICT x, int k) {
    for (int l = 0; l < k; ++l) {
        if (x[l] == T(0)) continue;
        const double value = x[l];
        double* SYMCLUST_RESTRICT row = G + std::ptrdiff_t(l) * k;
#pragma omp simd
        for (int m = 0; m < k; ++m) row[m] += value * static_cast<double>(x[m]);
    }
}

// G = XᵀX in double precision for each of the starts that lie side by side in X. Zeros cost nothing.
template <typename T>
void gram(const T* X, std::ptrdiff_t n, int k, int starts, double* G) {
    const std::ptrdiff_t size = std::ptrdiff_t(k) * k * starts, width = std::ptrdiff_t(k) * starts;
    const std::ptrdiff_t chunks = (n + chunk_rows - 1) / chunk_rows;
    const std::ptrdiff_t group = 64;  // chunks whose partial sums are held at once: memory does not grow with n
    std::vector<double> partial(std::min(group, chunks) * size);
    std::fill(G, G + size, 0.0);
    for (std::ptrdiff_t first = 0; first < chunks; first += group) {
        const std::ptrdiff_t last = std::min(first + group, chunks);
        parallel_for(last - first, last - first > 1 ? max_threads() : 1, [&](std::ptrdiff_t place, int) {
            Pace pace;
            double* mine = partial.data() + place * size;
            std::fill(mine, mine + size, 0.0);
            const std::ptrdiff_t begin = (first + place) * chunk_rows, end = std::min(begin + chunk_rows, n);
            for (std::ptrdiff_t i = begin; i < end; ++i, pace(size))
                for (int s = 0; s < starts; ++s)
                    add_outer(mine + std::ptrdiff_t(s) * k * k, X + i * width + std::ptrdiff_t(s) * k, k);
        });
        for (std::ptrdiff_t chunk = first; chunk < last; ++chunk)
            for (std::ptrdiff_t e = 0; e < size; ++e) G[e] += partial[(chunk - first) * size + e];
    }
}

template <typename T>
double inner(const T* x, const T* y, std::ptrdiff_t size) {
    constexpr std::ptrdiff_t chunk_size = 1 << 15;
    const std::ptrdiff_t chunks = (size + chunk_size - 1) / chunk_size;
    std::vector<double> partial(chunks, 0.0);
    parallel_for(chunks, threads_for(size), [&](std::ptrdiff_t chunk, int) {
        const std::ptrdiff_t begin = chunk * chunk_size;
        partial[chunk] = dot(x + begin, y + begin, std::min(chunk_size, size - begin));
    });
    double sum = 0.0;
    for (const double part : partial) sum += part;
    return sum;
}

// Largest |a_ij - a_ji| of a CSR matrix with sorted columns; an entry without partner counts as |a_ij|.
//
// Rows are visited in order, so the partners that row j is asked for, (j, 0), (j, 1), ..., come in the order in which
// row j stores them: one cursor a row only moves forward. Time O(nonzeros), memory O(n). NaN entries are not seen.
template <typename T, typename I>
double asymmetry(const Csr<T, I>& A) {
    const I *indptr = A.indptr, *indices = A.indices;
    const T* values = A.values;
    std::vector<I> cursor(indptr, indptr + A.n);
    T worst = 0;
    Pace pace;
    const auto alone = [&](I p) { worst = std::max(worst, std::abs(values[p])); };
    for (std::ptrdiff_t i = 0; i < A.n; pace(4 * A.count(i)), ++i) {
        // What lies left of the diagonal and is still ahead of the cursor was never asked for: it has no partner.
        I p = cursor[i];
        for (; p < indptr[i + 1] && indices[p] < i; ++p) alone(p);
        for (; p < indptr[i + 1]; ++p) {
            const I j = indices[p];
            if (j == i) continue;
            I& q = cursor[j];
            for (; q < indptr[j + 1] && indices[q] < i; ++q) alone(q);
            if (q < indptr[j + 1] && indices[q] == i)
                worst = std::max(worst, std::abs(values[p] - values[q++]));
            else
                alone(p);
        }
    }
    return static_cast<double>(worst);
}

// What one reading of a dense square matrix tells. NaN entries make the sum of squares NaN, and are not seen otherwise.
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

constexpr std::ptrdiff_t survey_tile = 64;  // two tiles of doubles stay in the second cache, two of floats in the first

// Takes in a row of a tile and the mirrored one, unless the tile is on the diagonal and is its own mirror.
template <bool counts_both, typename T>
void survey_pair(const T* SYMCLUST_RESTRICT x, const T* SYMCLUST_RESTRICT mirrored, std::ptrdiff_t size, Survey<T>& found) {
    double squares = 0.0;
    T smallest = found.smallest, largest = found.largest, worst = found.asymmetry;
#pragma omp simd reduction(+ : squares) reduction(min : smallest) reduction(max : largest, worst)
    for (std::ptrdiff_t e = 0; e < size; ++e) {
        const T own = x[e], other = counts_both ? mirrored[e] : own, gap = std::abs(own - mirrored[e]);
        squares += static_cast<double>(own) * static_cast<double>(own);
        if (counts_both) squares += static_cast<double>(other) * static_cast<double>(other);
        smallest = own < smallest ? own : smallest;
        smallest = other < smallest ? other : smallest;
        largest = own > largest ? own : largest;
        largest = other > largest ? other : largest;
        worst = gap > worst ? gap : worst;
    }
    found = {found.squares + squares, smallest, largest, worst};
}

// Tile by tile: a tile below the diagonal is transposed into the cache and compared with the one above, so that A is read once.
template <typename T>
Survey<T> survey_dense(const T* A, std::ptrdiff_t n) {
    const std::ptrdiff_t tiles = (n + survey_tile - 1) / survey_tile;
    std::vector<Survey<T>> found(tiles);  // of each row of tiles: added in order, on any number of threads
    parallel_for(tiles, threads_for(n * n), [&](std::ptrdiff_t row, int) {
        Pace pace;
        std::vector<T> mirrored(survey_tile * survey_tile);
        const std::ptrdiff_t top = row * survey_tile, bottom = std::min(top + survey_tile, n);
        for (std::ptrdiff_t left = top; left < n; left += survey_tile, pace(8 * survey_tile * survey_tile)) {
            const std::ptrdiff_t width = std::min(survey_tile, n - left);
            // The next tile below is scattered over as many pages as it has rows: asked for early, it costs half as much.
            for (std::ptrdiff_t j = left + survey_tile; j < std::min(left + 2 * survey_tile, n); ++j)
                for (std::ptrdiff_t i = top; i < bottom; i += std::ptrdiff_t(64 / sizeof(T))) SYMCLUST_PREFETCH(A + j * n + i);
            for (std::ptrdiff_t j = 0; j < width; ++j)
                for (std::ptrdiff_t i = top; i < bottom; ++i) mirrored[(i - top) * survey_tile + j] = A[(left + j) * n + i];
            for (std::ptrdiff_t i = top; i < bottom; ++i)
                (left == top ? survey_pair<false, T> : survey_pair<true, T>)(
                    A + i * n + left, mirrored.data() + (i - top) * survey_tile, width, found[row]);
        }
    });
    Survey<T> all;
    for (const Survey<T>& part : found) all.add(part);
    return all;
}

// Two sums Σ_j c_j m(x_j) modulo 2⁶⁴ for each row x, where m mixes the bits of a number and keeps zero: 16 bytes that tell rows
// from each other. `c` holds both coefficients of every column side by side in two rows.
template <typename T, typename Bits>
void row_keys(const T* X, std::ptrdiff_t n, std::ptrdiff_t d, const std::uint64_t* c, std::uint64_t* keys) {
    constexpr std::uint64_t mixer = 0xBF58476D1CE4E5B9;
    parallel_rows(n, std::max<std::ptrdiff_t>(1, (1 << 15) / std::max<std::ptrdiff_t>(d, 1)), threads_for(n * d),
                  [&](std::ptrdiff_t begin, std::ptrdiff_t end, int) {
        Pace pace;
        for (std::ptrdiff_t i = begin; i < end; ++i, pace(4 * d)) {
            std::uint64_t first = 0, second = 0;
#pragma omp simd reduction(+ : first, second)
            for (std::ptrdiff_t j = 0; j < d; ++j) {
                const T number = X[i * d + j] + T(0);  // -0.0 is 0.0
                Bits pattern;
                std::memcpy(&pattern, &number, sizeof pattern);
                std::uint64_t bits = pattern;
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

// Σ u_p u_q m_pq² for M = L diag(v) Lᵀ, L in compressed rows and transposed: the squared norm of a Gram matrix, in double precision.
//
// A row of M is gathered in an array of its length; of each pair p < q one entry is computed. Rows p are shared in blocks, and
// each row's sum is a number of its own, so that the total has the same bits on any number of threads.
template <typename T, typename I>
class SquaredOuter {
public:
    Csr<T, I> L, columns;  // and its transpose
    const double *v, *u;
    bool diagonal;

    double run() const {
        constexpr std::ptrdiff_t block = 16;
        const std::ptrdiff_t n = L.n;
        const int threads = threads_for(n);
        std::vector<double> sums(n, 0.0);
        std::vector<std::vector<double>> rows(threads, std::vector<double>(n, 0.0));
        parallel_rows(n, block, threads, [&](std::ptrdiff_t begin, std::ptrdiff_t end, int t) {
            Pace pace;
            for (std::ptrdiff_t p = begin; p < end; ++p) sums[p] = row_sum(p, rows[t].data(), pace);
        });
        double total = 0.0;
        for (const double sum : sums) total += sum;
        return total;
    }

private:
    // visit(value, q, entry) for the entries of L that make m_pq for q >= p; returns how many.
    template <typename Visit>
    std::ptrdiff_t each(std::ptrdiff_t p, const Visit& visit) const {
        std::ptrdiff_t count = 0;
        for (I e = L.indptr[p]; e < L.indptr[p + 1]; ++e) {
            const std::ptrdiff_t f = L.indices[e];
            const double value = static_cast<double>(L.values[e]) * v[f];
            const I* last = columns.indices + columns.indptr[f + 1];
            const I* q = std::lower_bound(columns.indices + columns.indptr[f], last, static_cast<I>(p));
            count += last - q;
            for (const T* entry = columns.values + (q - columns.indices); q < last; ++q, ++entry)
                visit(value, static_cast<std::ptrdiff_t>(*q), static_cast<double>(*entry));
        }
        return count;
    }

    // What row p adds from the diagonal on to the right; leaves `row` at zero. A row with few entries is not read as a whole.
    double row_sum(std::ptrdiff_t p, double* row, Pace& pace) const {
        const std::ptrdiff_t count = each(p, [&](double value, std::ptrdiff_t q, double entry) { row[q] += value * entry; });
        const std::ptrdiff_t n = L.n;
        pace(2 * count);
        const double own = diagonal ? u[p] * row[p] * row[p] : 0.0;
        row[p] = 0.0;
        double sum = 0.0;
        if (4 * count < n - p) {
            each(p, [&](double, std::ptrdiff_t q, double) {
                sum += u[q] * row[q] * row[q];
                row[q] = 0.0;
            });
            return u[p] * (own + 2.0 * sum);
        }
        pace(n - p);
#pragma omp simd reduction(+ : sum)
        for (std::ptrdiff_t q = p + 1; q < n; ++q) sum += u[q] * row[q] * row[q];
        std::fill(row + p, row + n, 0.0);
        return u[p] * (own + 2.0 * sum);
    }
};

template <typename T>
void bind_reductions_type(nb::module_& m) {
    // XᵀX in double precision for each of `n_starts` blocks of columns of X, as (n_starts, k, k).
    define(m, "gram", [](Matrix<T> X, int n_starts) {
        expect(n_starts > 0 && X.shape(1) % std::size_t(n_starts) == 0, "X", "needs as many columns for each of n_starts >= 1");
        const std::size_t starts = n_starts, k = X.shape(1) / starts;
        double* G = new double[starts * k * k];
        nb::capsule owner(G, [](void* data) noexcept { delete[] static_cast<double*>(data); });
        {
            nb::gil_scoped_release release;
            gram(X.data(), std::ptrdiff_t(X.shape(0)), int(k), n_starts, G);
        }
        return nb::ndarray<nb::numpy, double, nb::ndim<3>>(G, {starts, k, k}, owner);
    }, "X", "n_starts"_a = 1);
    // ‖X‖, from squares in double precision: in single precision 1e20 would overflow. Arrays in another order are copied.
    define(m, "norm", [](nb::ndarray<const T, nb::c_contig, nb::device::cpu> X) {
        nb::gil_scoped_release release;
        return std::sqrt(inner(X.data(), X.data(), std::ptrdiff_t(X.size())));
    }, "X"_a);
    define(m, "inner", [](Vector<T> x, Vector<T> y) {
        shaped("y", y, x.shape(0));
        nb::gil_scoped_release release;
        return inner(x.data(), y.data(), std::ptrdiff_t(x.shape(0)));
    }, "x", "y");
}

template <typename T, typename Bits>
void bind_dense(nb::module_& m) {
    // The sum of squares, the smallest and the largest entry and the largest |a_ij - a_ji| of a square matrix.
    define(m, "survey_dense", [](Matrix<T> A) {
        const std::ptrdiff_t n = A.shape(0);
        shaped("A", A, n, n);
        Survey<T> found;
        {
            nb::gil_scoped_release release;
            found = survey_dense(A.data(), n);
        }
        return nb::make_tuple(found.squares, double(found.smallest), double(found.largest), double(found.asymmetry));
    }, "A");
    define(m, "row_keys", [](Matrix<T> X, Matrix<std::uint64_t> coefficients, MutableMatrix<std::uint64_t> keys) {
        const std::ptrdiff_t n = X.shape(0), d = X.shape(1);
        shaped("coefficients", coefficients, 2, d), shaped("keys", keys, n, 2);
        nb::gil_scoped_release release;
        row_keys<T, Bits>(X.data(), n, d, coefficients.data(), keys.data());
    }, "X", "coefficients", "keys");
}

template <typename T, typename I>
void bind_symmetry_types(nb::module_& m) {
    define(m, "asymmetry", [](Vector<I> indptr, Vector<I> indices, Vector<T> values) {
        const Csr<T, I> A("A", indptr, indices, values, any_size, std::ptrdiff_t(indptr.shape(0)) - 1);
        nb::gil_scoped_release release;
        return asymmetry(A);
    }, "indptr", "indices", "values");
}

template <typename T, typename I>
void bind_squared_outer(nb::module_& m) {
    define(m, "squared_outer", [](Vector<I> indptr, Vector<I> indices, Vector<T> values, Vector<I> columns_indptr,
                                  Vector<I> columns_indices, Vector<T> columns_values, Vector<double> v, Vector<double> u,
                                  bool diagonal) {
        const std::ptrdiff_t n = u.shape(0), d = v.shape(0);
        const SquaredOuter<T, I> outer{{"L", indptr, indices, values, n, d},
                                       {"the transpose", columns_indptr, columns_indices, columns_values, d, n},
                                       v.data(), u.data(), diagonal};
        nb::gil_scoped_release release;
        return outer.run();
    }, "indptr", "indices", "values", "columns_indptr", "columns_indices", "columns_values", "v", "u", "diagonal"_a);
}

void bind_reductions(nb::module_& m) {
    bind_reductions_type<double>(m);
    bind_reductions_type<float>(m);
    bind_dense<double, std::uint64_t>(m);
    bind_dense<float, std::uint32_t>(m);
    bind_squared_outer<double, std::int32_t>(m);
    bind_squared_outer<double, std::int64_t>(m);
    bind_squared_outer<float, std::int32_t>(m);
    bind_squared_outer<float, std::int64_t>(m);
    bind_symmetry_types<double, std::int32_t>(m);
    bind_symmetry_types<double, std::int64_t>(m);
    bind_symmetry_types<float, std::int32_t>(m);
    bind_symmetry_types<float, std::int64_t>(m);
}

}  // namespace symclust
