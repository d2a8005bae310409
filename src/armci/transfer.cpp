// Contiguous put, get and accumulate.

#include <optional>

#include "armci/alias.hpp"
#include "armci/exclusive_or.hpp"
#include "armci/state.hpp"
#include "armci/types.hpp"
#include "rma/direct.h"

namespace librma::armci {
namespace {

/// A negative size becomes a huge one, which the runtime refuses because the end of the range overflows.
std::size_t size_of(int bytes) { return static_cast<std::size_t>(bytes); }

/// Checks a transfer that is gathered. The runtime sees it only later, when no call returns its
/// status any more.
int check(const void* src, const void* dst, int bytes, int process) {
  if (bytes < 0) return kBadSize;
  if (process < 0 || process >= rma_size()) return kBadProcess;
  return bytes > 0 && (src == nullptr || dst == nullptr) ? kNullArgument : 0;
}

/// Returns the result of rma_same_host(), inlined, because a call would cost more than gathering may cost.
bool mapped(int process) {
  const auto rank = static_cast<std::size_t>(static_cast<unsigned>(process));
  return rank < rma_direct.count && rma_direct.peers[rank].bytes != 0;
}

/// Gathers the transfer if there is a `handle` that gathers, and returns the result of the call; returns no
/// value if the transfer was not gathered. A transfer to a process of this host is executed at once, even if
/// the handle gathers. The handle then stays as it is, because it may contain the number of another
/// operation.
std::optional<int> gathered(const armci_hdl_t* handle, Aggregates::Kind kind, void* src, void* dst, int bytes,
                            int process, const char* call) {
  if (handle == nullptr) return std::nullopt;
  Aggregates& aggregates = state(call).handles.aggregates;
  if (!aggregates.any()) [[likely]]
    return std::nullopt;
  if (mapped(process)) {
    return result(kind == Aggregates::Kind::put ? rma_put(dst, src, size_of(bytes), process)
                                                : rma_get(dst, src, size_of(bytes), process),
                  call);
  }
  const int refused = check(src, dst, bytes, process);
  if (refused != 0 || bytes == 0) return refused;
  if (aggregates.add(handle, kind, src, dst, size_of(bytes), process)) return 0;
  return std::nullopt;
}

/// Computes the number of elements. Returns false if `bytes` is not a multiple of their size.
bool elements_of(int bytes, rma_type_t type, std::size_t& elements) {
  elements = size_of(bytes) / type_size(type);
  return bytes >= 0 && size_of(bytes) % type_size(type) == 0;
}

}  // namespace

extern "C" {

int PARMCI_Put(void* src, void* dst, int bytes, int proc) {
  return result(rma_put(dst, src, size_of(bytes), proc), __func__);
}

int PARMCI_Get(void* src, void* dst, int bytes, int proc) {
  return result(rma_get(dst, src, size_of(bytes), proc), __func__);
}

int PARMCI_Acc(int type, void* scale, void* src, void* dst, int bytes, int proc) {
  if (type == ARMCI_ACC_RA) [[unlikely]]
    return exclusive_or(src, dst, bytes, proc, __func__);
  const rma_type_t of = type_of(type, __func__);
  std::size_t elements = 0;
  if (!elements_of(bytes, of, elements)) return kBadSize;
  return result(rma_acc(dst, src, elements, of, scale, proc), __func__);
}

int PARMCI_Put_flag(void* src, void* dst, int bytes, int* flag, int value, int proc) {
  const int put = PARMCI_Put(src, dst, bytes, proc);
  return put != 0 ? put : PARMCI_Put(&value, flag, sizeof value, proc);
}

int PARMCI_NbPut(void* src, void* dst, int bytes, int proc, armci_hdl_t* handle) {
  if (const auto now = gathered(handle, Aggregates::Kind::put, src, dst, bytes, proc, __func__)) return *now;
  return start(handle, proc, __func__, rma_put_nb, rma_put_nbi, dst, src, size_of(bytes), proc);
}

int PARMCI_NbGet(void* src, void* dst, int bytes, int proc, armci_hdl_t* handle) {
  if (const auto now = gathered(handle, Aggregates::Kind::get, src, dst, bytes, proc, __func__)) return *now;
  return start(handle, proc, __func__, rma_get_nb, rma_get_nbi, dst, src, size_of(bytes), proc);
}

int PARMCI_NbAcc(int type, void* scale, void* src, void* dst, int bytes, int proc, armci_hdl_t* handle) {
  if (type == ARMCI_ACC_RA) [[unlikely]]
    return over(handle, exclusive_or(src, dst, bytes, proc, __func__));
  const rma_type_t of = type_of(type, __func__);
  std::size_t elements = 0;
  if (!elements_of(bytes, of, elements)) return kBadSize;
  return start(handle, proc, __func__, rma_acc_nb, rma_acc_nbi, dst, src, elements, of, scale, proc);
}

}  // extern "C"

}  // namespace librma::armci

RMA_ARMCI(Put);
RMA_ARMCI(Get);
RMA_ARMCI(Acc);
RMA_ARMCI(Put_flag);
RMA_ARMCI(NbPut);
RMA_ARMCI(NbGet);
RMA_ARMCI(NbAcc);
