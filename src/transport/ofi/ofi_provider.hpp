#pragma once

#include <memory>
#include <vector>

#include "transport/provider.hpp"

namespace librma::transport {

/// Opens the interfaces that libfabric reaches. This is Provider::open for ofi.
[[nodiscard]] Result<std::vector<std::unique_ptr<Transport>>> open_ofi(const ProviderOptions& options,
                                                                       ServiceThread& service);

}  // namespace librma::transport
