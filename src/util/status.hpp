#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "rma/rma.h"

namespace rma {

/// The outcome of an operation: success, or one of the `RMA_ERR_*` codes with a text for people.
///
/// Success is a null pointer, so returning and testing it costs no more than an int; only a failure
/// allocates.
class [[nodiscard]] Status {
 public:
  Status() noexcept = default;
  Status(rma_status_t code, std::string text)
      : failure_(std::make_unique<Failure>(Failure{code, std::move(text)})) {}

  [[nodiscard]] bool ok() const noexcept { return failure_ == nullptr; }
  [[nodiscard]] rma_status_t code() const noexcept { return failure_ ? failure_->code : RMA_SUCCESS; }
  [[nodiscard]] std::string_view text() const noexcept {
    return failure_ ? std::string_view(failure_->text) : std::string_view();
  }

  /// The same failure with `context` and a colon in front of its text; success stays success.
  [[nodiscard]] Status within(std::string_view context) && {
    if (failure_) failure_->text.insert(0, std::string(context) + ": ");
    return std::move(*this);
  }

 private:
  struct Failure {
    rma_status_t code;
    std::string text;
  };
  std::unique_ptr<Failure> failure_;
};

/// A value, or the failure that stands in its place.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}  // NOLINT(google-explicit-constructor)
  /// A value made in place, of a type that is large to move.
  explicit Result(std::in_place_t) : value_(std::in_place) {}
  Result(Status failure) : status_(std::move(failure)) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] bool ok() const noexcept { return value_.has_value(); }
  [[nodiscard]] T& value() & { return *value_; }
  [[nodiscard]] const T& value() const& { return *value_; }
  [[nodiscard]] T&& value() && { return std::move(*value_); }
  T* operator->() { return &*value_; }
  /// The failure; success when there is a value.
  [[nodiscard]] const Status& status() const& { return status_; }
  [[nodiscard]] Status&& status() && { return std::move(status_); }

 private:
  std::optional<T> value_;
  Status status_;
};

/// A failure whose text ends with the meaning of `error_number` (an errno value).
[[nodiscard]] Status system_failure(rma_status_t code, std::string_view what, int error_number);

}  // namespace rma
