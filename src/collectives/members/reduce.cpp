#include "collectives/members/reduce.hpp"

#include <fmt/format.h>

#include <array>
#include <string>

#include "atomics/types.hpp"
#include "kernels/operators.hpp"
#include "kernels/reductions.hpp"

namespace librma {
namespace {

constexpr std::array kTypeNames = {"RMA_INT",    "RMA_LONG",          "RMA_LONG_LONG",     "RMA_FLOAT",
                                   "RMA_DOUBLE", "RMA_COMPLEX_FLOAT", "RMA_COMPLEX_DOUBLE"};
constexpr std::array kOperatorNames = {"RMA_SUM",  "RMA_PROD", "RMA_MIN", "RMA_MAX",
                                       "RMA_BAND", "RMA_BOR",  "RMA_BXOR"};

constexpr bool integer(rma_type_t type) {
  return type == RMA_INT || type == RMA_LONG || type == RMA_LONG_LONG;
}
constexpr bool complex(rma_type_t type) { return type == RMA_COMPLEX_FLOAT || type == RMA_COMPLEX_DOUBLE; }

kernels::Element element_of(rma_type_t type) {
  switch (type) {
    case RMA_INT:
      return kernels::element_of<int>();
    case RMA_LONG:
      return kernels::element_of<long>();
    case RMA_LONG_LONG:
      return kernels::element_of<long long>();
    case RMA_FLOAT:
    case RMA_COMPLEX_FLOAT:
      return kernels::element_of<float>();
    case RMA_DOUBLE:
    case RMA_COMPLEX_DOUBLE:
      return kernels::element_of<double>();
  }
  return kernels::Element::kNone;
}

}  // namespace

Status check_reduction(rma_type_t type, rma_reduction_t op) {
  if (!valid_type(type)) {
    return {RMA_ERR_ARGUMENT,
            fmt::format("{} is no rma_type_t (RMA_INT ... RMA_COMPLEX_DOUBLE)", static_cast<int>(type))};
  }
  if (op < RMA_SUM || op > RMA_BXOR) {
    return {RMA_ERR_ARGUMENT,
            fmt::format("{} is no rma_reduction_t (RMA_SUM ... RMA_BXOR)", static_cast<int>(op))};
  }
  const bool ordering = op == RMA_MIN || op == RMA_MAX;
  const bool bitwise = op >= RMA_BAND;
  if ((ordering && complex(type)) || (bitwise && !integer(type))) {
    return {RMA_ERR_ARGUMENT,
            fmt::format("{} is not defined for {}; it takes {}", kOperatorNames[static_cast<std::size_t>(op)],
                        kTypeNames[static_cast<std::size_t>(type)],
                        bitwise ? "integers" : "integers, RMA_FLOAT and RMA_DOUBLE")};
  }
  return {};
}

rma_reducer_t reducer_of(rma_type_t type, rma_reduction_t op) {
  return {.combine = kernels::find(kernels::operator_of(op), element_of(type), complex(type)),
          .context = nullptr,
          .element_bytes = type_size(type),
          .commutes = 1};
}

const char* reduction_name(rma_type_t type, rma_reduction_t op) {
  static constexpr std::array kTypes = {"INT",    "LONG",          "LONG_LONG",     "FLOAT",
                                        "DOUBLE", "COMPLEX_FLOAT", "COMPLEX_DOUBLE"};
  static constexpr std::array kOperators = {"SUM", "PROD", "MIN", "MAX", "BAND", "BOR", "BXOR"};
  static const auto kNames = [] {
    std::array<std::array<std::string, kOperators.size()>, kTypes.size()> names;
    for (std::size_t i = 0; i < kTypes.size(); ++i) {
      for (std::size_t j = 0; j < kOperators.size(); ++j)
        names[i][j] = std::string("RMA_") + kOperators[j] + " of RMA_" + kTypes[i];
    }
    return names;
  }();
  return kNames[static_cast<std::size_t>(type)][static_cast<std::size_t>(op)].c_str();
}

}  // namespace librma
