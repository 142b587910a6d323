#include "common.hpp"
namespace symclust { void bind_row_descent(nb::module_&) {} }
