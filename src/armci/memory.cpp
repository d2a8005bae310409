// Memory that other processes can access.

#include <fmt/format.h>

#include <cstring>

#include "armci/alias.hpp"
#include "armci/errors.hpp"
#include "armci/groups.hpp"

namespace librma::armci {
namespace {

/// Allocates for a group. The program sees a lack of memory as the result of the call. The runtime returns
/// the same result to all members.
int allocate(void** addresses, armci_size_t bytes, const Group& group, const char* call) {
  if (addresses == nullptr) return kNullArgument;
  const auto size = static_cast<std::size_t>(bytes);
  const rma_status_t status = rma_malloc(team_of(group, call), size, 0, addresses, nullptr);
  return status == RMA_ERR_NO_MEMORY ? static_cast<int>(status) : result(status, call);
}

int release(void* address, const Group& group, const char* call) {
  return result(rma_free(team_of(group, call), address), call);
}

}  // namespace

extern "C" {

int PARMCI_Malloc(void* addresses[], armci_size_t bytes) {
  return allocate(addresses, bytes, default_group(__func__), __func__);
}

int PARMCI_Free(void* address) { return release(address, default_group(__func__), __func__); }

int PARMCI_Malloc_group(void* addresses[], armci_size_t bytes, ARMCI_Group* group) {
  return allocate(addresses, bytes, group_of(group, __func__), __func__);
}

int PARMCI_Free_group(void* address, ARMCI_Group* group) {
  return release(address, group_of(group, __func__), __func__);
}

int PARMCI_Malloc_memdev(void* addresses[], armci_size_t bytes, const char* /*device*/) {
  return PARMCI_Malloc(addresses, bytes);
}

int PARMCI_Malloc_group_memdev(void* addresses[], armci_size_t bytes, ARMCI_Group* group,
                               const char* /*device*/) {
  return PARMCI_Malloc_group(addresses, bytes, group);
}

int PARMCI_Free_memdev(void* address) { return PARMCI_Free(address); }

void* PARMCI_Malloc_local(armci_size_t bytes) {
  void* address = nullptr;
  const rma_status_t status = rma_malloc_local(static_cast<std::size_t>(bytes), 0, &address);
  if (status != RMA_ERR_NO_MEMORY) require(status, __func__);
  return address;
}

int PARMCI_Free_local(void* address) { return result(rma_free_local(address), __func__); }

void PARMCI_Memget(size_t bytes, armci_meminfo_t* memory, int flags) {
  if (memory == nullptr) die(__func__, "the pointer to the armci_meminfo_t is null");
  if (bytes == 0) die(__func__, "the size is 0 bytes");
  if (flags != 0) die(__func__, fmt::format("the flags are {}: they must be 0", flags));
  void* const address = PARMCI_Malloc_local(static_cast<armci_size_t>(bytes));
  if (address == nullptr) die(__func__, rma_last_error());
  *memory = {};
  memory->armci_addr = memory->addr = static_cast<char*>(address);
  memory->size = bytes;
  memory->cpid = rma_rank();
}

void* PARMCI_Memat(armci_meminfo_t* memory, long offset) {
  if (memory == nullptr) die(__func__, "the pointer to the armci_meminfo_t is null");
  return memory->armci_addr + offset;
}

void PARMCI_Memdt(armci_meminfo_t* /*memory*/, long /*offset*/) {}

void PARMCI_Memctl(armci_meminfo_t* memory) {
  if (memory == nullptr) die(__func__, "the pointer to the armci_meminfo_t is null");
  if (memory->cpid == rma_rank()) require(rma_free_local(memory->addr), __func__);
  memory->armci_addr = memory->addr = nullptr;
}

void PARMCI_Copy(void* src, void* dst, int bytes) {
  if (bytes > 0) std::memcpy(dst, src, static_cast<std::size_t>(bytes));
}

}  // extern "C"

}  // namespace librma::armci

RMA_ARMCI(Malloc);
RMA_ARMCI(Free);
RMA_ARMCI(Malloc_group);
RMA_ARMCI(Free_group);
RMA_ARMCI(Malloc_memdev);
RMA_ARMCI(Malloc_group_memdev);
RMA_ARMCI(Free_memdev);
RMA_ARMCI(Malloc_local);
RMA_ARMCI(Free_local);
RMA_ARMCI(Memget);
RMA_ARMCI(Memat);
RMA_ARMCI(Memdt);
RMA_ARMCI(Memctl);
RMA_ARMCI(Copy);
