#include "common.hpp"
namespace symclust { void bind_coordinate(nb::module_&) {} }
