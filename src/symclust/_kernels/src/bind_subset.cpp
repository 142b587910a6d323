// Some rows of a CSR matrix as a matrix of its own, without the columns that are empty in them, by rows and by columns.
#include "common.hpp"

namespace symclust {

// counts[j] = entries of column j in the chosen rows.
template <typename I>
void subset_counts(const I* indptr, const I* indices, const I* rows, std::ptrdiff_t n_rows, I* counts) {
    for (std::ptrdiff_t i = 0; i < n_rows; ++i)
        for (I p = indptr[rows[i]]; p < indptr[rows[i] + 1]; ++p) ++counts[indices[p]];
}

// Fills both layouts in one pass over the chosen rows. `place[j]` is the new number of column j. `t_next` comes in as
// where each new column begins and leaves as where it ends.
template <typename T, typename I>
void subset_fill(const I* indptr, const I* indices, const T* values, const I* rows, std::ptrdiff_t n_rows,
                 const I* place, I* new_indptr, I* new_indices, T* new_values, I* t_next, I* t_indices, T* t_values) {
    I at = 0;
    new_indptr[0] = 0;
    for (std::ptrdiff_t i = 0; i < n_rows; ++i) {
        for (I p = indptr[rows[i]]; p < indptr[rows[i] + 1]; ++p, ++at) {
            const I j = place[indices[p]], t = t_next[j]++;
            new_indices[at] = j;
            new_values[at] = values[p];
            t_indices[t] = static_cast<I>(i);
            t_values[t] = values[p];
        }
        new_indptr[i + 1] = at;
    }
}

template <typename I>
void bind_subset_counts(nb::module_& m) {
    m.def("subset_counts", [](Vector<I> indptr, Vector<I> indices, Vector<I> rows, MutableVector<I> counts) {
        nb::gil_scoped_release release;
        subset_counts(indptr.data(), indices.data(), rows.data(), rows.shape(0), counts.data());
    }, nb::arg("indptr").noconvert(), nb::arg("indices").noconvert(), nb::arg("rows").noconvert(),
       nb::arg("counts").noconvert());
}

template <typename T, typename I>
void bind_subset_fill(nb::module_& m) {
    m.def("subset_fill", [](Vector<I> indptr, Vector<I> indices, Vector<T> values, Vector<I> rows, Vector<I> place,
                            MutableVector<I> new_indptr, MutableVector<I> new_indices, MutableVector<T> new_values,
                            MutableVector<I> t_next, MutableVector<I> t_indices, MutableVector<T> t_values) {
        nb::gil_scoped_release release;
        subset_fill(indptr.data(), indices.data(), values.data(), rows.data(), rows.shape(0), place.data(),
                    new_indptr.data(), new_indices.data(), new_values.data(), t_next.data(), t_indices.data(),
                    t_values.data());
    }, nb::arg("indptr").noconvert(), nb::arg("indices").noconvert(), nb::arg("values").noconvert(),
       nb::arg("rows").noconvert(), nb::arg("place").noconvert(), nb::arg("new_indptr").noconvert(),
       nb::arg("new_indices").noconvert(), nb::arg("new_values").noconvert(), nb::arg("t_next").noconvert(),
       nb::arg("t_indices").noconvert(), nb::arg("t_values").noconvert());
}

void bind_subset(nb::module_& m) {
    bind_subset_counts<std::int32_t>(m);
    bind_subset_counts<std::int64_t>(m);
    bind_subset_fill<double, std::int32_t>(m);
    bind_subset_fill<double, std::int64_t>(m);
    bind_subset_fill<float, std::int32_t>(m);
    bind_subset_fill<float, std::int64_t>(m);
}

}  // namespace symclust
