! Memory that other ranks can access, and pointers to it. Part of module rma.
!
! The specific procedures of a generic differ only in the type of the pointer, which may have any number of dimensions.
! One C++ function implements all of them.
module rma_memory
  use, intrinsic :: iso_c_binding, only: c_int, c_intptr_t
  use, intrinsic :: iso_fortran_env, only: int8, int32, int64, real32, real64
  use rma_types
  implicit none
  private
  public :: rma_malloc, rma_free, rma_malloc_local, rma_free_local, rma_map, rma_register, rma_unregister
  public :: rma_remote_array, rma_section, rma_element

  ! Allocates an array on each member of `team`, and associates `local` with this member's. Collective.
  !   upper, lower  the bounds of this member's array, integers of any kind, one for each dimension; they may differ
  !                 by member. Without `lower` they start at 1.
  !   parts         becomes all members' arrays, parts(0) to parts(team size - 1).
  interface rma_malloc
    subroutine malloc_int8(local, parts, upper, lower, team, stat, errmsg) bind(C, name='rma_fortran_malloc')
      import
      integer(int8), pointer, intent(out) :: local(..)
      include 'malloc_arguments.inc'
    end subroutine malloc_int8
    subroutine malloc_int32(local, parts, upper, lower, team, stat, errmsg) bind(C, name='rma_fortran_malloc')
      import
      integer(int32), pointer, intent(out) :: local(..)
      include 'malloc_arguments.inc'
    end subroutine malloc_int32
    subroutine malloc_int64(local, parts, upper, lower, team, stat, errmsg) bind(C, name='rma_fortran_malloc')
      import
      integer(int64), pointer, intent(out) :: local(..)
      include 'malloc_arguments.inc'
    end subroutine malloc_int64
    subroutine malloc_real32(local, parts, upper, lower, team, stat, errmsg) bind(C, name='rma_fortran_malloc')
      import
      real(real32), pointer, intent(out) :: local(..)
      include 'malloc_arguments.inc'
    end subroutine malloc_real32
    subroutine malloc_real64(local, parts, upper, lower, team, stat, errmsg) bind(C, name='rma_fortran_malloc')
      import
      real(real64), pointer, intent(out) :: local(..)
      include 'malloc_arguments.inc'
    end subroutine malloc_real64
    subroutine malloc_complex32(local, parts, upper, lower, team, stat, errmsg) bind(C, name='rma_fortran_malloc')
      import
      complex(real32), pointer, intent(out) :: local(..)
      include 'malloc_arguments.inc'
    end subroutine malloc_complex32
    subroutine malloc_complex64(local, parts, upper, lower, team, stat, errmsg) bind(C, name='rma_fortran_malloc')
      import
      complex(real64), pointer, intent(out) :: local(..)
      include 'malloc_arguments.inc'
    end subroutine malloc_complex64
  end interface rma_malloc

  ! Allocates an array of this rank and associates `local` with it. The call is local. `part` becomes the array's
  ! description for other ranks. The bounds are as for rma_malloc.
  interface rma_malloc_local
    subroutine malloc_local_int8(local, part, upper, lower, stat, errmsg) bind(C, name='rma_fortran_malloc_local')
      import
      integer(int8), pointer, intent(out) :: local(..)
      include 'malloc_local_arguments.inc'
    end subroutine malloc_local_int8
    subroutine malloc_local_int32(local, part, upper, lower, stat, errmsg) bind(C, name='rma_fortran_malloc_local')
      import
      integer(int32), pointer, intent(out) :: local(..)
      include 'malloc_local_arguments.inc'
    end subroutine malloc_local_int32
    subroutine malloc_local_int64(local, part, upper, lower, stat, errmsg) bind(C, name='rma_fortran_malloc_local')
      import
      integer(int64), pointer, intent(out) :: local(..)
      include 'malloc_local_arguments.inc'
    end subroutine malloc_local_int64
    subroutine malloc_local_real32(local, part, upper, lower, stat, errmsg) bind(C, name='rma_fortran_malloc_local')
      import
      real(real32), pointer, intent(out) :: local(..)
      include 'malloc_local_arguments.inc'
    end subroutine malloc_local_real32
    subroutine malloc_local_real64(local, part, upper, lower, stat, errmsg) bind(C, name='rma_fortran_malloc_local')
      import
      real(real64), pointer, intent(out) :: local(..)
      include 'malloc_local_arguments.inc'
    end subroutine malloc_local_real64
    subroutine malloc_local_complex32(local, part, upper, lower, stat, errmsg) bind(C, name='rma_fortran_malloc_local')
      import
      complex(real32), pointer, intent(out) :: local(..)
      include 'malloc_local_arguments.inc'
    end subroutine malloc_local_complex32
    subroutine malloc_local_complex64(local, part, upper, lower, stat, errmsg) bind(C, name='rma_fortran_malloc_local')
      import
      complex(real64), pointer, intent(out) :: local(..)
      include 'malloc_local_arguments.inc'
    end subroutine malloc_local_complex64
  end interface rma_malloc_local

  ! Associates `here` with `array`, for plain loads and stores. `array` belongs to this rank, or to a rank whose memory
  ! is mapped here (rma_same_host). It may be a section.
  interface rma_map
    subroutine map_int8(array, here, stat, errmsg) bind(C, name='rma_fortran_map')
      import
      type(rma_array), intent(in) :: array
      integer(int8), pointer, intent(out) :: here(..)
      integer(c_int), optional, intent(out) :: stat
      type(*), dimension(..), optional, intent(inout) :: errmsg
    end subroutine map_int8
    subroutine map_int32(array, here, stat, errmsg) bind(C, name='rma_fortran_map')
      import
      type(rma_array), intent(in) :: array
      integer(int32), pointer, intent(out) :: here(..)
      integer(c_int), optional, intent(out) :: stat
      type(*), dimension(..), optional, intent(inout) :: errmsg
    end subroutine map_int32
    subroutine map_int64(array, here, stat, errmsg) bind(C, name='rma_fortran_map')
      import
      type(rma_array), intent(in) :: array
      integer(int64), pointer, intent(out) :: here(..)
      integer(c_int), optional, intent(out) :: stat
      type(*), dimension(..), optional, intent(inout) :: errmsg
    end subroutine map_int64
    subroutine map_real32(array, here, stat, errmsg) bind(C, name='rma_fortran_map')
      import
      type(rma_array), intent(in) :: array
      real(real32), pointer, intent(out) :: here(..)
      integer(c_int), optional, intent(out) :: stat
      type(*), dimension(..), optional, intent(inout) :: errmsg
    end subroutine map_real32
    subroutine map_real64(array, here, stat, errmsg) bind(C, name='rma_fortran_map')
      import
      type(rma_array), intent(in) :: array
      real(real64), pointer, intent(out) :: here(..)
      integer(c_int), optional, intent(out) :: stat
      type(*), dimension(..), optional, intent(inout) :: errmsg
    end subroutine map_real64
    subroutine map_complex32(array, here, stat, errmsg) bind(C, name='rma_fortran_map')
      import
      type(rma_array), intent(in) :: array
      complex(real32), pointer, intent(out) :: here(..)
      integer(c_int), optional, intent(out) :: stat
      type(*), dimension(..), optional, intent(inout) :: errmsg
    end subroutine map_complex32
    subroutine map_complex64(array, here, stat, errmsg) bind(C, name='rma_fortran_map')
      import
      type(rma_array), intent(in) :: array
      complex(real64), pointer, intent(out) :: here(..)
      integer(c_int), optional, intent(out) :: stat
      type(*), dimension(..), optional, intent(inout) :: errmsg
    end subroutine map_complex64
  end interface rma_map

  interface
    ! Frees the array that rma_malloc allocated on this member. Pointers to it are invalid afterwards. Collective over
    ! the same team.
    subroutine rma_free(parts, team, stat, errmsg) bind(C, name='rma_fortran_free')
      import
      type(rma_array), allocatable, intent(inout) :: parts(:)
      type(rma_team), optional, intent(in) :: team
      integer(c_int), optional, intent(out) :: stat
      type(*), dimension(..), optional, intent(inout) :: errmsg
    end subroutine rma_free

    ! Frees an array that rma_malloc_local allocated.
    subroutine rma_free_local(part, stat, errmsg) bind(C, name='rma_fortran_free_local')
      import
      type(rma_array), intent(inout) :: part
      integer(c_int), optional, intent(out) :: stat
      type(*), dimension(..), optional, intent(inout) :: errmsg
    end subroutine rma_free_local

    ! Makes `array` accessible to other ranks until rma_unregister. `array` is any contiguous array of this process
    ! that has the target attribute. `part` becomes its description for other ranks, with bounds that start at 1.
    subroutine rma_register(array, part, stat, errmsg) bind(C, name='rma_fortran_register')
      import
      type(*), dimension(..), target, asynchronous, intent(inout) :: array
      type(rma_array), intent(out) :: part
      integer(c_int), optional, intent(out) :: stat
      type(*), dimension(..), optional, intent(inout) :: errmsg
    end subroutine rma_register

    subroutine rma_unregister(part, stat, errmsg) bind(C, name='rma_fortran_unregister')
      import
      type(rma_array), intent(inout) :: part
      integer(c_int), optional, intent(out) :: stat
      type(*), dimension(..), optional, intent(inout) :: errmsg
    end subroutine rma_unregister

    ! Returns the description of a contiguous array at `address` in the memory of `rank`, with these bounds and
    ! elements like `mold`. Without bounds it has one element.
    type(rma_array) function rma_remote_array(address, rank, mold, upper, lower) &
      bind(C, name='rma_fortran_remote_array')
      import
      integer(c_intptr_t), value :: address
      integer(c_int), value :: rank
      type(*), dimension(..), intent(in) :: mold
      type(*), dimension(..), optional, intent(in) :: upper, lower
    end function rma_remote_array

    ! Returns the section first:last:stride of an array. Each argument has one integer for each dimension; an absent
    ! argument means the whole dimension. An operation refuses a section that lies outside of the array's bounds.
    type(rma_array) function rma_section(array, first, last, stride) bind(C, name='rma_fortran_section')
      import
      type(rma_array), intent(in) :: array
      type(*), dimension(..), optional, intent(in) :: first, last, stride
    end function rma_section

    ! Returns one element of an array.
    type(rma_array) function rma_element(array, index) bind(C, name='rma_fortran_element')
      import
      type(rma_array), intent(in) :: array
      type(*), dimension(..), intent(in) :: index
    end function rma_element
  end interface
end module rma_memory
