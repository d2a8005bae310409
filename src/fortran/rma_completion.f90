! Requests, fences, and waiting for notifications. Part of module rma.
module rma_completion
  use, intrinsic :: iso_c_binding, only: c_int, c_int64_t
  use, intrinsic :: iso_fortran_env, only: int32, int64
  use rma_types
  implicit none
  private
  public :: rma_wait, rma_test, rma_wait_any, rma_wait_all, rma_fence, rma_fence_all, rma_wait_until, rma_test_until

  ! Makes the comparison of rma_wait_until once, without waiting.
  interface rma_test_until
    module procedure test_until_int32, test_until_int64
  end interface rma_test_until

  interface
    ! Waits for one operation. `stat` becomes the operation's status.
    subroutine rma_wait(request, stat, errmsg) bind(C, name='rma_fortran_wait')
      import
      type(rma_request), intent(inout) :: request
      integer(c_int), optional, intent(out) :: stat
      type(*), dimension(..), optional, intent(inout) :: errmsg
    end subroutine rma_wait

    ! Waits until one of `requests` is complete, and sets `index` to its position. `index` is 0 if there is none
    ! to wait for.
    subroutine rma_wait_any(requests, index, stat, errmsg) bind(C, name='rma_fortran_wait_any')
      import
      type(rma_request), contiguous, intent(inout) :: requests(:)
      integer(c_int), intent(out) :: index
      integer(c_int), optional, intent(out) :: stat
      type(*), dimension(..), optional, intent(inout) :: errmsg
    end subroutine rma_wait_any

    ! Waits for all of `requests`. `stat` becomes the status of the first failure.
    subroutine rma_wait_all(requests, stat, errmsg) bind(C, name='rma_fortran_wait_all')
      import
      type(rma_request), contiguous, intent(inout) :: requests(:)
      integer(c_int), optional, intent(out) :: stat
      type(*), dimension(..), optional, intent(inout) :: errmsg
    end subroutine rma_wait_all

    ! Waits until everything that this process issued to `rank` is visible there.
    subroutine rma_fence(rank, stat, errmsg) bind(C, name='rma_fortran_fence')
      import
      integer(c_int), value :: rank
      integer(c_int), optional, intent(out) :: stat
      type(*), dimension(..), optional, intent(inout) :: errmsg
    end subroutine rma_fence

    ! Performs rma_fence for every rank.
    subroutine rma_fence_all(stat, errmsg) bind(C, name='rma_fortran_fence_all')
      import
      integer(c_int), optional, intent(out) :: stat
      type(*), dimension(..), optional, intent(inout) :: errmsg
    end subroutine rma_fence_all

    ! Waits until the comparison `compare` (RMA_EQ, ...) of `flag` with `value` is true. `flag` is a variable of this
    ! process, `value` an integer of any kind. Both are compared as unsigned integers. A rank that waits long sleeps.
    subroutine rma_wait_until(flag, compare, value, seen, stat, errmsg) bind(C, name='rma_fortran_wait_until')
      import
      integer(c_int64_t), asynchronous, intent(inout) :: flag
      integer(c_int), value :: compare
      type(*), dimension(..), intent(in) :: value
      integer(c_int64_t), optional, intent(out) :: seen
      integer(c_int), optional, intent(out) :: stat
      type(*), dimension(..), optional, intent(inout) :: errmsg
    end subroutine rma_wait_until

    subroutine c_test(request, done, stat, errmsg) bind(C, name='rma_fortran_test')
      import
      type(rma_request), intent(inout) :: request
      integer(c_int), intent(out) :: done
      integer(c_int), optional, intent(out) :: stat
      type(*), dimension(..), optional, intent(inout) :: errmsg
    end subroutine c_test

    subroutine c_test_until(flag, compare, value, met, stat, errmsg) bind(C, name='rma_fortran_test_until')
      import
      integer(c_int64_t), asynchronous, intent(inout) :: flag
      integer(c_int), value :: compare
      integer(c_int64_t), value :: value
      integer(c_int), intent(out) :: met
      integer(c_int), optional, intent(out) :: stat
      type(*), dimension(..), optional, intent(inout) :: errmsg
    end subroutine c_test_until
  end interface

contains

  ! Sets `done` to true if the operation is complete, else to false.
  subroutine rma_test(request, done, stat, errmsg)
    type(rma_request), intent(inout) :: request
    logical, intent(out) :: done
    integer, optional, intent(out) :: stat
    character(len=*), optional, intent(inout) :: errmsg
    integer(c_int) :: yes
    call c_test(request, yes, stat, errmsg)
    done = yes /= 0
  end subroutine rma_test

  subroutine test_until_int32(flag, compare, value, met, stat, errmsg)
    integer(c_int64_t), asynchronous, intent(inout) :: flag
    integer, intent(in) :: compare
    integer(int32), intent(in) :: value
    logical, intent(out) :: met
    integer, optional, intent(out) :: stat
    character(len=*), optional, intent(inout) :: errmsg
    call test_until_int64(flag, compare, int(value, int64), met, stat, errmsg)
  end subroutine test_until_int32

  subroutine test_until_int64(flag, compare, value, met, stat, errmsg)
    integer(c_int64_t), asynchronous, intent(inout) :: flag
    integer, intent(in) :: compare
    integer(int64), intent(in) :: value
    logical, intent(out) :: met
    integer, optional, intent(out) :: stat
    character(len=*), optional, intent(inout) :: errmsg
    integer(c_int) :: yes
    call c_test_until(flag, compare, value, yes, stat, errmsg)
    met = yes /= 0
  end subroutine test_until_int64
end module rma_completion
