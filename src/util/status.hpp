#pragma once

#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "rma/rma.h"

namespace librma {

/// The outcome of an operation: success, or one of the `RMA_ERR_*` codes with a text for the user.
///
/// Success is a null pointer, so returning and testing it costs no more than an int. Only a failure
/// allocates. If there is no memory for its text, it keeps its code and its text is kNoMemoryLeft.
class [[nodiscard]] Status {
 public:
  Status() noexcept = default;
  /// An empty `text` means kNoMemoryLeft.
  Status(rma_status_t code, std::string text) noexcept;
  /// Returns RMA_ERR_NO_MEMORY for a process (not a heap window) that has no memory left. Does not allocate.
  [[nodiscard]] static Status exhausted() noexcept { return {RMA_ERR_NO_MEMORY, {}}; }

  [[nodiscard]] bool ok() const noexcept { return failure_ == nullptr; }
  [[nodiscard]] rma_status_t code() const noexcept { return failure_ ? failure_->code : RMA_SUCCESS; }
  [[nodiscard]] std::string_view text() const noexcept {
    if (failure_ == nullptr) return {};
    return failure_->text.empty() ? kNoMemoryLeft : std::string_view(failure_->text);
  }

  /// Returns the same failure with `context` and a colon in front of its text. Success stays success.
  [[nodiscard]] Status within(std::string_view context) && noexcept;

  static constexpr std::string_view kNoMemoryLeft = "this process has no memory left";

 private:
  struct Failure {
    rma_status_t code;
    std::string text;
  };
  /// Frees a failure, unless it is one of the static ones that textless() returns.
  struct Release {
    void operator()(Failure* failure) const noexcept;
  };
  /// Returns a static failure with this code and no text. Does not allocate.
  [[nodiscard]] static Failure* textless(rma_status_t code) noexcept;

  std::unique_ptr<Failure, Release> failure_;
};

/// See util/try.hpp.
[[nodiscard]] inline bool failed(const Status& status) noexcept { return !status.ok(); }

/// A value, or the failure because of which there is no value.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}  // NOLINT(google-explicit-constructor)
  /// Makes the value in place, for a type that is expensive to move.
  explicit Result(std::in_place_t) : value_(std::in_place) {}
  Result(Status failure) : status_(std::move(failure)) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] bool ok() const noexcept { return value_.has_value(); }
  [[nodiscard]] T& value() & { return *value_; }
  [[nodiscard]] const T& value() const& { return *value_; }
  [[nodiscard]] T&& value() && { return std::move(*value_); }
  T* operator->() { return &*value_; }
  /// Returns the failure, or success if there is a value.
  [[nodiscard]] const Status& status() const& { return status_; }
  [[nodiscard]] Status&& status() && { return std::move(status_); }
  /// Takes the failure out.
  [[nodiscard]] Status failure() { return std::move(status_); }

 private:
  std::optional<T> value_;
  Status status_;
};

/// Calls `body` and returns its Status or Result; RMA_ERR_NO_MEMORY if it throws std::bad_alloc. It is for
/// the steps of collective operations, where a process without memory must tell the others.
template <typename Body>
[[nodiscard]] auto unless_exhausted(const Body& body) -> decltype(body()) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return Status::exhausted();
  }
}

/// Returns a failure whose text ends with the meaning of `error_number` (an errno value).
[[nodiscard]] Status system_failure(rma_status_t code, std::string_view what, int error_number) noexcept;

}  // namespace librma
