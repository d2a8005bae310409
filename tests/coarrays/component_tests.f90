! Components of coarrays of derived types: fixed, allocatable and pointer components, of any rank, nested.
module component_tests
  use checks, only: check
  implicit none
  private
  public :: test_components

  type :: inner
    integer :: number = -1
    real(8), allocatable :: values(:)
  end type inner

  type :: outer
    integer :: fixed(2:4, 0:2) = 0
    character(4) :: name = 'none'
    real(8), allocatable :: matrix(:, :)
    integer, allocatable :: scalar
    type(inner) :: nested
    type(inner), allocatable :: list(:)
    type(inner), pointer :: next => null()
  end type outer

  type :: simple
    integer :: fixed(2:4, 0:2) = 0
    character(4) :: name = 'none'
    real(8), allocatable :: matrix(:, :)
  end type simple

  type(outer), save :: object[*]
  ! gfortran 12 fails to compile an allocatable coarray whose components have allocatable components.
  type(simple), allocatable :: objects(:)[:]
  type(inner), save, target :: anchor[*]

contains

  subroutine test_components()
    call fill()
    call test_gets()
    call test_puts()
    call test_presence()
    call test_own()
    call release()
  end subroutine test_components

  ! Returns element (i, j) of an image's matrix, which has more columns on later images.
  elemental real(8) function element(image, i, j)
    integer, intent(in) :: image, i, j
    element = image + i / 16d0 + j / 256d0
  end function element

  subroutine fill()
    integer :: me, i, j
    me = this_image()
    object%fixed = reshape([(100 * me + i, i=1, 9)], [3, 3])
    object%name = achar(64 + me)
    allocate (object%matrix(-1:3, 2:2 + me))
    object%matrix(:, :) = reshape([((element(me, i, j), i=-1, 3), j=2, 2 + me)], [5, me + 1])
    allocate (object%scalar)
    object%scalar = 1000 + me
    object%nested%number = me
    allocate (object%nested%values(3))
    object%nested%values = me * [1d0, 2d0, 3d0]
    allocate (object%list(me))
    do i = 1, me
      object%list(i)%number = 10 * me + i
      allocate (object%list(i)%values(i))
      object%list(i)%values = i + me / 8d0
    end do
    anchor%number = -me
    object%next => anchor
    allocate (objects(0:3)[*])
    objects%name = 'many'
    do i = 0, 3
      objects(i)%fixed = me + i
      if (i == 2) allocate (objects(i)%matrix(2, 2), source=real(me, 8))
    end do
    sync all
  end subroutine fill

  subroutine test_gets()
    real(8) :: column(5), corner(2, 2)
    real(8), allocatable :: matrix(:, :)
    integer :: images, k, i, j, fixed(3, 3), row(3), number
    character(4) :: name
    real(4) :: single(3)
    images = num_images()
    do k = 1, images
      fixed = object[k]%fixed
      call check(all(fixed == reshape([(100 * k + i, i=1, 9)], [3, 3])), 'a fixed array component')
      row = object[k]%fixed(4:2:-1, 1)
      call check(all(row == [(100 * k + i, i=6, 4, -1)]), 'a section of a fixed array component')
      name = object[k]%name
      call check(name == achar(64 + k), 'a character component')
      matrix = object[k]%matrix
      call check(all(shape(matrix) == [5, k + 1]), 'the shape of an allocatable component')
      call check(all(matrix == reshape([((element(k, i, j), i=-1, 3), j=2, 2 + k)], [5, k + 1])), &
                 'an allocatable component')
      column = object[k]%matrix(:, 3)
      call check(all(column == [(element(k, i, 3), i=-1, 3)]), 'a column of an allocatable component')
      column(1:3) = object[k]%matrix(3:-1:-2, 2)
      call check(all(column(1:3) == [(element(k, i, 2), i=3, -1, -2)]), &
        'a turned section of an allocatable component')
      corner = object[k]%matrix(:0, 2:3)
      call check(all(corner == reshape([((element(k, i, j), i=-1, 0), j=2, 3)], [2, 2])), &
        'a section with an open start')
      corner(:, 1) = object[k]%matrix(2:, 3)
      call check(all(corner(:, 1) == [(element(k, i, 3), i=2, 3)]), 'a section with an open end')
      corner(:, 1) = object[k]%matrix([3, 0], 2)
      call check(all(corner(:, 1) == [(element(k, i, 2), i=3, 0, -3)]), &
        'a vector subscript of an allocatable component')
      number = object[k]%scalar
      call check(number == 1000 + k, 'an allocatable scalar component')
      number = object[k]%nested%number
      call check(number == k, 'a component of a component')
      single = object[k]%nested%values
      call check(all(single == k * [1.0, 2.0, 3.0]), 'a converted component of a component')
      number = object[k]%list(k)%number
      call check(number == 11 * k, 'a component of an element of an allocatable component')
      column(1:k) = object[k]%list(k)%values
      call check(all(column(1:k) == k + k / 8d0), 'an allocatable component of an allocatable component')
      number = object[k]%next%number
      call check(number == -k, 'a component of a pointer''s target')
      number = objects(3)[k]%fixed(2, 0)
      call check(number == k + 3, 'a fixed component of an element')
      corner = objects(2)[k]%matrix
      call check(all(corner == k), 'an allocatable component of an element')
    end do
  end subroutine test_gets

  subroutine test_puts()
    integer :: me, images, r, l, i
    character(4) :: mine
    me = this_image()
    mine = achar(64 + me)
    images = num_images()
    r = mod(me, images) + 1
    l = mod(me + images - 2, images) + 1
    sync all
    object[r]%fixed(3, :) = [me, me + 1, me + 2]
    object[r]%name = mine
    object[r]%matrix(3:-1:-2, 2) = [1d0, 2d0, 3d0] * me
    object[r]%matrix(0, :) = -7
    object[r]%scalar = me
    object[r]%nested%values(2:) = [me, -me]
    object[r]%list(1)%values(1) = me * 5
    object[r]%next%number = me * 6
    objects(:)[r]%name = 'sent'
    objects(1)[r]%fixed = me
    objects(2)[r]%matrix(:, 2) = objects(2)[me]%matrix(:, 1)
    sync all
    call check(all(object%fixed(3, :) == [l, l + 1, l + 2]), 'a put to a row of a fixed component')
    call check(all(object%fixed(2, :) == 100 * me + [1, 4, 7]), 'a row beside it')
    call check(object%name == achar(64 + l), 'a put to a character component')
    call check(all(object%matrix(3:-1:-2, 2) == [1d0, 2d0, 3d0] * l), 'a put to a turned section')
    call check(all(object%matrix(0, :) == -7), 'a put of a scalar to a row')
    call check(all(object%matrix(2, :) == [(element(me, 2, i), i=2, 2 + me)]), 'a row beside that')
    call check(object%scalar == l, 'a put to an allocatable scalar')
    call check(all(object%nested%values == [real(me, 8), real(l, 8), -real(l, 8)]), &
      'a put to a nested component')
    call check(all(object%list(1)%values == l * 5), 'a put to a component of an element')
    call check(anchor%number == l * 6, 'a put to a pointer''s target')
    call check(all(objects%name == 'sent'), 'a put to a component of all elements')
    call check(all(objects(1)%fixed == l), 'a put to a fixed component of an element')
    call check(all(objects(2)%matrix(:, 2) == l), 'a copy between components of two images')
    sync all
  end subroutine test_puts

  subroutine test_presence()
    integer :: k
    do k = 1, num_images()
      call check(allocated(object[k]%matrix), 'allocated() of an allocated component')
      call check(.not. allocated(objects(1)[k]%matrix), 'allocated() of a component that is not')
      call check(allocated(objects(2)[k]%matrix), 'allocated() of an element''s component')
    end do
  end subroutine test_presence

  ! An image may allocate its own components by assignment, and its pointers may have targets that others do
  ! not reach.
  subroutine test_own()
    type(inner), save, target :: private
    integer :: me, number
    real(8) :: values(2)
    me = this_image()
    sync all
    anchor[me]%values = [5d0, me + 5d0]
    call check(all(anchor%values == [5d0, me + 5d0]), 'an array that an assignment allocated')
    values = anchor[me]%values(2:1:-1)
    call check(all(values == [me + 5d0, 5d0]), 'a get from an array that an assignment allocated')
    deallocate (object%scalar)
    object[me]%scalar = 77
    number = object[me]%scalar
    call check(object%scalar == 77 .and. number == 77, 'a scalar that an assignment allocated')
    private%number = 88 + me
    object%next => private
    number = object[me]%next%number
    call check(number == 88 + me, 'the target of an own pointer')
    object[me]%next%number = 99
    call check(private%number == 99, 'a put to the target of an own pointer')
    object%next => anchor
    sync all
    values = anchor[mod(me, num_images()) + 1]%values
    call check(values(1) == 5, 'another image''s array that an assignment allocated')
  end subroutine test_own

  subroutine release()
    sync all
    deallocate (object%matrix)
    deallocate (objects)
    sync all
    call check(.not. allocated(object[num_images()]%matrix), 'allocated() of a deallocated component')
    sync all
  end subroutine release

end module component_tests
