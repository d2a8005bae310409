// I/O-vector transfers.

#include "strided/vector.hpp"

#include "api/call.hpp"
#include "api/check.hpp"
#include "api/endings.hpp"
#include "api/runtime/transfer_paths.hpp"
#include "util/try.hpp"

namespace librma {
namespace {

/// Calls `transfer`, put_vector or get_vector. `name` is the name of the call.
[[gnu::always_inline]] inline rma_status_t move_vector(const char* name, decltype(put_vector)& transfer,
                                                       std::span<const rma_iov_t> iov, int rank,
                                                       const Ending& ending) {
  return call(name, rank, 0, [&](Runtime& runtime) RMA_INLINE_BODY -> Status {
    RMA_TRY(check_ending(ending));
    RMA_TRY(check_vector(runtime, iov.data(), iov.size(), rank));
    return transfer(runtime.transfer_paths(), iov, rank, ending);
  });
}

[[gnu::always_inline]] inline rma_status_t accumulate_vector(const char* name, std::span<const rma_iov_t> iov,
                                                             rma_type_t type, const void* scale, int rank,
                                                             const Ending& ending) {
  return call(name, rank, 0, [&](Runtime& runtime) RMA_INLINE_BODY -> Status {
    RMA_TRY(check_ending(ending));
    const auto execute = [&]() -> Status {
      RMA_TRY(check_type(type));
      RMA_TRY(check_vector(runtime, iov.data(), iov.size(), rank));
      return acc_vector(*runtime.accumulator, iov, type, scale, rank);
    };
    return complete(ending, execute());
  });
}

}  // namespace

extern "C" {

rma_status_t rma_put_vector(const rma_iov_t* iov, size_t count, int rank) {
  return move_vector(__func__, put_vector, {iov, count}, rank, kBlocking);
}

rma_status_t rma_put_vector_nb(const rma_iov_t* iov, size_t count, int rank, rma_request_t* request) {
  return move_vector(__func__, put_vector, {iov, count}, rank, by(request));
}

rma_status_t rma_put_vector_nbi(const rma_iov_t* iov, size_t count, int rank) {
  return move_vector(__func__, put_vector, {iov, count}, rank, kImplicit);
}

rma_status_t rma_get_vector(const rma_iov_t* iov, size_t count, int rank) {
  return move_vector(__func__, get_vector, {iov, count}, rank, kBlocking);
}

rma_status_t rma_get_vector_nb(const rma_iov_t* iov, size_t count, int rank, rma_request_t* request) {
  return move_vector(__func__, get_vector, {iov, count}, rank, by(request));
}

rma_status_t rma_get_vector_nbi(const rma_iov_t* iov, size_t count, int rank) {
  return move_vector(__func__, get_vector, {iov, count}, rank, kImplicit);
}

rma_status_t rma_acc_vector(const rma_iov_t* iov, size_t count, rma_type_t type, const void* scale,
                            int rank) {
  return accumulate_vector(__func__, {iov, count}, type, scale, rank, kBlocking);
}

rma_status_t rma_acc_vector_nb(const rma_iov_t* iov, size_t count, rma_type_t type, const void* scale,
                               int rank, rma_request_t* request) {
  return accumulate_vector(__func__, {iov, count}, type, scale, rank, by(request));
}

rma_status_t rma_acc_vector_nbi(const rma_iov_t* iov, size_t count, rma_type_t type, const void* scale,
                                int rank) {
  return accumulate_vector(__func__, {iov, count}, type, scale, rank, kImplicit);
}

}  // extern "C"

}  // namespace librma
