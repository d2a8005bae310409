#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "channel/channel.hpp"
#include "core/flights.hpp"
#include "core/network/network.hpp"
#include "fabric/rails.hpp"
#include "helper_thread/asking.hpp"
#include "helper_thread/serving.hpp"
#include "util/settings.hpp"
#include "util/status.hpp"

namespace rma {

/// This process's helper: serves other ranks' requests whatever the program does, and carries this process's
/// own to theirs.
///
/// Its thread sleeps until a message comes. Threads of the program that wait for something take messages in
/// as well, so that what they wait for needs no second thread; whoever finds a message serves it.
/// Thread-safe.
class Helper final : public Mover, private MessageReceiver {
 public:
  /// Before anyone connects. `spins` is how often its thread polls at most before it sleeps.
  [[nodiscard]] static Result<std::unique_ptr<Helper>> create(const Settings& settings, int ranks,
                                                              Rails& rails, Network& network,
                                                              Flights& flights, std::uint64_t spins);
  ~Helper() override;

  /// Who serves a kind of request; before start().
  void serve(RequestKind kind, Handler handler) { serving_->serve(kind, std::move(handler)); }
  /// Who takes in another kind of message (and returns whether it makes sense), who is told of lost ranks,
  /// and who has things that wait for room and may be done now; all by who has the channel's turn. Before
  /// start().
  void on_message(std::uint16_t kind, std::function<bool(const Message&)> receiver) {
    receivers_[kind] = std::move(receiver);
  }
  void on_loss(std::function<void(int rank)> told) { losses_.push_back(std::move(told)); }
  void on_room(std::function<bool()> told) { rooms_.push_back(std::move(told)); }
  /// Whether every kind of request and of message has somebody who takes it in.
  [[nodiscard]] bool complete() const {
    for (std::size_t kind = kReplyMessage + 1; kind < kMessageKinds; ++kind) {
      if (!receivers_[kind]) return false;
    }
    return serving_->complete();
  }
  /// From here on requests are served, and those who connect are answered. RMA_ERR_SYSTEM.
  [[nodiscard]] Status start();
  /// No request is served by the thread any more.
  void stop();

  [[nodiscard]] Asking& asking() { return *asking_; }
  [[nodiscard]] Serving& serving() { return *serving_; }
  [[nodiscard]] Channel& channel() { return *channel_; }
  [[nodiscard]] Flights& flights() { return flights_; }
  [[nodiscard]] Network& network() { return network_; }

  bool progress() override;
  void flush(int /*rank*/) override {}  // every request is answered
  void give_up(int rank) override { channel_->fail(rank); }
  /// Its thread takes in what comes, and wakes who sleeps.
  void arm() override {}
  [[nodiscard]] std::span<const int> event_fds() const override { return {}; }
  [[nodiscard]] std::string explain(rma_status_t code, int rank) const override {
    return network_.explain(code, rank);
  }

 private:
  Helper(Rails& rails, Network& network, Flights& flights, std::uint64_t spins)
      : rails_(rails), network_(network), flights_(flights), most_spins_(spins) {}

  void receive(const Message& message) override;
  bool advance() override;
  void lost(int peer) override;
  /// The thread: takes in what there is until nothing more comes.
  void work();

  Rails& rails_;
  Network& network_;
  Flights& flights_;
  const std::uint64_t most_spins_;
  std::uint64_t spins_ = 0;  ///< of the thread: more while requests follow each other closely
  std::unique_ptr<Channel> channel_;
  std::unique_ptr<Asking> asking_;
  std::unique_ptr<Serving> serving_;
  std::array<std::function<bool(const Message&)>, kMessageKinds> receivers_;
  std::vector<std::function<void(int)>> losses_;
  std::vector<std::function<bool()>> rooms_;
};

}  // namespace rma
