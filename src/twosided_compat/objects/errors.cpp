// From the failure of a call to the error handler.

#include "twosided_compat/objects/errors.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <mutex>
#include <optional>

#include "rma/rma.h"
#include "twosided_compat/objects/error_codes.hpp"
#include "twosided_compat/objects/phase.hpp"

namespace librma::mpi {
namespace {

/// The text that the failing call of this thread gave beside its code.
struct Detail {
  int code = MPI_SUCCESS;
  std::string text;
};
thread_local Detail detail;
thread_local ErrorHandlerOwner* blamed = nullptr;

std::mutex slot_lock;  // guards the handler of every slot: errors and their handlers are rare

ErrorHandler* own_handler(MPI_Errhandler handler) { return find<ErrorHandler>(handler); }

/// Prints what failed, and ends the job.
[[noreturn]] void end_after(const char* name, int code) {
  std::string text = fmt::format("{}: ", name);
  if (const int rank = rma_rank(); rank >= 0) text += fmt::format("rank {}: ", rank);
  const std::optional<std::string> known = error_text(code);
  text += known ? *known : fmt::format("unknown error {}", code);
  if (detail.code == code && !detail.text.empty()) text += ": " + detail.text;
  end_job(class_of(code).value_or(MPI_ERR_UNKNOWN), text.c_str());
}

/// Calls a handler of the program with the handle that it is attached to.
void call_handler(const ErrorHandler& handler, const ErrorHandlerOwner* owner, int* code) {
  switch (handler.owner()) {
    case Kind::kWin: {
      MPI_Win win = owner != nullptr ? owner->handle<MPI_Win>() : MPI_WIN_NULL;
      return handler.function().win(&win, code);
    }
    case Kind::kFile: {
      MPI_File file = owner != nullptr ? owner->handle<MPI_File>() : MPI_FILE_NULL;
      return handler.function().file(&file, code);
    }
    case Kind::kSession: {
      MPI_Session session = owner != nullptr ? owner->handle<MPI_Session>() : MPI_SESSION_NULL;
      return handler.function().session(&session, code);
    }
    default: {
      MPI_Comm comm = owner != nullptr ? owner->handle<MPI_Comm>() : MPI_COMM_NULL;
      return handler.function().comm(&comm, code);
    }
  }
}

/// Invokes `handler`. `owner` is null if no object has it. Returns the code that a handler of the program
/// leaves: the standard passes it "the error code to be returned" (MPI 5.0, section 9.3), by its address.
int invoke_handler(MPI_Errhandler handler, const ErrorHandlerOwner* owner, const char* name, int code) {
  if (handler == MPI_ERRORS_RETURN) return code;
  ErrorHandler* const own = own_handler(handler);
  if (own == nullptr) end_after(name, code);
  call_handler(*own, owner, &code);
  return code;
}

int raise_in(ErrorHandlerOwner* owner, const char* name, int code) {
  ErrorHandlerOwner* const named = std::exchange(blamed, nullptr);
  if (named != nullptr) owner = named;
  // Without an owner, before MPI_Init and after MPI_Finalize, errors are fatal.
  const MPI_Errhandler handler = owner != nullptr ? owner->errors.get() : MPI_ERRORS_ARE_FATAL;
  const int result = invoke_handler(handler, owner, name, code);
  if (ErrorHandler* const own = own_handler(handler)) own->remove_reference();
  if (named != nullptr) named->remove_reference();
  return result;
}

/// Returns the owner that stands in for NoOwner; null before MPI_Init and after MPI_Finalize.
ErrorHandlerOwner* stand_in() {
  ErrorHandlerOwner* const self = find<ErrorHandlerOwner>(MPI_COMM_SELF);
  ErrorHandlerOwner* const world = find<ErrorHandlerOwner>(MPI_COMM_WORLD);
  return self == nullptr || world == nullptr || self->errors.was_set() ? self : world;
}

/// Returns the object behind the handle, or the one that `instead` stands for if the handle is not valid.
template <class Handle>
ErrorHandlerOwner* owner_of(Handle handle, ErrorHandlerOwner* instead) {
  ErrorHandlerOwner* const found = find<ErrorHandlerOwner>(handle);
  return found != nullptr ? found : instead;
}

}  // namespace

ErrorHandlerSlot::~ErrorHandlerSlot() {
  if (ErrorHandler* const own = own_handler(handler_)) own->remove_reference();
}

MPI_Errhandler ErrorHandlerSlot::get() const {
  const std::lock_guard guard(slot_lock);
  if (ErrorHandler* const own = own_handler(handler_)) own->add_reference();
  return handler_;
}

void ErrorHandlerSlot::set(MPI_Errhandler handler) {
  ErrorHandler* replaced = nullptr;
  {
    const std::lock_guard guard(slot_lock);
    if (ErrorHandler* const own = own_handler(handler)) own->add_reference();
    replaced = own_handler(std::exchange(handler_, handler));
    was_set_ = true;
  }
  if (replaced != nullptr) replaced->remove_reference();
}

bool ErrorHandlerSlot::was_set() const {
  const std::lock_guard guard(slot_lock);
  return was_set_;
}

int raise(NoOwner /*none*/, const char* name, int code) { return raise_in(stand_in(), name, code); }
int raise(MPI_Comm comm, const char* name, int code) {
  return raise_in(owner_of(comm, stand_in()), name, code);
}
int raise(MPI_Win win, const char* name, int code) { return raise_in(owner_of(win, stand_in()), name, code); }
int raise(MPI_Session session, const char* name, int code) {
  return raise_in(owner_of(session, stand_in()), name, code);
}
int raise(MPI_File file, const char* name, int code) {
  // The standard gives files that are not open the handler of MPI_FILE_NULL.
  return raise_in(owner_of(file, find<ErrorHandlerOwner>(MPI_FILE_NULL)), name, code);
}
int raise(MPI_Errhandler handler, const char* name, int code) {
  const bool valid = handler == MPI_ERRORS_RETURN || own_handler(handler) != nullptr;
  return valid ? invoke_handler(handler, nullptr, name, code) : raise(NoOwner{}, name, code);
}

void remember_failure(int code, std::string text) { detail = {.code = code, .text = std::move(text)}; }

int failure_of(ErrorHandlerOwner& owner, int code) {
  owner.add_reference();
  if (ErrorHandlerOwner* const before = std::exchange(blamed, &owner)) before->remove_reference();
  return code;
}

namespace {

/// The owners are never destroyed, because the program's own destructors may still make calls.
std::array<ErrorHandlerOwner*, 3>& predefined_owners() {
  static auto* const kOwners = new std::array<ErrorHandlerOwner*, 3>{
      new ErrorHandlerOwner(Kind::kComm, predefined_number(MPI_COMM_WORLD), MPI_ERRORS_ARE_FATAL),
      new ErrorHandlerOwner(Kind::kComm, predefined_number(MPI_COMM_SELF), MPI_ERRORS_ARE_FATAL),
      new ErrorHandlerOwner(Kind::kFile, predefined_number(MPI_FILE_NULL), MPI_ERRORS_RETURN)};
  return *kOwners;
}

}  // namespace

void open_predefined_owners() {
  for (ErrorHandlerOwner* const owner : predefined_owners()) publish_predefined(*owner);
}

void close_predefined_owners() {
  for (ErrorHandlerOwner* const owner : predefined_owners()) withdraw_predefined(*owner);
}

}  // namespace librma::mpi
