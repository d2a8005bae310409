#include "armci/messages/operators.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "armci/errors.hpp"
#include "message.h"

namespace librma::armci {
namespace {

using Prepare = Operator::Prepare;

struct Named {
  std::string_view name;
  rma_reduction_t reduction;
  Prepare prepare;
  bool integers_only;
};

/// The search takes the first name that fits. So a name such as "&" stands after "&&", which begins with it.
constexpr std::array kOperators = {
    Named{"+", RMA_SUM, Prepare::nothing, false},       Named{"*", RMA_PROD, Prepare::nothing, false},
    Named{"max", RMA_MAX, Prepare::nothing, false},     Named{"min", RMA_MIN, Prepare::nothing, false},
    Named{"absmax", RMA_MAX, Prepare::absolute, false}, Named{"absmin", RMA_MIN, Prepare::absolute, false},
    Named{"or", RMA_BOR, Prepare::nothing, true},       Named{"&&", RMA_BAND, Prepare::truth, true},
    Named{"land", RMA_BAND, Prepare::truth, true},      Named{"||", RMA_BOR, Prepare::truth, true},
    Named{"lor", RMA_BOR, Prepare::truth, true},        Named{"&", RMA_BAND, Prepare::nothing, true},
    Named{"band", RMA_BAND, Prepare::nothing, true},    Named{"|", RMA_BOR, Prepare::nothing, true},
    Named{"bor", RMA_BOR, Prepare::nothing, true},
};

/// Returns whether `text` begins with `name`. Reads no byte after the name or after the string's end.
bool begins_with(const char* text, std::string_view name) {
  for (const char letter : name) {
    if (*text++ != letter) return false;
  }
  return true;
}

/// Returns the start of a string that may lack its end mark, as long as an operator's name can be.
std::string shown(const char* text) {
  std::string start;
  while (start.size() < 6 && std::isgraph(static_cast<unsigned char>(*text)) != 0) start += *text++;
  return start;
}

template <typename T>
void prepare(std::span<T> elements, Prepare how) {
  for (T& element : elements) {
    if (how == Prepare::truth) {
      element = element != 0 ? T{1} : T{0};
    } else if constexpr (std::is_integral_v<T>) {
      // The least integer has no absolute value. It stays unchanged, as the processor's negation leaves it.
      using Unsigned = std::make_unsigned_t<T>;
      if (element < 0) element = static_cast<T>(Unsigned{0} - static_cast<Unsigned>(element));
    } else {
      element = std::fabs(element);
    }
  }
}

}  // namespace

rma_type_t element_type(int type, const char* call) {
  switch (type) {
    case ARMCI_INT:
      return RMA_INT;
    case ARMCI_LONG:
      return RMA_LONG;
    case ARMCI_LONG_LONG:
      return RMA_LONG_LONG;
    case ARMCI_FLOAT:
      return RMA_FLOAT;
    case ARMCI_DOUBLE:
      return RMA_DOUBLE;
    default:
      die(call, fmt::format(
                    "there is no element type {}: they are ARMCI_INT {}, ARMCI_LONG {}, ARMCI_LONG_LONG {}, "
                    "ARMCI_FLOAT {}, ARMCI_DOUBLE {}; {}",
                    type, ARMCI_INT, ARMCI_LONG, ARMCI_LONG_LONG, ARMCI_FLOAT, ARMCI_DOUBLE, kOtherHeader));
  }
}

Operator Operator::of(const char* name, int type, const char* call) {
  if (name == nullptr) die(call, "the operator is a null pointer");
  const rma_type_t element = element_type(type, call);
  for (const Named& named : kOperators) {
    if (!begins_with(name, named.name)) continue;
    if (named.integers_only && (element == RMA_FLOAT || element == RMA_DOUBLE)) {
      die(call, fmt::format("operator \"{}\" is for integers, not for {}", named.name,
                            element == RMA_FLOAT ? "ARMCI_FLOAT" : "ARMCI_DOUBLE"));
    }
    return {.reduction = named.reduction, .prepare = named.prepare, .type = element};
  }
  die(call, fmt::format("there is no operator \"{}\": message.h lists them", shown(name)));
}

void Operator::apply(void* elements, std::size_t count) const {
  if (prepare == Prepare::nothing) return;
  const auto each = [&](auto zero) {
    armci::prepare(std::span(static_cast<decltype(zero)*>(elements), count), prepare);
  };
  switch (type) {
    case RMA_INT:
      return each(int{});
    case RMA_LONG:
      return each(long{});
    case RMA_FLOAT:
      return each(float{});
    case RMA_DOUBLE:
      return each(double{});
    default:
      return each(0LL);
  }
}

}  // namespace librma::armci
