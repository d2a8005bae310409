#pragma once

#include <cstddef>
#include <cstdint>

#include "shmem/transfers/transfers.hpp"

namespace librma::shmem {

/// Puts the bytes, then changes the signal. A PE that sees the new signal sees the bytes, too.
void put_bytes_signal(Call call, void* dest, const void* source, std::size_t bytes,
                      std::uint64_t* signal_address, std::uint64_t signal, int op, int pe);

template <typename T>
void put_signal(Call call, void* dest, const void* source, std::size_t count, std::uint64_t* signal_address,
                std::uint64_t signal, int op, int pe) {
  put_bytes_signal(call, dest, source, bytes_of<T>(count), signal_address, signal, op, pe);
}

std::uint64_t signal_fetch(Call call, const std::uint64_t* signal_address);
void signal_add(Call call, std::uint64_t* signal_address, std::uint64_t signal, int pe);
void signal_set(Call call, std::uint64_t* signal_address, std::uint64_t signal, int pe);
std::uint64_t signal_wait_until(Call call, std::uint64_t* signal_address, int compare, std::uint64_t value);

}  // namespace librma::shmem
