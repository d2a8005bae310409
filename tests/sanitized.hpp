#pragma once

/// Whether AddressSanitizer or ThreadSanitizer watches this program.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

/// Returns `all`, or a third of it under a sanitizer, which makes a round of a random test some ten times as
/// long.
template <typename Number>
constexpr Number fewer_if_sanitized(Number all) {
  return kSanitized ? (all + 2) / 3 : all;
}
