#pragma once

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>

#include <cstdint>
#include <memory>
#include <string>

#include "util/status.hpp"

namespace librma::transport {

/// The functions of libfabric. All its other functions are calls through the objects that these return. The
/// library is opened when a job needs it first: with its own libraries it takes milliseconds to load, and
/// most jobs run on one host. So librma needs it neither to be linked nor to be installed.
class Libfabric {
 public:
  /// Opens the library at the first call. RMA_ERR_UNSUPPORTED if there is none.
  [[nodiscard]] static Result<const Libfabric*> get();

  using GetInfo = int (*)(std::uint32_t version, const char* node, const char* service, std::uint64_t flags,
                          const fi_info* hints, fi_info** infos);
  using FreeInfo = void (*)(fi_info* info);
  using DuplicateInfo = fi_info* (*)(const fi_info* info);
  using OpenFabric = int (*)(fi_fabric_attr* attributes, fid_fabric** fabric, void* context);
  using ErrorText = const char* (*)(int error);
  using Version = std::uint32_t (*)();

  GetInfo get_info = nullptr;
  FreeInfo free_info = nullptr;
  DuplicateInfo duplicate_info = nullptr;
  OpenFabric open_fabric = nullptr;
  ErrorText error_text = nullptr;
  Version version = nullptr;
  void* handle = nullptr;  ///< of dlopen(3)

  /// Returns "1.17" or the like.
  [[nodiscard]] std::string version_text() const;

 private:
  [[nodiscard]] Status load();
};

/// Closes an object of libfabric. The library refuses to close an object that another one uses, so declare an
/// object before the objects that use it.
struct FidCloser {
  template <typename Object>
  void operator()(Object* object) const {
    static_cast<void>(fi_close(&object->fid));
  }
};
using Fabric = std::unique_ptr<fid_fabric, FidCloser>;
using Domain = std::unique_ptr<fid_domain, FidCloser>;
using AddressVector = std::unique_ptr<fid_av, FidCloser>;
using OfiCompletionQueue = std::unique_ptr<fid_cq, FidCloser>;
using OfiEndpoint = std::unique_ptr<fid_ep, FidCloser>;
using OfiRegion = std::unique_ptr<fid_mr, FidCloser>;

/// Returns the failure of a call to libfabric. `error` is its negative result.
[[nodiscard]] Status fabric_failure(rma_status_t code, const std::string& call, long error);

}  // namespace librma::transport
