! Random sections on both sides, in all modes, against a sequential model. Each rank has a slice of its own in
! every rank's array, so its own model says what the slice must hold, gaps included.
module section_tests
  use, intrinsic :: iso_fortran_env, only: int32
  use checks
  use rma
  implicit none
  private
  public :: test_sections

  integer, parameter :: n = 9
  integer, parameter :: rounds = 400

  ! The subscripts of one dimension.
  type :: range
    integer :: first, last, step
  end type range

contains

  subroutine test_sections()
    integer(int32), pointer :: mine(:, :, :, :)
    type(rma_array), allocatable :: parts(:)
    integer(int32), allocatable :: model(:, :, :, :), slice(:, :, :)
    integer :: target

    ! The lower bounds are not 1, and the last dimension counts the ranks.
    call rma_malloc(mine, parts, [n - 3, n, n + 4, rma_size() - 1], lower=[-2, 1, 5, 0])
    mine = -1
    allocate (model(-2:n - 3, n, 5:n + 4, 0:rma_size() - 1), source=-1)
    call rma_barrier()
    call seed_draws(rma_rank())
    call random_operations(parts, model)
    call rma_barrier()
    allocate (slice(-2:n - 3, n, 5:n + 4))
    do target = 0, rma_size() - 1
      call rma_get(slice, rma_section(parts(target), first=[-2, 1, 5, rma_rank()], &
        last=[n - 3, n, n + 4, rma_rank()]))
      call expect(all(slice == model(:, :, :, target)), 'what a slice holds in the end')
    end do
    call rma_barrier()
    ! Checks at the owner: its memory must hold the data that the others have in their models.
    call expect_sums(mine, model)
    call rma_free(parts)
  end subroutine test_sections

  subroutine random_operations(parts, model)
    type(rma_array), intent(in) :: parts(0:)
    integer(int32), intent(inout) :: model(-2:, :, 5:, 0:)
    integer(int32), asynchronous :: local(n, 0:n - 1, n)
    integer(int32) :: before(n, 0:n - 1, n)
    type(range) :: l(3), r(3)
    type(rma_array) :: there
    type(rma_request) :: request
    integer :: round, target, mode, d
    logical :: done
    do round = 1, rounds
      target = draw(0, rma_size() - 1)
      mode = draw(1, 3)
      do d = 1, 3
        call draw_ranges(l(d), r(d))
      end do
      ! Maps subscripts of 1..n to the bounds of either array.
      l(2)%first = l(2)%first - 1
      l(2)%last = l(2)%last - 1
      r(1)%first = r(1)%first - 3
      r(1)%last = r(1)%last - 3
      r(3)%first = r(3)%first + 4
      r(3)%last = r(3)%last + 4
      there = rma_section(parts(target), [r%first, rma_rank()], [r%last, rma_rank()], [r%step, 1])
      call number(local, round)
      before = local
      associate (here => local(l(1)%first:l(1)%last:l(1)%step, l(2)%first:l(2)%last:l(2)%step, &
                               l(3)%first:l(3)%last:l(3)%step), &
                 was => before(l(1)%first:l(1)%last:l(1)%step, l(2)%first:l(2)%last:l(2)%step, &
                               l(3)%first:l(3)%last:l(3)%step), &
                 held => model(r(1)%first:r(1)%last:r(1)%step, r(2)%first:r(2)%last:r(2)%step, &
                               r(3)%first:r(3)%last:r(3)%step, target))
        select case (draw(1, 3))
        case (1)
          if (mode == 1) call rma_put(there, here)
          if (mode == 2) call rma_put_nb(there, here, request)
          if (mode == 3) call rma_put_nbi(there, here)
          held = was
        case (2)
          if (mode == 1) call rma_get(here, there)
          if (mode == 2) call rma_get_nb(here, there, request)
          if (mode == 3) call rma_get_nbi(here, there)
          was = held
        case (3)
          if (mode == 1) call rma_acc(there, here, -3)
          if (mode == 2) call rma_acc_nb(there, here, request)
          if (mode == 3) call rma_acc_nbi(there, here, scale=7)
          held = held + merge(-3, merge(1, 7, mode == 2), mode == 1) * was
        end select
      end associate
      if (mode == 2 .and. draw(0, 1) == 0) then
        done = .false.
        do while (.not. done)
          call rma_test(request, done)
        end do
      end if
      if (mode == 2) call rma_wait(request)
      ! Nonblocking operations are unordered until fenced.
      if (mode /= 1) call rma_fence(target)
      call expect(all(local == before), 'the local array, gaps included')
    end do
  end subroutine random_operations

  ! Draws as many subscripts of 1..n on both sides, sometimes one or none.
  subroutine draw_ranges(one, other)
    type(range), intent(out) :: one, other
    integer :: count
    count = draw(0, 5)
    if (count == 0 .and. draw(0, 9) > 0) count = 1
    call place(one)
    call place(other)
  contains
    subroutine place(subscripts)
      type(range), intent(out) :: subscripts
      integer :: step, low
      step = draw(1, merge(2, n, count > 1))
      low = draw(1, n - max(count - 1, 0) * step * merge(1, 0, count > 1))
      if (draw(0, 2) > 0) then
        subscripts = range(low, low + (count - 1) * step, step)
      else
        subscripts = range(low + max(count - 1, 0) * step * merge(1, 0, count > 1), low, -step)
        if (count == 0) subscripts%last = subscripts%first + 1
      end if
    end subroutine place
  end subroutine draw_ranges

  ! Returns numbers that encode the round and the place in which they were written.
  subroutine number(array, round)
    integer(int32), intent(out) :: array(:, :, :)
    integer, intent(in) :: round
    integer :: i
    array = reshape([(round * 1000 + i, i = 1, size(array))], shape(array))
  end subroutine number

  subroutine expect_sums(mine, model)
    integer(int32), intent(in) :: mine(-2:, :, 5:, 0:)
    integer(int32), intent(in) :: model(-2:, :, 5:, 0:)
    integer(int32) :: told(0:rma_size() - 1, 0:rma_size() - 1), sums(0:rma_size() - 1)
    integer :: rank
    sums = [(checksum(model(:, :, :, rank)), rank = 0, rma_size() - 1)]
    call rma_allgather(told, sums)
    do rank = 0, rma_size() - 1
      call expect(told(rma_rank(), rank) == checksum(mine(:, :, :, rank)), 'a slice as its owner sees it')
    end do
  end subroutine expect_sums

  integer(int32) function checksum(values)
    integer(int32), intent(in) :: values(:, :, :)
    integer :: i, j, k
    checksum = 0
    do k = 1, size(values, 3)
      do j = 1, size(values, 2)
        do i = 1, size(values, 1)
          checksum = ieor(ishftc(checksum, 5), values(i, j, k))
        end do
      end do
    end do
  end function checksum
end module section_tests
