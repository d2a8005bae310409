#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "mpi.h"
#include "twosided_compat/objects/object.hpp"

namespace librma::mpi {

/// An error handler of the program. Every slot that has it holds a reference.
class ErrorHandler : public Counted<ErrorHandler> {
 public:
  union Function {
    MPI_Comm_errhandler_function* comm;
    MPI_Win_errhandler_function* win;
    MPI_File_errhandler_function* file;
    MPI_Session_errhandler_function* session;
  };

  /// `owner` is the kind of the objects that the handler may be attached to.
  ErrorHandler(Kind owner, Function function)
      : Counted(Kind::kErrhandler), owner_(owner), function_(function) {}

  [[nodiscard]] Kind owner() const { return owner_; }
  [[nodiscard]] Function function() const { return function_; }

 private:
  const Kind owner_;
  const Function function_;
};

/// The error handler of a communicator, window, file or session. Thread-safe. A copy has the same handler, as
/// MPI wants it of a communicator made from another.
class ErrorHandlerSlot {
 public:
  explicit ErrorHandlerSlot(MPI_Errhandler handler) : handler_(handler) {}
  ErrorHandlerSlot(const ErrorHandlerSlot& other) : handler_(other.get()) {}
  ErrorHandlerSlot& operator=(const ErrorHandlerSlot&) = delete;
  ~ErrorHandlerSlot();

  /// Returns the handler, with a reference for the caller if the program made it.
  [[nodiscard]] MPI_Errhandler get() const;
  /// Attaches a handler, which the caller has checked. The slot takes a reference of its own.
  void set(MPI_Errhandler handler);
  /// Returns whether set() was ever called.
  [[nodiscard]] bool was_set() const;

 private:
  MPI_Errhandler handler_;
  bool was_set_ = false;
};

/// The base of communicators, windows, files and sessions: each has an error handler.
class ErrorHandlerOwner : public Object {
 public:
  ErrorHandlerOwner(Kind kind, std::uintptr_t predefined, MPI_Errhandler handler)
      : Object(kind, predefined), errors(handler) {}
  ErrorHandlerOwner(Kind kind, const ErrorHandlerSlot& parent) : Object(kind), errors(parent) {}
  virtual ~ErrorHandlerOwner() = default;

  /// References keep an owner that the program may free at any time. Others do not count them.
  virtual void add_reference() {}
  virtual void remove_reference() {}

  ErrorHandlerSlot errors;
};

/// Stands for the owner in a call that has no communicator, window, file or session. Its failures go to the
/// handler of MPI_COMM_SELF. Before MPI 4 it was that of MPI_COMM_WORLD, and programs set only that one, so
/// it counts as long as nobody has set a handler of MPI_COMM_SELF.
struct NoOwner {};

/// Invokes the error handler of an owner after the failure `code` of the call `name`. Returns the code that
/// the handler leaves, if it returns. A handle that is not valid has the handler that NoOwner has. The
/// handler of a pointer is that of the handle in it; that of an MPI_Errhandler is itself.
[[gnu::cold]] int raise(NoOwner none, const char* name, int code);
[[gnu::cold]] int raise(MPI_Comm comm, const char* name, int code);
[[gnu::cold]] int raise(MPI_Win win, const char* name, int code);
[[gnu::cold]] int raise(MPI_File file, const char* name, int code);
[[gnu::cold]] int raise(MPI_Session session, const char* name, int code);
[[gnu::cold]] int raise(MPI_Errhandler handler, const char* name, int code);
template <class Handle>
[[gnu::cold]] int raise(Handle* handle, const char* name, int code) {
  return handle != nullptr ? raise(*handle, name, code) : raise(NoOwner{}, name, code);
}

/// See failure().
[[gnu::cold]] void remember_failure(int code, std::string text);

/// Returns `code`, and remembers a text for the message that the fatal error handlers print. The text says
/// what was asked and what is the case: `return failure(MPI_ERR_RANK, "the rank is 7 of 4")`.
/// Readers and clang's analyzer see here that the result is `code`.
[[nodiscard, gnu::cold]] inline int failure(int code, std::string text) {
  remember_failure(code, std::move(text));
  return code;
}

/// Returns `code`, and makes the failure of the present call invoke the handler of `owner` instead of that of
/// the call's argument. A call that completes requests needs it, because the failed request has a
/// communicator and the call has none. The failure keeps a reference to `owner` until its handler has
/// returned.
[[nodiscard, gnu::cold]] int failure_of(ErrorHandlerOwner& owner, int code);

/// Makes the owners that every program has between MPI_Init and MPI_Finalize: MPI_COMM_WORLD, MPI_COMM_SELF
/// and MPI_FILE_NULL. Before and after that time every error is fatal.
void open_predefined_owners();
void close_predefined_owners();

}  // namespace librma::mpi
