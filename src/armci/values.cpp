// Put and get of single values. A value does not outlive the call, so a nonblocking put of a value is
// complete when it returns.

#include "armci/alias.hpp"
#include "armci/errors.hpp"
#include "rma/rma.h"

namespace librma::armci {
namespace {

template <typename Value>
int put(Value value, void* dst, int process, const char* call) {
  return result(rma_put(dst, &value, sizeof value, process), call);
}

template <typename Value>
int put_nb(Value value, void* dst, int process, armci_hdl_t* handle, const char* call) {
  if (handle != nullptr) handle->operation = 0;
  return put(value, dst, process, call);
}

template <typename Value>
Value get(const void* src, int process, const char* call) {
  Value value{};
  require(rma_get(&value, src, sizeof value, process), call);
  return value;
}

}  // namespace

extern "C" {

int PARMCI_PutValueInt(int value, void* dst, int proc) { return put(value, dst, proc, __func__); }
int PARMCI_PutValueLong(long value, void* dst, int proc) { return put(value, dst, proc, __func__); }
int PARMCI_PutValueFloat(float value, void* dst, int proc) { return put(value, dst, proc, __func__); }
int PARMCI_PutValueDouble(double value, void* dst, int proc) { return put(value, dst, proc, __func__); }

int PARMCI_NbPutValueInt(int value, void* dst, int proc, armci_hdl_t* handle) {
  return put_nb(value, dst, proc, handle, __func__);
}
int PARMCI_NbPutValueLong(long value, void* dst, int proc, armci_hdl_t* handle) {
  return put_nb(value, dst, proc, handle, __func__);
}
int PARMCI_NbPutValueFloat(float value, void* dst, int proc, armci_hdl_t* handle) {
  return put_nb(value, dst, proc, handle, __func__);
}
int PARMCI_NbPutValueDouble(double value, void* dst, int proc, armci_hdl_t* handle) {
  return put_nb(value, dst, proc, handle, __func__);
}

int PARMCI_GetValueInt(void* src, int proc) { return get<int>(src, proc, __func__); }
long PARMCI_GetValueLong(void* src, int proc) { return get<long>(src, proc, __func__); }
float PARMCI_GetValueFloat(void* src, int proc) { return get<float>(src, proc, __func__); }
double PARMCI_GetValueDouble(void* src, int proc) { return get<double>(src, proc, __func__); }

}  // extern "C"

}  // namespace librma::armci

RMA_ARMCI(PutValueInt);
RMA_ARMCI(PutValueLong);
RMA_ARMCI(PutValueFloat);
RMA_ARMCI(PutValueDouble);
RMA_ARMCI(NbPutValueInt);
RMA_ARMCI(NbPutValueLong);
RMA_ARMCI(NbPutValueFloat);
RMA_ARMCI(NbPutValueDouble);
RMA_ARMCI(GetValueInt);
RMA_ARMCI(GetValueLong);
RMA_ARMCI(GetValueFloat);
RMA_ARMCI(GetValueDouble);
