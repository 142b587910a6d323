#include "common.hpp"
namespace symclust { void bind_symmetry(nb::module_&) {} }
