// I/O-vector transfers.

#include "strided/vector.hpp"

#include "api/call.hpp"
#include "api/check.hpp"
#include "util/try.hpp"

namespace rma {
namespace {

Status put(Runtime& runtime, const rma_iov_t* iov, std::size_t descriptors, int rank, const Ending& ending) {
  RMA_TRY(check_vector(runtime, iov, descriptors, rank));
  return put_vector(runtime.transfer_paths(), {iov, descriptors}, rank, ending);
}

Status get(Runtime& runtime, const rma_iov_t* iov, std::size_t descriptors, int rank, const Ending& ending) {
  RMA_TRY(check_vector(runtime, iov, descriptors, rank));
  return get_vector(runtime.transfer_paths(), {iov, descriptors}, rank, ending);
}

Status accumulate(Runtime& runtime, const rma_iov_t* iov, std::size_t descriptors, rma_type_t type,
                  const void* scale, int rank) {
  RMA_TRY(check_type(type));
  RMA_TRY(check_vector(runtime, iov, descriptors, rank));
  return acc_vector(*runtime.accumulator, {iov, descriptors}, type, scale, rank);
}

}  // namespace
}  // namespace rma

using rma::Ending;
using rma::Runtime;
using rma::Status;

extern "C" {

rma_status_t rma_put_vector(const rma_iov_t* iov, size_t count, int rank) {
  return rma::call(__func__, rank, 0,
                   [&](Runtime& runtime) { return rma::put(runtime, iov, count, rank, {}); });
}

rma_status_t rma_put_vector_nb(const rma_iov_t* iov, size_t count, int rank, rma_request_t* request) {
  return rma::call(__func__, rank, 0, [&](Runtime& runtime) {
    RMA_TRY(rma::check_not_null(request, "request"));
    return rma::put(runtime, iov, count, rank, {.kind = Ending::Kind::request, .request = request});
  });
}

rma_status_t rma_put_vector_nbi(const rma_iov_t* iov, size_t count, int rank) {
  return rma::call(__func__, rank, 0, [&](Runtime& runtime) {
    return rma::put(runtime, iov, count, rank, {.kind = Ending::Kind::implicit});
  });
}

rma_status_t rma_get_vector(const rma_iov_t* iov, size_t count, int rank) {
  return rma::call(__func__, rank, 0,
                   [&](Runtime& runtime) { return rma::get(runtime, iov, count, rank, {}); });
}

rma_status_t rma_get_vector_nb(const rma_iov_t* iov, size_t count, int rank, rma_request_t* request) {
  return rma::call(__func__, rank, 0, [&](Runtime& runtime) {
    RMA_TRY(rma::check_not_null(request, "request"));
    return rma::get(runtime, iov, count, rank, {.kind = Ending::Kind::request, .request = request});
  });
}

rma_status_t rma_get_vector_nbi(const rma_iov_t* iov, size_t count, int rank) {
  return rma::call(__func__, rank, 0, [&](Runtime& runtime) {
    return rma::get(runtime, iov, count, rank, {.kind = Ending::Kind::implicit});
  });
}

rma_status_t rma_acc_vector(const rma_iov_t* iov, size_t count, rma_type_t type, const void* scale,
                            int rank) {
  return rma::call(__func__, rank, 0,
                   [&](Runtime& runtime) { return rma::accumulate(runtime, iov, count, type, scale, rank); });
}

rma_status_t rma_acc_vector_nb(const rma_iov_t* iov, size_t count, rma_type_t type, const void* scale,
                               int rank, rma_request_t* request) {
  return rma::call(__func__, rank, 0, [&](Runtime& runtime) {
    RMA_TRY(rma::check_not_null(request, "request"));
    return rma::complete({rma::Ending::Kind::request, request},
                         rma::accumulate(runtime, iov, count, type, scale, rank));
  });
}

rma_status_t rma_acc_vector_nbi(const rma_iov_t* iov, size_t count, rma_type_t type, const void* scale,
                                int rank) {
  return rma::call(__func__, rank, 0,
                   [&](Runtime& runtime) { return rma::accumulate(runtime, iov, count, type, scale, rank); });
}

}  // extern "C"
