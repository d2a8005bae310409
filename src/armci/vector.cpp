// Vector put, get and accumulate.

#include <fmt/format.h>

#include <array>
#include <vector>

#include "armci/alias.hpp"
#include "armci/exclusive_or.hpp"
#include "armci/handles.hpp"
#include "armci/types.hpp"
#include "util/try.hpp"

namespace librma::armci {
namespace {

/// The descriptors for the runtime. A negative size becomes a huge one, which the runtime refuses
/// because it overflows.
class List {
 public:
  List(const armci_giov_t* list, int count) : count_(static_cast<std::size_t>(count)) {
    if (count_ > few_.size()) many_.resize(count_);
    rma_iov_t* const to = count_ > few_.size() ? many_.data() : few_.data();
    for (std::size_t i = 0; i < count_; ++i) {
      to[i] = {.dst = list[i].dst_ptr_array,
               .src = list[i].src_ptr_array,
               .segments = static_cast<std::size_t>(list[i].ptr_array_len),
               .bytes = static_cast<std::size_t>(list[i].bytes)};
    }
    data_ = to;
  }
  List(const List&) = delete;
  List& operator=(const List&) = delete;

  /// Checks the arguments of the constructor. Returns 0 or the result of the call.
  static int check(const armci_giov_t* list, int count) {
    if (count < 0) return kBadSize;
    if (count > 0 && list == nullptr) return kNullArgument;
    for (int i = 0; i < count; ++i) {
      if (list[i].ptr_array_len < 0 || list[i].bytes < 0) return kBadSize;
    }
    return 0;
  }

  [[nodiscard]] const rma_iov_t* data() const { return data_; }
  [[nodiscard]] std::size_t count() const { return count_; }

 private:
  std::size_t count_;
  const rma_iov_t* data_;
  std::array<rma_iov_t, 8> few_;  // only the used entries are written
  std::vector<rma_iov_t> many_;
};

/// Checks the arguments and calls `body(const List&)`, which returns the result of the call.
template <typename Body>
int with_list(const armci_giov_t* list, int count, const Body& body) {
  RMA_TRY(List::check(list, count));
  return body(List(list, count));
}

/// Ends the job for an invalid address. A program that fills in the two numbers of an armci_giov_t in the
/// wrong order produces such addresses, so the text names this cause.
void check_addresses(rma_status_t status, const char* call) {
  if (status != RMA_ERR_ADDRESS) [[likely]]
    return;
  die(call,
      fmt::format("{}; in an armci_giov_t, ptr_array_len stands before bytes: does the program fill it in "
                  "another ARMCI's order?",
                  rma_last_error()));
}

int list_result(rma_status_t status, const char* call) {
  check_addresses(status, call);
  return result(status, call);
}

}  // namespace

extern "C" {

int PARMCI_PutV(armci_giov_t list[], int count, int proc) {
  return with_list(list, count, [&](const List& l) {
    return list_result(rma_put_vector(l.data(), l.count(), proc), "PARMCI_PutV");
  });
}

int PARMCI_GetV(armci_giov_t list[], int count, int proc) {
  return with_list(list, count, [&](const List& l) {
    return list_result(rma_get_vector(l.data(), l.count(), proc), "PARMCI_GetV");
  });
}

int PARMCI_AccV(int type, void* scale, armci_giov_t list[], int count, int proc) {
  if (type == ARMCI_ACC_RA) [[unlikely]] {
    const int refused = List::check(list, count);
    return refused != 0 ? refused : exclusive_or(list, count, proc, __func__);
  }
  const rma_type_t of = type_of(type, __func__);
  return with_list(list, count, [&](const List& l) {
    return list_result(rma_acc_vector(l.data(), l.count(), of, scale, proc), "PARMCI_AccV");
  });
}

int PARMCI_NbPutV(armci_giov_t list[], int count, int proc, armci_hdl_t* handle) {
  return with_list(list, count, [&](const List& l) {
    return start_checked(handle, proc, "PARMCI_NbPutV", rma_put_vector_nb, rma_put_vector_nbi,
                         check_addresses, l.data(), l.count(), proc);
  });
}

int PARMCI_NbGetV(armci_giov_t list[], int count, int proc, armci_hdl_t* handle) {
  return with_list(list, count, [&](const List& l) {
    return start_checked(handle, proc, "PARMCI_NbGetV", rma_get_vector_nb, rma_get_vector_nbi,
                         check_addresses, l.data(), l.count(), proc);
  });
}

int PARMCI_NbAccV(int type, void* scale, armci_giov_t list[], int count, int proc, armci_hdl_t* handle) {
  if (type == ARMCI_ACC_RA) [[unlikely]]
    return over(handle, PARMCI_AccV(type, scale, list, count, proc));
  const rma_type_t of = type_of(type, __func__);
  return with_list(list, count, [&](const List& l) {
    return start_checked(handle, proc, "PARMCI_NbAccV", rma_acc_vector_nb, rma_acc_vector_nbi,
                         check_addresses, l.data(), l.count(), of, scale, proc);
  });
}

}  // extern "C"

}  // namespace librma::armci

RMA_ARMCI(PutV);
RMA_ARMCI(GetV);
RMA_ARMCI(AccV);
RMA_ARMCI(NbPutV);
RMA_ARMCI(NbGetV);
RMA_ARMCI(NbAccV);
