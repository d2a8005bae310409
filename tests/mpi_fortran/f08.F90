! MPI by the module mpi_f08: handles and statuses with types, ierror left out, large counts chosen by the
! compiler, C pointers, and the sentinels. What the calls do is tested by the other forms. OTHER_MPI is for
! the module of Open MPI 4.1: it has no large counts, no conversions of statuses and no buffers of
! communicators.
module f08_callbacks
  use, intrinsic :: iso_c_binding
  use mpi_f08
  implicit none
contains
  ! Adds, and subtracts 1, so that it differs from every predefined operation.
  subroutine add_less_one(invec, inoutvec, len, datatype)
    type(c_ptr), value :: invec, inoutvec
    integer :: len
    type(MPI_Datatype) :: datatype
    integer, pointer :: a(:), b(:)
    if (datatype /= MPI_INTEGER) call MPI_Abort(MPI_COMM_WORLD, 2)
    call c_f_pointer(invec, a, [len])
    call c_f_pointer(inoutvec, b, [len])
    b = a + b - 1
  end subroutine add_less_one

  ! Copies an attribute and adds 1.
  subroutine copy_and_add(oldcomm, comm_keyval, extra_state, attribute_val_in, attribute_val_out, flag, &
    ierror)
    type(MPI_Comm) :: oldcomm
    integer :: comm_keyval, ierror
    integer(kind=MPI_ADDRESS_KIND) :: extra_state, attribute_val_in, attribute_val_out
    logical :: flag
    ierror = MPI_SUCCESS
    flag = oldcomm /= MPI_COMM_NULL .and. comm_keyval /= MPI_KEYVAL_INVALID
    attribute_val_out = attribute_val_in + extra_state
  end subroutine copy_and_add

  ! Counts its calls in what the program knows of errors.
  subroutine note_error(comm, error_code)
    type(MPI_Comm) :: comm
    integer :: error_code
    integer :: noted
    common /f08_errors/ noted
    if (comm == MPI_COMM_WORLD .and. error_code /= MPI_SUCCESS) noted = noted + 1
  end subroutine note_error
end module f08_callbacks

program f08
  use, intrinsic :: iso_c_binding
  use mpi_f08
  use f08_callbacks
  implicit none
  integer :: rank, n, failures, total
  failures = 0
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, n)
  call test_messages()
#ifndef OTHER_MPI
  call test_large_counts()
#endif
  call test_requests()
  call test_statuses()
  call test_collectives()
  call test_types()
  call test_callbacks()
  call test_pointers()
  call test_communicators()
  call test_profiled()
  call MPI_Reduce(failures, total, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD)
  if (rank == 0) print '(i0, a, i0)', total, ' failures on ', n
  if (failures /= 0) call MPI_Abort(MPI_COMM_WORLD, 1)
  call MPI_Finalize()
contains
  subroutine expect(good, name)
    logical, intent(in) :: good
    character(len=*), intent(in) :: name
    if (good) return
    failures = failures + 1
    print '(a, i0, 2a)', 'rank ', rank, ': ', name
  end subroutine expect

  subroutine test_messages()
    type(MPI_Status) :: status
    type(MPI_Message) :: message
    real :: sent(3), got(5)
    integer :: next, before, count, ierror
    logical :: flag
    next = mod(rank + 1, n)
    before = mod(rank + n - 1, n)
    sent = [1., 2., 3.] + rank
    got = -1
    call MPI_Sendrecv(sent, 3, MPI_REAL, next, 7, got, 5, MPI_REAL, before, MPI_ANY_TAG, MPI_COMM_WORLD, &
      status, ierror)
    call expect(ierror == MPI_SUCCESS, 'sendrecv')
    call expect(status%MPI_SOURCE == before .and. status%MPI_TAG == 7, 'sendrecv: status')
    call MPI_Get_count(status, MPI_REAL, count)
    call expect(count == 3 .and. all(got == [1. + before, 2. + before, 3. + before, -1., -1.]), &
      'sendrecv: data')
    if (rank == 0) then
      call MPI_Send(sent(1), 1, MPI_REAL, 0, 8, MPI_COMM_SELF)
      call MPI_Mprobe(0, 8, MPI_COMM_SELF, message, status)
      call expect(message /= MPI_MESSAGE_NULL, 'mprobe')
      call MPI_Mrecv(got, 1, MPI_REAL, message, MPI_STATUS_IGNORE)
      call expect(message == MPI_MESSAGE_NULL .and. got(1) == sent(1), 'mrecv')
      call MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, flag, MPI_STATUS_IGNORE)
      call expect(.not. flag, 'iprobe')
    end if
  end subroutine test_messages

