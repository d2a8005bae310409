// Two processes that have a socket in common (MPI 4.1, section 11.10.4).

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "rma/launcher.h"
#include "rma/rma.h"
#include "twosided_compat/calls.hpp"
#include "twosided_compat/communicator_management/intercommunicators.hpp"
#include "twosided_compat/communicators/communicator.hpp"
#include "twosided_compat/objects/system_errors.hpp"
#include "util/system/interruptions.hpp"
#include "util/try.hpp"

namespace librma::mpi {
namespace {

/// Says who a process is. The one with the lower rank draws the context, and says it afterwards.
struct Introduced {
  std::array<char, 256> job = {};  ///< zeros behind the name
  std::int32_t rank = -1;
};

/// Waits until the socket can be read or written.
void wait_for(int fd, short events) {
  pollfd event = {.fd = fd, .events = events, .revents = 0};
  static_cast<void>(uninterrupted([&] { return ::poll(&event, 1, -1); }));
}

template <class Record>
int send_record(int fd, const Record& record) {
  const auto* at = reinterpret_cast<const char*>(&record);
  for (std::size_t left = sizeof record; left != 0;) {
    const ssize_t sent = uninterrupted([&] { return ::send(fd, at, left, MSG_NOSIGNAL); });
    if (sent < 0 && errno != EAGAIN) return system_failure(errno, "sending over the socket");
    if (sent < 0) {
      wait_for(fd, POLLOUT);
      continue;
    }
    at += sent;
    left -= static_cast<std::size_t>(sent);
  }
  return MPI_SUCCESS;
}

template <class Record>
int receive_record(int fd, Record& record) {
  auto* at = reinterpret_cast<char*>(&record);
  for (std::size_t left = sizeof record; left != 0;) {
    const ssize_t got = uninterrupted([&] { return ::recv(fd, at, left, 0); });
    if (got == 0) return failure(MPI_ERR_OTHER, "the other end has closed the socket");
    if (got < 0 && errno != EAGAIN) return system_failure(errno, "receiving over the socket");
    if (got < 0) {
      wait_for(fd, POLLIN);
      continue;
    }
    at += got;
    left -= static_cast<std::size_t>(got);
  }
  return MPI_SUCCESS;
}

}  // namespace

int comm_join(int fd, MPI_Comm* intercomm) {
  *intercomm = MPI_COMM_NULL;
  Introduced mine = {.rank = rma_rank()};
  const std::string_view job = rma_job_name();
  if (job.size() > mine.job.size()) return failure(MPI_ERR_INTERN, "the name of the job is too long");
  std::memcpy(mine.job.data(), job.data(), job.size());
  Introduced theirs;
  RMA_TRY(send_record(fd, mine));
  RMA_TRY(receive_record(fd, theirs));
  // Processes of different jobs have no way to each other, which the standard does not count as an error.
  if (theirs.job != mine.job) return MPI_SUCCESS;
  if (theirs.rank == mine.rank || theirs.rank < 0 || theirs.rank >= rma_seats())
    return failure(MPI_ERR_ARG, "the other end of the socket is no other process of the job");
  std::uint32_t context = mine.rank < theirs.rank ? new_context() : 0;
  RMA_TRY(mine.rank < theirs.rank ? send_record(fd, context) : receive_record(fd, context));
  if (context == 0) return no_context();
  return make_intercommunicator(*find<Communicator>(MPI_COMM_SELF), {theirs.rank}, context, intercomm);
}

}  // namespace librma::mpi
