// A factor H with few nonzeros a row: rows that grow and shrink, sums by pairs of columns, and the problem of
// one row on the columns that can move.
//
// Row i of H can move in the columns where it is nonzero and where b = Σ aᵢⱼ hⱼ is. Elsewhere the slope at
// zero, (Gh)ₗ − bₗ = (Gh)ₗ, is not negative: the best value is 0, and the projected gradient is 0 as well.
// (One exception, with the diagonal: where aᵢᵢ exceeds ‖h‖² + Gₗₗ, zero is a local minimiser and not always
// the best one. Such a column stays closed to the row until a neighbour opens it.) So a row costs the
// nonzeros of its neighbours' rows, and (nonzeros + moves) times the columns that can move, whatever k is; a
// bit a column is looked at besides.
#pragma once

#include <cstdlib>
#include <new>
#include <utility>

#if defined(_MSC_VER)
#include <intrin.h>
#elif defined(__linux__)
#include <sys/mman.h>
#endif

#include "common.hpp"
#include "lanes.hpp"
#include "row_update.hpp"

namespace symclust {

// Large arrays on large pages, where Linux has them to give: rows are read in no order, and with pages of 4
// kB most of the time goes into finding out where a page is. (NumPy does the same for its arrays.)
template <typename T>
struct LargePages {
    using value_type = T;
    static constexpr size_t page = size_t(1) << 21;

    LargePages() = default;
    template <typename U>
    LargePages(const LargePages<U>&) {}

    T* allocate(size_t count) {
        const size_t bytes = (count * sizeof(T) + page - 1) / page * page;
#if defined(__linux__)
        if (count * sizeof(T) >= page) {
            void* memory = std::aligned_alloc(page, bytes);
            if (!memory) throw std::bad_alloc();
            madvise(memory, bytes, MADV_HUGEPAGE);  // a wish: all is well without
            return static_cast<T*>(memory);
        }
#endif
        void* memory = std::malloc(count * sizeof(T));
        if (!memory && count) throw std::bad_alloc();
        return static_cast<T*>(memory);
    }
    void deallocate(T* memory, size_t) { std::free(memory); }

    template <typename U>
    bool operator==(const LargePages<U>&) const {
        return true;
    }
    template <typename U>
    bool operator!=(const LargePages<U>&) const {
        return false;
    }
};

template <typename T>
struct Entry {
    T value;
    int32_t column;
};

template <typename T>
struct SparseRow {
    const Entry<T>* entries;
    ptrdiff_t size;
    const Entry<T>* begin() const { return entries; }
    const Entry<T>* end() const { return entries + size; }
};

template <typename T>
using CsrRows = Csr<T, int32_t, int64_t>;  // H

// Rows that are replaced by others. Values lie beside their columns: rows of neighbours are anywhere in
// memory, and looking up another address costs more than what is read there. A row that outgrows its place
// moves to the end, with room to spare.
template <typename T>
class GrowingRows {
public:
    explicit GrowingRows(const CsrRows<T>& rows) : slots(rows.n), entries(rows.nonzeros()) {
        for (ptrdiff_t j = 0; j < rows.n; ++j) {
            const auto size = int32_t(rows.indptr[j + 1] - rows.indptr[j]);
            slots[j] = {rows.indptr[j], size, size};
        }
        for (size_t e = 0; e < entries.size(); ++e) entries[e] = {rows.values[e], rows.indices[e]};
    }

    ptrdiff_t n() const { return ptrdiff_t(slots.size()); }
    SparseRow<T> operator[](ptrdiff_t j) const { return {entries.data() + slots[j].begin, slots[j].size}; }

    void replace(ptrdiff_t j, SparseRow<T> row) {
        Slot& slot = slots[j];
        if (row.size > slot.capacity) move_to_end(slot, row.size + row.size / 2 + 2);
        slot.size = int32_t(row.size);
        std::copy(row.begin(), row.end(), entries.begin() + slot.begin);
    }

    // Asks for the rows that row i of A will need next but one, and before that for where they are.
    template <typename I>
    void look_ahead(const SparseMatrix<T, I>& A, ptrdiff_t i) const {
        constexpr ptrdiff_t line = 64 / sizeof(Entry<T>);
        if (i + 3 >= A.n) return;
        for (I e = A.indptr[i + 3]; e < A.indptr[i + 4]; ++e) SYMCLUST_PREFETCH(&slots[A.indices[e]]);
        for (I e = A.indptr[i + 1]; e < A.indptr[i + 2]; ++e) {
            const Slot& slot = slots[A.indices[e]];
            for (ptrdiff_t c = 0; c < slot.size + line - 1; c += line)
                SYMCLUST_PREFETCH(entries.data() + slot.begin + c);
        }
    }

private:
    struct Slot {
        int64_t begin;
        int32_t size, capacity;
    };
    std::vector<Slot, LargePages<Slot>> slots;
    std::vector<Entry<T>, LargePages<Entry<T>>> entries;

