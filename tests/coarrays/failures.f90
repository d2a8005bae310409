! One image fails, by fail image or by a signal; the others notice it and go on as a team. Run by rmarun
! --survive.
program failures
  use, intrinsic :: iso_c_binding, only: c_int
  use, intrinsic :: iso_fortran_env, only: lock_type, stat_failed_image, team_type
  implicit none
  interface
    integer(c_int) function raise(signal) bind(c)
      import :: c_int
      integer(c_int), value :: signal
    end function raise
  end interface
  integer, parameter :: lost = 2
  integer, save :: value[*] = 0
  type(lock_type), save :: guard[*], second[*]
  character(10) :: way
  type(team_type) :: living
  integer, allocatable :: own[:]
  integer :: me, images, stat, sum, other, taken
  logical :: got

  me = this_image()
  images = num_images()
  call get_command_argument(1, way)
  if (me == lost) then
    lock (guard[1])
    lock (second[1])
  end if
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

  ! Its locks: one of those that wait takes the first over, and an attempt takes the second over.
  lock (guard[1], stat=stat)
  taken = merge(0, 1, stat == 0)
  unlock (guard[1])
  if (me == 1) then
    do
      lock (second[1], acquired_lock=got, stat=stat)
      if (got) exit
      if (stat /= 0) error stop 'a refused attempt'
    end do
    if (stat == 0) error stop 'the lock of a failed image'
    unlock (second[1])
  end if

  form team (1, living)
  change team (living)
    if (num_images() /= images - 1) error stop 'the images of the team'
    call co_sum(taken)
    if (taken /= 1) error stop 'images that took a lock over'
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