#ifndef OTHER_MPI
  ! Counts of MPI_COUNT_KIND choose the entry points with large counts.
  subroutine test_large_counts()
    type(MPI_Status) :: status
    type(MPI_Datatype) :: pairs, blocks
    integer(kind=MPI_COUNT_KIND) :: three, count, counts(n), size
    integer(kind=MPI_ADDRESS_KIND) :: places(n), lb, extent
    integer :: sent(3), got(3), all(3, n), i
    three = 3
    sent = [10, 20, 30] + rank
    got = 0
    call MPI_Sendrecv(sent, three, MPI_INTEGER, rank, 1, got, three, MPI_INTEGER, rank, 1, MPI_COMM_WORLD, &
      status)
    call MPI_Get_count(status, MPI_INTEGER, count)
    call expect(count == 3 .and. got(3) == sent(3), 'large: sendrecv')
    counts = 3
    places = [(3_MPI_ADDRESS_KIND * (n - i), i = 1, n)]
    call MPI_Allgatherv(sent, three, MPI_INTEGER, all, counts, places, MPI_INTEGER, MPI_COMM_WORLD)
    do i = 1, n
      call expect(all(1, n - i + 1) == 10 + i - 1, 'large: allgatherv')
    end do
    call MPI_Type_contiguous(three * 1000000000, MPI_INTEGER, pairs)
    call MPI_Type_contiguous(3, pairs, blocks)
    call MPI_Type_size(blocks, size)
    call expect(size == 36000000000_MPI_COUNT_KIND, 'large: type_size')
    call MPI_Type_get_extent(blocks, lb, extent)
    call expect(lb == 0 .and. extent == size, 'large: type_get_extent')
    call MPI_Type_free(pairs)
    call MPI_Type_free(blocks)
    call expect(pairs == MPI_DATATYPE_NULL .and. blocks == MPI_DATATYPE_NULL, 'large: type_free')
  end subroutine test_large_counts
#endif

  subroutine test_requests()
    type(MPI_Request) :: requests(2 * n), one
    type(MPI_Status) :: statuses(2 * n), status
    integer :: sent(n), got(n), i, index, done, indices(2 * n)
    logical :: flag
    sent = [(100 * rank + i, i = 1, n)]
    got = -1
    do i = 1, n
      call MPI_Irecv(got(i), 1, MPI_INTEGER, i - 1, 3, MPI_COMM_WORLD, requests(i))
    end do
    do i = 1, n
      call MPI_Isend(sent(i), 1, MPI_INTEGER, i - 1, 3, MPI_COMM_WORLD, requests(n + i))
    end do
    call MPI_Waitall(2 * n, requests, statuses)
    call MPI_F_sync_reg(got)
    do i = 1, n
      call expect(got(i) == 100 * (i - 1) + rank + 1 .and. statuses(i)%MPI_SOURCE == i - 1, 'waitall')
    end do
    call expect(all(requests == MPI_REQUEST_NULL), 'waitall: null')
    call MPI_Irecv(got, 1, MPI_INTEGER, rank, 4, MPI_COMM_WORLD, requests(1))
    call MPI_Test(requests(1), flag, status)
    call expect(.not. flag, 'test')
    call MPI_Send(sent, 1, MPI_INTEGER, rank, 4, MPI_COMM_WORLD)
    call MPI_Waitany(1, requests, index, status)
    call MPI_F_sync_reg(got)
    call expect(index == 1 .and. status%MPI_TAG == 4 .and. got(1) == sent(1), 'waitany')
    call MPI_Send_init(sent(2 - mod(n, 2)), 1, MPI_INTEGER, rank, 5, MPI_COMM_WORLD, requests(1))
    call MPI_Recv_init(got, 1, MPI_INTEGER, rank, 5, MPI_COMM_WORLD, requests(2))
    call MPI_Startall(2, requests)
    done = 0
    do while (done < 2)
      call MPI_Waitsome(2, requests, index, indices, MPI_STATUSES_IGNORE)
      done = done + index
    end do
    call MPI_Request_free(requests(1))
    call MPI_Request_free(requests(2))
    call MPI_Ibarrier(MPI_COMM_WORLD, one)
    call MPI_Wait(one, MPI_STATUS_IGNORE)
    call expect(one == MPI_REQUEST_NULL, 'ibarrier')
  end subroutine test_requests

  subroutine test_statuses()
    type(MPI_Status) :: status, copy
    integer :: plain(MPI_STATUS_SIZE), count
    call MPI_Sendrecv(rank, 1, MPI_INTEGER, rank, 17, count, 1, MPI_INTEGER, rank, 17, MPI_COMM_WORLD, status)
    copy = status
