// Which x86-64 level the processor supports. Compiled without any instruction-set flag, so that it runs
// everywhere.
//
// A level is complete or it is not there: compilers use every instruction of it. The lists are those of the
// psABI (x86-64-ABI, "Micro-architecture levels"), by the bits that CPUID reports.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <cstdint>
#include <string>

#if (defined(__x86_64__) || defined(_M_X64)) && (defined(__GNUC__) || defined(__clang__))
#define SYMCLUST_X86_64
#include <cpuid.h>
#endif

namespace {

constexpr std::uint32_t bits() { return 0; }
template <typename... Rest>
constexpr std::uint32_t bits(int first, Rest... rest) {
    return std::uint32_t(1) << first | bits(rest...);
}

// What CPUID says in the registers that matter, and which registers the system saves when it changes threads.
struct Registers {
    std::uint32_t basic;     // leaf 1, ECX
    std::uint32_t more;      // leaf 7, EBX
    std::uint32_t extended;  // leaf 0x80000001, ECX
    std::uint32_t saved;     // XCR0

    bool have(const Registers& all) const {
        return !(all.basic & ~basic) && !(all.more & ~more) && !(all.extended & ~extended) &&
               !(all.saved & ~saved);
    }
};

// SSE3, SSSE3, CMPXCHG16B, SSE4.1, SSE4.2, POPCNT; LAHF-SAHF
constexpr Registers v2{bits(0, 9, 13, 19, 20, 23), 0, bits(0), 0};
// FMA, MOVBE, OSXSAVE, AVX, F16C; BMI1, AVX2, BMI2; LZCNT; the system saves SSE and AVX registers
constexpr Registers v3{bits(12, 22, 27, 28, 29), bits(3, 5, 8), bits(5), bits(1, 2)};
// AVX512F, DQ, CD, BW, VL; the system saves masks and wide registers
constexpr Registers v4{0, bits(16, 17, 28, 30, 31), 0, bits(5, 6, 7)};

std::string level_of(std::uint32_t basic, std::uint32_t more, std::uint32_t extended, std::uint32_t saved) {
    const Registers processor{basic, more, extended, saved};
    if (!processor.have(v2)) return "generic";
    if (!processor.have(v3)) return "x86_64_v2";
    return processor.have(v4) ? "x86_64_v4" : "x86_64_v3";
}

std::string best_level() {
#ifdef SYMCLUST_X86_64
    std::uint32_t a, b, c, d, basic = 0, more = 0, extended = 0, saved = 0;
    if (__get_cpuid(1, &a, &b, &c, &d)) basic = c;
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d)) more = b;
    if (__get_cpuid(0x80000001, &a, &b, &c, &d)) extended = c;
    if (basic & bits(27)) {  // OSXSAVE: without it, reading XCR0 is not allowed
        std::uint32_t high;
        __asm__ volatile("xgetbv" : "=a"(saved), "=d"(high) : "c"(0));
    }
    return level_of(basic, more, extended, saved);
#else
    return "generic";
#endif
}

}  // namespace

NB_MODULE(_cpu, m) {
    m.def("best_level", &best_level);
    m.def("level_of", &level_of, nanobind::arg("basic"), nanobind::arg("more"), nanobind::arg("extended"),
          nanobind::arg("saved"));
}
