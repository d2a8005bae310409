! Prints the sum of all ranks, counted from 1.
program ranks
  use mpi
  implicit none
  integer :: rank, n, total
  double precision :: whole

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, n)
  call MPI_Allreduce(rank + 1, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  call MPI_Allreduce(dble(rank + 1), whole, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD)
  if (rank == 0 .and. nint(whole) == total) print '(a, i0, a, i0)', 'sum ', total, ' of ', n
  call MPI_Finalize()
end program ranks
