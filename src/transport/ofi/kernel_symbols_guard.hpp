#pragma once

#include <optional>

#include "transport/ofi/import_replacement.hpp"

namespace librma::transport {

/// Keeps libfabric from the list of the kernel's functions while this object exists. The first question to
/// the library initializes all of its providers, also those that FI_PROVIDER excludes, and verbs reads the
/// whole list to learn whether the kernel lends it the memory of graphics processors. That takes each rank
/// 80 ms of processor time. Only RDMA devices could use such memory, so libfabric may read the list on hosts
/// that have one.
class KernelSymbolsGuard {
 public:
  /// `library` is libfabric's handle of dlopen(3). `devices` is the system's folder of RDMA devices.
  explicit KernelSymbolsGuard(void* library, const char* devices = "/sys/class/infiniband");

 private:
  std::optional<ImportReplacement> open_file_;
};

}  // namespace librma::transport