#ifndef OTHER_MPI
    call MPI_Status_f082f(status, plain)
    call expect(plain(MPI_TAG) == 17 .and. plain(MPI_SOURCE) == rank, 'status_f082f')
    call MPI_Status_f2f08(plain, copy)
#endif
    call MPI_Get_count(copy, MPI_INTEGER, count)
    call expect(copy%MPI_TAG == 17 .and. count == 1, 'status_f2f08')
    call MPI_Status_set_elements(copy, MPI_INTEGER, 5)
    call MPI_Get_elements(copy, MPI_INTEGER, count)
    call expect(count == 5, 'status_set_elements')
  end subroutine test_statuses

  subroutine test_collectives()
    type(MPI_Datatype) :: types(n)
    integer :: values(4), counts(n), places(n), sent(n), got(n), i
    values = rank
    call MPI_Allreduce(MPI_IN_PLACE, values, 4, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    call expect(all(values == n * (n - 1) / 2), 'allreduce in place')
    call MPI_Bcast(values(:2), 2, MPI_INTEGER, n - 1, MPI_COMM_WORLD)
    types = MPI_INTEGER
    counts = 1
    places = [(4 * (i - 1), i = 1, n)]
    sent = [(10 * rank + i - 1, i = 1, n)]
    call MPI_Alltoallw(sent, counts, places, types, got, counts, places, types, MPI_COMM_WORLD)
    call expect(all(got == [(10 * (i - 1) + rank, i = 1, n)]), 'alltoallw')
  end subroutine test_collectives

  subroutine test_types()
    type(MPI_Datatype) :: column, parts(2), whole
    integer(kind=MPI_ADDRESS_KIND) :: places(2)
    double precision :: matrix(3, 4), got(4)
    integer :: lengths(2), size, i
    matrix = reshape([(dble(i), i = 1, 12)], [3, 4])
    call MPI_Type_vector(4, 1, 3, MPI_DOUBLE_PRECISION, column)
    call MPI_Type_commit(column)
    call MPI_Sendrecv(matrix(2, 1), 1, column, rank, 2, got, 4, MPI_DOUBLE_PRECISION, rank, 2, &
      MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call expect(all(got == matrix(2, :)), 'a row by a vector')
    parts = [MPI_INTEGER, column]
    lengths = [2, 1]
    places = [0, 8]
    call MPI_Type_create_struct(2, lengths, places, parts, whole)
    call MPI_Type_size(whole, size)
    call expect(size == 40, 'type_create_struct')
    call MPI_Type_free(column)
    call MPI_Type_free(whole)
  end subroutine test_types

  subroutine test_callbacks()
    type(MPI_Op) :: operation
    type(MPI_Comm) :: copy
    type(MPI_Errhandler) :: handler
    procedure(MPI_User_function), pointer :: user
    integer(kind=MPI_ADDRESS_KIND) :: value
    integer :: values(2), key, noted, ierror
    logical :: found
    common /f08_errors/ noted
    user => add_less_one
    call MPI_Op_create(user, .true., operation)
    values = [rank, 2 * rank]
    call MPI_Allreduce(MPI_IN_PLACE, values, 2, MPI_INTEGER, operation, MPI_COMM_WORLD)
    call expect(all(values == [1, 2] * (n * (n - 1) / 2) - (n - 1)), 'op_create')
    call MPI_Op_free(operation)
    call expect(operation == MPI_OP_NULL, 'op_free')
    call MPI_Comm_create_keyval(copy_and_add, MPI_COMM_NULL_DELETE_FN, key, 5_MPI_ADDRESS_KIND)
    call MPI_Comm_set_attr(MPI_COMM_WORLD, key, 10_MPI_ADDRESS_KIND)
    call MPI_Comm_dup(MPI_COMM_WORLD, copy)
    call MPI_Comm_get_attr(copy, key, value, found)
    call expect(found .and. value == 15, 'comm_get_attr')
    call MPI_Comm_free(copy)
    call MPI_Comm_delete_attr(MPI_COMM_WORLD, key)
    call MPI_Comm_free_keyval(key)
    noted = 0
    call MPI_Comm_create_errhandler(note_error, handler)
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler)
    call MPI_Send(values, 1, MPI_INTEGER, n, 0, MPI_COMM_WORLD, ierror)
    call expect(noted == 1 .and. ierror /= MPI_SUCCESS, 'errhandler')
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL)
    call MPI_Errhandler_free(handler)
  end subroutine test_callbacks

  subroutine test_pointers()
    type(c_ptr) :: memory, detached
    integer, pointer :: values(:)
    character, target, save :: buffer(1000)
    integer(kind=MPI_COUNT_KIND) :: large
    integer :: size
    call MPI_Alloc_mem(400_MPI_ADDRESS_KIND, MPI_INFO_NULL, memory)
    call c_f_pointer(memory, values, [100])
    values = rank
    call MPI_Free_mem(values)
    call MPI_Buffer_attach(buffer, 1000)
    call MPI_Buffer_detach(detached, size)
    call expect(c_associated(detached, c_loc(buffer)) .and. size == 1000, 'buffer_detach')
