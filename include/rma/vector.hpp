/**
 * @file vector.hpp
 * Transfers of many segments in one call (I/O vectors). Each function has the three forms of transfer.hpp.
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
 * Segments of one length, `count` elements each. Segment i goes from src[i] to dst[i]. The pointers of one
 * side are local; those of the other side are addresses of one rank. The two lists belong to the caller and
 * are equally long.
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

/** Copies the segments to `rank`. The entries of pieces.dst are addresses of `rank`. */
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

/** Copies the segments from `rank`. The entries of pieces.src are addresses of `rank`. */
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

/** Adds `scale` times the local segments to the segments of `rank`. The update of each element is atomic, as
 *  in accumulate(). */
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
