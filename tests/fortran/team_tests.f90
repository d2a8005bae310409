! Teams and their collectives.
module team_tests
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  use checks
  use rma
  implicit none
  private
  public :: test_teams

contains

  subroutine test_teams()
    call test_collectives(rma_team_world())
    call test_split()
    call test_create()
    call test_types()
  end subroutine test_teams

  subroutine test_collectives(team)
    type(rma_team), intent(in) :: team
    integer :: me, members, root, i
    integer(int32) :: list(3), sum(3), grid(6, 4)
    real(real64), allocatable :: all_of_them(:, :)
    call rma_team_info(team, me, members)
    do root = 0, members - 1
      list = [1, 2, 3] + 10 * me
      call rma_broadcast(list, root, team)
      call expect(all(list == [1, 2, 3] + 10 * root), 'broadcast')
      list = [1, 2, 3] + 10 * me
      sum = -1
      call rma_reduce(sum, list, RMA_SUM, root, team)
      if (me == root) call expect(all(sum == members * [1, 2, 3] + 5 * members * (members - 1)), 'reduce')
      call rma_reduce(list, op=RMA_MAX, root=root, team=team)
      if (me == root) call expect(all(list == [1, 2, 3] + 10 * (members - 1)), 'reduce in place')
    end do
    ! The compiler packs this section, before and after the call.
    grid = 100 + me
    call rma_broadcast(grid(2:6:2, 4:1:-2), members - 1, team)
    call expect(all(grid(2:6:2, 2:4:2) == 99 + members) .and. all(grid(1:5:2, :) == 100 + me) .and. &
                all(grid(:, 1:3:2) == 100 + me), 'broadcast of a section')
    allocate (all_of_them(2, members))
    call rma_allgather(all_of_them, [real(me, real64), -1.0_real64], team)
    call expect(all(nint(all_of_them(1, :)) == [(i, i = 0, members - 1)]) .and. &
      all(all_of_them(2, :) == -1), 'allgather')
    call rma_barrier(team)
  end subroutine test_collectives

  ! Splits into odd and even ranks, in reverse order. The last rank is in no team.
  subroutine test_split()
    type(rma_team) :: team
    integer(int64), pointer :: mine(:)
    type(rma_array), allocatable :: parts(:)
    integer :: me, members, world_rank, color, i
    color = mod(rma_rank(), 2)
    if (rma_size() > 1 .and. rma_rank() == rma_size() - 1) color = -1
    call rma_team_split(rma_team_world(), color, -rma_rank(), team)
    if (color >= 0) then
      call rma_team_info(team, me, members)
      call test_collectives(team)
      call rma_malloc(mine, parts, 3, team=team)
      call expect(lbound(parts, 1) == 0 .and. ubound(parts, 1) == members - 1, 'as many parts as members')
      mine = rma_rank()
      call rma_barrier(team)
      do i = 0, members - 1
        call rma_team_world_rank(team, i, world_rank)
        call expect(parts(i)%rank == world_rank .and. mod(world_rank, 2) == color, &
          'the world rank of a member')
        call rma_put(rma_element(parts(i), 2), int(-world_rank, int64))
      end do
      call rma_barrier(team)
      call expect(all(mine == [rma_rank(), -rma_rank(), rma_rank()]), 'memory of a team')
      call rma_free(parts, team)
      call expect(.not. allocated(parts), 'parts after rma_free')
      call rma_team_free(team)
    end if
    call rma_barrier()
  end subroutine test_split

  subroutine test_create()
    type(rma_team) :: team
    integer :: me, i
    integer, allocatable :: ranks(:)
    ranks = [(i, i = rma_size() - 1, 0, -1)]
    call rma_team_create(ranks, team)
    call rma_team_info(team, rank=me)
    call expect(me == rma_size() - 1 - rma_rank(), 'the ranks in the order of the list')
    call rma_team_free(team)
  end subroutine test_create

  subroutine test_types()
    integer(int64) :: wide(2)
    real(real32) :: small
    complex(real32) :: pair
    complex(real64) :: pairs(2, 2)
    integer(int32) :: bits
    integer :: n
    n = rma_size()
    wide = [2_int64**40, -1_int64] * (rma_rank() + 1)
    call rma_allreduce(wide, op=RMA_MIN)
    call expect(all(wide == [2_int64**40, int(-n, int64)]), 'int64')
    small = 0.5
    call rma_allreduce(small, op=RMA_SUM)
    call expect(small == n * 0.5, 'real32')
    call rma_allreduce(pair, (1.0_real32, -2.0_real32), RMA_SUM)
    call expect(pair == n * (1.0, -2.0), 'complex32')
    pairs = (0, 1)
    call rma_allreduce(pairs, op=RMA_PROD)
    call expect(all(pairs == (0, 1)**n), 'complex64')
    bits = ishft(1, rma_rank())
    call rma_allreduce(bits, op=RMA_BOR)
    call expect(bits == ishft(1, n) - 1, 'bits')
  end subroutine test_types
end module team_tests
