/**
 * @file raw_device.hpp
 * One reliable connection by libibverbs alone, with a buffer that the other side can read and write.
 */
#pragma once

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace rma::bench {

/** A TCP connection between the two sides, over which they exchange the data to connect. */
class Wire {
 public:
  /** Connects to `host`, and tries again until the peer is there. If `host` is empty, waits for one peer. */
  Wire(const std::string& host, int port);
  ~Wire();
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;

  void send(const void* data, std::size_t bytes) const;
  void receive(void* data, std::size_t bytes) const;
  /** Returns when both sides have called it. */
  void meet() const;

 private:
  int socket_ = -1;
};

/** Prints the failed step and the reason, and ends the program, unless `good`. */
void require(bool good, const char* what);

class RawDevice {
 public:
  static constexpr std::uint32_t kDepth = 16;  ///< requests under way at once

  struct Shape {
    std::uint32_t sends = kDepth;  ///< requests under way at once, reads included
    std::uint32_t receives = 1;    ///< receives posted at once
    std::uint32_t pieces = 1;      ///< pieces of one request or receive
    bool asleep = false;           ///< a waiting side sleeps; else it polls without pause
  };

  RawDevice(const std::string& name, const Wire& wire, std::size_t bytes, const Shape& shape);
  ~RawDevice();
  RawDevice(const RawDevice&) = delete;
  RawDevice& operator=(const RawDevice&) = delete;

  [[nodiscard]] std::byte* memory() const { return memory_; }
  /** Posts one RDMA write or read between the same offsets of both buffers. */
  void start(bool put, std::size_t offset, std::size_t bytes) const;
  /** Posts a message that gathers these pieces, or a receive that scatters one into them. */
  void gather(std::span<ibv_sge> pieces) const;
  void scatter(std::span<ibv_sge> pieces) const;
  /** Returns `bytes` at this offset of this side's buffer, as a piece. */
  [[nodiscard]] ibv_sge piece(std::size_t offset, std::size_t bytes) const;
  /** Waits until the oldest request is complete. */
  void finish() const;
  /** Notes the requests that are complete already. */
  void drain() const;

 private:
  struct Card {
    std::uint32_t queue_pair;
    std::uint32_t key;
    std::uint64_t address;
    ibv_gid gid;
  };
  void open(const std::string& name);
  void find_gid();
  void make_queue_pair();
  void connect(const Card& peer);
  void sleep() const;

  const Shape shape_;
  ibv_context* context_ = nullptr;
  ibv_pd* domain_ = nullptr;
  ibv_comp_channel* events_ = nullptr;
  ibv_cq* completions_ = nullptr;
  ibv_qp* queue_pair_ = nullptr;
  ibv_mr* region_ = nullptr;
  ibv_port_attr port_ = {};
  ibv_gid_entry gid_ = {};
  std::byte* memory_ = nullptr;
  Card peer_ = {};
};

}  // namespace rma::bench
