#pragma once

#include <cstddef>
#include <string_view>

#include "rma/rma.h"

namespace librma::coarrays {

/// Where a statement reports how it ended: its stat= and errmsg=. Each may be null.
struct Outcome {
  int* stat = nullptr;
  char* message = nullptr;
  std::size_t length = 0;

  /// Reports success. errmsg= keeps its value then.
  void succeed() const {
    if (stat != nullptr) *stat = 0;
  }
  /// Reports a failure: sets stat= to `value`, and errmsg= to `text`, padded with blanks. Ends the job if the
  /// statement has no stat=.
  [[gnu::cold]] void fail(int value, std::string_view text) const;
  /// Reports what a call of librma returned. A lost rank is STAT_FAILED_IMAGE. Returns whether the call
  /// succeeded.
  bool report(rma_status_t status) const {
    if (status == RMA_SUCCESS) [[likely]] {
      succeed();
      return true;
    }
    fail(status);
    return false;
  }

 private:
  [[gnu::cold]] void fail(rma_status_t status) const;
};

/// Ends the job with exit code 1 and prints this image's number and `text`.
[[noreturn, gnu::cold]] void die(std::string_view text);

/// Ends the job if a call of librma failed.
inline void require(rma_status_t status) {
  if (status != RMA_SUCCESS) [[unlikely]]
    die(rma_last_error());
}

}  // namespace librma::coarrays
