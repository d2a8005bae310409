! Teams and their collectives. Part of module rma.
!
! If `team` is absent, it is the world team. All members of a team call its collectives, in the same order. Buffers are
! arrays of any shape. The compiler packs those that are not contiguous.
module rma_teams
  use, intrinsic :: iso_c_binding, only: c_int
  use rma_types
  implicit none
  private
  public :: rma_team_world, rma_team_create, rma_team_split, rma_team_free, rma_team_info, rma_team_world_rank
  public :: rma_barrier, rma_broadcast, rma_reduce, rma_allreduce, rma_allgather

  interface
    ! Returns the team of all ranks.
    type(rma_team) function rma_team_world() bind(C, name='rma_fortran_team_world')
      import
    end function rma_team_world

    ! Creates a team of these world ranks, in that order. Exactly these ranks call it.
    subroutine rma_team_create(ranks, team, stat, errmsg) bind(C, name='rma_fortran_team_create')
      import
      integer(c_int), contiguous, intent(in) :: ranks(:)
      type(rma_team), intent(out) :: team
      integer(c_int), optional, intent(out) :: stat
      type(*), dimension(..), optional, intent(inout) :: errmsg
    end subroutine rma_team_create

    ! Splits `parent` into teams. Members with the same `color` form a team, ordered by `key` and then by their rank in
    ! `parent`. Members with a negative color join no team.
    subroutine rma_team_split(parent, color, key, team, stat, errmsg) bind(C, name='rma_fortran_team_split')
      import
      type(rma_team), intent(in) :: parent
      integer(c_int), value :: color, key
      type(rma_team), intent(out) :: team
      integer(c_int), optional, intent(out) :: stat
      type(*), dimension(..), optional, intent(inout) :: errmsg
    end subroutine rma_team_split

    ! Frees a team. Collective over the team.
    subroutine rma_team_free(team, stat, errmsg) bind(C, name='rma_fortran_team_free')
      import
      type(rma_team), intent(inout) :: team
      integer(c_int), optional, intent(out) :: stat
      type(*), dimension(..), optional, intent(inout) :: errmsg
    end subroutine rma_team_free

    ! Sets `rank` to this process's rank in the team, from 0, and `size` to the number of members.
    subroutine rma_team_info(team, rank, size, stat, errmsg) bind(C, name='rma_fortran_team_info')
      import
      type(rma_team), intent(in) :: team
      integer(c_int), optional, intent(out) :: rank, size
      integer(c_int), optional, intent(out) :: stat
      type(*), dimension(..), optional, intent(inout) :: errmsg
    end subroutine rma_team_info

    ! Sets `world_rank` to the world rank of the member `team_rank`.
    subroutine rma_team_world_rank(team, team_rank, world_rank, stat, errmsg) &
      bind(C, name='rma_fortran_team_world_rank')
      import
      type(rma_team), intent(in) :: team
      integer(c_int), value :: team_rank
      integer(c_int), intent(out) :: world_rank
      integer(c_int), optional, intent(out) :: stat
      type(*), dimension(..), optional, intent(inout) :: errmsg
    end subroutine rma_team_world_rank

    ! Performs rma_fence_all, and waits until every member has called rma_barrier.
    subroutine rma_barrier(team, stat, errmsg) bind(C, name='rma_fortran_barrier')
      import
      type(rma_team), optional, intent(in) :: team
      integer(c_int), optional, intent(out) :: stat
      type(*), dimension(..), optional, intent(inout) :: errmsg
    end subroutine rma_barrier

    ! Copies the buffer of `root`, a team rank, to every member's buffer.
    subroutine rma_broadcast(buffer, root, team, stat, errmsg) bind(C, name='rma_fortran_broadcast')
      import
      type(*), dimension(..), contiguous, intent(inout) :: buffer
      integer(c_int), value :: root
      type(rma_team), optional, intent(in) :: team
      integer(c_int), optional, intent(out) :: stat
      type(*), dimension(..), optional, intent(inout) :: errmsg
    end subroutine rma_broadcast

    ! Combines the members' `src` element by element into the `dst` of `root`, a team rank. If `src` is absent, `dst`
    ! is the input.
    subroutine rma_reduce(dst, src, op, root, team, stat, errmsg) bind(C, name='rma_fortran_reduce')
      import
      type(*), dimension(..), contiguous, intent(inout) :: dst
      type(*), dimension(..), contiguous, optional, intent(in) :: src
      integer(c_int), value :: op, root
      type(rma_team), optional, intent(in) :: team
      integer(c_int), optional, intent(out) :: stat
      type(*), dimension(..), optional, intent(inout) :: errmsg
    end subroutine rma_reduce

    ! Reduces as rma_reduce does, and stores the result into every member's `dst`.
    subroutine rma_allreduce(dst, src, op, team, stat, errmsg) bind(C, name='rma_fortran_allreduce')
      import
      type(*), dimension(..), contiguous, intent(inout) :: dst
      type(*), dimension(..), contiguous, optional, intent(in) :: src
      integer(c_int), value :: op
      type(rma_team), optional, intent(in) :: team
      integer(c_int), optional, intent(out) :: stat
      type(*), dimension(..), optional, intent(inout) :: errmsg
    end subroutine rma_allreduce

    ! Gathers every member's `src`, in the order of team ranks, into every member's `dst`.
    subroutine rma_allgather(dst, src, team, stat, errmsg) bind(C, name='rma_fortran_allgather')
      import
      type(*), dimension(..), contiguous, intent(inout) :: dst
      type(*), dimension(..), contiguous, intent(in) :: src
      type(rma_team), optional, intent(in) :: team
      integer(c_int), optional, intent(out) :: stat
      type(*), dimension(..), optional, intent(inout) :: errmsg
    end subroutine rma_allgather
  end interface
end module rma_teams
