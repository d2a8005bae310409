#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <string>

#include "channel/channel.hpp"
#include "core/completion/pending_operations.hpp"
#include "transport/service_thread.hpp"
#include "util/status.hpp"

namespace librma {

/// Takes in messages while the program computes. The thread sleeps until a message arrives. Threads of the
/// program that wait for an operation take messages in as well (ProgressSource), so that they do not depend
/// on this thread.
class HelperThread final : public ProgressSource {
 public:
  /// Uses the service thread of the devices, or no thread at all if `service` is null (tests). The thread
  /// polls at most `spins` times before it sleeps. The arguments outlive this.
  HelperThread(Channel& channel, PendingOperations& pending, transport::ServiceThread* service,
               std::uint64_t spins)
      : channel_(channel), pending_(pending), service_(service), most_spins_(spins) {}
  ~HelperThread() override { stop(); }

  /// Starts the thread. Called after all handlers are registered with the channel. RMA_ERR_SYSTEM.
  [[nodiscard]] Status start();
  /// Stops the thread. Afterwards only threads of the program take messages in.
  void stop();

  bool progress() override;
  void flush(int /*rank*/, CompletionContext& /*context*/) override {
  }  // does nothing: every request is answered
  void give_up(int rank) override { channel_.fail(rank); }
  /// While the program's threads sleep, the helper thread takes in all messages and wakes them.
  void arm() override;
  void disarm() override { channel_.expect_solicited(); }
  [[nodiscard]] std::span<const int> event_fds() const override { return {}; }
  /// Returns no text, because no operation belongs to this progress source alone.
  [[nodiscard]] std::string explain(rma_status_t /*code*/, int /*rank*/) const override { return {}; }

 private:
  /// Takes in messages until no more come. This is the body of the thread.
  void work();
  /// Sends the messages that wait for others to go with (MessageSender), if a thread of the program has left
  /// them. The service thread calls it before it sleeps. Returns when to call it again.
  [[nodiscard]] transport::ServiceThread::Sleep send_held();

  Channel& channel_;
  PendingOperations& pending_;
  transport::ServiceThread* const service_;
  const std::uint64_t most_spins_;
  std::atomic<bool> armed_ = false;  ///< arm() was called, and progress() not yet
  std::uint64_t spins_ = 0;  ///< length of the next polling; grows while messages follow each other closely
};

}  // namespace librma
