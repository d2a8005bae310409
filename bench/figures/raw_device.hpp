/**
 * @file raw_device.hpp
 * One reliable connection by libibverbs alone, with a buffer that the other side can read and write.
 */
#pragma once

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>
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

/** Unless `good`, prints what failed and why, and ends the program. */
void require(bool good, const char* what);

class RawDevice {
 public:
  static constexpr std::uint32_t kDepth = 16;  ///< requests under way at once

  RawDevice(const std::string& name, const Wire& wire, std::size_t bytes);
  ~RawDevice();
  RawDevice(const RawDevice&) = delete;
  RawDevice& operator=(const RawDevice&) = delete;

  [[nodiscard]] std::byte* memory() const { return memory_; }
  /** Posts one RDMA write or read between the same offsets of both buffers. */
  void start(bool put, std::size_t offset, std::size_t bytes) const;
  /** Polls until the oldest request is complete. */
  void finish() const;

 private:
  struct Card {
    std::uint32_t queue_pair;
    std::uint32_t key;
    std::uint64_t address;
    ibv_gid gid;
  };
  void open(const std::string& name);
  void find_gid();
  void connect(const Card& peer);

  ibv_context* context_ = nullptr;
  ibv_pd* domain_ = nullptr;
  ibv_cq* completions_ = nullptr;
  ibv_qp* queue_pair_ = nullptr;
  ibv_mr* region_ = nullptr;
  ibv_port_attr port_ = {};
  ibv_gid_entry gid_ = {};
  std::byte* memory_ = nullptr;
  Card peer_ = {};
};

}  // namespace rma::bench
