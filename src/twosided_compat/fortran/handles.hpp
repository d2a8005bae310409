#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "mpi.h"

namespace rma::mpi_fortran {

/// The C functions that convert the handles of one type.
template <class Handle>
struct Conversion;

#define RMA_MPI_CONVERSION(type, name)                               \
  template <>                                                        \
  struct Conversion<type> {                                          \
    static int to_int(type h) { return PMPI_##name##_toint(h); }     \
    static type from_int(int n) { return PMPI_##name##_fromint(n); } \
  }
RMA_MPI_CONVERSION(MPI_Comm, Comm);
RMA_MPI_CONVERSION(MPI_Datatype, Type);
RMA_MPI_CONVERSION(MPI_Errhandler, Errhandler);
RMA_MPI_CONVERSION(MPI_File, File);
RMA_MPI_CONVERSION(MPI_Group, Group);
RMA_MPI_CONVERSION(MPI_Info, Info);
RMA_MPI_CONVERSION(MPI_Message, Message);
RMA_MPI_CONVERSION(MPI_Op, Op);
RMA_MPI_CONVERSION(MPI_Request, Request);
RMA_MPI_CONVERSION(MPI_Session, Session);
RMA_MPI_CONVERSION(MPI_Win, Win);
#undef RMA_MPI_CONVERSION

/// Handles below this are the ABI's predefined ones: their numbers are their addresses.
constexpr MPI_Fint kPredefinedEnd = 0x1000;

template <class Handle>
bool is_predefined(Handle h) {
  return reinterpret_cast<std::uintptr_t>(h) < static_cast<std::uintptr_t>(kPredefinedEnd);
}

/// Returns the handle that `number` stands for.
template <class Handle>
Handle handle(MPI_Fint number) {
  if (number >= 0 && number < kPredefinedEnd)
    return reinterpret_cast<Handle>(static_cast<std::uintptr_t>(number));
  return Conversion<Handle>::from_int(number);
}

/// Returns the number that stands for `h`.
template <class Handle>
MPI_Fint number_of(Handle h) {
  if (is_predefined(h)) return static_cast<MPI_Fint>(reinterpret_cast<std::uintptr_t>(h));
  return Conversion<Handle>::to_int(h);
}

/// The place where a C function stores a new handle. The number is stored at the end of the call, unless the
/// function has set nothing.
template <class Handle>
class HandleOut {
 public:
  explicit HandleOut(MPI_Fint* number) : number_(number) {}
  HandleOut(const HandleOut&) = delete;
  HandleOut& operator=(const HandleOut&) = delete;
  ~HandleOut() {
    if (handle_ != nullptr) *number_ = number_of(handle_);
  }
  operator Handle*() {
    return &handle_;
  }  // NOLINT(google-explicit-constructor): an argument of the C function

 private:
  MPI_Fint* number_;
  Handle handle_ = nullptr;
};

/// A handle that a C function reads and may make null. It replaces no handle by another, so only a null is
/// stored.
template <class Handle>
class HandleInOut {
 public:
  explicit HandleInOut(MPI_Fint* number) : number_(number), handle_(handle<Handle>(*number)) {}
  HandleInOut(const HandleInOut&) = delete;
  HandleInOut& operator=(const HandleInOut&) = delete;
  ~HandleInOut() {
    if (is_predefined(handle_)) *number_ = number_of(handle_);
  }
  operator Handle*() {
    return &handle_;
  }  // NOLINT(google-explicit-constructor): an argument of the C function

 private:
  MPI_Fint* number_;
  Handle handle_;
};

/// An array of handles, converted. Short ones need no allocation.
template <class Handle>
class Handles {
 public:
  explicit Handles(MPI_Count count) : size_(static_cast<std::size_t>(std::max<MPI_Count>(count, 0))) {
    if (size_ > few_.size()) many_.resize(size_);
  }
  Handles(const Handles&) = delete;
  Handles& operator=(const Handles&) = delete;
  ~Handles() = default;
  Handle* data() { return many_.empty() ? few_.data() : many_.data(); }
  std::size_t size() const { return size_; }
  void read(const MPI_Fint* numbers) {
    std::transform(numbers, numbers + size_, data(), [](MPI_Fint number) { return handle<Handle>(number); });
  }

 private:
  std::size_t size_;
  std::array<Handle, 16> few_{};
  std::vector<Handle> many_;
};

/// An array of handles that a C function reads. The function keeps no pointer to it: an entry point's array
/// ends with the call, also where the call begins a nonblocking operation.
template <class Handle>
class HandlesIn {
 public:
  HandlesIn(const MPI_Fint* numbers, MPI_Count count) : handles_(count) { handles_.read(numbers); }
  operator const Handle*() { return handles_.data(); }  // NOLINT(google-explicit-constructor): as above

 private:
  Handles<Handle> handles_;
};

/// An array of handles that a C function reads, and of which it may make some null.
template <class Handle>
class HandlesInOut {
 public:
  HandlesInOut(MPI_Fint* numbers, MPI_Count count) : numbers_(numbers), handles_(count) {
    handles_.read(numbers);
  }
  HandlesInOut(const HandlesInOut&) = delete;
  HandlesInOut& operator=(const HandlesInOut&) = delete;
  ~HandlesInOut() {
    for (std::size_t i = 0; i < handles_.size(); ++i) {
      if (is_predefined(handles_.data()[i])) numbers_[i] = number_of(handles_.data()[i]);
    }
  }
  operator Handle*() { return handles_.data(); }  // NOLINT(google-explicit-constructor): as above

 private:
  MPI_Fint* numbers_;
  Handles<Handle> handles_;
};

/// The place where a C function stores an array of new handles.
template <class Handle>
class HandlesOut {
 public:
  HandlesOut(MPI_Fint* numbers, MPI_Count count) : numbers_(numbers), handles_(count) {}
  HandlesOut(const HandlesOut&) = delete;
  HandlesOut& operator=(const HandlesOut&) = delete;
  ~HandlesOut() {
    for (std::size_t i = 0; i < handles_.size(); ++i) {
      if (handles_.data()[i] != nullptr) numbers_[i] = number_of(handles_.data()[i]);
    }
  }
  operator Handle*() { return handles_.data(); }  // NOLINT(google-explicit-constructor): as above

 private:
  MPI_Fint* numbers_;
  Handles<Handle> handles_;
};

}  // namespace rma::mpi_fortran
