/**
 * @file raw_pair.hpp
 * The measurements of raw-verbs, between its two sides.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "figures/measured.hpp"
#include "figures/raw_device.hpp"

namespace rma::bench {

struct RawOptions {
  std::string device = "rxe0";
  std::string connect;
  std::string json;
  std::string form = "raw";
  int port = 18516;
  std::size_t repetitions = 5;
  std::size_t window = kWindow;
  std::size_t total = std::size_t{256} << 10;
  std::size_t segment = std::size_t{4} << 10;
  std::vector<std::size_t> sizes = {std::size_t{16} << 10, std::size_t{64} << 10, std::size_t{256} << 10,
                                    std::size_t{1} << 20};
  std::vector<std::size_t> segments;  ///< of strided transfers; empty: only contiguous transfers
  bool asleep = false;
  bool cold = false;
};

/**
 * One side of the pair. The initiator measures. The target obeys its orders, and neither reads nor writes the
 * data.
 *
 * Contiguous transfers are RDMA writes and reads. Transfers in segments are gathers into scatters, cut as the
 * library's host-assisted protocol cuts them, but all scatters are posted before the clock starts, and no
 * message grants them. For a get the target posts the gathers on command, as many at once as it can, and does
 * nothing else until they are done. So these transfers show the device's own speed, without assistance.
 */
class RawPair {
 public:
  RawPair(const RawOptions& options, const Wire& wire);

  void initiate(Report& report);
  void obey();

 private:
  struct Order {
    enum class What : std::uint32_t { scatter, gather, compute, end };
    What what;
    std::uint32_t which;  ///< case
    std::uint32_t count;  ///< transfers
  };
  /** A case, and its chunks if it has segments. */
  struct Moved {
    Case as;
    std::vector<std::vector<ibv_sge>> chunks;
    std::uint32_t number;
  };

  [[nodiscard]] std::vector<Case> all_cases() const;
  [[nodiscard]] std::size_t room() const;
  [[nodiscard]] RawDevice::Shape shape() const;
  [[nodiscard]] std::vector<std::vector<ibv_sge>> chunks_of(const Case& each) const;

  std::uint64_t& word(std::size_t offset);
  void order(Order::What what, const Moved& each, std::size_t count) const;
  void post(Order::What what, const Moved& each, std::size_t count) const;

  /** Prepares the next `count` transfers. */
  void prepare(const Moved& each, std::size_t count) const;
  void start(const Moved& each) const;
  void finish(const Moved& each) const;
  [[nodiscard]] double stream(const Moved& each) const;
  /** Returns the MiB/s of transfers whose scatters are posted beforehand. */
  [[nodiscard]] double stream_of_gathers(const Moved& each) const;
  void measure_busy(const Moved& each, Samples& samples);

  const RawOptions& options_;
  const Wire& wire_;
  const RawDevice device_;
  std::vector<Moved> cases_;
  std::jthread computing_;
};

}  // namespace rma::bench
