// The entry points that get a Fortran procedure, and for which C's interface has no place for a pointer of
// our own: operators and error handlers. A table of small C functions stands in: each calls the procedure of
// its own slot.

#include <array>
#include <atomic>
#include <mutex>
#include <utility>

#include "twosided_compat/fortran/arguments.hpp"

namespace librma::mpi_fortran {
namespace {

/// How many different procedures a program may give for one purpose. A procedure keeps its slot until the
/// program ends, because a freed operator may still be in use; the same procedure given again gets the same
/// slot.
constexpr std::size_t kSlots = 256;

template <class Purpose>
std::array<std::atomic<typename Purpose::Procedure*>, kSlots> procedures;

struct Operator {
  using Procedure = void(void* in, void* inout, MPI_Fint* length, MPI_Fint* datatype);
  using Function = MPI_User_function;

  template <std::size_t slot>
  static void call(void* in, void* inout, int* length, MPI_Datatype* datatype) {
    MPI_Fint number = number_of(*datatype);
    // Relaxed: the operator's handle reached this thread after the slot was filled.
    procedures<Operator>[slot].load(std::memory_order_relaxed)(in, inout, length, &number);
  }
};

template <class Handle, class FunctionType>
struct ErrorHandler {
  using Procedure = void(MPI_Fint* object, MPI_Fint* code);
  using Function = FunctionType;

  template <std::size_t slot>
  static void call(Handle* object, int* code, ...) {
    MPI_Fint number = number_of(*object);
    procedures<ErrorHandler>[slot].load(std::memory_order_relaxed)(&number, code);  // relaxed: as above
  }
};

template <class Purpose, std::size_t... slots>
constexpr std::array<typename Purpose::Function*, kSlots> functions_of(
    std::index_sequence<slots...> /*all*/) {
  return {&Purpose::template call<slots>...};
}

/// Returns a C function that calls `procedure`, or null if every slot is taken.
template <class Purpose>
typename Purpose::Function* function_for(typename Purpose::Procedure* procedure) {
  static constexpr auto kFunctions = functions_of<Purpose>(std::make_index_sequence<kSlots>{});
  static std::mutex lock;  // two threads must not take the same slot
  const std::lock_guard guard(lock);
  for (std::size_t slot = 0; slot < kSlots; ++slot) {
    auto& place = procedures<Purpose>[slot];
    if (place.load(std::memory_order_relaxed) == nullptr) place.store(procedure, std::memory_order_relaxed);
    if (place.load(std::memory_order_relaxed) == procedure) return kFunctions[slot];
  }
  return nullptr;
}

/// Makes an object that calls `procedure`: `create` gets the C function.
template <class Purpose, class Create>
int make(typename Purpose::Procedure* procedure, Create create) {
  typename Purpose::Function* const function = function_for<Purpose>(procedure);
  if (function != nullptr) return create(function);
  return PMPI_Comm_call_errhandler(MPI_COMM_SELF, MPI_ERR_NO_MEM) == MPI_SUCCESS ? MPI_ERR_NO_MEM
                                                                                 : MPI_ERR_OTHER;
}

using CommErrors = ErrorHandler<MPI_Comm, MPI_Comm_errhandler_function>;
using FileErrors = ErrorHandler<MPI_File, MPI_File_errhandler_function>;
using SessionErrors = ErrorHandler<MPI_Session, MPI_Session_errhandler_function>;
using WinErrors = ErrorHandler<MPI_Win, MPI_Win_errhandler_function>;

}  // namespace

extern "C" {
// NOLINTBEGIN(readability-identifier-naming): these are the names that gfortran gives them

void pmpi_op_create_(Operator::Procedure* user_fn, const MPI_Fint* commute, MPI_Fint* op, MPI_Fint* ierror) {
  store(ierror, make<Operator>(user_fn, [&](auto* function) {
          return PMPI_Op_create(function, *commute, HandleOut<MPI_Op>(op));
        }));
}
RMA_MPI_FORTRAN_NAMES(mpi_op_create_);

#define RMA_MPI_CREATE_ERRHANDLER(kind, Kind)                                                        \
  void pmpi_##kind##_create_errhandler_(Kind##Errors::Procedure* fn, MPI_Fint* errhandler,           \
                                        MPI_Fint* ierror) {                                          \
    store(ierror, make<Kind##Errors>(fn, [&](auto* function) {                                       \
            return PMPI_##Kind##_create_errhandler(function, HandleOut<MPI_Errhandler>(errhandler)); \
          }));                                                                                       \
  }                                                                                                  \
  RMA_MPI_FORTRAN_NAMES(mpi_##kind##_create_errhandler_)
RMA_MPI_CREATE_ERRHANDLER(comm, Comm);
RMA_MPI_CREATE_ERRHANDLER(file, File);
RMA_MPI_CREATE_ERRHANDLER(session, Session);
RMA_MPI_CREATE_ERRHANDLER(win, Win);
#undef RMA_MPI_CREATE_ERRHANDLER

// NOLINTEND(readability-identifier-naming)
}  // extern "C"

}  // namespace librma::mpi_fortran
