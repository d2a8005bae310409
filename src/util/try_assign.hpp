#pragma once

/// Evaluates an expression that has a Result (util/status.hpp), or another class with its ok(), value() and
/// failure(), and returns its failure from the calling function if there is
/// one. Else declares `name` as a reference to the value. After abseil's ASSIGN_OR_RETURN.
#define RMA_TRY_ASSIGN(name, ...)       \
  auto name##_result = (__VA_ARGS__);   \
  if (!name##_result.ok()) [[unlikely]] \
    return name##_result.failure();     \
  auto& name = name##_result.value()
