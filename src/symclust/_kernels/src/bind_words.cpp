#include "words.hpp"

namespace symclust {

void bind_words(nb::module_& m) {
    define(
        m, "count_words",
        [](Vector<uint8_t> table, Vector<uint8_t> bytes, Vector<int64_t> starts,
           MutableVector<int64_t> indptr, MutableVector<int32_t> indices, MutableVector<int32_t> counts,
           MutableVector<int64_t> begins, MutableVector<int64_t> ends, MutableVector<int64_t> found) {
        const ptrdiff_t size = bytes.shape(0), rows = ptrdiff_t(indptr.shape(0)) - 1;
        const ptrdiff_t most = (size + std::max<ptrdiff_t>(rows, 0)) / 3 + 1;
        shaped("table", table, n_characters), shaped("starts", starts, rows + 1);
        expect(rows >= 0, "out_indptr", "is empty");
        expect(starts.data()[0] == 0 && starts.data()[rows] == size, "starts", "must go from 0 to the last byte");
        expect(std::is_sorted(starts.data(), starts.data() + rows + 1), "starts", "must not fall");
        shaped("indices", indices, most), shaped("counts", counts, most);
        shaped("begins", begins, most), shaped("ends", ends, most), shaped("found", found, 2);
        int64_t* sizes = found.data();
        nb::gil_scoped_release release;
        const auto [entries, words] = count_words(table.data(), bytes.data(), starts.data(), rows, indptr.data(),
                                                  indices.data(), counts.data(), begins.data(), ends.data());
        sizes[0] = entries, sizes[1] = words;
        },
        "table", "bytes", "starts", "out_indptr", "indices", "counts", "begins", "ends", "found");
}

}  // namespace symclust
