// Processes that a program starts while it runs (MPI 4.1, section 11.8).

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <numeric>
#include <span>
#include <string>
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

/// The arguments of a call that counts at its root alone.
struct SpawnArguments {
  std::span<char* const> commands;
  std::span<char** const> arguments;  ///< empty: no program has any
  std::span<const int> most;
  std::span<const MPI_Info> infos;
  int code = MPI_SUCCESS;  ///< what is wrong with them
};

/// What the root tells the other members.
struct Spawned {
  int code = MPI_SUCCESS;
  int first = 0;  ///< the first new rank of the job
  int count = 0;
  int wanted = 0;  ///< the number of error codes
  std::uint32_t context = 0;
  /// Why there are none: any member's error handler may end the job first, and its user wants to know.
  std::array<char, 256> why = {};
};

/// A program as the launcher takes it, with the texts that it points to.
class Wish {
 public:
  Wish(const char* command, char* const* arguments, int ranks, const Info* info) : ranks_(ranks) {
    if (info != nullptr) {
      directory_ = info->get("wdir").value_or("");
      path_ = info->get("path").value_or("");
      host_ = info->get("host").value_or("");
      soft_ = info->get("soft").value_or("");
    }
    words_.push_back(command);
    for (; arguments != nullptr && *arguments != nullptr; ++arguments) words_.push_back(*arguments);
    words_.push_back(nullptr);
  }
  [[nodiscard]] rma_launch_program_t program() const {
    return {.ranks = ranks_,
            .command = words_.data(),
            .directory = directory_.c_str(),
            .path = path_.c_str(),
            .host = host_.c_str(),
            .soft = soft_.c_str()};
  }

 private:
  int ranks_;
  std::vector<const char*> words_;
  std::string directory_;
  std::string path_;
  std::string host_;
  std::string soft_;
};

int collect(const SpawnArguments& arguments, std::vector<Wish>& wishes) {
  for (std::size_t i = 0; i < arguments.commands.size(); ++i) {
    const char* const command = arguments.commands[i];
    if (command == nullptr || *command == '\0') return failure(MPI_ERR_ARG, "the command is null or empty");
    if (arguments.most[i] < 0)
      return failure(MPI_ERR_ARG, fmt::format("maxprocs of '{}' is {}", command, arguments.most[i]));
    RMA_TRY(check_hints(arguments.infos[i]));
    wishes.emplace_back(command, arguments.arguments.empty() ? nullptr : arguments.arguments[i],
                        arguments.most[i], find_info(arguments.infos[i]));
  }
  return MPI_SUCCESS;
}

/// Returns an error class for each process that was wanted: those that a soft list has left out have one.
std::vector<int> outcomes(std::span<const int> wanted, std::span<const int> started) {
  std::vector<int> codes;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    codes.insert(codes.end(), static_cast<std::size_t>(started[i]), MPI_SUCCESS);
    codes.insert(codes.end(), static_cast<std::size_t>(wanted[i] - started[i]), MPI_ERR_SPAWN);
  }
  return codes;
}

/// The root's part: asks the launcher.
int launch(const Communicator& comm, const SpawnArguments& arguments, Spawned& spawned,
           std::vector<int>& codes) {
  RMA_TRY(arguments.code);
  std::vector<Wish> wishes;
  RMA_TRY(collect(arguments, wishes));
  spawned.wanted = std::accumulate(arguments.most.begin(), arguments.most.end(), 0);
  codes.assign(static_cast<std::size_t>(spawned.wanted), MPI_ERR_SPAWN);
  spawned.context = new_context();
  if (spawned.context == 0) return no_context();
  std::vector<rma_launch_program_t> programs;
  programs.reserve(wishes.size());
  for (const Wish& wish : wishes) programs.push_back(wish.program());
  const std::vector<int> parents = comm.members()->list();
  std::vector<int> started(programs.size());
  const rma_status_t status =
      rma_launch(programs.data(), static_cast<int>(programs.size()), parents.data(),
                 static_cast<int>(parents.size()), spawned.context, &spawned.first, started.data());
  // Every reason is one why the processes are not there.
  if (status != RMA_SUCCESS) {
    return_context(spawned.context);
    std::strncpy(spawned.why.data(), rma_last_error(), spawned.why.size() - 1);  // zeros are behind it
  }
  if (status == RMA_ERR_UNSUPPORTED) return failure(MPI_ERR_SPAWN, rma_last_error());
  RMA_TRY(asked(status, MPI_ERR_SPAWN));
  spawned.count = std::accumulate(started.begin(), started.end(), 0);
  codes = outcomes(arguments.most, started);
  return MPI_SUCCESS;
}

