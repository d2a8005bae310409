! The last rank ends by the given statement without finalizing, while the others wait for it; see exits.py.
!
! usage: mixed-stops stop | error-stop | exit
program stops
  use mpi_f08
  implicit none
  character(len=16) :: way
  integer :: rank, ranks

  call get_command_argument(1, way)
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call MPI_Barrier(MPI_COMM_WORLD)
  if (rank == ranks - 1) then
    if (way == 'stop') stop 7
    if (way == 'error-stop') error stop 8
    call exit(9)
  end if
  call MPI_Barrier(MPI_COMM_WORLD)
end program
