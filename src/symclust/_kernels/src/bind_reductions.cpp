// Sums over rows with the same bits on any number of threads: fixed chunks, partial sums added in order.
#include "common.hpp"

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
#pragma omp parallel for schedule(dynamic, 1) if (last - first > 1)
        for (std::ptrdiff_t chunk = first; chunk < last; ++chunk) {
            double* mine = partial.data() + (chunk - first) * size;
            std::fill(mine, mine + size, 0.0);
            const std::ptrdiff_t end = std::min((chunk + 1) * chunk_rows, n);
            for (std::ptrdiff_t i = chunk * chunk_rows; i < end; ++i)
                for (int s = 0; s < starts; ++s)
                    add_outer(mine + std::ptrdiff_t(s) * k * k, X + i * width + std::ptrdiff_t(s) * k, k);
        }
        for (std::ptrdiff_t chunk = first; chunk < last; ++chunk)
            for (std::ptrdiff_t e = 0; e < size; ++e) G[e] += partial[(chunk - first) * size + e];
    }
}

template <typename T>
double inner(const T* x, const T* y, std::ptrdiff_t size) {
    constexpr std::ptrdiff_t chunk_size = 1 << 15;
    const std::ptrdiff_t chunks = (size + chunk_size - 1) / chunk_size;
    std::vector<double> partial(chunks, 0.0);
#pragma omp parallel for schedule(static) if (size > worth_threads)
    for (std::ptrdiff_t chunk = 0; chunk < chunks; ++chunk) {
        const std::ptrdiff_t begin = chunk * chunk_size;
        partial[chunk] = dot(x + begin, y + begin, std::min(chunk_size, size - begin));
    }
    double sum = 0.0;
    for (const double part : partial) sum += part;
    return sum;
}

template <typename T>
void bind_reductions_type(nb::module_& m) {
    m.def("gram", [](Matrix<T> X, MutableCube<double> G) {
        const T* x = X.data();
        double* g = G.data();
        const std::ptrdiff_t n = X.shape(0);
        const int starts = int(G.shape(0)), k = int(G.shape(1));
        nb::gil_scoped_release release;
        gram(x, n, k, starts, g);
    }, nb::arg("X").noconvert(), nb::arg("G").noconvert());
    m.def("inner", [](Vector<T> x, Vector<T> y) {
        const T *a = x.data(), *b = y.data();
        const std::ptrdiff_t size = x.shape(0);
        nb::gil_scoped_release release;
        return inner(a, b, size);
    }, nb::arg("x").noconvert(), nb::arg("y").noconvert());
}

void bind_reductions(nb::module_& m) {
    bind_reductions_type<double>(m);
    bind_reductions_type<float>(m);
}

}  // namespace symclust
