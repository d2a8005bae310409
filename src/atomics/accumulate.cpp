#include "atomics/accumulate.hpp"

#include <algorithm>
#include <array>

#include "atomics/remote_atomics.hpp"
#include "core/one_sided/operation.hpp"
#include "util/statistics.hpp"
#include "util/text.hpp"
#include "util/try.hpp"

namespace librma {
namespace {

std::shared_ptr<const Layout> contiguous(const void* address, std::size_t bytes) {
  return std::make_shared<Layout>(Layout::contiguous(reinterpret_cast<std::uintptr_t>(address), bytes));
}

}  // namespace

Result<std::unique_ptr<Accumulator>> Accumulator::create(Job& job, RemoteAccess& remote_access) {
  RMA_TRY(job.provide(Service::accumulate, sizeof(StripeLocks)).status());
  return std::unique_ptr<Accumulator>(new Accumulator(job, remote_access));
}

Status Accumulator::accumulate(void* dst, const void* src, std::size_t bytes, rma_type_t type,
                               const void* scale, int rank) {
  count(Counter::accumulate);
  if (remote_ != nullptr && !job_.mapped(rank)) {
    return remote_->accumulate(contiguous(dst, bytes), contiguous(src, bytes), type, scale, rank);
  }
  return Accumulation(*this, type, scale, rank).add(dst, src, bytes);
}

Accumulation::Accumulation(Accumulator& accumulator, rma_type_t type, const void* scale, int rank)
    : accumulator_(accumulator),
      rank_(rank),
      type_(type),
      scale_(scale),
      kernel_(type, scale),
      // If the rank's locks are not mapped, any others do here: add() returns an error before it takes one.
      cursor_(accumulator.locks(accumulator.job().mapped(rank) ? rank : accumulator.job().rank()),
              accumulator.lock_user()) {}

template <typename Access>
Status Accumulation::add_pieces(std::uintptr_t address, const std::byte* src, std::size_t bytes,
                                const Access& access) {
  const std::size_t element = kernel_.element_bytes();
  const std::size_t part = kernel_.part_bytes();
  while (bytes > 0) {
    const std::size_t room = std::min(bytes, StripeLocks::left_in_stripe(address));
    std::size_t piece = room & ~(element - 1);  // whole elements
    if (piece != 0) {
      cursor_.hold(address, piece);
      RMA_TRY(access(address, piece, [&](std::byte* here) { kernel_.run(here, src, piece); }));
    } else {
      // A complex element lies across the border of two stripes. Its two parts are separate sums, so each is
      // added under its own lock.
      piece = element;
      std::array<std::byte, Kernel::kMostElementBytes> product = {};
      kernel_.product(product.data(), src);
      for (std::size_t offset = 0; offset < element; offset += part) {
        cursor_.hold(address + offset, part);
        RMA_TRY(access(address + offset, part,
                       [&](std::byte* here) { kernel_.add_part(here, product.data() + offset); }));
      }
    }
    address += piece;
    src += piece;
    bytes -= piece;
  }
  return {};
}

void Accumulation::add_stripes(std::byte* here, std::uintptr_t address, const std::byte* src,
                               std::size_t bytes) {
  const Status added = add_pieces(
      address, src, bytes, [&](std::uintptr_t piece, std::size_t /*bytes*/, const auto& work) -> Status {
        work(here + (piece - address));
        return {};
      });
  static_cast<void>(added);  // add_pieces() cannot fail here
}

Status Accumulation::add(void* dst, const void* src, std::size_t bytes) {
  const Path path = accumulator_.job().resolve(dst, bytes, rank_);
  if (path.here == nullptr && !accumulator_.job().mapped(rank_)) {
    return {RMA_ERR_UNSUPPORTED,
            text("rank {} is on another host, and this process has no helper to reach it by: raise the "
                 "limit of locked memory (ulimit -l)",
                 rank_)};
  }
  if (path.kind == Path::Kind::none) return unreachable(dst, bytes, rank_);
  if (path.here != nullptr) {
    add_mapped(path.here, dst, src, bytes);
    return {};
  }
  if (RemoteAtomics* const remote = accumulator_.remote();
      remote != nullptr && !accumulator_.remote_access().permitted(rank_)) {
    cursor_.release();  // the rank's helper may wait for this very lock
    return remote->accumulate(contiguous(dst, bytes), contiguous(src, bytes), type_, scale_, rank_);
  }
  const auto address = reinterpret_cast<std::uintptr_t>(dst);
  return add_pieces(address, static_cast<const std::byte*>(src), bytes,
                    [&](std::uintptr_t piece, std::size_t piece_bytes, const auto& work) -> Status {
                      alignas(64) std::array<std::byte, StripeLocks::kStripeBytes> copy;
                      auto* const there =
                          reinterpret_cast<std::byte*>(piece);  // NOLINT(performance-no-int-to-ptr)
                      Operation read(accumulator_.job(), accumulator_.remote_access(), rank_);
                      RMA_TRY(read.get(copy.data(), there, piece_bytes));
                      if (Status status = read.end({}); !status.ok()) return status;
                      work(copy.data());
                      Operation write(accumulator_.job(), accumulator_.remote_access(), rank_);
                      RMA_TRY(write.put(there, copy.data(), piece_bytes));
                      return write.end({});
                    });
}

}  // namespace librma
