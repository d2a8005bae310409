! What MPICH's module mpi has beside MPI's procedures.
program module_mpi
  use mpi
  implicit none
  integer :: bytes, ierror, number, numbers(2)
  integer(kind=8) :: wide
  double precision :: precise(2)
  complex :: pair
  logical :: truth
  type(MPI_Comm) :: one, other
  call MPI_Init(ierror)
  call MPI_Sizeof(number, bytes, ierror)
  if (bytes /= 4) error stop 'an integer'
  call MPI_Sizeof(numbers, bytes, ierror)
  if (bytes /= 4) error stop 'an array of integers'
  call MPI_Sizeof(wide, bytes, ierror)
  if (bytes /= 8) error stop 'an integer of 8 bytes'
  call MPI_Sizeof(precise, bytes, ierror)
  if (bytes /= 8) error stop 'double precision'
  call MPI_Sizeof(pair, bytes, ierror)
  if (bytes /= 8) error stop 'complex'
  call MPI_Sizeof(truth, bytes, ierror)
  if (bytes /= 4) error stop 'logical'
  one%MPI_VAL = MPI_COMM_WORLD
  other%MPI_VAL = MPI_COMM_SELF
  if (one == other .or. .not. one /= other) error stop 'two communicators'
  other = one
  if (.not. one == other .or. one /= other) error stop 'one communicator'
  call MPI_Finalize(ierror)
end program module_mpi
