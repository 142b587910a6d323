#include "neighbors.hpp"

namespace symclust {

template <typename T>
void bind_neighbors_type(nb::module_& m) {
    // Lists of columns without rows are left alone.
    define(
        m, "keep_nearest",
        [](Matrix<T> products, Vector<T> rows, Vector<T> columns, int64_t first_row, int64_t first_column,
           MutableMatrix<T> row_halves, MutableMatrix<int64_t> row_numbers, MutableMatrix<T> column_halves,
           MutableMatrix<int64_t> column_numbers) {
        const ptrdiff_t n = products.shape(0), width = products.shape(1), size = row_halves.shape(1);
        const ptrdiff_t taken = column_halves.shape(0);
        expect(size > 0, "row_halves", "has no columns");
        expect(taken == 0 || taken == width, "column_halves", "needs a row for each column of products, or none");
        shaped("rows", rows, n), shaped("columns", columns, width), shaped("row_halves", row_halves, n, size);
        shaped("row_numbers", row_numbers, n, size), shaped("column_halves", column_halves, taken, size);
        shaped("column_numbers", column_numbers, taken, size);
        nb::gil_scoped_release release;
        keep_nearest<T>(products.data(), rows.data(), columns.data(), first_row, first_column,
                        {row_halves.data(), row_numbers.data(), n, size},
                        {column_halves.data(), column_numbers.data(), taken, size}, width);
        },
        "products", "rows", "columns", "first_row"_a, "first_column"_a, "row_halves", "row_numbers",
        "column_halves", "column_numbers");
    // |q_i - x_j| if `distances`, else q_i'x_j, for the pairs (i, j).
    define(
        m, "compare_pairs",
        [](Matrix<T> Q, Matrix<T> X, Vector<int64_t> rows, Vector<int64_t> columns, bool distances,
           MutableVector<double> out) {
        const ptrdiff_t d = X.shape(1), count = rows.shape(0);
        shaped("Q", Q, any_size, d), shaped("columns", columns, count), shaped("out", out, count);
        indices_within("rows", rows, 0, Q.shape(0)), indices_within("columns", columns, 0, X.shape(0));
        nb::gil_scoped_release release;
        (distances ? compare_pairs<true, T> : compare_pairs<false, T>)(
            Q.data(), X.data(), d, rows.data(), columns.data(), count, out.data());
        },
        "Q", "X", "rows", "columns", "distances"_a, "out");
}

template <typename I>
void bind_neighbors_sparse(nb::module_& m) {
    define(
        m, "nearest_sparse",
        [](Vector<I> indptr, Vector<I> indices, Vector<double> values, Vector<I> column_indptr,
           Vector<I> column_indices, Vector<double> column_values, Matrix<double> halves,
           MutableMatrix<double> row_halves, MutableMatrix<int64_t> row_numbers) {
        const ptrdiff_t n = halves.shape(1), size = row_halves.shape(1), d = ptrdiff_t(column_indptr.shape(0)) - 1;
        const Csr<double, I> Q("Q", indptr, indices, values, any_size, d);
        const Csr<double, I> columns("columns", column_indptr, column_indices, column_values, d, n);
        expect(size > 0, "row_halves", "has no columns");
        expect(halves.shape(0) == 1 || ptrdiff_t(halves.shape(0)) == Q.n, "halves", "needs one row, or one for each of Q");
        shaped("row_halves", row_halves, Q.n, size), shaped("row_numbers", row_numbers, Q.n, size);
        const ptrdiff_t stride = halves.shape(0) == 1 ? 0 : n;
        nb::gil_scoped_release release;
        nearest_sparse(Q, columns, halves.data(), stride, n,
                       NearestLists<double>{row_halves.data(), row_numbers.data(), Q.n, size});
        },
        "indptr", "indices", "values", "column_indptr", "column_indices", "column_values", "halves", "row_halves",
        "row_numbers");
}

void bind_neighbors(nb::module_& m) {
    bind_neighbors_sparse<int32_t>(m);
    bind_neighbors_sparse<int64_t>(m);
    bind_neighbors_type<double>(m);
    bind_neighbors_type<float>(m);
}

}  // namespace symclust
