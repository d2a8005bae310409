#pragma once

#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "rma/rma.h"

namespace rma {

/// The outcome of an operation: success, or one of the `RMA_ERR_*` codes with a text for people.
///
/// Success is a null pointer, so returning and testing it costs no more than an int; only a failure
/// allocates, and one that finds no memory keeps its code and has kNoMemoryLeft for a text.
class [[nodiscard]] Status {
 public:
  Status() noexcept = default;
  /// An empty text stands for kNoMemoryLeft.
  Status(rma_status_t code, std::string text) noexcept;
  /// RMA_ERR_NO_MEMORY because the process, not its heap window, has none left. Takes none.
  [[nodiscard]] static Status exhausted() noexcept { return {RMA_ERR_NO_MEMORY, {}}; }

  [[nodiscard]] bool ok() const noexcept { return failure_ == nullptr; }
  [[nodiscard]] rma_status_t code() const noexcept { return failure_ ? failure_->code : RMA_SUCCESS; }
  [[nodiscard]] std::string_view text() const noexcept {
    if (failure_ == nullptr) return {};
    return failure_->text.empty() ? kNoMemoryLeft : std::string_view(failure_->text);
  }

  /// The same failure with `context` and a colon in front of its text; success stays success.
  [[nodiscard]] Status within(std::string_view context) && noexcept;

  static constexpr std::string_view kNoMemoryLeft = "this process has no memory left";

 private:
  struct Failure {
    rma_status_t code;
    std::string text;
  };
  /// Frees a failure, unless it is one of those that are always there.
  struct Release {
    void operator()(Failure* failure) const noexcept;
  };
  /// A failure with this code and no text that needs no memory.
  [[nodiscard]] static Failure* textless(rma_status_t code) noexcept;

  std::unique_ptr<Failure, Release> failure_;
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

/// What `body` returns, a Status or Result; RMA_ERR_NO_MEMORY where it finds no memory. For steps of what
/// several processes do together: one that has no memory must tell the others.
template <typename Body>
[[nodiscard]] auto unless_exhausted(const Body& body) -> decltype(body()) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return Status::exhausted();
  }
}

/// A failure whose text ends with the meaning of `error_number` (an errno value).
[[nodiscard]] Status system_failure(rma_status_t code, std::string_view what, int error_number) noexcept;

}  // namespace rma
