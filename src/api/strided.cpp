// Strided transfers.

#include "strided/strided.hpp"

#include "api/call.hpp"
#include "api/check.hpp"
#include "util/try.hpp"
#include "util/try_assign.hpp"

namespace rma {
namespace {

/// The arguments that all strided calls share, before they are checked.
struct StridedArguments {
  void* dst;
  const ptrdiff_t* dst_strides;
  const void* src;
  const ptrdiff_t* src_strides;
  const std::size_t* counts;
  int levels;
  int rank;
};

/// Checks the arguments and returns the shape in normal form.
Result<StridedShape> shape_of(const Runtime& runtime, const StridedArguments& given) {
  RMA_TRY(check_strided(runtime, given.dst, given.dst_strides, given.src, given.src_strides, given.counts,
                        given.levels, given.rank));
  return StridedShape::make(given.counts, given.dst_strides, given.src_strides, given.levels);
}

Status put(Runtime& runtime, const StridedArguments& given, const Ending& ending) {
  RMA_TRY_ASSIGN(shape, shape_of(runtime, given));
  return put_strided(runtime.transfer_paths(), given.dst, given.src, shape, given.rank, ending);
}

Status get(Runtime& runtime, const StridedArguments& given, const Ending& ending) {
  RMA_TRY_ASSIGN(shape, shape_of(runtime, given));
  return get_strided(runtime.transfer_paths(), given.dst, given.src, shape, given.rank, ending);
}

Status accumulate(Runtime& runtime, const StridedArguments& given, rma_type_t type, const void* scale) {
  RMA_TRY(check_type(type));
  RMA_TRY_ASSIGN(shape, shape_of(runtime, given));
  return acc_strided(*runtime.accumulator, given.dst, given.src, shape, type, scale, given.rank);
}

}  // namespace
}  // namespace rma

using rma::Ending;
using rma::Runtime;
using rma::Status;

extern "C" {

rma_status_t rma_put_strided(void* dst, const ptrdiff_t* dst_strides, const void* src,
                             const ptrdiff_t* src_strides, const size_t* counts, int levels, int rank) {
  return rma::call(__func__, rank, 0, [&](Runtime& runtime) {
    return rma::put(runtime, {dst, dst_strides, src, src_strides, counts, levels, rank}, {});
  });
}

rma_status_t rma_put_strided_nb(void* dst, const ptrdiff_t* dst_strides, const void* src,
                                const ptrdiff_t* src_strides, const size_t* counts, int levels, int rank,
                                rma_request_t* request) {
  return rma::call(__func__, rank, 0, [&](Runtime& runtime) {
    RMA_TRY(rma::check_not_null(request, "request"));
    return rma::put(runtime, {dst, dst_strides, src, src_strides, counts, levels, rank},
                    {.kind = Ending::Kind::request, .request = request});
  });
}

rma_status_t rma_put_strided_nbi(void* dst, const ptrdiff_t* dst_strides, const void* src,
                                 const ptrdiff_t* src_strides, const size_t* counts, int levels, int rank) {
  return rma::call(__func__, rank, 0, [&](Runtime& runtime) {
    return rma::put(runtime, {dst, dst_strides, src, src_strides, counts, levels, rank},
                    {.kind = Ending::Kind::implicit});
  });
}

rma_status_t rma_get_strided(void* dst, const ptrdiff_t* dst_strides, const void* src,
                             const ptrdiff_t* src_strides, const size_t* counts, int levels, int rank) {
  return rma::call(__func__, rank, 0, [&](Runtime& runtime) {
    return rma::get(runtime, {dst, dst_strides, src, src_strides, counts, levels, rank}, {});
  });
}

rma_status_t rma_get_strided_nb(void* dst, const ptrdiff_t* dst_strides, const void* src,
                                const ptrdiff_t* src_strides, const size_t* counts, int levels, int rank,
                                rma_request_t* request) {
  return rma::call(__func__, rank, 0, [&](Runtime& runtime) {
    RMA_TRY(rma::check_not_null(request, "request"));
    return rma::get(runtime, {dst, dst_strides, src, src_strides, counts, levels, rank},
                    {.kind = Ending::Kind::request, .request = request});
  });
}

rma_status_t rma_get_strided_nbi(void* dst, const ptrdiff_t* dst_strides, const void* src,
                                 const ptrdiff_t* src_strides, const size_t* counts, int levels, int rank) {
  return rma::call(__func__, rank, 0, [&](Runtime& runtime) {
    return rma::get(runtime, {dst, dst_strides, src, src_strides, counts, levels, rank},
                    {.kind = Ending::Kind::implicit});
  });
}

rma_status_t rma_acc_strided(void* dst, const ptrdiff_t* dst_strides, const void* src,
                             const ptrdiff_t* src_strides, const size_t* counts, int levels, rma_type_t type,
                             const void* scale, int rank) {
  return rma::call(__func__, rank, 0, [&](Runtime& runtime) {
    return rma::accumulate(runtime, {dst, dst_strides, src, src_strides, counts, levels, rank}, type, scale);
  });
}

rma_status_t rma_acc_strided_nb(void* dst, const ptrdiff_t* dst_strides, const void* src,
                                const ptrdiff_t* src_strides, const size_t* counts, int levels,
                                rma_type_t type, const void* scale, int rank, rma_request_t* request) {
  return rma::call(__func__, rank, 0, [&](Runtime& runtime) {
    RMA_TRY(rma::check_not_null(request, "request"));
    return rma::complete(
        {rma::Ending::Kind::request, request},
        rma::accumulate(runtime, {dst, dst_strides, src, src_strides, counts, levels, rank}, type, scale));
  });
}

rma_status_t rma_acc_strided_nbi(void* dst, const ptrdiff_t* dst_strides, const void* src,
                                 const ptrdiff_t* src_strides, const size_t* counts, int levels,
                                 rma_type_t type, const void* scale, int rank) {
  return rma::call(__func__, rank, 0, [&](Runtime& runtime) {
    return rma::accumulate(runtime, {dst, dst_strides, src, src_strides, counts, levels, rank}, type, scale);
  });
}

}  // extern "C"