    void move_to_end(Slot& slot, ptrdiff_t capacity) {
        slot.begin = int64_t(entries.size());
        slot.capacity = int32_t(capacity);
        entries.resize(entries.size() + capacity);
    }
};

// An entry of a symmetric matrix on or above its diagonal.
struct PairSum {
    int32_t l, m;
    double sum;
    double weight() const { return l == m ? 1.0 : 2.0; }  // it stands for one entry or for two
};

// A symmetric k × k matrix that is zero but for what few rows have added, and zero again when that is taken
// away: what a lane has changed of G. It is never gone through as a whole.
class PairSums {
public:
    explicit PairSums(ptrdiff_t k) : k(k), sums(k * k, 0.0), used(k, 0) {}

    const double* row(ptrdiff_t l) const { return sums.data() + l * k; }
    bool is_zero(ptrdiff_t l) const { return !used[l]; }  // a whole row, without looking at it

    void add(int32_t l, int32_t m, double value) {  // l ≤ m
        double& upper = sums[l * k + m];
        if (upper == 0.0) touched.push_back({l, m});
        used[l] = used[m] = 1;
        upper += value;
        sums[m * k + l] = upper;
    }

    // Moves all that is not zero to `out`, in the order in which the pairs came.
    void take(std::vector<PairSum>& out) {
        out.clear();
        for (const auto& [l, m] : touched) {
            double& upper = sums[l * k + m];
            if (upper != 0.0)
                out.push_back({l, m, upper});  // a pair whose sum was zero in between came twice
            upper = sums[m * k + l] = 0.0;
            used[l] = used[m] = 0;
        }
        touched.clear();
    }

private:
    ptrdiff_t k;
    std::vector<double, LargePages<double>> sums;
    std::vector<uint8_t> used;
    std::vector<std::pair<int32_t, int32_t>> touched;
};

// What the problem of a row has beside A's row and H.
struct GramTerms {
    const double* G;
    double offset, flat;
    int k;
    bool full;
    double opening = 0.0;  // an entry of zero moves if the square of its gradient is larger
};

// The problem of one row, see row_update.hpp, on the columns that can move, `size` of them; `columns` names
// them in rising order, and the other vectors go with it. Scratch of one thread, used for row after row:
// vectors have room for all k columns.
template <typename T, typename I>
class SparseRowProblem {
public:
    size_t size = 0;
    std::vector<int32_t> columns;
    std::vector<double> old, h, b, Gh;
    double square = 0.0;  // ‖h‖²
    size_t zeros = 0;     // entries of the row that are zero and can move
    RowChange change;
    PairSums moved;  // what has changed of G since it was computed

    explicit SparseRowProblem(int k)
        : columns(k), old(k), h(k), b(k), Gh(k), moved(k), dense_b(k), dense_h(k), can_move((k + 63) / 64),
          cached(k) {}

    // Take row i: H[j] gives row j as it is to be seen.
    template <typename Rows>
    void load(const SparseMatrix<T, I>& A, ptrdiff_t i, const Rows& H, const GramTerms& terms) {
        gram = terms;
        least_slope = std::sqrt(terms.opening) / 4.0;
        diagonal = double(A.diagonal[i]);
        gather(A, i, H);
        cache_used = 0;
        square = 0.0;
        for (size_t e = 0; e < size; ++e) {
            square += h[e] * h[e];
            if (h[e] != 0.0) add_to_Gh(e, h[e]);
        }
        measure();
    }

    double slope(size_t e) const { return Gh[e] + (gram.full ? square - diagonal : 0.0) * h[e] - b[e]; }
    double diagonal_entry() const { return diagonal; }

    // Minimise over the coordinates, one after the other and over again until little is left to gain. A row
    // is not left without entries because all of them would be small: its node would belong nowhere.
    void descend(int cycles) {
        double first = 0.0;
        for (int cycle = 0; cycle < cycles; ++cycle) {
            const double before = change.decrease;
            if (is_empty()) least_slope = 0.0;
            pass();
            const double gain = change.decrease - before;
            if (cycle == 0) first = gain;
            if (gain <= solved * first) break;
        }
        if (least_slope == 0.0 || !is_empty()) return;
        least_slope = 0.0;
        pass();
    }

private:
    GramTerms gram{};
    double diagonal = 0.0, least_slope = 0.0;
    std::vector<double> dense_b, dense_h;  // zero between rows
    std::vector<uint64_t> can_move;        // a bit a column, zero between rows
    std::vector<ptrdiff_t> cached;  // where in `cache` the row of G of a column begins, -1 if it is not there
    std::vector<double> cache;
    ptrdiff_t cache_used = 0;

