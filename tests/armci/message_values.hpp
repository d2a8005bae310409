#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "../multi/harness.hpp"
#include "message.h"

// Helpers of the tests of messages: data that every rank can compute for every other rank, and models
// of the operators.

namespace armci_test {

/// Returns a number that depends only on the seed and the arguments.
inline std::uint64_t mixed(std::uint64_t a, std::uint64_t b, std::uint64_t c = 0) {
  std::uint64_t z = multi::seed() + 0x9e3779b97f4a7c15U * (a + 1) + 0xbf58476d1ce4e5b9U * (b + 1) +
                    0x94d049bb133111ebU * (c + 1);
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31U);
}

template <typename T>
constexpr int type_of() {
  if constexpr (std::is_same_v<T, int>) return ARMCI_INT;
  if constexpr (std::is_same_v<T, long>) return ARMCI_LONG;
  if constexpr (std::is_same_v<T, long long>) return ARMCI_LONG_LONG;
  if constexpr (std::is_same_v<T, float>) return ARMCI_FLOAT;
  return ARMCI_DOUBLE;
}

/// Calls work(T{}) for each element type.
template <typename Work>
void for_types(const Work& work) {
  work(int{});
  work(long{});
  work(0LL);
  work(float{});
  work(double{});
}

inline const std::vector<std::string> kAllTypes = {"+", "*", "max", "min", "absmax", "absmin"};
inline const std::vector<std::string> kIntegersOnly = {"or", "|",   "bor", "&",   "band",
                                                       "||", "lor", "&&",  "land"};

template <typename T>
std::vector<std::string> operators() {
  std::vector<std::string> all = kAllTypes;
  if (std::is_integral_v<T>) all.insert(all.end(), kIntegersOnly.begin(), kIntegersOnly.end());
  return all;
}

/// Returns element `i` of process `rank`. For sums and products, the numbers are such that the results are
/// exact in every type. For other operators they go up to a million, with many zeros.
template <typename T>
T element(const std::string& op, int rank, std::size_t i, std::uint64_t key) {
  const std::uint64_t word = mixed(static_cast<std::uint64_t>(rank), i, key);
  if (op == "*") return static_cast<T>(static_cast<int>(word % 5) - 2);
  if (op == "+") return static_cast<T>(static_cast<int>(word % 2001) - 1000);
  if (word % 4 == 0) return T{0};
  return static_cast<T>(static_cast<int>((word >> 8U) % 2000001) - 1000000);
}

template <typename T>
T absolute(T value) {
  return value < 0 ? static_cast<T>(-value) : value;
}

/// Returns a op b.
template <typename T>
T apply(const std::string& op, T a, T b) {
  if (op == "+") return static_cast<T>(a + b);
  if (op == "*") return static_cast<T>(a * b);
  if (op == "max") return a > b ? a : b;
  if (op == "min") return a < b ? a : b;
  if (op == "absmax") return absolute(a) > absolute(b) ? absolute(a) : absolute(b);
  if (op == "absmin") return absolute(a) < absolute(b) ? absolute(a) : absolute(b);
  if constexpr (std::is_integral_v<T>) {
    if (op == "or" || op == "|" || op == "bor") return a | b;
    if (op == "&" || op == "band") return a & b;
    if (op == "||" || op == "lor") return a != 0 || b != 0 ? 1 : 0;
    if (op == "&&" || op == "land") return a != 0 && b != 0 ? 1 : 0;
  }
  ADD_FAILURE() << "no model of " << op;
  return T{};
}

/// Returns the elements of one process.
template <typename T>
std::vector<T> elements(const std::string& op, int rank, std::size_t count, std::uint64_t key) {
  std::vector<T> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = element<T>(op, rank, i, key);
  return values;
}

/// Returns the result over these processes.
template <typename T>
std::vector<T> combined(const std::string& op, const std::vector<int>& processes, std::size_t count,
                        std::uint64_t key) {
  std::vector<T> values = elements<T>(op, processes.front(), count, key);
  for (T& value : values) {
    // The result for one process alone.
    if (op == "absmax" || op == "absmin") value = absolute(value);
    if (op == "||" || op == "lor" || op == "&&" || op == "land") value = value != 0 ? T{1} : T{0};
  }
  for (std::size_t p = 1; p < processes.size(); ++p) {
    for (std::size_t i = 0; i < count; ++i) {
      values[i] = apply(op, values[i], element<T>(op, processes[p], i, key));
    }
  }
  return values;
}

/// Returns `count` bytes that depend on the key.
inline std::vector<std::byte> bytes(std::size_t count, std::uint64_t a, std::uint64_t b,
                                    std::uint64_t c = 0) {
  std::vector<std::byte> data(count);
  for (std::size_t i = 0; i < count; i += 8) {
    const std::uint64_t word = mixed(a ^ (i << 20U), b, c);
    for (std::size_t k = i; k < count && k < i + 8; ++k)
      data[k] = static_cast<std::byte>(word >> (8 * (k - i)));
  }
  return data;
}

/// Returns the operator in the form that the interface takes.
inline char* spelled(const std::string& op) { return const_cast<char*>(op.c_str()); }

inline std::vector<int> everyone() {
  std::vector<int> all;
  for (int rank = 0; rank < multi::ranks(); ++rank) all.push_back(rank);
  return all;
}

/// Asks the runtime which of these processes are on this process's host.
inline std::vector<int> on_my_host(const std::vector<int>& processes) {
  std::vector<int> here;
  for (const int process : processes) {
    if (rma_same_host(process) != 0) here.push_back(process);
  }
  return here;
}

/// Returns the first of these processes on each host. Collective over all processes of the job.
inline std::vector<int> masters_of(const std::vector<int>& processes) {
  const std::vector<int> here = on_my_host(processes);
  const std::vector<int> firsts = multi::gather(here.empty() ? -1 : here.front());
  std::vector<int> masters;
  for (const int process : processes) {
    if (firsts[static_cast<std::size_t>(process)] == process) masters.push_back(process);
  }
  return masters;
}

inline bool contains(const std::vector<int>& processes, int process) {
  return std::find(processes.begin(), processes.end(), process) != processes.end();
}

}  // namespace armci_test
