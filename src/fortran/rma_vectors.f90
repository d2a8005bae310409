! Vector transfers, which name the elements of a remote array one by one, as vector subscripts do. Part of module rma.
!
! `subscripts` holds integers of any kind: a list for an array of one dimension, else one column (:, i) for element i.
! They refer to the bounds of the remote array; a section starts at 1. The local array has as many elements, in any
! shape. The elements correspond in array element order. The library does not pack the data, but makes lists of 16
! bytes for each element. When the call returns, the caller may reuse `subscripts`. If a put names an element twice,
! the element gets one of the two values; an accumulate adds both. The `_nb` and `_nbi` forms are as in rma_transfers.
module rma_vectors
  use, intrinsic :: iso_c_binding, only: c_int
  use rma_types
  implicit none
  private
  public :: rma_put_vector, rma_put_vector_nb, rma_put_vector_nbi, rma_get_vector, rma_get_vector_nb, rma_get_vector_nbi
  public :: rma_acc_vector, rma_acc_vector_nb, rma_acc_vector_nbi

  interface
    ! Writes the elements of `src` to the named elements of `dst`. Returns when `src` may be changed.
    subroutine rma_put_vector(dst, subscripts, src, stat, errmsg) bind(C, name='rma_fortran_put_vector')
      import
      type(rma_array), intent(in) :: dst
      type(*), dimension(..), intent(in) :: subscripts
      type(*), dimension(..), intent(in) :: src
      integer(c_int), optional, intent(out) :: stat
      type(*), dimension(..), optional, intent(inout) :: errmsg
    end subroutine rma_put_vector

    subroutine rma_put_vector_nb(dst, subscripts, src, request, stat, errmsg) bind(C, name='rma_fortran_put_vector_nb')
      import
      type(rma_array), intent(in) :: dst
      type(*), dimension(..), intent(in) :: subscripts
      type(*), dimension(..), asynchronous, intent(in) :: src
      type(rma_request), intent(out) :: request
      integer(c_int), optional, intent(out) :: stat
      type(*), dimension(..), optional, intent(inout) :: errmsg
    end subroutine rma_put_vector_nb

    subroutine rma_put_vector_nbi(dst, subscripts, src, stat, errmsg) bind(C, name='rma_fortran_put_vector_nbi')
      import
      type(rma_array), intent(in) :: dst
      type(*), dimension(..), intent(in) :: subscripts
      type(*), dimension(..), asynchronous, intent(in) :: src
      integer(c_int), optional, intent(out) :: stat
      type(*), dimension(..), optional, intent(inout) :: errmsg
    end subroutine rma_put_vector_nbi

    ! Reads the named elements of `src` into `dst`. Returns when the data is there.
    subroutine rma_get_vector(dst, src, subscripts, stat, errmsg) bind(C, name='rma_fortran_get_vector')
      import
      type(*), dimension(..), intent(inout) :: dst
      type(rma_array), intent(in) :: src
      type(*), dimension(..), intent(in) :: subscripts
      integer(c_int), optional, intent(out) :: stat
      type(*), dimension(..), optional, intent(inout) :: errmsg
    end subroutine rma_get_vector

    subroutine rma_get_vector_nb(dst, src, subscripts, request, stat, errmsg) bind(C, name='rma_fortran_get_vector_nb')
      import
      type(*), dimension(..), asynchronous, intent(inout) :: dst
      type(rma_array), intent(in) :: src
      type(*), dimension(..), intent(in) :: subscripts
      type(rma_request), intent(out) :: request
      integer(c_int), optional, intent(out) :: stat
      type(*), dimension(..), optional, intent(inout) :: errmsg
    end subroutine rma_get_vector_nb

    subroutine rma_get_vector_nbi(dst, src, subscripts, stat, errmsg) bind(C, name='rma_fortran_get_vector_nbi')
      import
      type(*), dimension(..), asynchronous, intent(inout) :: dst
      type(rma_array), intent(in) :: src
      type(*), dimension(..), intent(in) :: subscripts
      integer(c_int), optional, intent(out) :: stat
      type(*), dimension(..), optional, intent(inout) :: errmsg
    end subroutine rma_get_vector_nbi

    ! Adds `scale` times the elements of `src` to the named elements of `dst`, as rma_acc does.
    subroutine rma_acc_vector(dst, subscripts, src, scale, stat, errmsg) bind(C, name='rma_fortran_acc_vector')
      import
      type(rma_array), intent(in) :: dst
      type(*), dimension(..), intent(in) :: subscripts
      type(*), dimension(..), intent(in) :: src
      type(*), dimension(..), optional, intent(in) :: scale
      integer(c_int), optional, intent(out) :: stat
      type(*), dimension(..), optional, intent(inout) :: errmsg
    end subroutine rma_acc_vector

    subroutine rma_acc_vector_nb(dst, subscripts, src, request, scale, stat, errmsg) &
      bind(C, name='rma_fortran_acc_vector_nb')
      import
      type(rma_array), intent(in) :: dst
      type(*), dimension(..), intent(in) :: subscripts
      type(*), dimension(..), asynchronous, intent(in) :: src
      type(rma_request), intent(out) :: request
      type(*), dimension(..), optional, intent(in) :: scale
      integer(c_int), optional, intent(out) :: stat
      type(*), dimension(..), optional, intent(inout) :: errmsg
    end subroutine rma_acc_vector_nb

    subroutine rma_acc_vector_nbi(dst, subscripts, src, scale, stat, errmsg) bind(C, name='rma_fortran_acc_vector_nbi')
      import
      type(rma_array), intent(in) :: dst
      type(*), dimension(..), intent(in) :: subscripts
      type(*), dimension(..), asynchronous, intent(in) :: src
      type(*), dimension(..), optional, intent(in) :: scale
      integer(c_int), optional, intent(out) :: stat
      type(*), dimension(..), optional, intent(inout) :: errmsg
    end subroutine rma_acc_vector_nbi
  end interface
end module rma_vectors
