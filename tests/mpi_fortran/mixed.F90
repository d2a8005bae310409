! The modules mpi and mpi_f08 in one program unit: their types are the same ones, so a status or a handle of
! the one is one of the other. OTHER_MPI is for the modules of Open MPI 4.1: its module mpi has no types, and
! its module mpi_f08 no conversions of statuses, which have the same words in both.

module mixed_parts
  implicit none
contains
  ! Knows the module mpi only.
  subroutine receive(from, tag, status)
    use mpi
#ifdef OTHER_MPI
    use mpi_f08, only: MPI_Status
#endif
    integer, intent(in) :: from, tag
    type(MPI_Status), intent(out) :: status
    integer :: words(MPI_STATUS_SIZE), got, ierror
    call MPI_Recv(got, 1, MPI_INTEGER, from, tag, MPI_COMM_WORLD, words, ierror)
#ifdef OTHER_MPI
    status = transfer(words, status)
#else
    call MPI_Status_f2f08(words, status, ierror)
#endif
  end subroutine receive

  ! Knows the module mpi_f08 only.
  integer function elements(status)
    use mpi_f08
    type(MPI_Status), intent(in) :: status
    call MPI_Get_count(status, MPI_INTEGER, elements)
  end function elements
end module mixed_parts

program mixed
  use mpi
  use mpi_f08, only: MPI_Status, MPI_Comm, operator(==), f08_world => MPI_COMM_WORLD, f08_send => MPI_Isend, &
      f08_integer => MPI_INTEGER, f08_wait => MPI_Wait, f08_ignore => MPI_STATUS_IGNORE, MPI_Request
  use mixed_parts
  implicit none
  type(MPI_Status) :: status
  type(MPI_Comm) :: world
  type(MPI_Request) :: request
  integer :: ierror, rank, n, next, previous, plain(MPI_STATUS_SIZE), count, sum
  integer, asynchronous :: sent
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, n, ierror)
  next = mod(rank + 1, n)
  previous = mod(rank + n - 1, n)
  sum = 0
  world = MPI_Comm(MPI_COMM_WORLD)
  if (.not. world == f08_world) sum = sum + 1
  sent = rank
  call f08_send(sent, 1, f08_integer, next, 8, world, request)
  call receive(previous, 8, status)
  call f08_wait(request, f08_ignore)
  count = elements(status)
  if (status%MPI_SOURCE /= previous .or. status%MPI_TAG /= 8 .or. count /= 1) sum = sum + 1
#ifdef OTHER_MPI
  plain = transfer(status, plain)
#else
  call MPI_Status_f082f(status, plain, ierror)
#endif
  if (plain(MPI_SOURCE) /= previous .or. plain(MPI_TAG) /= 8) sum = sum + 1
  call MPI_Sizeof(plain, count, ierror)
  if (count /= 4 .or. ierror /= MPI_SUCCESS) sum = sum + 1
  call MPI_Allreduce(MPI_IN_PLACE, sum, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
  if (rank == 0) print '(i0, a, i0)', sum, ' failures on ', n
  call MPI_Finalize(ierror)
  if (sum /= 0) stop 1
end program mixed
