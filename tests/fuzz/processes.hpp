#pragma once

#include <cstddef>
#include <memory>

#include "atomics/accumulate.hpp"
#include "core/job/job.hpp"
#include "core/one_sided/remote_access.hpp"
#include "helper_thread/helper_thread.hpp"
#include "helper_thread/rpc_client.hpp"
#include "helper_thread/rpc_server.hpp"
#include "loopback/loopback_transport.hpp"
#include "util/settings.hpp"

// The three processes of an input, which are all in this one.

namespace librma::fuzz {

constexpr int kVictim = 0;
constexpr int kAttacker = 1;
constexpr int kHonest = 2;
constexpr int kRanks = 3;

/// Ends the program with `text` unless `what` is true.
void demand(bool what, const char* text);

/// The victim's job, of one process, which has allocated the arena. It outlives an input.
struct Base {
  Base();

  std::byte* const arena;
  std::byte* const attackers;
  const int always_readable;
  Settings settings;
  transport::LoopbackFabric fabric;
  std::unique_ptr<Job> job;
  std::unique_ptr<RemoteAccess> remote_access;
  std::unique_ptr<Accumulator> accumulator;
};

[[nodiscard]] Base& base();

/// A rank with a helper.
struct Rank {
  Rank(transport::LoopbackFabric& fabric, int number, const Network::CardSource& cards,
       std::byte* memory = nullptr);

  transport::LoopbackTransport* endpoint = nullptr;
  std::unique_ptr<Rails> rails;
  PendingOperations pending;
  std::unique_ptr<Network> network;
  std::unique_ptr<Channel> channel;
  std::unique_ptr<RpcClient> client;
  std::unique_ptr<RpcServer> server;
  std::unique_ptr<HelperThread> helper;
};

}  // namespace librma::fuzz
