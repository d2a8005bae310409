#pragma once

#include <complex>
#include <cstddef>
#include <optional>
#include <type_traits>

#include "kernels/operators.hpp"
#include "kernels/reductions.hpp"
#include "rma/collectives.h"
#include "rma/rma.h"
#include "shmem/teams/teams.hpp"
#include "shmem/transfers/transfers.hpp"

// Reductions and scans. librma has names for some types; kernels/operators.hpp has loops for all.

namespace librma::shmem {

/// Returns librma's name of the type, if it has one.
template <typename T>
constexpr std::optional<rma_type_t> library_type() {
  if constexpr (std::is_same_v<T, int>) return RMA_INT;
  if constexpr (std::is_same_v<T, long>) return RMA_LONG;
  if constexpr (std::is_same_v<T, long long>) return RMA_LONG_LONG;
  if constexpr (std::is_same_v<T, float>) return RMA_FLOAT;
  if constexpr (std::is_same_v<T, double>) return RMA_DOUBLE;
  if constexpr (std::is_same_v<T, std::complex<float>>) return RMA_COMPLEX_FLOAT;
  if constexpr (std::is_same_v<T, std::complex<double>>) return RMA_COMPLEX_DOUBLE;
  return std::nullopt;
}

/// Performs a reduction or scan of any type.
template <rma_reduction_t Op, typename T>
void reduce_generally(Call call, rma_team_t team, rma_collective_kind_t kind, T* dest, const T* source,
                      std::size_t count) {
  rma_collective_t operation = {};
  operation.kind = kind;
  operation.dst = collective_address(dest);
  operation.src = collective_address(source);
  operation.count = count;
  operation.reducer = {
      .combine = kernels::find(kernels::operator_of(Op), kernels::element_of<T>(), kernels::kIsComplex<T>),
      .context = nullptr,
      .element_bytes = sizeof(T),
      .commutes = 1};
  rma_request_t request = RMA_REQUEST_NULL;
  require(rma_collective_nb(team, &operation, &request), call);
  require(rma_wait(&request), call);
}

template <rma_reduction_t Op, typename T>
void reduce_on(Call call, rma_team_t team, T* dest, const T* source, std::size_t count) {
  if (count == 0) return;
  check_symmetric(call, dest, bytes_of<T>(count));
  if constexpr (constexpr auto kType = library_type<T>(); kType.has_value()) {
    require(rma_allreduce(team, collective_address(dest), collective_address(source), count, *kType, Op),
            call);
  } else {
    reduce_generally<Op, T>(call, team, RMA_COLLECTIVE_ALLREDUCE, dest, source, count);
  }
}

template <rma_reduction_t Op, typename T>
int reduce(Call call, shmem_team_t team, T* dest, const T* source, std::size_t count) {
  reduce_on<Op, T>(call, team_of(call, team).team, dest, source, count);
  return 0;
}

/// A scan that includes the PE's own elements, or does not; then the first PE gets zeros.
template <typename T, bool Inclusive>
int scan(Call call, shmem_team_t team, T* dest, const T* source, std::size_t count) {
  const Team& members = team_of(call, team);
  if (count == 0) return 0;
  check_symmetric(call, dest, bytes_of<T>(count));
  const auto kind = Inclusive ? RMA_COLLECTIVE_SCAN : RMA_COLLECTIVE_EXSCAN;
  reduce_generally<RMA_SUM, T>(call, members.team, kind, dest, source, count);
  if (!Inclusive && members.me == 0) {
    for (std::size_t i = 0; i < count; ++i) dest[i] = T{};
  }
  return 0;
}

}  // namespace librma::shmem
