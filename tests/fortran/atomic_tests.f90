! Read-modify-write on integers of both sizes, and mutexes.
module atomic_tests
  use, intrinsic :: iso_fortran_env, only: int32, int64
  use checks
  use rma
  implicit none
  private
  public :: test_atomics

contains

  subroutine test_atomics()
    call test_tickets()
    call test_each_operation()
    call test_mutexes()
  end subroutine test_atomics

  ! Every ticket is drawn once. The sum of the tickets shows that.
  subroutine test_tickets()
    integer(int64), pointer :: mine64(:)
    integer(int32), pointer :: mine32
    type(rma_array), allocatable :: wide(:), narrow(:)
    integer(int64) :: ticket64, sums(2), number
    integer(int32) :: ticket32
    integer :: i, turns
    integer, parameter :: times = 100
    call rma_malloc(mine64, wide, 3)
    call rma_malloc(mine32, narrow, [integer :: ])
    mine64 = 0
    mine32 = 0
    sums = 0
    call rma_barrier()
    do i = 1, times
      call rma_fetch_add(rma_element(wide(0), 2), 1, ticket64)
      call rma_fetch_add(narrow(0), 1_int64, ticket32)
      sums = sums + [ticket64, int(ticket32, int64)]
    end do
    call rma_allreduce(sums, op=RMA_SUM)
    turns = times * rma_size()
    number = int(turns, int64) * (turns - 1) / 2
    call expect(all(sums == number), 'tickets')
    if (rma_rank() == 0) call expect(all(mine64 == [0, turns, 0]) .and. mine32 == turns, &
      'the counters in the end')
    call rma_barrier()
    call rma_free(wide)
    call rma_free(narrow)
  end subroutine test_tickets

  subroutine test_each_operation()
    integer(int64), pointer :: mine(:)
    type(rma_array), allocatable :: parts(:)
    type(rma_array) :: word
    integer(int64) :: old
    integer(int32) :: seen
    character(len=200) :: text
    integer :: stat, neighbour
    neighbour = mod(rma_rank() + 1, rma_size())
    call rma_malloc(mine, parts, 1)
    mine = -7
    call rma_barrier()
    word = rma_element(parts(neighbour), 1)
    call rma_atomic_fetch(word, old)
    call expect(old == -7, 'atomic_fetch')
    call rma_swap(word, 2_int64**40, old)
    call expect(old == -7, 'swap')
    call rma_compare_swap(word, 0, 1, old)
    call expect(old == 2_int64**40, 'compare_swap that finds something else')
    call rma_compare_swap(word, 2_int64**40, 12, old)
    call expect(old == 2_int64**40, 'compare_swap that stores')
    call rma_fetch_or(word, 3, old)
    call expect(old == 12, 'fetch_or')
    call rma_fetch_and(word, 9, old)
    call expect(old == 15, 'fetch_and')
    call rma_fetch_xor(word, -1, old)
    call expect(old == 9, 'fetch_xor')
    call rma_fetch_add(word, 100)
    call rma_atomic_fetch(word, old)
    call expect(old == 90, 'fetch_add without old')
    call rma_atomic_set(word, 5)
    call rma_barrier()
    call expect(mine(1) == 5, 'atomic_set')

    call rma_fetch_add(word, 1.0, old, stat, text)
    call expect_failure(stat, text, RMA_ERR_ARGUMENT, 'operand is real of 4 bytes')
    call rma_fetch_add(word, 1, seen, stat, text)
    call expect_failure(stat, text, RMA_ERR_SIZE, 'too small')
    call rma_fetch_add(rma_remote_array(parts(neighbour)%address, neighbour, 1), 2_int64**31, old, stat, text)
    call expect_failure(stat, text, RMA_ERR_SIZE, '2147483648')
    call rma_fetch_add(rma_remote_array(parts(neighbour)%address, neighbour, 1.0), 1, old, stat, text)
    call expect_failure(stat, text, RMA_ERR_ARGUMENT, 'target is real')
    call rma_barrier()
    call expect(mine(1) == 5, 'what was refused changed nothing')
    call rma_free(parts)
  end subroutine test_each_operation

  ! Ranks read, change and write back a counter under a mutex.
  subroutine test_mutexes()
    integer(int32), pointer :: mine(:)
    type(rma_array), allocatable :: parts(:)
    type(rma_mutexes) :: mutexes
    character(len=200) :: text
    integer :: i, value, last, stat
    integer, parameter :: times = 50
    last = rma_size() - 1
    call rma_malloc(mine, parts, 1)
    mine = 0
    call rma_mutexes_create(merge(2, 0, rma_rank() == last), mutexes)
    do i = 1, times
      call rma_lock(mutexes, 2, last)
      call rma_get(value, parts(0))
      call rma_put(parts(0), value + 1)
      call rma_unlock(mutexes, 2, last)
    end do
    call rma_barrier()
    if (rma_rank() == 0) call expect(mine(1) == times * rma_size(), 'the counter under the mutex')
    call rma_lock(mutexes, 3, last, stat, text)
    call expect_failure(stat, text, RMA_ERR_ARGUMENT, 'rma_lock')
    call rma_lock(mutexes, 0, last, stat, text)
    call expect_failure(stat, text, RMA_ERR_ARGUMENT, 'rma_lock')
    call rma_unlock(mutexes, 1, last, stat, text)
    call expect_failure(stat, text, RMA_ERR_STATE, 'rma_unlock')
    call rma_mutexes_destroy(mutexes)
    call rma_free(parts)
  end subroutine test_mutexes
end module atomic_tests
