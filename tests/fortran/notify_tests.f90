! Put with notification around a ring, and requests.
module notify_tests
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use checks
  use rma
  implicit none
  private
  public :: test_notify

contains

  subroutine test_notify()
    call test_ring()
    call test_requests()
  end subroutine test_notify

  ! A column goes around the ring, every other row of it, and each rank adds one.
  subroutine test_ring()
    real(real64), pointer :: inbox(:, :)
    integer(int64), pointer :: flags(:)
    type(rma_array), allocatable :: inboxes(:), flag_of(:)
    real(real64) :: column(7)
    integer(int64) :: seen
    integer :: round, right, stat
    integer, parameter :: rounds = 20
    logical :: met
    character(len=200) :: text
    right = mod(rma_rank() + 1, rma_size())
    call rma_malloc(inbox, inboxes, [14, 3])
    call rma_malloc(flags, flag_of, 2)
    inbox = -1
    flags = 0
    call rma_barrier()
    call rma_test_until(flags(2), RMA_EQ, 0, met)
    call expect(met, 'the flag before')
    call rma_barrier()
    column = 0
    do round = 1, rounds
      if (rma_rank() > 0 .or. round > 1) then
        call rma_wait_until(flags(2), RMA_GE, merge(round - 1, round, rma_rank() == 0), seen)
        call expect(seen >= 1, 'the value that was seen')
        column = inbox(2:14:2, 2)
      end if
      call rma_put_notify(rma_section(inboxes(right), [2, 2], [14, 2], [2, 1]), column + 1, &
                          rma_element(flag_of(right), 2), round)
    end do
    call rma_wait_until(flags(2), RMA_EQ, int(rounds, int64))
    call expect(all(nint(inbox(2:14:2, 2)) == (rounds - 1) * rma_size() + &
      merge(rma_size(), rma_rank(), rma_rank() == 0)), 'what went around')
    call expect(all(inbox(:, 1) == -1) .and. all(inbox(1:13:2, 2) == -1) .and. all(inbox(:, 3) == -1), &
      'the gaps')
    call rma_test_until(flags(2), RMA_LT, int(rounds, int64), met)
    call expect(.not. met, 'the flag after')
    call rma_wait_until(flags(2), 17, 0, stat=stat, errmsg=text)
    call expect_failure(stat, text, RMA_ERR_ARGUMENT, '17')
    call rma_put_notify(inboxes(right), inbox, inboxes(right), 1, stat, text)
    call expect_failure(stat, text, RMA_ERR_ARGUMENT, 'flag')
    call rma_barrier()
    call rma_free(inboxes)
    call rma_free(flag_of)
  end subroutine test_ring

  subroutine test_requests()
    real(real64), pointer :: mine(:)
    type(rma_array), allocatable :: parts(:)
    type(rma_request) :: requests(5), none(2)
    real(real64), asynchronous :: values(5), back(5)
    integer :: i, index, neighbour, found
    neighbour = mod(rma_rank() + 1, rma_size())
    call rma_malloc(mine, parts, 5)
    values = [(i + rma_rank() / 8.0_real64, i = 1, 5)]
    do i = 1, 5
      call rma_put_nb(rma_element(parts(neighbour), i), values(i), requests(i))
    end do
    found = 0
    do
      call rma_wait_any(requests, index)
      if (index == 0) exit
      found = found + index
    end do
    call expect(found == 0 .or. found == 15, 'rma_wait_any gives each request once')
    call rma_fence(neighbour)
    do i = 1, 5
      call rma_get_nb(back(6 - i), rma_element(parts(neighbour), i), requests(i))
    end do
    call rma_wait_all(requests)
    call expect(all(back == values(5:1:-1)), 'what came back')
    call rma_wait_any(none, index)
    call expect(index == 0, 'rma_wait_any of none')
    call rma_wait_all(none)
    call rma_barrier()
    call rma_free(parts)
  end subroutine test_requests
end module notify_tests
