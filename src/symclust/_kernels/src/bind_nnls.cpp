#include "common.hpp"
namespace symclust { void bind_nnls(nb::module_&) {} }
