#pragma once

#include <atomic>
#include <cstddef>
#include <map>
#include <mutex>
#include <vector>

#include "armci.h"

namespace librma::armci {

/// The aggregate handles. Each gathers contiguous puts to, or gets from, one process, and executes them as
/// one vector transfer. Only transfers to processes of other hosts are gathered, because a list costs more
/// than copies to mapped memory. Thread-safe.
class Aggregates {
 public:
  enum class Kind { put, get };

  /// Makes the handle gather. Does nothing if it already does.
  void open(armci_hdl_t* handle);
  /// Executes what the handle has gathered. It does not gather any more.
  void close(armci_hdl_t* handle);

  /// Returns whether any handle gathers. If none does, callers look at no handle.
  [[nodiscard]] bool any() const { return open_.load(std::memory_order_relaxed) != 0; }
  /// Adds a transfer to those that the handle has gathered. Returns false if the handle does not gather.
  /// Transfers of another kind or process are executed first.
  [[nodiscard]] bool add(const armci_hdl_t* handle, Kind kind, void* src, void* dst, std::size_t bytes,
                         int process);

  /// carry_out() executes what the handle has gathered, if it gathers; carry_out_all() does so
  /// for all handles.
  void carry_out(const armci_hdl_t* handle) {
    if (any()) [[unlikely]]
      carry_out_this(handle);
  }
  void carry_out_all();

 private:
  /// Consecutive transfers of one size.
  struct Run {
    std::size_t bytes;
    std::size_t first;
    std::size_t count;
  };
  struct Gathered {
    Kind kind = Kind::put;
    int process = -1;
    std::vector<const void*> src;
    std::vector<void*> dst;
    std::vector<Run> runs;
  };
  struct Aggregate {
    const armci_hdl_t* handle;
    Gathered gathered;
  };

  [[nodiscard]] Gathered* find(const armci_hdl_t* handle);
  void carry_out_this(const armci_hdl_t* handle);
  static void carry_out(Gathered& gathered);

  std::atomic<std::size_t> open_ = 0;  ///< size of `aggregates_`
  std::mutex lock_;                    ///< guards the members below
  unsigned long last_ = 0;
  std::map<unsigned long, Aggregate> aggregates_;  ///< by the handle's number
};

}  // namespace librma::armci
