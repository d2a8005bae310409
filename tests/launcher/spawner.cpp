// A program that spawns a child, which is this program too: `launcher-spawner WHAT [TIMES]`. The child does
// what the argument says, while the parents wait for it in a barrier. They do so several times, one child
// after the other. With the argument `universe` the first rank prints MPI_UNIVERSE_SIZE instead.

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

void spawn(char* what) {
  std::array<char, PATH_MAX> path = {};
  if (readlink("/proc/self/exe", path.data(), path.size() - 1) <= 0) std::_Exit(1);
  std::array<char*, 2> arguments = {what, nullptr};
  MPI_Comm inter = MPI_COMM_NULL;
  // One that never joins the job.
  const char* const command = what == std::string_view("stranger") ? "true" : path.data();
  MPI_Comm_spawn(command, arguments.data(), 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE);
  MPI_Barrier(inter);
  MPI_Comm_disconnect(&inter);
}

void print_universe() {
  int rank = -1;
  int* size = nullptr;
  int there = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, static_cast<void*>(&size), &there);
  if (rank == 0) std::printf("%d\n", there != 0 ? *size : -1);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "";
  MPI_Init(&argc, &argv);
  MPI_Comm parent = MPI_COMM_NULL;
  MPI_Comm_get_parent(&parent);
  if (parent != MPI_COMM_NULL) {
    be_child(what, parent);
  } else if (what == "universe") {
    print_universe();
  } else {
    const int times = argc > 2 ? std::atoi(argv[2]) : 1;  // NOLINT(cert-err34-c): a test's own word
    for (int i = 0; i < times; ++i) spawn(argv[1]);
  }
  MPI_Finalize();
  // A child that fails after it has left.
  return what == "fails-after" && parent != MPI_COMM_NULL ? 5 : 0;
}
