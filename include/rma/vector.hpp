/**
 * @file vector.hpp
 * Transfers of many pieces at once (I/O vectors). The forms are those of transfer.hpp.
 */
#ifndef RMA_VECTOR_HPP
#define RMA_VECTOR_HPP

#include <cstddef>
#include <span>
#include <string>

#include "rma/error.hpp"
#include "rma/global_ptr.hpp"
#include "rma/request.hpp"
#include "rma/transfer.hpp"

namespace rma::inline v0 {

/**
 * Pieces of one length: `count` elements each, piece i from src[i] to dst[i]. One side's pointers are local,
 * the other's are addresses of one rank. The two lists are the caller's and equally long.
 */
template <Transferable T>
struct Pieces {
  std::span<T* const> dst;
  std::span<const T* const> src;
  std::size_t count = 1;
};

namespace detail {

template <Transferable T>
rma_iov_t descriptor(const Pieces<T>& pieces) {
  if (pieces.dst.size() != pieces.src.size()) {
    throw_error(RMA_ERR_SIZE, "vector transfer: " + std::to_string(pieces.dst.size()) + " destinations for " +
                                  std::to_string(pieces.src.size()) + " sources");
  }
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(pieces.count, sizeof(T), &bytes)) {
    throw_error(RMA_ERR_SIZE, "vector transfer: " + std::to_string(pieces.count) + " elements of " +
                                  std::to_string(sizeof(T)) + " bytes overflow the range of addresses");
  }
  // All pointers to objects have one representation, on every platform that this library knows.
  return {reinterpret_cast<void* const*>(pieces.dst.data()),
          reinterpret_cast<const void* const*>(pieces.src.data()), pieces.dst.size(), bytes};
}

}  // namespace detail

/** Writes the pieces to `rank`, whose addresses pieces.dst are. */
template <Transferable T>
void put_vector(const Pieces<T>& pieces, int rank) {
  const rma_iov_t iov = detail::descriptor(pieces);
  check(rma_put_vector(&iov, 1, rank));
}

template <Transferable T>
[[nodiscard]] Request put_vector_nb(const Pieces<T>& pieces, int rank) {
  const rma_iov_t iov = detail::descriptor(pieces);
  rma_request_t handle = RMA_REQUEST_NULL;
  check(rma_put_vector_nb(&iov, 1, rank, &handle));
  return Request(handle);
}

template <Transferable T>
void put_vector_nbi(const Pieces<T>& pieces, int rank) {
  const rma_iov_t iov = detail::descriptor(pieces);
  check(rma_put_vector_nbi(&iov, 1, rank));
}

/** Reads the pieces from `rank`, whose addresses pieces.src are. */
template <Transferable T>
void get_vector(const Pieces<T>& pieces, int rank) {
  const rma_iov_t iov = detail::descriptor(pieces);
  check(rma_get_vector(&iov, 1, rank));
}

template <Transferable T>
[[nodiscard]] Request get_vector_nb(const Pieces<T>& pieces, int rank) {
  const rma_iov_t iov = detail::descriptor(pieces);
  rma_request_t handle = RMA_REQUEST_NULL;
  check(rma_get_vector_nb(&iov, 1, rank, &handle));
  return Request(handle);
}

template <Transferable T>
void get_vector_nbi(const Pieces<T>& pieces, int rank) {
  const rma_iov_t iov = detail::descriptor(pieces);
  check(rma_get_vector_nbi(&iov, 1, rank));
}

/** Adds `scale` times the pieces to those of `rank`, atomically by element as accumulate(). */
template <Accumulable T>
void accumulate_vector(const Pieces<T>& pieces, int rank, const T& scale = T(1)) {
  const rma_iov_t iov = detail::descriptor(pieces);
  check(rma_acc_vector(&iov, 1, kElementType<T>, detail::scale_or_null(scale), rank));
}

template <Accumulable T>
[[nodiscard]] Request accumulate_vector_nb(const Pieces<T>& pieces, int rank, const T& scale = T(1)) {
  const rma_iov_t iov = detail::descriptor(pieces);
  rma_request_t handle = RMA_REQUEST_NULL;
  check(rma_acc_vector_nb(&iov, 1, kElementType<T>, detail::scale_or_null(scale), rank, &handle));
  return Request(handle);
}

template <Accumulable T>
void accumulate_vector_nbi(const Pieces<T>& pieces, int rank, const T& scale = T(1)) {
  const rma_iov_t iov = detail::descriptor(pieces);
  check(rma_acc_vector_nbi(&iov, 1, kElementType<T>, detail::scale_or_null(scale), rank));
}

}  // namespace rma::inline v0

#endif
