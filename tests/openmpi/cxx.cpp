// A program with Open MPI's C++ bindings, as far as installed programs use them.

#include <mpi.h>

#include <cstdio>
#include <cstdlib>

namespace {

void add_tenfold(const void* in, void* inout, int length, const MPI::Datatype& type) {
  if (type != MPI::INT) std::abort();
  for (int i = 0; i < length; ++i) static_cast<int*>(inout)[i] += 10 * static_cast<const int*>(in)[i];
}

}  // namespace

int main(int argc, char** argv) {
  MPI::Init(argc, argv);
  MPI::Intracomm world(MPI_COMM_WORLD);
  const int rank = world.Get_rank();
  int sum = rank + 1;
  world.Allreduce(MPI::IN_PLACE, &sum, 1, MPI::INT, MPI_SUM);
  const int size = world.Get_size();
  if (sum != size * (size + 1) / 2) std::abort();
  MPI::Op op;
  op.Init(add_tenfold, true);
  int one = 1;
  world.Allreduce(MPI::IN_PLACE, &one, 1, MPI::INT, op);
  if (size == 2 && one != 11) std::abort();
  op.Free();
  MPI::Datatype pair = MPI::INT.Create_contiguous(2);
  pair.Free();
  if (pair != MPI::DATATYPE_NULL) std::abort();
  std::printf("rank %d of %d\n", rank, size);
  MPI::Finalize();
  return EXIT_SUCCESS;
}