#ifndef OTHER_MPI
    call MPI_Comm_attach_buffer(MPI_COMM_WORLD, buffer, 1000_MPI_COUNT_KIND)
    call MPI_Comm_detach_buffer(MPI_COMM_WORLD, detached, large)
    call expect(c_associated(detached, c_loc(buffer)) .and. large == 1000, 'comm_detach_buffer')
#endif
  end subroutine test_pointers

  subroutine test_communicators()
    type(MPI_Comm) :: half, grid
    type(MPI_Group) :: group
    type(MPI_Info) :: info
    character(len=MPI_MAX_OBJECT_NAME) :: name
    integer :: size, length, dims(1)
    logical :: found
    call MPI_Comm_split(MPI_COMM_WORLD, mod(rank, 2), rank, half)
    call MPI_Comm_size(half, size)
    call expect(size == (n + 1 - mod(rank, 2)) / 2, 'comm_split')
    call MPI_Comm_set_name(half, 'half')
    call MPI_Comm_get_name(half, name, length)
    call expect(name == 'half' .and. length == 4, 'comm_get_name')
    call MPI_Comm_group(half, group)
    call MPI_Group_size(group, length)
    call expect(length == size .and. group /= MPI_GROUP_NULL, 'comm_group')
    call MPI_Group_free(group)
    call MPI_Comm_free(half)
    dims = n
    call MPI_Cart_create(MPI_COMM_WORLD, 1, dims, [.true.], .false., grid)
    call expect(grid /= MPI_COMM_NULL, 'cart_create')
    call MPI_Comm_free(grid)
    call MPI_Info_create(info)
    call MPI_Info_set(info, 'colour', 'blue')
    call MPI_Info_get(info, 'colour', 10, name, found)
    call expect(found .and. name == 'blue', 'info_get')
    call MPI_Info_free(info)
    call expect(info == MPI_INFO_NULL, 'info_free')
  end subroutine test_communicators

  subroutine test_profiled()
    integer :: value, size, ierror
    value = merge(42, 0, rank == 0)
    call PMPI_Bcast(value, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierror)
    call expect(value == 42 .and. ierror == MPI_SUCCESS, 'pmpi_bcast')
    call expect(PMPI_Wtime() > 0, 'pmpi_wtime')
    call PMPI_Sizeof(value, size)
    call expect(size == 4, 'pmpi_sizeof')
  end subroutine test_profiled
end program f08
