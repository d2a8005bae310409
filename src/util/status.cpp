#include "util/status.hpp"

#include <array>
#include <cstddef>
#include <system_error>

#include "util/text.hpp"

namespace librma {

Status::Status(rma_status_t code, std::string text) noexcept {
  if (!text.empty()) failure_.reset(new (std::nothrow) Failure{code, std::move(text)});
  if (failure_ == nullptr) failure_.reset(textless(code));
}

void Status::Release::operator()(Failure* failure) const noexcept {
  if (!failure->text.empty()) delete failure;  // a failure without a text is a static one of textless()
}

Status Status::within(std::string_view context) && noexcept {
  if (failure_ != nullptr && !failure_->text.empty()) {
    std::string longer = librma::text("{}: {}", context, failure_->text);
    if (!longer.empty()) failure_->text = std::move(longer);
  }
  return std::move(*this);
}

Status::Failure* Status::textless(rma_status_t code) noexcept {
  constexpr std::size_t kCodes = RMA_ERR_CANCELED + 1;
  // This memory has no destructor, because threads may hold these failures while the process exits.
  // They never change.
  alignas(Failure) static std::array<std::byte, sizeof(Failure) * kCodes> memory;
  static Failure* const all = [] {
    auto* const first = reinterpret_cast<Failure*>(memory.data());
    for (std::size_t i = 0; i < kCodes; ++i) new (first + i) Failure{static_cast<rma_status_t>(i), {}};
    return first;
  }();
  const auto index = static_cast<std::size_t>(code);
  return all + (index < kCodes ? index : static_cast<std::size_t>(RMA_ERR_SYSTEM));
}

Status system_failure(rma_status_t code, std::string_view what, int error_number) noexcept {
  const auto meaning = [&]() -> std::string {
    try {
      return std::generic_category().message(error_number);
    } catch (const std::bad_alloc&) {
      return {};
    }
  };
  return {code, text("{}: {} (errno {})", what, meaning(), error_number)};
}

}  // namespace librma
