#pragma once

#include <atomic>
#include <cstddef>
#include <map>
#include <mutex>
#include <vector>

#include "armci.h"

namespace rma::armci {

/// What handles gather: contiguous puts, or gets, of one process, to be carried out by one vector transfer.
/// Of a process on another host: a list costs more than the copies to memory that is mapped. Thread-safe.
class Aggregates {
 public:
  enum class Kind { put, get };

  /// The handle gathers from now on; does nothing where it does already.
  void open(armci_hdl_t* handle);
  /// Carries out what the handle has gathered; it gathers no more.
  void close(armci_hdl_t* handle);

  /// Some handle gathers. Where none does, no handle is looked at.
  [[nodiscard]] bool any() const { return open_.load(std::memory_order_relaxed) != 0; }
  /// Adds a piece to what the handle has gathered, and returns true; false where it does not gather. Pieces
  /// of another kind or process are carried out first.
  [[nodiscard]] bool add(const armci_hdl_t* handle, Kind kind, void* src, void* dst, std::size_t bytes,
                         int process);

  /// Carries out what this one has gathered, if it does; all have gathered.
  void carry_out(const armci_hdl_t* handle) {
    if (any()) [[unlikely]]
      carry_out_this(handle);
  }
  void carry_out_all();

 private:
  /// Pieces of one size, one behind the other.
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
  std::mutex lock_;                    ///< of what follows
  unsigned long last_ = 0;
  std::map<unsigned long, Aggregate> aggregates_;  ///< by the number that the handle has
};

}  // namespace rma::armci