int spawn(MPI_Comm handle, int root, const SpawnArguments& arguments, MPI_Comm* made, int* errcodes) {
  RMA_TRY_ASSIGN(comm, find_intracommunicator(handle));
  if (root < 0 || root >= comm->size())
    return failure(MPI_ERR_ROOT, fmt::format("the root {} is not in the communicator", root));
  Spawned spawned;
  std::vector<int> codes;
  const bool is_root = comm->rank() == root;
  if (is_root) spawned.code = launch(*comm, arguments, spawned, codes);
  const int own_code = spawned.code;
  CollectiveTransfers transfers(*comm, CollectiveTag::kNewContext);
  RMA_TRY(transfers.broadcast(&spawned, sizeof spawned, root));
  codes.resize(static_cast<std::size_t>(spawned.wanted));
  RMA_TRY(transfers.broadcast(codes.data(), codes.size() * sizeof(int), root));
  if (errcodes != MPI_ERRCODES_IGNORE) std::copy(codes.begin(), codes.end(), errcodes);
  if (spawned.code != MPI_SUCCESS)
    return is_root ? own_code
                   : failure(spawned.code,
                             fmt::format("the root, rank {}, cannot spawn: {}", root, spawned.why.data()));
  std::vector<int> theirs(static_cast<std::size_t>(spawned.count));
  std::iota(theirs.begin(), theirs.end(), spawned.first);
  return make_intercommunicator(*comm, std::move(theirs), spawned.context, made);
}

bool is_root_of(MPI_Comm handle, int root) {
  const auto* const comm = find<Communicator>(handle);
  return comm != nullptr && comm->rank() == root;
}

/// Checks the arguments that the root of MPI_Comm_spawn_multiple gives.
int check_arrays(int count, bool all_there) {
  if (count <= 0) return failure(MPI_ERR_COUNT, fmt::format("count is {}", count));
  return all_there ? MPI_SUCCESS : failure(MPI_ERR_ARG, "an array of the programs is null");
}

}  // namespace

int comm_spawn(const char* command, char* argv[], int maxprocs, MPI_Info info, int root, MPI_Comm comm,
               MPI_Comm* intercomm, int array_of_errcodes[]) {
  auto* const program = const_cast<char*>(command);
  return spawn(
      comm, root,
      {.commands = {&program, 1}, .arguments = {&argv, 1}, .most = {&maxprocs, 1}, .infos = {&info, 1}},
      intercomm, array_of_errcodes);
}

int comm_spawn_multiple(int count, char* array_of_commands[], char** array_of_argv[],
                        const int array_of_maxprocs[], const MPI_Info array_of_info[], int root,
                        MPI_Comm comm, MPI_Comm* intercomm, int array_of_errcodes[]) {
  // The arguments of the others do not count, and may be anything.
  if (!is_root_of(comm, root)) return spawn(comm, root, {}, intercomm, array_of_errcodes);
  SpawnArguments arguments;
  arguments.code = check_arrays(
      count, array_of_commands != nullptr && array_of_maxprocs != nullptr && array_of_info != nullptr);
  if (arguments.code != MPI_SUCCESS) return spawn(comm, root, arguments, intercomm, array_of_errcodes);
  const auto size = static_cast<std::size_t>(count);
  arguments.commands = {array_of_commands, size};
  arguments.arguments = {array_of_argv, array_of_argv != MPI_ARGVS_NULL ? size : 0};
  arguments.most = {array_of_maxprocs, size};
  arguments.infos = {array_of_info, size};
  return spawn(comm, root, arguments, intercomm, array_of_errcodes);
}

}  // namespace librma::mpi
