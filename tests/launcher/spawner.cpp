// A program that spawns one child, which is this program too: `launcher-spawner WHAT`. The child does what
// the argument says, while the parents wait for it in a barrier.

#include <unistd.h>

#include <array>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "mpi.h"

namespace {

void be_child(std::string_view what, MPI_Comm parent) {
  if (what == "exit") std::_Exit(7);
  if (what == "killed") static_cast<void>(raise(SIGKILL));
  if (what == "abort") MPI_Abort(MPI_COMM_WORLD, 9);
  if (what == "hang") pause();
  if (what == "speak") {
    std::puts("a child speaks");
    std::fflush(stdout);
  }
  MPI_Barrier(parent);
  MPI_Comm_disconnect(&parent);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "";
  MPI_Init(&argc, &argv);
  MPI_Comm parent = MPI_COMM_NULL;
  MPI_Comm_get_parent(&parent);
  if (parent != MPI_COMM_NULL) {
    be_child(what, parent);
  } else {
    std::array<char, PATH_MAX> path = {};
    if (readlink("/proc/self/exe", path.data(), path.size() - 1) <= 0) return 1;
    std::array<char*, 2> arguments = {argv[1], nullptr};
    MPI_Comm inter = MPI_COMM_NULL;
    const char* const command = what == "stranger" ? "true" : path.data();  // one that never joins the job
    MPI_Comm_spawn(command, arguments.data(), 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter,
                   MPI_ERRCODES_IGNORE);
    MPI_Barrier(inter);
    MPI_Comm_disconnect(&inter);
  }
  MPI_Finalize();
  // A child that fails after it has left.
  return what == "fails-after" && parent != MPI_COMM_NULL ? 5 : 0;
}
