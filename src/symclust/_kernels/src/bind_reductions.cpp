#include "common.hpp"
namespace symclust { void bind_reductions(nb::module_&) {} }
