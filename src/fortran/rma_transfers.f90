! Put, get, accumulate, and put with notification. Part of module rma.
!
! Local arrays may have any type and shape, and may be sections. The library reads their descriptors and copies
! nothing. Elements correspond in array element order. The `_nb` forms start an operation that ends with its request,
! and the `_nbi` forms one that ends with the next fence. Until then the local array belongs to the operation, and
! should have the attribute asynchronous.
module rma_transfers
  use, intrinsic :: iso_c_binding, only: c_int
  use rma_types
  implicit none
  private
  public :: rma_put, rma_put_nb, rma_put_nbi, rma_get, rma_get_nb, rma_get_nbi
  public :: rma_acc, rma_acc_nb, rma_acc_nbi, rma_put_notify

  interface
    ! Writes `src` to `dst`. Returns when `src` may be changed.
    subroutine rma_put(dst, src, stat, errmsg) bind(C, name='rma_fortran_put')
      import
      type(rma_array), intent(in) :: dst
      type(*), dimension(..), intent(in) :: src
      integer(c_int), optional, intent(out) :: stat
      type(*), dimension(..), optional, intent(inout) :: errmsg
    end subroutine rma_put

    subroutine rma_put_nb(dst, src, request, stat, errmsg) bind(C, name='rma_fortran_put_nb')
      import
      type(rma_array), intent(in) :: dst
      type(*), dimension(..), asynchronous, intent(in) :: src
      type(rma_request), intent(out) :: request
      integer(c_int), optional, intent(out) :: stat
      type(*), dimension(..), optional, intent(inout) :: errmsg
    end subroutine rma_put_nb

    subroutine rma_put_nbi(dst, src, stat, errmsg) bind(C, name='rma_fortran_put_nbi')
      import
      type(rma_array), intent(in) :: dst
      type(*), dimension(..), asynchronous, intent(in) :: src
      integer(c_int), optional, intent(out) :: stat
      type(*), dimension(..), optional, intent(inout) :: errmsg
    end subroutine rma_put_nbi

    ! Reads `src` into `dst`. Returns when the data is there.
    subroutine rma_get(dst, src, stat, errmsg) bind(C, name='rma_fortran_get')
      import
      type(*), dimension(..), intent(inout) :: dst
      type(rma_array), intent(in) :: src
      integer(c_int), optional, intent(out) :: stat
      type(*), dimension(..), optional, intent(inout) :: errmsg
    end subroutine rma_get

    subroutine rma_get_nb(dst, src, request, stat, errmsg) bind(C, name='rma_fortran_get_nb')
      import
      type(*), dimension(..), asynchronous, intent(inout) :: dst
      type(rma_array), intent(in) :: src
      type(rma_request), intent(out) :: request
      integer(c_int), optional, intent(out) :: stat
      type(*), dimension(..), optional, intent(inout) :: errmsg
    end subroutine rma_get_nb

    subroutine rma_get_nbi(dst, src, stat, errmsg) bind(C, name='rma_fortran_get_nbi')
      import
      type(*), dimension(..), asynchronous, intent(inout) :: dst
      type(rma_array), intent(in) :: src
      integer(c_int), optional, intent(out) :: stat
      type(*), dimension(..), optional, intent(inout) :: errmsg
    end subroutine rma_get_nbi

    ! Performs dst = dst + scale * src. The update of each element is atomic with respect to other accumulates.
    ! Elements are integer(int32), integer(int64), or real or complex of the kinds real32 and real64. `scale` is one
    ! number of the same type; if absent, it is 1.
    subroutine rma_acc(dst, src, scale, stat, errmsg) bind(C, name='rma_fortran_acc')
      import
      type(rma_array), intent(in) :: dst
      type(*), dimension(..), intent(in) :: src
      type(*), dimension(..), optional, intent(in) :: scale
      integer(c_int), optional, intent(out) :: stat
      type(*), dimension(..), optional, intent(inout) :: errmsg
    end subroutine rma_acc

    subroutine rma_acc_nb(dst, src, request, scale, stat, errmsg) bind(C, name='rma_fortran_acc_nb')
      import
      type(rma_array), intent(in) :: dst
      type(*), dimension(..), asynchronous, intent(in) :: src
      type(rma_request), intent(out) :: request
      type(*), dimension(..), optional, intent(in) :: scale
      integer(c_int), optional, intent(out) :: stat
      type(*), dimension(..), optional, intent(inout) :: errmsg
    end subroutine rma_acc_nb

    subroutine rma_acc_nbi(dst, src, scale, stat, errmsg) bind(C, name='rma_fortran_acc_nbi')
      import
      type(rma_array), intent(in) :: dst
      type(*), dimension(..), asynchronous, intent(in) :: src
      type(*), dimension(..), optional, intent(in) :: scale
      integer(c_int), optional, intent(out) :: stat
      type(*), dimension(..), optional, intent(inout) :: errmsg
    end subroutine rma_acc_nbi

    ! Writes `src` to `dst`, then stores `value`, an integer of any kind, into `flag`, an integer(int64) of the heap of
    ! the same rank. A reader that sees the value also sees the data.
    subroutine rma_put_notify(dst, src, flag, value, stat, errmsg) bind(C, name='rma_fortran_put_notify')
      import
      type(rma_array), intent(in) :: dst
      type(*), dimension(..), intent(in) :: src
      type(rma_array), intent(in) :: flag
      type(*), dimension(..), intent(in) :: value
      integer(c_int), optional, intent(out) :: stat
      type(*), dimension(..), optional, intent(inout) :: errmsg
    end subroutine rma_put_notify
  end interface
end module rma_transfers
