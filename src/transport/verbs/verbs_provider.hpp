#pragma once

#include "transport/provider.hpp"

namespace rma::transport {

/// Opens the usable ports of RDMA devices, as a Provider.
[[nodiscard]] Result<std::vector<std::unique_ptr<Transport>>> open_verbs(const ProviderOptions& options,
                                                                         ServiceThread& service);

}  // namespace rma::transport
