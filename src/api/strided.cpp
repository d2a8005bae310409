// Strided transfers.

#include "strided/strided.hpp"

#include "api/call.hpp"
#include "api/check.hpp"
#include "api/endings.hpp"
#include "api/runtime/transfer_paths.hpp"
#include "util/try.hpp"
#include "util/try_assign.hpp"

namespace librma {
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

/// Calls `transfer`, put_strided or get_strided. `name` is the name of the call.
[[gnu::always_inline]] inline rma_status_t move_strided(const char* name, decltype(put_strided)& transfer,
                                                        const StridedArguments& given, const Ending& ending) {
  return call(name, given.rank, 0, [&](Runtime& runtime) RMA_INLINE_BODY -> Status {
    RMA_TRY(check_ending(ending));
    RMA_TRY_ASSIGN(shape, shape_of(runtime, given));
    return transfer(runtime.transfer_paths(), given.dst, given.src, shape, given.rank, ending);
  });
}

[[gnu::always_inline]] inline rma_status_t accumulate_strided(const char* name, const StridedArguments& given,
                                                              rma_type_t type, const void* scale,
                                                              const Ending& ending) {
  return call(name, given.rank, 0, [&](Runtime& runtime) RMA_INLINE_BODY -> Status {
    RMA_TRY(check_ending(ending));
    const auto execute = [&]() -> Status {
      RMA_TRY(check_type(type));
      RMA_TRY_ASSIGN(shape, shape_of(runtime, given));
      return acc_strided(*runtime.accumulator, given.dst, given.src, shape, type, scale, given.rank);
    };
    return complete(ending, execute());
  });
}

}  // namespace

extern "C" {

rma_status_t rma_put_strided(void* dst, const ptrdiff_t* dst_strides, const void* src,
                             const ptrdiff_t* src_strides, const size_t* counts, int levels, int rank) {
  return move_strided(__func__, put_strided, {dst, dst_strides, src, src_strides, counts, levels, rank},
                      kBlocking);
}

rma_status_t rma_put_strided_nb(void* dst, const ptrdiff_t* dst_strides, const void* src,
                                const ptrdiff_t* src_strides, const size_t* counts, int levels, int rank,
                                rma_request_t* request) {
  return move_strided(__func__, put_strided, {dst, dst_strides, src, src_strides, counts, levels, rank},
                      by(request));
}

rma_status_t rma_put_strided_nbi(void* dst, const ptrdiff_t* dst_strides, const void* src,
                                 const ptrdiff_t* src_strides, const size_t* counts, int levels, int rank) {
  return move_strided(__func__, put_strided, {dst, dst_strides, src, src_strides, counts, levels, rank},
                      kImplicit);
}

rma_status_t rma_get_strided(void* dst, const ptrdiff_t* dst_strides, const void* src,
                             const ptrdiff_t* src_strides, const size_t* counts, int levels, int rank) {
  return move_strided(__func__, get_strided, {dst, dst_strides, src, src_strides, counts, levels, rank},
                      kBlocking);
}

rma_status_t rma_get_strided_nb(void* dst, const ptrdiff_t* dst_strides, const void* src,
                                const ptrdiff_t* src_strides, const size_t* counts, int levels, int rank,
                                rma_request_t* request) {
  return move_strided(__func__, get_strided, {dst, dst_strides, src, src_strides, counts, levels, rank},
                      by(request));
}

rma_status_t rma_get_strided_nbi(void* dst, const ptrdiff_t* dst_strides, const void* src,
                                 const ptrdiff_t* src_strides, const size_t* counts, int levels, int rank) {
  return move_strided(__func__, get_strided, {dst, dst_strides, src, src_strides, counts, levels, rank},
                      kImplicit);
}

rma_status_t rma_acc_strided(void* dst, const ptrdiff_t* dst_strides, const void* src,
                             const ptrdiff_t* src_strides, const size_t* counts, int levels, rma_type_t type,
                             const void* scale, int rank) {
  return accumulate_strided(__func__, {dst, dst_strides, src, src_strides, counts, levels, rank}, type, scale,
                            kBlocking);
}

rma_status_t rma_acc_strided_nb(void* dst, const ptrdiff_t* dst_strides, const void* src,
                                const ptrdiff_t* src_strides, const size_t* counts, int levels,
                                rma_type_t type, const void* scale, int rank, rma_request_t* request) {
  return accumulate_strided(__func__, {dst, dst_strides, src, src_strides, counts, levels, rank}, type, scale,
                            by(request));
}

rma_status_t rma_acc_strided_nbi(void* dst, const ptrdiff_t* dst_strides, const void* src,
                                 const ptrdiff_t* src_strides, const size_t* counts, int levels,
                                 rma_type_t type, const void* scale, int rank) {
  return accumulate_strided(__func__, {dst, dst_strides, src, src_strides, counts, levels, rank}, type, scale,
                            kImplicit);
}

}  // extern "C"

}  // namespace librma
