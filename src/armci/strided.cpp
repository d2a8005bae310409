// Strided put, get and accumulate. The runtime describes shapes in the same form, with wider numbers.

#include <array>

#include "armci/alias.hpp"
#include "armci/exclusive_or.hpp"
#include "armci/handles.hpp"
#include "armci/types.hpp"

namespace librma::armci {
namespace {

/// A shape with the runtime's number types. A negative count becomes a huge one, which the runtime refuses
/// because the extent overflows.
class ArmciShape {
 public:
  ArmciShape(const int* src_strides, const int* dst_strides, const int* counts, int levels)
      : levels_(levels) {
    counts_[0] = static_cast<std::size_t>(counts[0]);
    for (std::size_t i = 0; i < static_cast<std::size_t>(levels); ++i) {
      dst_strides_[i] = dst_strides[i];
      src_strides_[i] = src_strides[i];
      counts_[i + 1] = static_cast<std::size_t>(counts[i + 1]);
    }
  }

  /// Checks the arguments of the constructor. Returns 0 or the result of the call.
  static int check(const int* src_strides, const int* dst_strides, const int* counts, int levels) {
    if (levels < 0 || levels > ARMCI_MAX_STRIDE_LEVEL) [[unlikely]]
      return kBadLevels;
    const bool lacks_strides = levels > 0 && (src_strides == nullptr || dst_strides == nullptr);
    return counts == nullptr || lacks_strides ? kNullArgument : 0;
  }

  [[nodiscard]] const ptrdiff_t* dst_strides() const { return dst_strides_.data(); }
  [[nodiscard]] const ptrdiff_t* src_strides() const { return src_strides_.data(); }
  [[nodiscard]] const std::size_t* counts() const { return counts_.data(); }
  [[nodiscard]] int levels() const { return levels_; }

 private:
  // Only the entries of existing levels are written.
  std::array<ptrdiff_t, ARMCI_MAX_STRIDE_LEVEL> dst_strides_;
  std::array<ptrdiff_t, ARMCI_MAX_STRIDE_LEVEL> src_strides_;
  std::array<std::size_t, ARMCI_MAX_STRIDE_LEVEL + 1> counts_;
  int levels_;
};

/// Checks the arguments and calls `body(const ArmciShape&)`, which returns the result of the call.
template <typename Body>
[[gnu::always_inline]] inline int with_shape(const int* src_strides, const int* dst_strides,
                                             const int* counts, int levels, const Body& body) {
  if (const int refused = ArmciShape::check(src_strides, dst_strides, counts, levels); refused != 0)
      [[unlikely]]
    return refused;
  return body(ArmciShape(src_strides, dst_strides, counts, levels));
}

}  // namespace

extern "C" {

int PARMCI_PutS(void* src, int src_strides[], void* dst, int dst_strides[], int counts[], int levels,
                int proc) {
  return with_shape(src_strides, dst_strides, counts, levels, [&](const ArmciShape& s) {
    return result(rma_put_strided(dst, s.dst_strides(), src, s.src_strides(), s.counts(), s.levels(), proc),
                  "PARMCI_PutS");
  });
}

int PARMCI_GetS(void* src, int src_strides[], void* dst, int dst_strides[], int counts[], int levels,
                int proc) {
  return with_shape(src_strides, dst_strides, counts, levels, [&](const ArmciShape& s) {
    return result(rma_get_strided(dst, s.dst_strides(), src, s.src_strides(), s.counts(), s.levels(), proc),
                  "PARMCI_GetS");
  });
}

int PARMCI_AccS(int type, void* scale, void* src, int src_strides[], void* dst, int dst_strides[],
                int counts[], int levels, int proc) {
  if (type == ARMCI_ACC_RA) [[unlikely]] {
    const int refused = ArmciShape::check(src_strides, dst_strides, counts, levels);
    return refused != 0 ? refused
                        : exclusive_or(src, src_strides, dst, dst_strides, counts, levels, proc, __func__);
  }
  const rma_type_t of = type_of(type, __func__);
  return with_shape(src_strides, dst_strides, counts, levels, [&](const ArmciShape& s) {
    return result(
        rma_acc_strided(dst, s.dst_strides(), src, s.src_strides(), s.counts(), s.levels(), of, scale, proc),
        "PARMCI_AccS");
  });
}

int PARMCI_PutS_flag(void* src, int src_strides[], void* dst, int dst_strides[], int counts[], int levels,
                     int* flag, int value, int proc) {
  const int put = PARMCI_PutS(src, src_strides, dst, dst_strides, counts, levels, proc);
  return put != 0 ? put : PARMCI_Put(&value, flag, sizeof value, proc);
}

int PARMCI_PutS_flag_dir(void* src, int src_strides[], void* dst, int dst_strides[], int counts[], int levels,
                         int* flag, int value, int proc) {
  return PARMCI_PutS_flag(src, src_strides, dst, dst_strides, counts, levels, flag, value, proc);
}

int PARMCI_NbPutS(void* src, int src_strides[], void* dst, int dst_strides[], int counts[], int levels,
                  int proc, armci_hdl_t* handle) {
  // The transfer is contiguous, so an aggregate handle may gather it.
  if (levels == 0 && counts != nullptr) return PARMCI_NbPut(src, dst, counts[0], proc, handle);
  return with_shape(src_strides, dst_strides, counts, levels, [&](const ArmciShape& s) {
    return start(handle, proc, "PARMCI_NbPutS", rma_put_strided_nb, rma_put_strided_nbi, dst, s.dst_strides(),
                 src, s.src_strides(), s.counts(), s.levels(), proc);
  });
}

int PARMCI_NbGetS(void* src, int src_strides[], void* dst, int dst_strides[], int counts[], int levels,
                  int proc, armci_hdl_t* handle) {
  if (levels == 0 && counts != nullptr) return PARMCI_NbGet(src, dst, counts[0], proc, handle);
  return with_shape(src_strides, dst_strides, counts, levels, [&](const ArmciShape& s) {
    return start(handle, proc, "PARMCI_NbGetS", rma_get_strided_nb, rma_get_strided_nbi, dst, s.dst_strides(),
                 src, s.src_strides(), s.counts(), s.levels(), proc);
  });
}

int PARMCI_NbAccS(int type, void* scale, void* src, int src_strides[], void* dst, int dst_strides[],
                  int counts[], int levels, int proc, armci_hdl_t* handle) {
  if (type == ARMCI_ACC_RA) [[unlikely]] {
    return over(handle, PARMCI_AccS(type, scale, src, src_strides, dst, dst_strides, counts, levels, proc));
  }
  const rma_type_t of = type_of(type, __func__);
  return with_shape(src_strides, dst_strides, counts, levels, [&](const ArmciShape& s) {
    return start(handle, proc, "PARMCI_NbAccS", rma_acc_strided_nb, rma_acc_strided_nbi, dst, s.dst_strides(),
                 src, s.src_strides(), s.counts(), s.levels(), of, scale, proc);
  });
}

}  // extern "C"

}  // namespace librma::armci

RMA_ARMCI(PutS);
RMA_ARMCI(GetS);
RMA_ARMCI(AccS);
RMA_ARMCI(PutS_flag);
RMA_ARMCI(PutS_flag_dir);
RMA_ARMCI(NbPutS);
RMA_ARMCI(NbGetS);
RMA_ARMCI(NbAccS);
