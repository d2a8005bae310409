! Random elements in all modes, against a sequential model. As in section_tests, each rank has a slice of its
! own in every rank's array.
module vector_tests
  use, intrinsic :: iso_fortran_env, only: int8, int32, int64, real64
  use checks
  use rma
  implicit none
  private
  public :: test_vectors

  integer, parameter :: n = 7, m = 6
  integer, parameter :: most = 20
  integer, parameter :: rounds = 400

contains

  subroutine test_vectors()
    integer(int32), pointer :: mine(:, :, :)
    type(rma_array), allocatable :: parts(:)
    integer(int32), allocatable :: model(:, :, :), slice(:, :)
    integer :: target

    call rma_malloc(mine, parts, [n - 2, m, rma_size() - 1], lower=[-1, 1, 0])
    mine = -1
    allocate (model(-1:n - 2, m, 0:rma_size() - 1), source=-1)
    call rma_barrier()
    call seed_draws(rma_rank())
    call random_operations(parts, model)
    call rma_barrier()
    allocate (slice(-1:n - 2, m))
    do target = 0, rma_size() - 1
      call rma_get(slice, rma_section(parts(target), first=[-1, 1, rma_rank()], last=[n - 2, m, rma_rank()]))
      call expect(all(slice == model(:, :, target)), 'what a slice holds in the end')
    end do
    call refusals(parts(0))
    call rma_barrier()
    call rma_free(parts)
    call lists()
  end subroutine test_vectors

  subroutine random_operations(parts, model)
    type(rma_array), intent(in) :: parts(0:)
    integer(int32), intent(inout) :: model(-1:, :, 0:)
    integer(int32), asynchronous :: local(3 * most)
    integer(int32) :: before(3 * most)
    integer(int64) :: subscripts(3, most)
    type(rma_request) :: request
    integer :: round, target, mode, kind, count, first, step, i
    do round = 1, rounds
      target = draw(0, rma_size() - 1)
      mode = draw(1, 3)
      kind = draw(1, 3)
      count = draw(0, most)
      call draw_elements(subscripts(:, :count), distinct=kind /= 3)
      local = [(round * 1000 + i, i = 1, size(local))]
      before = local
      step = draw(1, 3)
      first = 1
      if (draw(0, 1) == 1) then
        first = 1 + step * (count - 1)
        step = -step
      end if
      associate (here => local(first:first + step * (count - 1):step), &
                 was => before(first:first + step * (count - 1):step), at => subscripts(:, :count))
        select case (kind)
        case (1)
          if (mode == 1) call rma_put_vector(parts(target), at, here)
          if (mode == 2) call rma_put_vector_nb(parts(target), int(at), here, request)
          if (mode == 3) call rma_put_vector_nbi(parts(target), at, here)
          do i = 1, count
            model(at(1, i), at(2, i), target) = was(i)
          end do
        case (2)
          if (mode == 1) call rma_get_vector(here, parts(target), at)
          if (mode == 2) call rma_get_vector_nb(here, parts(target), int(at, int8), request)
          if (mode == 3) call rma_get_vector_nbi(here, parts(target), at)
          do i = 1, count
            was(i) = model(at(1, i), at(2, i), target)
          end do
        case (3)
          if (mode == 1) call rma_acc_vector(parts(target), at, here, -3)
          if (mode == 2) call rma_acc_vector_nb(parts(target), int(at), here, request)
          if (mode == 3) call rma_acc_vector_nbi(parts(target), at, here, scale=7)
          do i = 1, count
            model(at(1, i), at(2, i), target) = model(at(1, i), at(2, i), target) + &
                                                merge(-3, merge(1, 7, mode == 2), mode == 1) * was(i)
          end do
        end select
      end associate
      ! The call has finished with them when it returns.
      subscripts = -99
      if (mode == 2) call rma_wait(request)
      if (mode /= 1) call rma_fence(target)
      call expect(all(local == before), 'the local array, gaps included')
    end do
  end subroutine random_operations

  ! Draws elements of this rank's slice.
  subroutine draw_elements(subscripts, distinct)
    integer(int64), intent(out) :: subscripts(:, :)
    logical, intent(in) :: distinct
    integer :: order(n * m), i, j, kept
    order = [(i, i = 0, n * m - 1)]
    do i = 1, size(subscripts, 2)
      j = draw(merge(i, 1, distinct), n * m)
      kept = order(i)
      order(i) = order(j)
      if (distinct) order(j) = kept
      subscripts(:, i) = [mod(order(i), n) - 1, order(i) / n + 1, rma_rank()]
    end do
  end subroutine draw_elements

  ! With one dimension: a list of subscripts, within a section, and a local array of more dimensions.
  subroutine lists()
    real(real64), pointer :: mine(:)
    type(rma_array), allocatable :: parts(:)
    type(rma_array) :: odd
    real(real64) :: values(2, 3), one
    integer :: i, right
    right = mod(rma_rank() + 1, rma_size())
    call rma_malloc(mine, parts, 20, lower=11)
    mine = [(i, i = 11, 20)]
    call rma_barrier()
    call rma_get_vector(values, parts(right), [20, 11, 15, 12, 20, 13])
    call expect(all(nint(values) == reshape([20, 11, 15, 12, 20, 13], [2, 3])), &
      'a list, repetitions among it')
    odd = rma_section(parts(right), 11, 19, 2)
    call rma_get_vector(values(:, 2), odd, [5_int8, 1_int8])
    call expect(all(nint(values(:, 2)) == [19, 11]), 'subscripts of a section')
    call rma_get_vector(one, odd, [2])
    call expect(nint(one) == 13, 'one element')
    call rma_barrier()
    call rma_put_vector(odd, reshape([4, 2], [1, 2]), [-4.0_real64, -2.0_real64])
    call rma_acc_vector(odd, [4, 4, 4], [1.0_real64, 2.0_real64, 3.0_real64], 10.0_real64)
    call rma_barrier()
    call expect(nint(mine(17)) == 56 .and. nint(mine(13)) == -2 .and. nint(mine(18)) == 18, &
      'as the owner sees it')
    call rma_barrier()
    call rma_free(parts)
  end subroutine lists

  ! A refused call changes nothing.
  subroutine refusals(there)
    type(rma_array), intent(in) :: there
    integer(int32) :: values(2), before(2)
    character(len=300) :: text
    integer, pointer :: nowhere(:, :)
    integer :: stat, me
    me = rma_rank()
    nowhere => null()
    call rma_get_vector(before, there, reshape([0, 1, me, 0, 2, me], [3, 2]))
    call rma_put_vector(there, reshape([0, 1, me, 0, 7, me], [3, 2]), [1, 2], stat, text)
    call expect_failure(stat, text, RMA_ERR_ARGUMENT, &
      "rma_put_vector: subscript 7 of dimension 2, of element 2, is outside of dst's bounds 1:6")
    call rma_put_vector(there, reshape([0, 1, me, -2, 2, me], [3, 2]), [1, 2], stat, text)
    call expect_failure(stat, text, RMA_ERR_ARGUMENT, "subscript -2 of dimension 1, of element 2")
    call rma_put_vector(there, reshape([0, 1, me, 0, 2, me], [3, 2]), [1, 2, 3], stat, text)
    call expect_failure(stat, text, RMA_ERR_SIZE, 'subscripts name 2 elements of dst, src has 3 elements')
    call rma_put_vector(there, reshape([0, 1, 0, 2], [2, 2]), [1, 2], stat, text)
    call expect_failure(stat, text, RMA_ERR_ARGUMENT, 'subscripts is no array of 3 x the number of elements')
    call rma_put_vector(there, [1, 2, 3], [1, 2, 3], stat, text)
    call expect_failure(stat, text, RMA_ERR_ARGUMENT, 'subscripts is no array of 3 x')
    call rma_put_vector(rma_element(there, [0, 1, me]), [1], [1], stat, text)
    call expect_failure(stat, text, RMA_ERR_ARGUMENT, 'for the 0 dimensions of dst')
    call rma_put_vector(there, nowhere, [1], stat, text)
    call expect(stat /= RMA_SUCCESS, 'subscripts that are nowhere: ' // trim(text))
    call rma_put_vector(there, reshape([0.0, 1.0, 0.0], [3, 1]), [1], stat, text)
    call expect_failure(stat, text, RMA_ERR_ARGUMENT, 'subscripts is real of 4 bytes')
    call rma_put_vector(there, reshape([0, 1, me], [3, 1]), [1.0], stat, text)
    call expect_failure(stat, text, RMA_ERR_ARGUMENT, 'dst is integer of 4 bytes, src is real of 4 bytes')
    call rma_acc_vector(there, reshape([0, 1, me], [3, 1]), [1], 2_int64, stat, text)
    call expect_failure(stat, text, RMA_ERR_ARGUMENT, 'scale is integer of 8 bytes')
    call rma_get_vector(values, there, reshape([0, 1, me, 0, 0, me], [3, 2]), stat, text)
    call expect_failure(stat, text, RMA_ERR_ARGUMENT, &
      "subscript 0 of dimension 2, of element 2, is outside of src's")
    call rma_get_vector(values, there, reshape([0, 1, me, 0, 2, me], [3, 2]))
    call expect(all(values == before), 'what was refused changed nothing')
  end subroutine refusals
end module vector_tests
