// Generalised requests and data representations, whose C functions get a pointer of ours as extra state.

#include <memory>

#include "twosided_compat/fortran/arguments.hpp"
#include "twosided_compat/fortran/text.hpp"

namespace librma::mpi_fortran {
namespace {

using QueryProcedure = void(MPI_Aint* extra, MPI_Fint* status, MPI_Fint* ierror);
using FreeProcedure = void(MPI_Aint* extra, MPI_Fint* ierror);
using CancelProcedure = void(MPI_Aint* extra, MPI_Fint* complete, MPI_Fint* ierror);

struct Generalized {
  QueryProcedure* query;
  FreeProcedure* free;
  CancelProcedure* cancel;
  MPI_Aint extra;
  MPI_Aint* given;  // the variable that the program gave as extra_state
};

/// Lets a procedure see the extra state. Its value is that of MPI_GREQUEST_START, so the program's variable
/// may end before the request does. But a procedure that changes its argument means that variable: other MPIs
/// hand over its address, and programs wait for the change.
class ExtraState {
 public:
  explicit ExtraState(Generalized& request) : request_(request), before_(request.extra) {}
  ExtraState(const ExtraState&) = delete;
  ExtraState& operator=(const ExtraState&) = delete;
  ~ExtraState() {
    if (request_.extra != before_) *request_.given = request_.extra;
  }
  MPI_Aint* get() { return &request_.extra; }

 private:
  Generalized& request_;
  MPI_Aint before_;
};

int query_request(void* state, MPI_Status* status) {
  auto* const request = static_cast<Generalized*>(state);
  MPI_Status unused;
  MPI_Fint ierror = MPI_SUCCESS;
  request->query(ExtraState(*request).get(),
                 reinterpret_cast<MPI_Fint*>(status != MPI_STATUS_IGNORE ? status : &unused), &ierror);
  return ierror;
}

int free_request(void* state) {
  const std::unique_ptr<Generalized> request(
      static_cast<Generalized*>(state));  // the library calls this last, once
  MPI_Fint ierror = MPI_SUCCESS;
  request->free(ExtraState(*request).get(), &ierror);
  return ierror;
}

int cancel_request(void* state, int complete) {
  auto* const request = static_cast<Generalized*>(state);
  MPI_Fint is_complete = complete != 0 ? 1 : 0;
  MPI_Fint ierror = MPI_SUCCESS;
  request->cancel(ExtraState(*request).get(), &is_complete, &ierror);
  return ierror;
}

using ConversionProcedure = void(void* memory, MPI_Fint* datatype, MPI_Fint* count, void* file,
                                 MPI_Offset* position, MPI_Aint* extra, MPI_Fint* ierror);
using ExtentProcedure = void(MPI_Fint* datatype, MPI_Aint* extent, MPI_Aint* extra, MPI_Fint* ierror);

/// A data representation lives until the program ends: MPI has no call that removes one.
struct Representation {
  ConversionProcedure* read;
  ConversionProcedure* write;
  ExtentProcedure* extent;
  MPI_Aint extra;
};

template <ConversionProcedure* Representation::*procedure>
int convert(void* memory, MPI_Datatype datatype, int count, void* file, MPI_Offset position, void* state) {
  auto* const representation = static_cast<Representation*>(state);
  MPI_Fint type = number_of(datatype);
  MPI_Fint ierror = MPI_SUCCESS;
  (representation->*procedure)(memory, &type, &count, file, &position, &representation->extra, &ierror);
  return ierror;
}

int extent_in_file(MPI_Datatype datatype, MPI_Aint* extent, void* state) {
  auto* const representation = static_cast<Representation*>(state);
  MPI_Fint type = number_of(datatype);
  MPI_Fint ierror = MPI_SUCCESS;
  representation->extent(&type, extent, &representation->extra, &ierror);
  return ierror;
}

}  // namespace

extern "C" {
// NOLINTBEGIN(readability-identifier-naming): these are the names that gfortran gives them

void pmpi_grequest_start_(QueryProcedure* query, FreeProcedure* free, CancelProcedure* cancel,
                          MPI_Aint* extra, MPI_Fint* request, MPI_Fint* ierror) {
  auto state = std::make_unique<Generalized>(Generalized{query, free, cancel, *extra, extra});
  const int code = PMPI_Grequest_start(query_request, free_request, cancel_request, state.get(),
                                       HandleOut<MPI_Request>(request));
  if (code == MPI_SUCCESS) static_cast<void>(state.release());  // free_request() takes it back
  store(ierror, code);
}
RMA_MPI_FORTRAN_NAMES(mpi_grequest_start_);

/// MPI_CONVERSION_FN_NULL stands for a constant of C, and is never called.
void mpi_conversion_fn_null_(void* /*memory*/, MPI_Fint* /*datatype*/, MPI_Fint* /*count*/, void* /*file*/,
                             MPI_Offset* /*position*/, MPI_Aint* /*extra*/, MPI_Fint* ierror) {
  *ierror = MPI_ERR_OTHER;
}

void pmpi_register_datarep_(const char* name, ConversionProcedure* read, ConversionProcedure* write,
                            ExtentProcedure* extent, const MPI_Aint* extra, MPI_Fint* ierror,
                            std::size_t name_length) {
  auto state = std::make_unique<Representation>(Representation{read, write, extent, *extra});
  auto* const c_read =
      read == mpi_conversion_fn_null_ ? MPI_CONVERSION_FN_NULL : &convert<&Representation::read>;
  auto* const c_write =
      write == mpi_conversion_fn_null_ ? MPI_CONVERSION_FN_NULL : &convert<&Representation::write>;
  const int code =
      PMPI_Register_datarep(Text(name, name_length), c_read, c_write, extent_in_file, state.get());
  if (code == MPI_SUCCESS) static_cast<void>(state.release());
  store(ierror, code);
}
RMA_MPI_FORTRAN_NAMES(mpi_register_datarep_);

// NOLINTEND(readability-identifier-naming)
}  // extern "C"

}  // namespace librma::mpi_fortran
