#pragma once

#include <array>

#include "check.hpp"

// A collective call in its three forms. All have the same arguments and the same results.

namespace mpi_test {

enum class Form { blocking, nonblocking, persistent };
inline constexpr std::array kForms = {Form::blocking, Form::nonblocking, Form::persistent};

/// The three functions of a call, such as MPI_Bcast, MPI_Ibcast and MPI_Bcast_init.
template <class Blocking, class Begin, class Init>
class Call {
 public:
  Call(Blocking* block, Begin* start, Init* make) : blocking_(block), begin_(start), init_(make) {}

  /// Executes the call. A persistent one is executed twice.
  template <class... Arguments>
  [[nodiscard]] int operator()(Form form, Arguments... arguments) const {
    if (form == Form::blocking) return blocking_(arguments...);
    MPI_Request request = MPI_REQUEST_NULL;
    if (const int code = begin(form, &request, arguments...); code != MPI_SUCCESS) return code;
    if (form == Form::persistent) {
      SUCCEEDS(MPI_Wait(&request, MPI_STATUS_IGNORE));
      SUCCEEDS(MPI_Start(&request));
    }
    const int code = MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (form == Form::persistent) SUCCEEDS(MPI_Request_free(&request));
    return code;
  }

  /// Starts the call in one of the forms that do not block.
  template <class... Arguments>
  [[nodiscard]] int begin(Form form, MPI_Request* request, Arguments... arguments) const {
    if (form == Form::nonblocking) return begin_(arguments..., request);
    if (const int code = init_(arguments..., MPI_INFO_NULL, request); code != MPI_SUCCESS) return code;
    return MPI_Start(request);
  }

 private:
  Blocking* blocking_;
  Begin* begin_;
  Init* init_;
};

/// Waits for a call that begin() has started, and frees it if it is persistent.
inline void finish(MPI_Request& request) {
  SUCCEEDS(MPI_Wait(&request, MPI_STATUS_IGNORE));
  if (request != MPI_REQUEST_NULL) SUCCEEDS(MPI_Request_free(&request));
}

/// Lets rank 0 start a call by `begin(&request)`, and the other ranks only after it has: a start or a test
/// that waited for the others would wait for ever. Collective over MPI_COMM_WORLD.
template <class Begin>
void nothing_waits_inside(const Begin& begin) {
  MPI_Request request = MPI_REQUEST_NULL;
  const bool first = rank_in(MPI_COMM_WORLD) == 0;
  if (first) {
    SUCCEEDS(begin(&request));
    int done = 0;
    for (int i = 0; i < 3 && done == 0; ++i)
      SUCCEEDS(MPI_Request_get_status(request, &done, MPI_STATUS_IGNORE));
  }
  int token = 0;
  MPI_Bcast(&token, 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (!first) SUCCEEDS(begin(&request));
  finish(request);
}

/// Starts three calls by `begin(i, &request)`. The first wait of a rank is for another call than that of the
/// next rank, so each wait has to go on with all of them.
template <class Begin>
void waits_drive_all_calls(const Begin& begin) {
  std::array<MPI_Request, 3> requests = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  for (std::size_t i = 0; i < requests.size(); ++i) SUCCEEDS(begin(static_cast<int>(i), &requests[i]));
  const auto rank = static_cast<std::size_t>(rank_in(MPI_COMM_WORLD));
  for (std::size_t i = 0; i < requests.size(); ++i) finish(requests[(rank + i) % requests.size()]);
}

}  // namespace mpi_test
