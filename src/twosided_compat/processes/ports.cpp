// Groups of processes that meet at a port (MPI 4.1, section 11.9), and names of ports.

#include <fmt/format.h>

#include <charconv>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rma/launcher.h"
#include "rma/rma.h"
#include "twosided_compat/calls.hpp"
#include "twosided_compat/communicator_management/intercommunicators.hpp"
#include "twosided_compat/communicators/collective_transfers.hpp"
#include "twosided_compat/communicators/communicator.hpp"
#include "twosided_compat/objects/info.hpp"
#include "twosided_compat/processes/launcher_failure.hpp"
#include "util/try.hpp"
#include "util/try_assign.hpp"

namespace librma::mpi {
namespace {

constexpr std::string_view kPortPrefix = "librma:";
/// The hint of MPI_Comm_connect that says how many seconds it waits for an MPI_Comm_accept, and the time
/// without that hint. Both are those of MPICH.
constexpr std::string_view kTimeoutKey = "timeout";
constexpr int kUsualTimeout = 180;

/// What the root of one group tells the root of the other one, and then its own group. The world ranks of the
/// members follow.
struct CallerCard {
  int code = MPI_SUCCESS;     ///< of the root's arguments
  int size = 0;               ///< of the group
  std::uint32_t context = 0;  ///< of the intercommunicator; 0 from the side that does not draw it
};

/// Finds the number of a port in its name. MPI_ERR_PORT.
int find_port(const char* name, std::uint32_t& number) {
  if (name == nullptr) return failure(MPI_ERR_ARG, "port_name is null");
  const std::string_view text(name);
  const std::string prefix = fmt::format("{}{}:", kPortPrefix, rma_job_name());
  const char* const end = text.data() + text.size();
  if (text.starts_with(prefix)) {
    const auto [stop, error] = std::from_chars(text.data() + prefix.size(), end, number);
    if (error == std::errc() && stop == end) return MPI_SUCCESS;
  }
  return failure(MPI_ERR_PORT, fmt::format("'{}' is no port of this job", text));
}

/// Returns the seconds that a root which connects waits. A hint without a positive number is ignored.
int timeout_of(MPI_Info hints) {
  const Info* const info = find_info(hints);
  const auto value = info != nullptr ? info->get(kTimeoutKey) : std::nullopt;
  if (!value) return kUsualTimeout;
  int seconds = 0;
  const char* const end = value->data() + value->size();
  const auto [stop, error] = std::from_chars(value->data(), end, seconds);
  return error == std::errc() && stop == end && seconds > 0 ? seconds : kUsualTimeout;
}

/// Takes what the other root has sent.
struct Received {
  CallerCard card;
  std::vector<int> ranks;

