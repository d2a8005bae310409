#pragma once

/// Returns `all`, or a third of it under a sanitizer, which makes each round of a random test some ten times as long.
template <typename Number>
constexpr Number fewer_if_sanitized(Number all) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return (all + 2) / 3;
#else
  return all;
#endif
}
