#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "mpi.h"

namespace librma::mpi {

#ifdef RMA_MPI_MPICH

/// MPI_Status::MPI_internal has 63 bits for the number of received bytes, and a bit for cancellation, which
/// is the lowest of the second word.
inline constexpr unsigned int kCancelledBit = 1;

/// Returns the number of bytes that a status reports.
[[nodiscard]] inline MPI_Count bytes_of(const MPI_Status& status) {
  const auto low = static_cast<std::uint32_t>(status.MPI_internal[0]);
  const auto high = static_cast<std::uint32_t>(status.MPI_internal[1]) >> 1;
  return static_cast<MPI_Count>(std::uint64_t{high} << 32 | low);
}
[[nodiscard]] inline bool is_cancelled(const MPI_Status& status) {
  return (static_cast<unsigned int>(status.MPI_internal[1]) & kCancelledBit) != 0;
}
inline void set_bytes(MPI_Status& status, MPI_Count bytes) {
  const auto count = static_cast<std::uint64_t>(bytes);
  status.MPI_internal[0] = static_cast<int>(count);
  status.MPI_internal[1] = static_cast<int>((count >> 32 << 1) | (is_cancelled(status) ? kCancelledBit : 0));
}
inline void set_cancelled(MPI_Status& status, bool cancelled) {
  const auto rest = static_cast<unsigned int>(status.MPI_internal[1]) & ~kCancelledBit;
  status.MPI_internal[1] = static_cast<int>(rest | (cancelled ? kCancelledBit : 0));
}

#else

/// The words of MPI_Status::MPI_internal: two for the number of received bytes, one for cancellation. Open
/// MPI's status has three words, and cancellation comes first.
inline constexpr bool kThreeWords = std::extent_v<decltype(MPI_Status::MPI_internal)> == 3;
inline constexpr int kBytesWord = kThreeWords ? 1 : 0;
inline constexpr int kCancelledWord = kThreeWords ? 0 : 2;

/// Returns the number of bytes that a status reports.
[[nodiscard]] inline MPI_Count bytes_of(const MPI_Status& status) {
  MPI_Count bytes = 0;
  std::memcpy(&bytes, &status.MPI_internal[kBytesWord], sizeof bytes);  // the words are aligned for int only
  return bytes;
}
inline void set_bytes(MPI_Status& status, MPI_Count bytes) {
  std::memcpy(&status.MPI_internal[kBytesWord], &bytes, sizeof bytes);
}
[[nodiscard]] inline bool is_cancelled(const MPI_Status& status) {
  return status.MPI_internal[kCancelledWord] != 0;
}
inline void set_cancelled(MPI_Status& status, bool cancelled) {
  status.MPI_internal[kCancelledWord] = cancelled ? 1 : 0;
}

#endif

/// Whether a program has given no status where one is read.
[[nodiscard]] inline bool is_missing(const MPI_Status* status) {
  return status == nullptr || status == MPI_STATUS_IGNORE;
}

/// Writes the status of a message, unless the program ignores it. Leaves MPI_ERROR alone, as the standard
/// wants it of calls that return one status.
inline void write_status(MPI_Status* status, int source, int tag, MPI_Count bytes) {
  if (status == MPI_STATUS_IGNORE) return;
  status->MPI_SOURCE = source;
  status->MPI_TAG = tag;
  set_bytes(*status, bytes);
  set_cancelled(*status, false);
}

/// Writes the empty status: that of a wait for MPI_REQUEST_NULL.
inline void write_empty_status(MPI_Status* status) {
  if (status == MPI_STATUS_IGNORE) return;
  write_status(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
  status->MPI_ERROR = MPI_SUCCESS;
}

}  // namespace librma::mpi
