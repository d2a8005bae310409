! Refused calls: their status and text, and that they change nothing.
module error_tests
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  use checks
  use rma
  implicit none
  private
  public :: test_errors, test_stop

contains

  subroutine test_errors()
    real(real64), pointer :: mine(:, :)
    type(rma_array), allocatable :: parts(:)
    type(rma_array) :: unset
    character(len=300) :: text
    character(len=10) :: short
    integer :: stat

    call rma_malloc(mine, parts, [4, 6])
    mine = 7
    call rma_barrier()

    call rma_put(rma_section(parts(0), [2, 3], [5, 3]), [1.0_real64], stat, text)
    call expect_failure(stat, text, RMA_ERR_ARGUMENT, &
      'rma_put: dst is a section 2:5 of dimension 1, whose bounds are 1:4')
    call rma_put(rma_section(parts(0), [4, 0], [1, 6], [-1, 1]), [1.0_real64], stat, text)
    call expect_failure(stat, text, RMA_ERR_ARGUMENT, 'a section 0:6 of dimension 2')
    call rma_put(rma_element(parts(0), [1]), 1.0_real64, stat, text)
    call expect_failure(stat, text, RMA_ERR_ARGUMENT, '1 numbers for 2 dimensions')
    call rma_put(rma_section(parts(0), stride=[1, 0]), mine, stat, text)
    call expect_failure(stat, text, RMA_ERR_ARGUMENT, 'stride 0 in dimension 2')
    call rma_put(rma_element(parts(0), [1.0, 2.0]), 1.0_real64, stat, text)
    call expect_failure(stat, text, RMA_ERR_ARGUMENT, 'no list of integers')
    call rma_put(parts(0), mine(:, 1:5), stat, text)
    call expect_failure(stat, text, RMA_ERR_SIZE, 'dst has 4 x 6 elements, src has 4 x 5 elements')
    call rma_put(parts(0), reshape(mine, [3, 8]), stat, text)
    call expect_failure(stat, text, RMA_ERR_UNSUPPORTED, 'no strided transfer')
    call rma_put(parts(0), real(mine, real32), stat, text)
    call expect_failure(stat, text, RMA_ERR_ARGUMENT, 'dst is real of 8 bytes, src is real of 4 bytes')
    call rma_put(parts(0), int(mine, int64), stat, text)
    call expect_failure(stat, text, RMA_ERR_ARGUMENT, 'the same type')
    call rma_put(rma_remote_array(parts(0)%address, rma_size(), 0.0_real64), 1.0_real64, stat, text)
    call expect_failure(stat, text, RMA_ERR_RANK, 'no rank')
    call rma_put(rma_remote_array(parts(0)%address, 0, 0.0_real64, [2_int64**40, 2_int64**40]), mine, stat, &
      text)
    call expect_failure(stat, text, RMA_ERR_SIZE, 'no memory could hold')
    call assumed_size(mine, parts(0))
    call blank(unset)
    call rma_get(mine, unset, stat, text)
    call expect_failure(stat, text, RMA_ERR_ARGUMENT, 'src was never set')

    call rma_acc(parts(0), mine, 2.0_real32, stat, text)
    call expect_failure(stat, text, RMA_ERR_ARGUMENT, 'scale is real of 4 bytes')
    call rma_acc(parts(0), mine, [2.0_real64], stat, text)
    call expect_failure(stat, text, RMA_ERR_ARGUMENT, 'scale is an array')
    call rma_acc(rma_remote_array(parts(0)%address, 0, .true.), .true., stat=stat, errmsg=text)
    call expect_failure(stat, text, RMA_ERR_ARGUMENT, 'src is logical')

    call rma_fence(rma_size(), stat, text)
    call expect_failure(stat, text, RMA_ERR_RANK, 'rma_fence')
    call rma_fence(-1, stat, short)
    call expect_failure(stat, short, RMA_ERR_RANK, 'rma_fence:')
    call rma_allreduce(mine, mine(:, 1), RMA_SUM, stat=stat, errmsg=text)
    call expect_failure(stat, text, RMA_ERR_SIZE, 'dst has 24 elements, src 4')
    call rma_allgather(mine, mine(1:1, 1:1), stat=stat, errmsg=text)
    if (rma_size() /= 24) call expect_failure(stat, text, RMA_ERR_SIZE, 'dst has 24 elements')

    text = 'untouched'
    call rma_fence_all(stat, text)
    call expect(stat == RMA_SUCCESS .and. text == 'untouched', 'errmsg after success')
    call expect(rma_strerror(RMA_ERR_SIZE) == 'RMA_ERR_SIZE', 'rma_strerror')
    call expect(len(rma_version()) >= 5 .and. rma_initialized(), 'rma_version')

    call rma_barrier()
    call expect(all(mine == 7), 'what was refused changed nothing')
    call rma_barrier()
    call refused_allocation()
    call wrapped(parts(0))
    call rma_free(parts)
    call rma_free(parts, stat=stat, errmsg=text)
    call expect_failure(stat, text, RMA_ERR_ARGUMENT, 'parts')
  end subroutine test_errors

  subroutine assumed_size(values, there)
    real(real64), intent(in) :: values(*)
    type(rma_array), intent(in) :: there
    character(len=300) :: text
    integer :: stat
    call rma_put(there, values, stat, text)
    call expect_failure(stat, text, RMA_ERR_ARGUMENT, 'assumed size')
    call rma_put(there, values(1:24), stat, text)
    call expect_success(stat, text, 'a section of an assumed-size array')
  end subroutine assumed_size

  ! As a variable in zeroed memory.
  subroutine blank(array)
    type(rma_array), intent(out) :: array
    integer :: i
    array = transfer([(0_int32, i = 1, 1000)], array)
  end subroutine blank

  ! One rank's bounds are invalid. Every rank gets the error, and none waits for ever.
  subroutine refused_allocation()
    real(real64), pointer :: mine(:, :)
    type(rma_array), allocatable :: parts(:)
    character(len=300) :: text
    integer :: stat
    integer, allocatable :: upper(:)
    upper = [5, 5]
    if (rma_rank() == rma_size() - 1) upper = [5]
    call rma_malloc(mine, parts, upper, stat=stat, errmsg=text)
    call expect_failure(stat, text, RMA_ERR_ARGUMENT, 'the array is described by 1 numbers for 2 dimensions')
    call expect(.not. allocated(parts), 'no parts of what was refused')
  end subroutine refused_allocation

  ! The last call does not return.
  subroutine test_stop()
    integer(int32), pointer :: mine(:)
    type(rma_array), allocatable :: parts(:)
    call rma_malloc(mine, parts, 3)
    call rma_put(rma_section(parts(0), 0, 1), [1, 2])
    print '(a)', 'went on'
  end subroutine test_stop

  ! This procedure passes its own optional arguments on.
  subroutine wrapped(there, stat, errmsg)
    type(rma_array), intent(in) :: there
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    real(real64) :: value
    call rma_get(value, rma_element(there, [1, 1]), stat, errmsg)
    call expect(nint(value) == 7, 'optional arguments handed on')
  end subroutine wrapped
end module error_tests
