! One image fails, by fail image or by a signal; the others notice it and go on as a team. Run by rmarun --survive.
program failures
  use, intrinsic :: iso_c_binding, only: c_int
  use, intrinsic :: iso_fortran_env, only: stat_failed_image, team_type
  implicit none
  interface
    integer(c_int) function raise(signal) bind(c)
      import :: c_int
      integer(c_int), value :: signal
    end function raise
  end interface
  integer, parameter :: lost = 2
  integer, save :: value[*] = 0
  character(10) :: way
  type(team_type) :: living
  integer, allocatable :: own[:]
  integer :: me, images, stat, sum, other

  me = this_image()
  images = num_images()
  call get_command_argument(1, way)
  sync all
  if (me == lost) then
    if (way == 'fail') fail image
    if (raise(9_c_int) /= 0) error stop 'raise'
  end if
  if (way == 'wait') then
    sync images (lost, stat=stat)
    if (stat /= stat_failed_image) error stop 'sync images'
  end if
  sync all (stat=stat)
  if (stat /= stat_failed_image) error stop 'sync all'
  if (image_status(lost) /= stat_failed_image) error stop 'image_status'
  if (any(failed_images() /= [lost])) error stop 'failed_images'
  if (num_images(failed=.true.) /= 1 .or. num_images(failed=.false.) /= images - 1) error stop 'num_images'
  if (size(stopped_images()) /= 0) error stop 'stopped_images'
  sum = 1
  call co_sum(sum, stat=stat)
  if (stat /= stat_failed_image) error stop 'co_sum'

  ! Statements with images that live go on.
  other = merge(3, 1, me == 1)
  if (me == 1 .or. me == 3) then
    value[other] = 10 * me
    sync images (other)
    if (value /= 10 * other) error stop 'sync images of two that live'
  end if
  sync all (stat=stat)
  if (stat /= stat_failed_image) error stop 'the second sync all'

  form team (1, living)
  change team (living)
    if (num_images() /= images - 1) error stop 'the images of the team'
    allocate (own[*])
    own = this_image()
    sync all
    sum = own
    call co_sum(sum)
    if (sum /= images * (images - 1) / 2) error stop 'a sum in the team'
    if (own[num_images()] /= num_images()) error stop 'a get in the team'
    deallocate (own)
  end team
  print '(a)', 'right'
end program failures