    template <typename Rows>
    void gather(const SparseMatrix<T, I>& A, ptrdiff_t i, const Rows& H) {
        for (I e = A.indptr[i]; e < A.indptr[i + 1]; ++e)
            add_row(H[A.indices[e]], double(A.values[e]), dense_b);
        add_row(H[i], 1.0, dense_h);
        size = 0;
        for (size_t word = 0; word < can_move.size(); ++word)
            for (; can_move[word]; can_move[word] &= can_move[word] - 1)
                open(int32_t(64 * word + lowest_bit(can_move[word])));
    }

    void add_row(SparseRow<T> row, double weight, std::vector<double>& sums) {
        for (const auto& [value, l] : row) {
            sums[l] += weight * double(value);
            can_move[l >> 6] |= uint64_t(1) << (l & 63);
        }
    }

    void open(int32_t l) {
        columns[size] = l;
        old[size] = h[size] = dense_h[l];
        b[size] = dense_b[l] - diagonal * dense_h[l];
        Gh[size] = 0.0;
        cached[size++] = -1;
        dense_h[l] = dense_b[l] = 0.0;
    }

    static int lowest_bit(uint64_t bits) {
#if defined(_MSC_VER)
        unsigned long place;
        _BitScanForward64(&place, bits);
        return int(place);
#else
        return __builtin_ctzll(bits);
#endif
    }

    // Row of G of a column that can move, without the row itself.
    const double* gram_row(size_t e) {
        if (cached[e] >= 0) return cache.data() + cached[e];
        cached[e] = cache_used;
        cache_used += ptrdiff_t(size);
        if (cache_used > ptrdiff_t(cache.size())) cache.resize(2 * cache_used);
        const int32_t* m = columns.data();
        const double *G = gram.G + ptrdiff_t(columns[e]) * gram.k, *more = moved.row(columns[e]),
                     *own = old.data();
        const double offset = gram.offset, x = old[e];
        double* row = cache.data() + cached[e];
        if (moved.is_zero(columns[e]))
            for (size_t f = 0; f < size; ++f) row[f] = G[m[f]] + offset - x * own[f];
        else
            for (size_t f = 0; f < size; ++f) row[f] = G[m[f]] + more[m[f]] + offset - x * own[f];
        return row;
    }

    double gram_diagonal(size_t e) const {
        const ptrdiff_t l = columns[e];
        return gram.G[l * gram.k + l] + moved.row(l)[l] + gram.offset - old[e] * old[e];
    }

    void add_to_Gh(size_t e, double step) {
        const double* SYMCLUST_RESTRICT row = gram_row(e);
        double* SYMCLUST_RESTRICT sums = Gh.data();
#pragma omp simd
        for (size_t f = 0; f < size; ++f) sums[f] += step * row[f];
    }

    void measure() {
        change = {};
        zeros = 0;
        for (size_t e = 0; e < size; ++e) {
            zeros += h[e] == 0.0;
            const double here = slope(e), projected = h[e] > 0.0 ? here : std::min(here, 0.0);
            change.squared_gradient += 16.0 * projected * projected;
        }
    }

    bool is_empty() const {
        return std::all_of(h.begin(), h.begin() + size, [](double value) { return value == 0.0; });
    }

    void pass() {
        for (size_t e = 0; e < size; ++e) minimise(e);
    }

    void minimise(size_t e) {
        // Most entries are zero and stay so; the curvature is positive but for a large diagonal.
        if (h[e] == 0.0 && Gh[e] - b[e] >= -least_slope && (!gram.full || square >= diagonal)) return;
        const double x = h[e], rest = cached[e] < 0 ? gram_diagonal(e) : cache[cached[e] + e];
        const double slope = Gh[e] - x * rest - b[e];
        const double curvature = gram.full ? square - x * x - diagonal + rest : rest;
        if (x == 0.0 && slope >= -least_slope && curvature >= 0.0) return;
        double next = gram.full ? quartic_minimiser(curvature, slope, x)
                                : quadratic_minimiser(curvature, slope, x, gram.flat);
        next = double(T(next));
        const double step = next - x, sum = next + x;
        if (step == 0.0) return;
        const double fourth = gram.full ? 0.25 * sum * (next * next + x * x) : 0.0;
        change.decrease -= 4.0 * step * (fourth + 0.5 * curvature * sum + slope);
        square += step * sum;
        h[e] = next;
        add_to_Gh(e, step);
    }
};

}  // namespace symclust
