! A program with the module mpi_f08 of Open MPI or MPICH.
module f08_operator
  implicit none
contains
  subroutine add_tenfold(in, inout, length, datatype) bind(c)
    use mpi_f08
    use iso_c_binding, only: c_ptr, c_f_pointer
    type(c_ptr), value :: in, inout
    integer :: length
    type(MPI_Datatype) :: datatype
    integer, pointer :: from(:), to(:)
    if (datatype /= MPI_INTEGER) error stop 'the datatype of the operator'
    call c_f_pointer(in, from, [length])
    call c_f_pointer(inout, to, [length])
    to = to + 10 * from
  end subroutine add_tenfold
end module f08_operator

program f08
  use mpi_f08
  use f08_operator
  implicit none
  integer :: rank, ranks, sent(4), got(4), count, bytes, from, key, grid(4, 3)
  integer(kind=MPI_ADDRESS_KIND) :: value, found
  logical :: there
  type(MPI_Request) :: both(2)
  type(MPI_Status) :: status
  type(MPI_Comm) :: copy
  type(MPI_Request) :: request
  type(MPI_Op) :: op
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  sent = rank + 1
  call MPI_Allreduce(MPI_IN_PLACE, sent, 4, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  if (any(sent /= ranks * (ranks + 1) / 2)) error stop 'the sum'
  sent = rank
  call MPI_Irecv(got, 4, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, request)
  call MPI_Send(sent, 4, MPI_INTEGER, mod(rank + 1, ranks), 3, MPI_COMM_WORLD)
  call MPI_Wait(request, status)
  call MPI_Get_count(status, MPI_INTEGER, count)
  if (any(got /= mod(rank + ranks - 1, ranks))) error stop 'the message'
  if (status%MPI_SOURCE /= got(1) .or. status%MPI_TAG /= 3 .or. count /= 4) error stop 'the status'
  if (request /= MPI_REQUEST_NULL) error stop 'the request'
  call MPI_Recv(got, 4, MPI_INTEGER, MPI_PROC_NULL, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
  ! Rows, whose elements do not lie one after the other.
  from = mod(rank + ranks - 1, ranks)
  grid = -1
  grid(1, :) = 10 * rank + [1, 2, 3]
  call MPI_Sendrecv(grid(1, :), 3, MPI_INTEGER, mod(rank + 1, ranks), 5, grid(3, :), 3, MPI_INTEGER, from, &
    5, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
  if (any(grid(3, :) /= 10 * from + [1, 2, 3]) .or. any(grid(2, :) /= -1)) error stop 'the rows'
  if (MPI_SUBARRAYS_SUPPORTED) then
    call MPI_Irecv(grid(2, 3:1:-1), 3, MPI_INTEGER, from, 6, MPI_COMM_WORLD, both(1))
    call MPI_Isend(grid(1, :), 3, MPI_INTEGER, mod(rank + 1, ranks), 6, MPI_COMM_WORLD, both(2))
    call MPI_Waitall(2, both, MPI_STATUSES_IGNORE)
    if (any(grid(2, :) /= 10 * from + [3, 2, 1]) .or. &
      any(grid(4, :) /= -1)) error stop 'the rows in the background'
  end if
  call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, key, 0_MPI_ADDRESS_KIND)
  value = -7
  call MPI_Comm_set_attr(MPI_COMM_WORLD, key, value)
  call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, found, there)
  if (.not. there .or. found < 32767) error stop 'the largest tag'
  call MPI_Comm_dup(MPI_COMM_WORLD, copy)
  call MPI_Comm_get_attr(copy, key, found, there)
  if (.not. there .or. found /= -7) error stop 'the copied attribute'
  call MPI_Comm_free(copy)
  if (.not. copy == MPI_COMM_NULL) error stop 'the freed communicator'
  call MPI_Op_create(add_tenfold, .true., op)
  sent = 1
  call MPI_Allreduce(MPI_IN_PLACE, sent, 4, MPI_INTEGER, op, MPI_COMM_WORLD)
  if (ranks == 2 .and. any(sent /= 11)) error stop 'the operator'
  call MPI_Op_free(op)
  call MPI_Sizeof(sent(1), bytes)
  if (bytes /= 4) error stop 'MPI_Sizeof'
  call MPI_Finalize()
end program f08
