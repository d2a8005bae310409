#pragma once

#include <memory>
#include <vector>

#include "transport/provider.hpp"

namespace librma::transport {

/// Opens the usable ports of the RDMA devices. This is Provider::open for verbs.
[[nodiscard]] Result<std::vector<std::unique_ptr<Transport>>> open_verbs(const ProviderOptions& options,
                                                                         ServiceThread& service);

}  // namespace librma::transport
