! Conway's game of life on a torus whose rows the images share. After each step an image writes its edge rows
! into its neighbours' halos and synchronizes with these two only. At the end all compare the number of living
! cells with the game that image 1 plays alone.
!
!   rma_caf coarray_life.f90 -o life && rmarun -n 4 life
program coarray_life
  implicit none
  integer, parameter :: columns = 40, rows_each = 6, steps = 30
  logical, save :: world(columns, 0:rows_each + 1)[*] = .false.
  integer :: above, below, living, step, first

  above = modulo(this_image() - 2, num_images()) + 1
  below = modulo(this_image(), num_images()) + 1
  first = (this_image() - 1) * rows_each
  world(:, 1:rows_each) = start_of_rows(first + 1, first + rows_each)
  do step = 1, steps
    world(:, rows_each + 1)[above] = world(:, 1)
    world(:, 0)[below] = world(:, rows_each)
    sync images (pack([above, below], [.true., above /= below]))
    world(:, 1:rows_each) = next(world)
    sync images (pack([above, below], [.true., above /= below]))
  end do

  living = count(world(:, 1:rows_each))
  call co_sum(living, result_image=1)
  if (this_image() /= 1) stop
  print '(i0, a, i0, a)', num_images(), ' images: ', living, ' cells live'
  if (living /= living_alone()) error stop 'image 1 alone has another number'

contains

  ! Returns some cells of the start: every row is alike in all games of the same size.
  function start_of_rows(from, to) result(cells)
    integer, intent(in) :: from, to
    logical :: cells(columns, from:to)
    integer :: column, row
    do row = from, to
      do column = 1, columns
        cells(column, row) = mod(column * column + 3 * row * column + 5 * row, 7) < 3
      end do
    end do
  end function start_of_rows

  ! Returns the rows between the first and the last one after a step.
  function next(cells)
    logical, intent(in) :: cells(:, :)
    logical :: next(columns, size(cells, 2) - 2)
    integer :: neighbours(columns, size(cells, 2) - 2), row, column
    neighbours = 0
    do row = -1, 1
      do column = -1, 1
        if (row == 0 .and. column == 0) cycle
        neighbours = neighbours + merge(1, 0, cshift(cells(:, 2 + row:size(cells, 2) - 1 + row), column, &
          dim=1))
      end do
    end do
    next = neighbours == 3 .or. (neighbours == 2 .and. cells(:, 2:size(cells, 2) - 1))
  end function next

  integer function living_alone()
    logical, allocatable :: all(:, :)
    integer :: rows, i
    rows = rows_each * num_images()
    allocate (all(columns, 0:rows + 1))
    all(:, 1:rows) = start_of_rows(1, rows)
    do i = 1, steps
      all(:, 0) = all(:, rows)
      all(:, rows + 1) = all(:, 1)
      all(:, 1:rows) = next(all)
    end do
    living_alone = count(all(:, 1:rows))
  end function living_alone

end program coarray_life
