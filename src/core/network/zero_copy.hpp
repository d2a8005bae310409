#pragma once

#include <cstddef>
#include <memory>

#include "core/network/bounce_copy.hpp"
#include "core/network/completions.hpp"
#include "core/network/connection_manager.hpp"
#include "core/network/posting.hpp"
#include "fabric/registration_cache.hpp"
#include "util/settings.hpp"
#include "util/status.hpp"

namespace librma {

/// The protocols that move the program's data without a copy (UCX: zcopy), because the local memory is
/// registered or gets registered. Large transfers are divided among the rails.
class ZeroCopy {
 public:
  using Use = RegistrationCache::Use;

  /// All of these outlive this object.
  ZeroCopy(const Settings& settings, RegistrationCache& cache, ConnectionManager& connections,
           Completions& completions, Posting& posting, BounceCopy& bounce)
      : settings_(settings),
        cache_(cache),
        connections_(connections),
        completions_(completions),
        posting_(posting),
        bounce_(bounce) {}

  /// Adds a transfer whose local memory is registered (Span::local_keys) to the batch, and uses `span` up.
  /// `use`, unless null, keeps the memory registered until the last fragment is complete.
  [[nodiscard]] Status post(Batch& batch, NetworkPeer& peer, Span& span, const std::shared_ptr<Use>& use);
  /// Registers the local memory and posts the transfer: in one part, kept by the cache, or
  /// (RMA_LOCAL_BUFFERS=pipeline) part by part. Copies a part that cannot be registered. Uses `span` up.
  [[nodiscard]] Status register_and_post(Batch& batch, NetworkPeer& peer, Span& span);

 private:
  const Settings& settings_;
  RegistrationCache& cache_;
  ConnectionManager& connections_;
  Completions& completions_;
  Posting& posting_;
  BounceCopy& bounce_;
};

}  // namespace librma
