// Arrays as Python gives them, checked before a kernel reads any of them. Shapes and lengths are compared in
// every build, in a time that does not depend on their size; builds with SYMCLUST_CHECK_INDICES look at each
// index too. Whatever does not fit becomes a ValueError that names the kernel and the argument.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

namespace symclust {

namespace nb = nanobind;
using namespace nb::literals;
using std::int32_t, std::int64_t, std::uint8_t, std::uint32_t, std::uint64_t, std::ptrdiff_t, std::size_t;

template <typename T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <typename T>
using Matrix = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <typename T>
using Cube = nb::ndarray<const T, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
template <typename T>
using MutableVector = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <typename T>
using MutableMatrix = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <typename T>
using MutableCube = nb::ndarray<T, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

#ifdef SYMCLUST_CHECK_INDICES
constexpr bool checks_indices = true;
#else
constexpr bool checks_indices = false;
#endif

// Checks ----

inline void expect(bool holds, const char* argument, const char* rule) {
    if (!holds) throw std::invalid_argument(std::string(argument) + " " + rule);
}

inline std::string shape_text(const ptrdiff_t* sizes, size_t count) {
    std::string text;
    for (size_t d = 0; d < count; ++d)
        text += (d ? ", " : "") + (sizes[d] < 0 ? "any" : std::to_string(sizes[d]));
    return "(" + text + ")";
}

constexpr ptrdiff_t any_size = -1;

template <typename Array, typename... Sizes>
void shaped(const char* argument, const Array& array, Sizes... sizes) {
    constexpr size_t count = sizeof...(sizes);
    const ptrdiff_t wanted[count] = {ptrdiff_t(sizes)...};
    ptrdiff_t given[count];
    bool fits = true;
    for (size_t d = 0; d < count; ++d) {
        given[d] = ptrdiff_t(array.shape(d));
        fits = fits && (wanted[d] == any_size || wanted[d] == given[d]);
    }
    if (fits) return;
    throw std::invalid_argument(std::string(argument) + " has shape " + shape_text(given, count) +
                                ", expected " + shape_text(wanted, count));
}

// Reads all numbers: for labels and the like, whose number is small beside the work.
template <typename Array>
void within(const char* argument, const Array& numbers, ptrdiff_t first, ptrdiff_t end) {
    const auto* number = numbers.data();
    for (size_t e = 0; e < numbers.size(); ++e)
        if (ptrdiff_t(number[e]) < first || ptrdiff_t(number[e]) >= end)
            throw std::invalid_argument(std::string(argument) + " holds " + std::to_string(number[e]) +
                                        ", expected numbers from " + std::to_string(first) + " to " +
                                        std::to_string(end - 1));
}

// The same where reading all of them would cost as much as the work.
template <typename Array>
void indices_within(const char* argument, const Array& numbers, ptrdiff_t first, ptrdiff_t end) {
    if constexpr (checks_indices) within(argument, numbers, first, end);
}

// Compressed rows ----

// Row i holds the columns indices[indptr[i]] to indices[indptr[i + 1]].
template <typename I, typename P = I>
struct Pattern {
    const P* indptr = nullptr;
    const I* indices = nullptr;
    ptrdiff_t n = 0;  // rows

    Pattern() = default;
    Pattern(const P* indptr, const I* indices, ptrdiff_t n) : indptr(indptr), indices(indices), n(n) {}
    Pattern(const char* argument, const Vector<P>& indptr, const Vector<I>& indices, ptrdiff_t rows,
            ptrdiff_t columns)
        : Pattern(indptr.data(), indices.data(), ptrdiff_t(indptr.shape(0)) - 1) {
        expect(n >= 0 && this->indptr[0] == 0, argument, "has an indptr that does not begin with 0");
        expect(rows == any_size || rows == n, argument,
               "has another number of rows than the arrays beside it");
        expect(size_t(this->indptr[n]) == indices.shape(0), argument,
               "has an indptr that does not end with the number of its indices");
        if constexpr (checks_indices) check_entries(argument, columns);
    }

    void check_entries(const char* argument, ptrdiff_t columns) const {
        for (ptrdiff_t i = 0; i < n; ++i)
            expect(indptr[i] <= indptr[i + 1], argument, "has an indptr that falls");
        for (P e = 0; e < indptr[n]; ++e)
            expect(indices[e] >= 0 && ptrdiff_t(indices[e]) < columns, argument, "has an index out of range");
    }

    ptrdiff_t nonzeros() const { return ptrdiff_t(indptr[n]); }
    ptrdiff_t count(ptrdiff_t i) const { return ptrdiff_t(indptr[i + 1] - indptr[i]); }
};

template <typename T, typename I, typename P = I>
struct Csr : Pattern<I, P> {
    const T* values = nullptr;

    Csr() = default;
    Csr(const P* indptr, const I* indices, const T* values, ptrdiff_t n)
        : Pattern<I, P>(indptr, indices, n), values(values) {}
    Csr(const char* argument, const Vector<P>& indptr, const Vector<I>& indices, const Vector<T>& values,
        ptrdiff_t rows, ptrdiff_t columns)
        : Pattern<I, P>(argument, indptr, indices, rows, columns), values(values.data()) {
        expect(values.shape(0) == indices.shape(0), argument, "needs as many values as indices");
    }
};

// Pairs of rows that an objective leaves out, as the pattern of a symmetric CSR matrix of n rows without its
// diagonal. An empty `indptr` means that there are none.
struct IgnoredPairs : Pattern<int64_t> {
    IgnoredPairs() = default;
    IgnoredPairs(const Vector<int64_t>& indptr, const Vector<int64_t>& indices, ptrdiff_t rows) {
        if (indptr.shape(0) == 0) return;
        static_cast<Pattern&>(*this) = Pattern("ignored", indptr, indices, rows, rows);
    }

    bool any() const { return indptr != nullptr; }
    ptrdiff_t count(ptrdiff_t i) const { return indptr ? indptr[i + 1] - indptr[i] : 0; }
    const int64_t* begin(ptrdiff_t i) const { return indptr ? indices + indptr[i] : nullptr; }
    const int64_t* end(ptrdiff_t i) const { return indptr ? indices + indptr[i + 1] : nullptr; }
};

// Kernels for Python ----

inline auto as_argument(const char* array) { return nb::arg(array).noconvert(); }
template <typename Scalar>
Scalar as_argument(Scalar scalar) {
    return scalar;
}

template <typename Function, typename Result, typename... Given, typename... Arguments>
void define_checked(nb::module_& m, const char* name, Function function, Result (Function::*)(Given...) const,
                    Arguments... arguments) {
    m.def(
        name,
        [=](Given... given) -> Result {
            try {
                return function(std::move(given)...);
            } catch (const std::invalid_argument& fault) {
                throw std::invalid_argument(std::string(name) + ": " + fault.what());
            }
        },
        as_argument(arguments)...);
}

// Adds a function of a module. Arguments are named in order: arrays, which are taken as they are, by a
// string, numbers by "name"_a.
template <typename Function, typename... Arguments>
void define(nb::module_& m, const char* name, Function function, Arguments... arguments) {
    define_checked(m, name, function, &Function::operator(), arguments...);
}

}  // namespace symclust
