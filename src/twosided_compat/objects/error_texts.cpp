// The texts of the standard's error classes.

#include <algorithm>
#include <array>

#include "twosided_compat/objects/error_codes.hpp"

namespace librma::mpi {
namespace {

// The build makes the entries from constants.txt.
constexpr std::array kClasses = {
#include "twosided_compat/error_classes.inc"
};

}  // namespace

const StandardClass* standard_class(int value) {
  const auto* const found = std::find_if(kClasses.begin(), kClasses.end(),
                                         [value](const StandardClass& c) { return c.value == value; });
  return found != kClasses.end() ? found : nullptr;
}

}  // namespace librma::mpi