  static void take(void* context, const void* bytes, std::size_t size) {
    auto& self = *static_cast<Received*>(context);
    if (size < sizeof self.card) return;
    std::memcpy(&self.card, bytes, sizeof self.card);
    self.ranks.resize((size - sizeof self.card) / sizeof(int));
    std::memcpy(self.ranks.data(), static_cast<const std::byte*>(bytes) + sizeof self.card,
                self.ranks.size() * sizeof(int));
  }
};

/// The root's part: meets the other root at the port.
int meet_root(const Communicator& comm, const char* port_name, MPI_Info hints, bool accepts,
              Received& theirs) {
  std::uint32_t port = 0;
  RMA_TRY(find_port(port_name, port));
  const std::vector<int> ranks = comm.members()->list();
  CallerCard mine = {.size = comm.size()};
  if (accepts) {
    mine.context = new_context();
    if (mine.context == 0) return no_context();
  }
  std::vector<std::byte> message(sizeof mine + ranks.size() * sizeof(int));
  std::memcpy(message.data(), &mine, sizeof mine);
  std::memcpy(message.data() + sizeof mine, ranks.data(), ranks.size() * sizeof(int));
  const int seconds = accepts ? 0 : timeout_of(hints);
  RMA_TRY(asked(
      rma_port_meet(port, accepts ? 1 : 0, seconds, message.data(), message.size(), Received::take, &theirs),
      MPI_ERR_PORT));
  theirs.card.context = accepts ? mine.context : theirs.card.context;
  if (theirs.card.size != static_cast<int>(theirs.ranks.size()) || theirs.ranks.empty())
    return failure(MPI_ERR_INTERN, "the other root has sent no list of its group");
  return MPI_SUCCESS;
}

int meet_group(const char* port_name, MPI_Info info, int root, MPI_Comm handle, bool accepts,
               MPI_Comm* made) {
  RMA_TRY_ASSIGN(comm, find_intracommunicator(handle));
  if (root < 0 || root >= comm->size())
    return failure(MPI_ERR_ROOT, fmt::format("the root {} is not in the communicator", root));
  Received theirs;
  const bool is_root = comm->rank() == root;
  int own_code = MPI_SUCCESS;
  if (is_root) {
    own_code = check_hints(info);
    if (own_code == MPI_SUCCESS) own_code = meet_root(*comm, port_name, info, accepts, theirs);
    theirs.card.code = own_code;
  }
  CollectiveTransfers transfers(*comm, CollectiveTag::kNewContext);
  RMA_TRY(transfers.broadcast(&theirs.card, sizeof theirs.card, root));
  if (is_root && own_code != MPI_SUCCESS) return own_code;
  if (theirs.card.code != MPI_SUCCESS)
    return failure(theirs.card.code, fmt::format("the root, rank {}, has met no other root", root));
  theirs.ranks.resize(static_cast<std::size_t>(theirs.card.size));
  RMA_TRY(transfers.broadcast(theirs.ranks.data(), theirs.ranks.size() * sizeof(int), root));
  return make_intercommunicator(*comm, std::move(theirs.ranks), theirs.card.context, made);
}

}  // namespace

int open_port(MPI_Info info, char* port_name) {
  RMA_TRY(check_hints(info));
  if (port_name == nullptr) return failure(MPI_ERR_ARG, "port_name is null");
  std::uint32_t port = 0;
  RMA_TRY(asked(rma_port_open(&port), MPI_ERR_PORT));
  const std::string name = fmt::format("{}{}:{}", kPortPrefix, rma_job_name(), port);
  if (name.size() >= MPI_MAX_PORT_NAME) return failure(MPI_ERR_INTERN, "the name of the job is too long");
  std::memcpy(port_name, name.c_str(), name.size() + 1);
  return MPI_SUCCESS;
}

int close_port(const char* port_name) {
  std::uint32_t port = 0;
  RMA_TRY(find_port(port_name, port));
  return asked(rma_port_close(port), MPI_ERR_PORT);
}

int comm_accept(const char* port_name, MPI_Info info, int root, MPI_Comm comm, MPI_Comm* newcomm) {
  return meet_group(port_name, info, root, comm, true, newcomm);
}

int comm_connect(const char* port_name, MPI_Info info, int root, MPI_Comm comm, MPI_Comm* newcomm) {
  return meet_group(port_name, info, root, comm, false, newcomm);
}

int publish_name(const char* service_name, MPI_Info info, const char* port_name) {
  RMA_TRY(check_hints(info));
  if (service_name == nullptr || port_name == nullptr)
    return failure(MPI_ERR_ARG, "service_name or port_name is null");
  return asked(rma_name_publish(service_name, port_name), MPI_ERR_SERVICE);
}

int unpublish_name(const char* service_name, MPI_Info info, const char* port_name) {
  RMA_TRY(check_hints(info));
  if (service_name == nullptr || port_name == nullptr)
    return failure(MPI_ERR_ARG, "service_name or port_name is null");
  return asked(rma_name_unpublish(service_name), MPI_ERR_SERVICE);
}

int lookup_name(const char* service_name, MPI_Info info, char* port_name) {
  RMA_TRY(check_hints(info));
  if (service_name == nullptr || port_name == nullptr)
    return failure(MPI_ERR_ARG, "service_name or port_name is null");
  return asked(rma_name_look_up(service_name, port_name, MPI_MAX_PORT_NAME), MPI_ERR_NAME);
}

}  // namespace librma::mpi
