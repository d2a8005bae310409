! Atomic read-modify-write, and mutexes. Part of module rma.
!
! `target` is one integer(int32) or integer(int64) in some rank's memory, most often an rma_element. An operand is an
! integer of any kind whose value fits the target. `old` becomes the value before the operation; it is integer(int32)
! or integer(int64), and at least as wide as the target.
module rma_atomics
  use, intrinsic :: iso_c_binding, only: c_int
  use rma_types
  implicit none
  private
  public :: rma_fetch_add, rma_fetch_and, rma_fetch_or, rma_fetch_xor, rma_swap, rma_compare_swap
  public :: rma_atomic_set, rma_atomic_fetch
  public :: rma_mutexes_create, rma_mutexes_destroy, rma_lock, rma_unlock

  interface
    ! Adds the operand to the target. The result wraps around.
    subroutine rma_fetch_add(target, operand, old, stat, errmsg) bind(C, name='rma_fortran_fetch_add')
      import
      type(rma_array), intent(in) :: target
      type(*), dimension(..), intent(in) :: operand
      type(*), dimension(..), optional, intent(inout) :: old
      integer(c_int), optional, intent(out) :: stat
      type(*), dimension(..), optional, intent(inout) :: errmsg
    end subroutine rma_fetch_add

    ! Stores the bitwise and of the target and the operand.
    subroutine rma_fetch_and(target, operand, old, stat, errmsg) bind(C, name='rma_fortran_fetch_and')
      import
      type(rma_array), intent(in) :: target
      type(*), dimension(..), intent(in) :: operand
      type(*), dimension(..), optional, intent(inout) :: old
      integer(c_int), optional, intent(out) :: stat
      type(*), dimension(..), optional, intent(inout) :: errmsg
    end subroutine rma_fetch_and

    ! Stores the bitwise or of the target and the operand.
    subroutine rma_fetch_or(target, operand, old, stat, errmsg) bind(C, name='rma_fortran_fetch_or')
      import
      type(rma_array), intent(in) :: target
      type(*), dimension(..), intent(in) :: operand
      type(*), dimension(..), optional, intent(inout) :: old
      integer(c_int), optional, intent(out) :: stat
      type(*), dimension(..), optional, intent(inout) :: errmsg
    end subroutine rma_fetch_or

    ! Stores the bitwise exclusive or of the target and the operand.
    subroutine rma_fetch_xor(target, operand, old, stat, errmsg) bind(C, name='rma_fortran_fetch_xor')
      import
      type(rma_array), intent(in) :: target
      type(*), dimension(..), intent(in) :: operand
      type(*), dimension(..), optional, intent(inout) :: old
      integer(c_int), optional, intent(out) :: stat
      type(*), dimension(..), optional, intent(inout) :: errmsg
    end subroutine rma_fetch_xor

    ! Stores the operand.
    subroutine rma_swap(target, operand, old, stat, errmsg) bind(C, name='rma_fortran_swap')
      import
      type(rma_array), intent(in) :: target
      type(*), dimension(..), intent(in) :: operand
      type(*), dimension(..), intent(inout) :: old
      integer(c_int), optional, intent(out) :: stat
      type(*), dimension(..), optional, intent(inout) :: errmsg
    end subroutine rma_swap

    ! Stores the operand if the value before equals `expected`. `old` becomes the value before in both cases.
    subroutine rma_compare_swap(target, expected, operand, old, stat, errmsg) bind(C, name='rma_fortran_compare_swap')
      import
      type(rma_array), intent(in) :: target
      type(*), dimension(..), intent(in) :: expected, operand
      type(*), dimension(..), intent(inout) :: old
      integer(c_int), optional, intent(out) :: stat
      type(*), dimension(..), optional, intent(inout) :: errmsg
    end subroutine rma_compare_swap

    ! Stores the operand, atomically with respect to the other operations.
    subroutine rma_atomic_set(target, operand, stat, errmsg) bind(C, name='rma_fortran_atomic_set')
      import
      type(rma_array), intent(in) :: target
      type(*), dimension(..), intent(in) :: operand
      integer(c_int), optional, intent(out) :: stat
      type(*), dimension(..), optional, intent(inout) :: errmsg
    end subroutine rma_atomic_set

    ! Reads the target, atomically with respect to the other operations.
    subroutine rma_atomic_fetch(target, old, stat, errmsg) bind(C, name='rma_fortran_atomic_fetch')
      import
      type(rma_array), intent(in) :: target
      type(*), dimension(..), intent(inout) :: old
      integer(c_int), optional, intent(out) :: stat
      type(*), dimension(..), optional, intent(inout) :: errmsg
    end subroutine rma_atomic_fetch

    ! Creates a set of mutexes, `count` of them owned by this member. `count` may differ by member and may be 0.
    ! Collective over `team`.
    subroutine rma_mutexes_create(count, mutexes, team, stat, errmsg) bind(C, name='rma_fortran_mutexes_create')
      import
      integer(c_int), value :: count
      type(rma_mutexes), intent(out) :: mutexes
      type(rma_team), optional, intent(in) :: team
      integer(c_int), optional, intent(out) :: stat
      type(*), dimension(..), optional, intent(inout) :: errmsg
    end subroutine rma_mutexes_create

    ! Destroys a set of mutexes. Collective over their team.
    subroutine rma_mutexes_destroy(mutexes, stat, errmsg) bind(C, name='rma_fortran_mutexes_destroy')
      import
      type(rma_mutexes), intent(inout) :: mutexes
      integer(c_int), optional, intent(out) :: stat
      type(*), dimension(..), optional, intent(inout) :: errmsg
    end subroutine rma_mutexes_destroy

    ! Locks mutex `index` (from 1) of member `rank` (a world rank). Ranks get it in the order in which they asked.
    subroutine rma_lock(mutexes, index, rank, stat, errmsg) bind(C, name='rma_fortran_lock')
      import
      type(rma_mutexes), intent(in) :: mutexes
      integer(c_int), value :: index, rank
      integer(c_int), optional, intent(out) :: stat
      type(*), dimension(..), optional, intent(inout) :: errmsg
    end subroutine rma_lock

    ! Unlocks a mutex. The next holder sees everything that this process issued before.
    subroutine rma_unlock(mutexes, index, rank, stat, errmsg) bind(C, name='rma_fortran_unlock')
      import
      type(rma_mutexes), intent(in) :: mutexes
      integer(c_int), value :: index, rank
      integer(c_int), optional, intent(out) :: stat
      type(*), dimension(..), optional, intent(inout) :: errmsg
    end subroutine rma_unlock
  end interface
end module rma_atomics
