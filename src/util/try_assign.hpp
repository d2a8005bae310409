#pragma once

#include <utility>

#include "util/status.hpp"

/// Evaluates an expression that has a Result, and returns its failure from the calling function if there is
/// one. Else declares `name` as a reference to the value. After abseil's ASSIGN_OR_RETURN.
#define RMA_TRY_ASSIGN(name, ...)             \
  auto name##_result = (__VA_ARGS__);         \
  if (!name##_result.ok()) [[unlikely]]       \
    return std::move(name##_result).status(); \
  auto& name = name##_result.value()
