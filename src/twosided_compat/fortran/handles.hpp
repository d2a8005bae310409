#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "mpi.h"
#include "twosided_compat/objects/handles.hpp"

namespace librma::mpi_fortran {

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

using mpi::is_predefined;
using mpi::kHandlesAreNumbers;
constexpr auto kPredefinedEnd = static_cast<MPI_Fint>(mpi::kPredefinedEnd);

/// Returns the handle that `number` stands for.
template <class Handle>
Handle handle(MPI_Fint number) {
  if constexpr (!mpi::kIsAddress<Handle>) {
    return static_cast<Handle>(number);
  } else {
    if constexpr (kHandlesAreNumbers) {
      if (number >= 0 && number < kPredefinedEnd)
        return mpi::predefined_handle<Handle>(static_cast<std::uintptr_t>(number));
    }
    return Conversion<Handle>::from_int(number);
  }
}

/// Returns the number that stands for `h`.
template <class Handle>
MPI_Fint number_of(Handle h) {
  if constexpr (!mpi::kIsAddress<Handle>) {
    return static_cast<MPI_Fint>(h);
  } else {
    if constexpr (kHandlesAreNumbers) {
      if (is_predefined(h)) return static_cast<MPI_Fint>(mpi::predefined_number(h));
    }
    return Conversion<Handle>::to_int(h);
  }
}

/// How a C function uses a handle that Fortran gives by its number: it reads it, or reads it and may make it
/// null, but replaces it by no other; or it stores a new handle.
enum class Use : std::uint8_t { kIn, kInOut, kOut };

/// Stores the number of a handle after the call, if the function may have changed it.
template <Use use, class Handle>
void store_number(Handle h, MPI_Fint* number) {
  if (use == Use::kOut ? h != Handle{} : use == Use::kInOut && is_predefined(h)) *number = number_of(h);
}

/// A handle as an argument of a C function. The number is stored at the end of the call.
template <class Handle, Use use>
class HandleArgument {
 public:
  explicit HandleArgument(MPI_Fint* number)
      : number_(number), handle_(use == Use::kInOut ? handle<Handle>(*number) : Handle{}) {}
  HandleArgument(const HandleArgument&) = delete;
  HandleArgument& operator=(const HandleArgument&) = delete;
  ~HandleArgument() { store_number<use>(handle_, number_); }
  operator Handle*() { return &handle_; }  // NOLINT(google-explicit-constructor): an argument

 private:
  MPI_Fint* number_;
  Handle handle_;
};
template <class Handle>
using HandleOut = HandleArgument<Handle, Use::kOut>;
template <class Handle>
using HandleInOut = HandleArgument<Handle, Use::kInOut>;

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

/// An array of handles as an argument of a C function. The function keeps no pointer to it: an entry point's
/// array ends with the call, also where the call begins a nonblocking operation.
template <class Handle, Use use>
class HandlesArgument {
  using Number = std::conditional_t<use == Use::kIn, const MPI_Fint, MPI_Fint>;

 public:
  HandlesArgument(Number* numbers, MPI_Count count) : numbers_(numbers), handles_(count) {
    if (use != Use::kOut) handles_.read(numbers);
  }
  HandlesArgument(const HandlesArgument&) = delete;
  HandlesArgument& operator=(const HandlesArgument&) = delete;
  ~HandlesArgument() {
    if constexpr (use != Use::kIn) {
      for (std::size_t i = 0; i < handles_.size(); ++i) store_number<use>(handles_.data()[i], numbers_ + i);
    }
  }
  operator Handle*() { return handles_.data(); }  // NOLINT(google-explicit-constructor): an argument

 private:
  Number* numbers_;
  Handles<Handle> handles_;
};
template <class Handle>
using HandlesIn = HandlesArgument<Handle, Use::kIn>;
template <class Handle>
using HandlesInOut = HandlesArgument<Handle, Use::kInOut>;
template <class Handle>
using HandlesOut = HandlesArgument<Handle, Use::kOut>;

}  // namespace librma::mpi_fortran
