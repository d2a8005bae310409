#include "shmem/transfers/transfers.hpp"

#include <array>

#include "rma/rma.h"

namespace librma::shmem {
namespace {

/// A strided layout in bytes, as librma takes it.
struct Strides {
  std::array<std::size_t, 2> counts;
  std::ptrdiff_t dest;
  std::ptrdiff_t source;
};

Strides in_bytes(Call call, const Layout& layout) {
  Strides strides = {};
  const auto element = static_cast<std::ptrdiff_t>(layout.element);
  strides.counts[1] = layout.blocks;
  if (__builtin_mul_overflow(layout.block, layout.element, strides.counts.data()) ||
      __builtin_mul_overflow(layout.dest, element, &strides.dest) ||
      __builtin_mul_overflow(layout.source, element, &strides.source)) {
    die(call, "a stride or the size of a block is too large");
  }
  return strides;
}

/// Returns the bytes from the first byte of the lowest block to the last of the highest, and where the lowest
/// begins.
struct Extent {
  std::ptrdiff_t begin;
  std::size_t bytes;
};
Extent extent_of(Call call, const Strides& strides, std::ptrdiff_t stride) {
  std::ptrdiff_t reach = 0;
  if (__builtin_mul_overflow(stride, static_cast<std::ptrdiff_t>(strides.counts[1] - 1), &reach)) {
    die(call, "the strided layout is too large");
  }
  const auto length = static_cast<std::size_t>(reach < 0 ? -reach : reach);
  return {.begin = reach < 0 ? reach : 0, .bytes = length + strides.counts[0]};
}

/// Returns the address by which `pe` knows the strided object at `address`.
std::byte* strided_there(Call call, const void* address, const Strides& strides, std::ptrdiff_t stride,
                         int pe) {
  const Extent extent = extent_of(call, strides, stride);
  const auto* const lowest = static_cast<const std::byte*>(address) + extent.begin;
  return there(call, lowest, extent.bytes, pe) - extent.begin;
}

/// Transfers of no bytes may have any addresses, also null ones. The PE must exist all the same.
bool is_empty(Call call, std::size_t bytes, int pe) {
  if (bytes == 0) check_pe(call, pe);
  return bytes == 0;
}

}  // namespace

void put_bytes(Call call, void* dest, const void* source, std::size_t bytes, int pe) {
  if (is_empty(call, bytes, pe)) return;
  std::byte* const to = there(call, dest, bytes, pe);
  require(rma_put(to, source, bytes, pe), call);
}

void get_bytes(Call call, void* dest, const void* source, std::size_t bytes, int pe) {
  if (is_empty(call, bytes, pe)) return;
  const std::byte* const from = there(call, source, bytes, pe);
  require(rma_get(dest, from, bytes, pe), call);
}

void put_bytes_nbi(Call call, void* dest, const void* source, std::size_t bytes, int pe) {
  if (is_empty(call, bytes, pe)) return;
  std::byte* const to = there(call, dest, bytes, pe);
  require(rma_put_nbi(to, source, bytes, pe), call);
}

void get_bytes_nbi(Call call, void* dest, const void* source, std::size_t bytes, int pe) {
  if (is_empty(call, bytes, pe)) return;
  const std::byte* const from = there(call, source, bytes, pe);
  require(rma_get_nbi(dest, from, bytes, pe), call);
}

void put_layout(Call call, void* dest, const void* source, const Layout& layout, int pe) {
  if (is_empty(call, layout.block == 0 ? 0 : layout.blocks, pe)) return;
  const Strides strides = in_bytes(call, layout);
  std::byte* const to = strided_there(call, dest, strides, strides.dest, pe);
  require(rma_put_strided(to, &strides.dest, source, &strides.source, strides.counts.data(), 1, pe), call);
}

void get_layout(Call call, void* dest, const void* source, const Layout& layout, int pe) {
  if (is_empty(call, layout.block == 0 ? 0 : layout.blocks, pe)) return;
  const Strides strides = in_bytes(call, layout);
  const std::byte* const from = strided_there(call, source, strides, strides.source, pe);
  require(rma_get_strided(dest, &strides.dest, from, &strides.source, strides.counts.data(), 1, pe), call);
}

}  // namespace librma::shmem
