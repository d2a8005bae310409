! Teams: their images, transfers, synchronization, memory and collective subroutines.
module team_tests
  use, intrinsic :: iso_fortran_env, only: team_type
  use checks, only: check
  implicit none
  private
  public :: test_teams

  integer, save :: value(3)[*]

contains

  subroutine test_teams()
    type(team_type) :: half
    integer :: me, images, number, members
    me = this_image()
    images = num_images()
    number = mod(me, 2) + 1
    members = merge(images / 2, (images + 1) / 2, number == 1)
    value = me
    call check(team_number() == -1, 'the number of the initial team')
    form team (number, half)
    call check(team_number(half) == number, 'the number of a team')
    change team (half)
      call check(team_number() == number, 'the number of the current team')
      call check(num_images() == members, 'the images of a team')
      call check(this_image() == (me + 1) / 2, 'the index of an image in a team')
      call test_inside(me)
    end team
    call check(num_images() == images .and. this_image() == me, 'the initial team after the end of a team')
    value(2)[mod(me, images) + 1] = me
    sync team (half)
    sync all
    call check(value(2) == mod(me + images - 2, images) + 1, 'a put after the end of a team')
    call test_deallocation(half)
  end subroutine test_teams

  subroutine test_inside(world)
    integer, intent(in) :: world
    integer, allocatable :: own(:)[:]
    type(team_type) :: quarter
    integer :: me, images, right, left, sum, i, got
    me = this_image()
    images = num_images()
    right = mod(me, images) + 1
    left = mod(me + images - 2, images) + 1
    allocate (own(2)[*])
    own = -1
    sync all
    own(2)[right] = world
    value(1)[right] = world
    sync all
    call check(own(2) == value(3)[left], 'a put in a team')
    call check(value(1) == own(2), 'a put to a coarray of the initial team')
    got = own(2)[right]
    call check(got == world, 'a get in a team')
    if (right == left) then
      sync images (right)
    else
      sync images ([right, left])
    end if
    sum = world
    call co_sum(sum)
    got = 0
    do i = 1, images
      got = got + value(3)[i]
    end do
    call check(sum == got, 'a sum in a team')
    form team (1 + mod(me, 2), quarter)
    change team (quarter)
      sum = 1
      call co_sum(sum)
      call check(sum == num_images(), 'a sum in a team of a team')
    end team
    call check(num_images() == images, 'the team after the end of its team')
    deallocate (own)
  end subroutine test_inside

  ! The end of a team deallocates the coarrays that the construct has allocated, and no others.
  subroutine test_deallocation(team)
    type(team_type), intent(in) :: team
    integer, allocatable :: outer(:)[:], scalar[:], array(:, :)[:], moved(:)[:], kept(:)[:]
    integer :: round, right
    allocate (outer(2)[*])
    outer = 7
    sync all
    do round = 1, 3
      change team (team)
        call check(.not. (allocated(scalar) .or. allocated(array)), &
          'coarrays before they are allocated again')
        allocate (array(round, 2)[*], scalar[*], moved(3)[*])
        array = this_image()
        scalar = round
        call move_alloc(moved, kept)
        sync all
        right = mod(this_image(), num_images()) + 1
        call check(array(round, 2)[right] == right .and. scalar[right] == round, 'coarrays of a round')
        deallocate (kept)
      end team
      call check(.not. (allocated(scalar) .or. allocated(array)), 'coarrays after the end of their team')
    end do
    call check(outer(2)[num_images()] == 7, 'a coarray of the initial team after the end of another team')
  end subroutine test_deallocation

end module team_tests
