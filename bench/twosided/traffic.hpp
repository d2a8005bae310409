/**
 * @file traffic.hpp
 * The patterns of messages between two ranks, after the OSU benchmarks.
 */
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "suites/beside_memcpy.hpp"
#include "twosided/buffers.hpp"

namespace rma::bench {

inline constexpr int kTag = 1;
inline constexpr int kAnswerTag = 2;
inline constexpr std::size_t kWindow = 64;  ///< the largest number of messages that are under way at once

/** Returns the number of messages of this size that are under way at once: fewer if they are large. */
inline std::size_t window_of(std::size_t bytes) {
  constexpr std::size_t kUnderWay = std::size_t{16} << 20;
  constexpr std::size_t kLeast = 4;
  return std::clamp(kUnderWay / std::max(bytes, std::size_t{1}), kLeast, kWindow);
}

/** Where a rank's messages go to, and where they come from. */
struct Link {
  MPI_Comm comm = MPI_COMM_WORLD;
  int partner = MPI_PROC_NULL;  ///< MPI_PROC_NULL: this rank takes no part
  int source = MPI_PROC_NULL;   ///< the partner, or MPI_ANY_SOURCE
  bool first = false;           ///< whether this rank sends first

  [[nodiscard]] bool takes_part() const { return partner != MPI_PROC_NULL; }
};

/** The messages of one size over a link. */
class Messages {
 public:
  Messages(const Link& link, std::size_t bytes, Rotation sent, Rotation received)
      : link_(link), count_(static_cast<int>(bytes)), bytes_(bytes), sent_(sent), received_(received) {}

  void send() { MPI_Send(sent_.next(), count_, MPI_BYTE, link_.partner, kTag, link_.comm); }
  void receive() {
    MPI_Recv(received_.next(), count_, MPI_BYTE, link_.source, kTag, link_.comm, MPI_STATUS_IGNORE);
  }
  void start_sends(MPI_Request* requests, std::size_t messages) {
    for (std::size_t i = 0; i < messages; ++i)
      MPI_Isend(sent_.next(), count_, MPI_BYTE, link_.partner, kTag, link_.comm, &requests[i]);
  }
  void start_receives(MPI_Request* requests, std::size_t messages) {
    for (std::size_t i = 0; i < messages; ++i)
      MPI_Irecv(received_.next(), count_, MPI_BYTE, link_.source, kTag, link_.comm, &requests[i]);
  }
  /** Copies a message's bytes between this rank's own buffers, as a control. */
  void copy() { copy_opaquely(received_.next(), sent_.next(), bytes_); }

  /** Calls the pattern once. Returns whether this rank has got the data of the `received` messages that its
   * partner sent. */
  template <typename Pattern>
  bool are_right(Pattern& pattern, int rank, std::size_t sent, std::size_t received) {
    if (!link_.takes_part()) {
      pattern();
      return true;
    }
    sent_.start_again();
    received_.start_again();
    sent_.fill(sent, rank);
    received_.clear(received);
    pattern();
    return received_.holds(received, link_.partner);
  }

  /** Calls a pattern, which sends `window` messages per call, until it has used each buffer. */
  template <typename Pattern>
  void use_all(Pattern& pattern, std::size_t window) const {
    for (std::size_t used = 0; used < sent_.count(); used += window) pattern();
  }

  [[nodiscard]] const Link& link() const { return link_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  Link link_;
  int count_;
  std::size_t bytes_;
  Rotation sent_;
  Rotation received_;
};

/** A message to the partner, and one back. */
class PingPong {
 public:
  explicit PingPong(Messages messages) : messages_(messages) {}
  [[nodiscard]] static std::size_t operations() { return 2; }
  [[nodiscard]] static bool has_control() { return false; }

  void operator()() {
    if (!messages_.link().takes_part()) return;
    if (messages_.link().first) {
      messages_.send();
      messages_.receive();
    } else {
      messages_.receive();
      messages_.send();
    }
  }
  bool is_right(int rank) { return messages_.are_right(*this, rank, 1, 1); }
  void control() {}
  void use_all_buffers() { messages_.use_all(*this, 1); }

 private:
  Messages messages_;
};

/** Messages that the first rank sends at once, and an answer when all have come. */
class Stream {
 public:
  Stream(Messages messages, std::size_t window) : messages_(messages), window_(window), requests_(window) {}
  [[nodiscard]] std::size_t operations() const { return window_; }
  [[nodiscard]] static bool has_control() { return true; }

  void operator()() {
    const Link& link = messages_.link();
    if (!link.takes_part()) return;
    char answer = 0;
    if (link.first) {
      messages_.start_sends(requests_.data(), window_);
      wait();
      MPI_Recv(&answer, 1, MPI_BYTE, link.partner, kAnswerTag, link.comm, MPI_STATUS_IGNORE);
    } else {
      messages_.start_receives(requests_.data(), window_);
      wait();
      MPI_Send(&answer, 1, MPI_BYTE, link.partner, kAnswerTag, link.comm);
    }
  }
  bool is_right(int rank) {
    const bool first = messages_.link().first;
    return messages_.are_right(*this, rank, first ? window_ : 0, first ? 0 : window_);
  }
  void control() {
    if (!messages_.link().takes_part() || messages_.link().first) return;
    for (std::size_t i = 0; i < window_; ++i) messages_.copy();
  }
  void use_all_buffers() { messages_.use_all(*this, window_); }

 private:
  void wait() { MPI_Waitall(static_cast<int>(window_), requests_.data(), MPI_STATUSES_IGNORE); }

  Messages messages_;
  std::size_t window_;
  std::vector<MPI_Request> requests_;
};

/** Messages that both ranks send to each other at once. */
class BothWays {
 public:
  BothWays(Messages messages, std::size_t window)
      : messages_(messages), window_(window), requests_(2 * window) {}
  [[nodiscard]] std::size_t operations() const { return window_; }
  [[nodiscard]] static bool has_control() { return true; }

  void operator()() {
    if (!messages_.link().takes_part()) return;
    messages_.start_receives(requests_.data(), window_);
    messages_.start_sends(requests_.data() + window_, window_);
    MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
  }
  bool is_right(int rank) { return messages_.are_right(*this, rank, window_, window_); }
  void control() {
    if (!messages_.link().takes_part()) return;
    for (std::size_t i = 0; i < window_; ++i) messages_.copy();
  }
  void use_all_buffers() { messages_.use_all(*this, window_); }

 private:
  Messages messages_;
  std::size_t window_;
  std::vector<MPI_Request> requests_;
};

}  // namespace rma::bench
