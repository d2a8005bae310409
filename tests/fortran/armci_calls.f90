! The ARMCI calls of module armci, on every rank of the job. All ranks fail if one does.
program armci_calls
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: error_unit
  use armci
  implicit none

  integer, parameter :: rows = 6, columns = 5
  integer :: me, ranks, right, left
  integer(c_int) :: failures(1) = 0
  real(c_double), pointer :: mine(:, :)
  type(c_ptr), allocatable :: parts(:)

  call expect(armci_init() == 0, 'armci_init')
  call expect(armci_initialized() /= 0, 'armci_initialized')
  me = armci_msg_me()
  ranks = armci_msg_nproc()
  right = mod(me + 1, ranks)
  left = mod(me + ranks - 1, ranks)
  allocate (parts(0:ranks - 1))
  call expect(armci_malloc(parts, rows * columns * c_sizeof(0.0_c_double)) == 0, 'armci_malloc')
  call c_f_pointer(parts(me), mine, [rows, columns])

  call test_transfers()
  call test_nonblocking()
  call test_updates()
  call test_groups()
  call test_messages()

  call armci_barrier()
  call expect(armci_free(parts(me)) == 0, 'armci_free')
  deallocate (parts)
  call armci_msg_igop(failures, 1, '+' // c_null_char)
  if (me == 0) print '(a, i0, a, i0, a)', 'armci in Fortran on ', ranks, ' ranks: ', failures(1), ' failures'
  call armci_finalize()
  if (failures(1) /= 0) stop 1

contains

  subroutine expect(good, what)
    logical, intent(in) :: good
    character(len=*), intent(in) :: what
    if (good) return
    failures = failures + 1
    write (error_unit, '(a, i0, 2a)') 'rank ', me, ': ', what
  end subroutine expect

  ! Returns the address of element (i, j) of a rank's part.
  type(c_ptr) function there(rank, i, j)
    integer, intent(in) :: rank, i, j
    there = transfer(transfer(parts(rank), 0_c_intptr_t) + 8 * (i - 1 + rows * (j - 1)), c_null_ptr)
  end function there

  ! Transfers a row, whose elements lie one column apart, and a list.
  subroutine test_transfers()
    real(c_double), target :: row(columns), list(rows), back(rows), scale
    integer(c_int), parameter :: count(2) = [8, columns]
    integer :: i
    mine = 0
    call armci_barrier()
    list = [(i + 10 * me, i = 1, rows)]
    row = [(-i, i = 1, columns)]
    scale = 2
    call expect(armci_put(c_loc(list), there(right, 1, 2), rows * 8, right) == 0, 'armci_put')
    call armci_fence(right)
    call expect(armci_puts(c_loc(row), [8], there(right, 3, 1), [8 * rows], count, 1, right) == 0, &
      'armci_puts')
    call expect(armci_accs(ARMCI_ACC_DBL, c_loc(scale), c_loc(row), [8], there(right, 3, 1), [8 * rows], &
      count, 1, right) == 0, 'armci_accs')
    call expect(armci_acc(ARMCI_ACC_DBL, c_loc(scale), c_loc(list), there(right, 1, 5), rows * 8, &
      right) == 0, 'armci_acc')
    call armci_barrier()
    list = [(i + 10 * left, i = 1, rows)]
    call expect(all(mine([1, 2, 4, 5, 6], 2) == list([1, 2, 4, 5, 6])), 'what was put')
    call expect(all(mine(3, 1:4) == 3 * row(1:4)), 'what was put and accumulated, a row')
    call expect(all(mine([1, 2, 4, 5, 6], 5) == 2 * list([1, 2, 4, 5, 6])), 'what was accumulated')
    call expect(all(mine([1, 2, 4, 5, 6], [1, 3, 4]) == 0), 'the gaps')
    call expect(armci_get(there(me, 1, 2), c_loc(back), rows * 8, me) == 0, 'armci_get')
    call expect(all(back == mine(:, 2)), 'what was got from oneself')
    call expect(armci_gets(there(right, 3, 1), [8 * rows], c_loc(row), [8], count, 1, right) == 0, &
      'armci_gets')
    call expect(row(4) == -12, 'what was got')
    call expect(armci_put(c_loc(row), there(right, 1, 1), 8, ranks) /= 0, 'a process that there is not')
    call armci_barrier()
  end subroutine test_transfers

  subroutine test_nonblocking()
    real(c_double), target, asynchronous :: out(rows), in(rows)
    type(armci_hdl_t) :: handle
    integer :: i
    out = [(i + 1000 * me, i = 1, rows)]
    call expect(armci_nbput(c_loc(out), there(right, 1, 1), rows * 8, right, handle) == 0, 'armci_nbput')
    call expect(armci_wait(handle) == 0, 'armci_wait')
    call armci_allfence()
    call expect(armci_nbget(there(right, 1, 1), c_loc(in), rows * 8, right, handle) == 0, 'armci_nbget')
    do while (armci_test(handle) /= 0)
    end do
    call expect(armci_wait(handle) == 0, 'armci_wait after armci_test')
    call expect(all(in == out), 'what came back')
    call armci_barrier()
  end subroutine test_nonblocking

  ! Rank 0 has two counters: ranks add to one by fetch-and-add, and to the other under a mutex.
  subroutine test_updates()
    integer, parameter :: times = 50
    integer(c_long), pointer :: counters(:)
    integer(c_long), target :: ticket, value
    integer(c_long) :: sum(1)
    integer :: i
    call c_f_pointer(parts(me), counters, [2])
    counters = 0
    call expect(armci_create_mutexes(merge(1, 0, me == 0)) == 0, 'armci_create_mutexes')
    call armci_barrier()
    sum = 0
    do i = 1, times
      call expect(armci_rmw(ARMCI_FETCH_AND_ADD_LONG, c_loc(ticket), there(0, 1, 1), 1, 0) == 0, 'armci_rmw')
      sum = sum + ticket
      call armci_lock(0, 0)
      call expect(armci_get(there(0, 2, 1), c_loc(value), 8, 0) == 0, 'armci_get under a mutex')
      value = value + 1
      call expect(armci_put(c_loc(value), there(0, 2, 1), 8, 0) == 0, 'armci_put under a mutex')
      call armci_unlock(0, 0)
    end do
    call armci_msg_lgop(sum, 1, '+' // c_null_char)
    call expect(sum(1) == int(times * ranks, c_long) * (times * ranks - 1) / 2, 'every ticket once')
    call armci_barrier()
    if (me == 0) call expect(all(counters == times * ranks), 'the counters')
    call expect(armci_destroy_mutexes() == 0, 'armci_destroy_mutexes')
  end subroutine test_updates

  ! The even ranks.
  subroutine test_groups()
    integer(c_int) :: group, rank, members, sum(1)
    integer :: i
    if (mod(me, 2) == 0) then
      call armci_group_create((ranks + 1) / 2, [(2 * i, i = 0, (ranks - 1) / 2)], group)
      call expect(armci_group_rank(group, rank) == 0, 'armci_group_rank')
      call expect(rank == me / 2, 'the rank in a group')
      call armci_group_size(group, members)
      call expect(members == (ranks + 1) / 2, 'armci_group_size')
      call expect(armci_absolute_id(group, rank) == me, 'armci_absolute_id')
      sum = me
      call armci_msg_group_igop(sum, 1, '+' // c_null_char, group)
      call expect(sum(1) == members * (members - 1), 'armci_msg_group_igop')
      call armci_group_free(group)
    end if
    call armci_barrier()
  end subroutine test_groups

  subroutine test_messages()
    integer(c_int), target :: token, list(3)
    integer(c_int) :: bytes
    real(c_double) :: extremes(2)
    token = 7 * me
    if (ranks > 1) then
      if (me > 0) call armci_msg_rcv(5, c_loc(token), 4, bytes, left)
      if (me > 0) call expect(token == me - 1 .and. bytes == 4, 'armci_msg_rcv')
      token = me
      if (right /= 0) call armci_msg_snd(5, c_loc(token), 4, right)
    end if
    list = [1, 2, 3] + 10 * me
    call armci_msg_bcast(c_loc(list), 12, ranks - 1)
    call expect(all(list == [1, 2, 3] + 10 * (ranks - 1)), 'armci_msg_bcast')
    extremes = [real(c_double) :: me, -me]
    call armci_msg_dgop(extremes, 2, 'max' // c_null_char)
    call expect(all(extremes == [ranks - 1, 0]), 'armci_msg_dgop')
    call armci_msg_barrier()
  end subroutine test_messages
end program armci_calls
