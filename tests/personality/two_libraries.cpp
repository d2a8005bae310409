// A program that is linked with libmpi_abi.so.1 loads a part that was linked with another MPI's library: the
// second MPI_Init fails with a text that names both.

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

#include "mpi.h"

int main(int argc, char** argv) {
  if (argc < 2) return EXIT_FAILURE;
  MPI_Init(&argc, &argv);
  // As a plugin's own libraries are: its names come before those of the program.
  void* const library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
  if (library == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    return EXIT_FAILURE;
  }
  using Init = int(int*, char***);
  auto* const other_init = reinterpret_cast<Init*>(dlsym(library, "MPI_Init"));
  if (other_init == nullptr) return EXIT_FAILURE;
  other_init(&argc, &argv);
  std::printf("the second MPI_Init has returned\n");
  MPI_Finalize();
  return EXIT_SUCCESS;
}
