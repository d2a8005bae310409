! The program solves a heat equation on a plane that is cut in both directions, one block for each rank. After
! each step a rank writes its four edges into its neighbours' halos, and notifies each by the same call. Along
! the first dimension an edge is one element of each column, on both sides: array sections express that, and
! nothing is copied on the way. The loop has no barrier: a rank waits for its neighbours only.
!
!   rmarun -n 4 example-halo
program halo
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use rma
  implicit none

  integer, parameter :: rows = 48, columns = 64, steps = 40
  integer, parameter :: north = 1, south = 2, west = 3, east = 4
  integer, parameter :: opposite(4) = [south, north, east, west]

  ! The part of the plane that one rank has: the numbers of cells, and of the cells before them.
  type :: block
    integer :: rows, columns, first_row, first_column
  end type block

  real(real64), pointer :: plane(:, :, :)  ! a step reads one copy and writes the other
  integer(int64), pointer :: arrived(:)    ! the step whose edge has come from each side
  type(rma_array), allocatable :: planes(:), arrived_of(:)
  real(real64) :: expected(0:rows + 1, 0:columns + 1)
  type(block) :: mine
  integer :: down, across                  ! blocks in a column, and in a row
  integer :: neighbours(4), step, now, side, wrong

  call rma_init()
  call cut(down, across)
  mine = block_of(rma_rank())
  neighbours = neighbours_of(rma_rank())

  ! Every rank's block with a halo around it. The shapes differ; `planes` has the bounds of all.
  call rma_malloc(plane, planes, lower=[0, 0, 0], upper=[mine%rows + 1, mine%columns + 1, 1])
  call rma_malloc(arrived, arrived_of, upper=4)
  plane = 0
  plane(1:mine%rows, 1:mine%columns, 1) = &
    initial(mine%first_row, mine%first_column, mine%rows, mine%columns)
  arrived = 0
  call rma_barrier()  ! no rank sends before every flag is set

  do step = 1, steps
    now = mod(step, 2)
    do side = north, east
      if (neighbours(side) >= 0) call send(side, neighbours(side), now, step)
    end do
    ! A neighbour may be one step ahead, never two: its next step needs the data that this rank sends in its
    ! next.
    do side = north, east
      if (neighbours(side) >= 0) call rma_wait_until(arrived(side), RMA_GE, step)
    end do
    call advance(plane(:, :, now), plane(:, :, 1 - now))
  end do

  call serial(expected)
  wrong = count(plane(1:mine%rows, 1:mine%columns, mod(steps + 1, 2)) /= &
                expected(mine%first_row + 1:mine%first_row + mine%rows, &
                         mine%first_column + 1:mine%first_column + mine%columns))
  call rma_allreduce(wrong, op=RMA_SUM)
  if (rma_rank() == 0) print '(i0, a, i0, a, i0, a, i0, a)', down, ' x ', across, ' blocks, ', steps, &
    ' steps: ', wrong, ' cells differ from the serial result'
  call rma_free(planes)
  call rma_free(arrived_of)
  call rma_finalize()
  if (wrong /= 0) error stop 1

contains

  ! Writes the edge on one side into the halo on the opposite side of the neighbour there.
  subroutine send(side, neighbour, copy, step)
    integer, intent(in) :: side, neighbour, copy, step
    type(block) :: theirs
    type(rma_array) :: there, flag
    theirs = block_of(neighbour)
    flag = rma_element(arrived_of(neighbour), opposite(side))
    select case (side)
    case (north)
      there = rma_section(planes(neighbour), [theirs%rows + 1, 1, copy], &
        [theirs%rows + 1, theirs%columns, copy])
      call rma_put_notify(there, plane(1, 1:mine%columns, copy), flag, step)
    case (south)
      there = rma_section(planes(neighbour), [0, 1, copy], [0, theirs%columns, copy])
      call rma_put_notify(there, plane(mine%rows, 1:mine%columns, copy), flag, step)
    case (west)
      there = rma_section(planes(neighbour), [1, theirs%columns + 1, copy], &
        [theirs%rows, theirs%columns + 1, copy])
      call rma_put_notify(there, plane(1:mine%rows, 1, copy), flag, step)
    case (east)
      there = rma_section(planes(neighbour), [1, 0, copy], [theirs%rows, 0, copy])
      call rma_put_notify(there, plane(1:mine%rows, mine%columns, copy), flag, step)
    end select
  end subroutine send

  ! Computes one step of every cell. Blocks and the whole plane use it, so that they agree to the last bit.
  pure subroutine advance(old, new)
    real(real64), intent(in) :: old(0:, 0:)
    real(real64), intent(inout) :: new(0:, 0:)
    integer :: i, j
    do j = 1, ubound(old, 2) - 1
      do i = 1, ubound(old, 1) - 1
        new(i, j) = old(i, j) + 0.2_real64 * (((old(i - 1, j) + old(i + 1, j)) + (old(i, j - 1) + old(i, &
          j + 1))) - 4 * old(i, j))
      end do
    end do
  end subroutine advance

  ! Returns the initial heat. The hot part is asymmetric, so that exchanged sides would give a wrong result.
  pure function initial(first_row, first_column, rows, columns) result(heat)
    integer, intent(in) :: first_row, first_column, rows, columns
    real(real64) :: heat(rows, columns)
    integer :: i, j
    heat = 0
    do j = 1, columns
      do i = 1, rows
        if (first_row + i > 5 .and. first_row + i < 20 .and. first_column + j > 10 .and. &
          first_column + j < 40) then
          heat(i, j) = 100 + first_column + j
        end if
      end do
    end do
  end function initial

  subroutine serial(result)
    real(real64), intent(out) :: result(0:, 0:)
    real(real64) :: planes(0:rows + 1, 0:columns + 1, 0:1)
    integer :: step
    planes = 0
    planes(1:rows, 1:columns, 1) = initial(0, 0, rows, columns)
    do step = 1, steps
      call advance(planes(:, :, mod(step, 2)), planes(:, :, mod(step + 1, 2)))
    end do
    result = planes(:, :, mod(steps + 1, 2))
  end subroutine serial

  ! Makes as many blocks as ranks, as square as their number allows.
  subroutine cut(down, across)
    integer, intent(out) :: down, across
    down = int(sqrt(real(rma_size())))
    do while (mod(rma_size(), down) /= 0)
      down = down - 1
    end do
    across = rma_size() / down
    if (down > rows .or. across > columns) call rma_abort(1, 'more ranks than rows and columns')
  end subroutine cut

  function block_of(rank) result(it)
    integer, intent(in) :: rank
    type(block) :: it
    integer :: i, j
    i = rank / across
    j = mod(rank, across)
    it%first_row = rows * i / down
    it%first_column = columns * j / across
    it%rows = rows * (i + 1) / down - it%first_row
    it%columns = columns * (j + 1) / across - it%first_column
  end function block_of

  ! Returns the neighbours by side; -1 if the plane ends there.
  function neighbours_of(rank) result(ranks)
    integer, intent(in) :: rank
    integer :: ranks(4)
    ranks = [rank - across, rank + across, rank - 1, rank + 1]
    if (rank < across) ranks(north) = -1
    if (rank >= (down - 1) * across) ranks(south) = -1
    if (mod(rank, across) == 0) ranks(west) = -1
    if (mod(rank, across) == across - 1) ranks(east) = -1
  end function neighbours_of
end program halo
