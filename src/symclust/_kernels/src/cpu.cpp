// Which x86-64 level the processor supports. Compiled without any instruction-set flag, so that it runs everywhere.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <string>

static std::string best_level() {
#if (defined(__x86_64__) || defined(_M_X64)) && (defined(__GNUC__) || defined(__clang__))
    __builtin_cpu_init();
    const bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                    __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
    const bool v4 = v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                    __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
                    __builtin_cpu_supports("avx512vl");
    return v4 ? "x86_64_v4" : v3 ? "x86_64_v3" : "x86_64_v2";
#else
    return "generic";
#endif
}

NB_MODULE(_cpu, m) { m.def("best_level", &best_level); }
