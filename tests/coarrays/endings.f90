! Ends in the way that the argument names.
program endings
  use, intrinsic :: iso_fortran_env, only: stat_stopped_image, team_type
  implicit none
  character(20) :: way, text
  integer :: stat, me, images
  type(team_type) :: half
  integer, allocatable :: stopped(:), kept[:], refused[:]

  me = this_image()
  images = num_images()
  call get_command_argument(1, way)
  sync all
  select case (way)
  case ('stop')
    print '(a, i0)', 'image ', me
    stop 3
  case ('stop_text')
    if (me == 1) stop 'image 1 is done'
  case ('exit')
    call exit(0)
  case ('error')
    if (me == images) error stop 7
    sync all
  case ('error_text')
    if (me == images) error stop 'no way on'
    sync all
  case ('quiet')
    if (me == images) error stop 9, quiet=.true.
    sync all
  case ('runtime_error')
    deallocate (stopped)
  case ('stopped')
    allocate (kept[*])
    if (me == 2) stop
    deallocate (kept, stat=stat)
    if (stat /= stat_stopped_image) error stop 'deallocate'
    text = ''
    sync all (stat=stat, errmsg=text)
    if (stat /= stat_stopped_image .or. text /= 'an image of the team') error stop 'sync all'
    sync images ([2], stat=stat)
    if (stat /= stat_stopped_image) error stop 'sync images'
    if (image_status(2) /= stat_stopped_image) error stop 'image_status'
    stopped = stopped_images()
    if (.not. any(stopped == 2)) error stop 'stopped_images'
    if (size(failed_images()) /= 0) error stop 'failed_images'
    call co_sum(stat, stat=me)
    if (me /= stat_stopped_image) error stop 'co_sum'
    print '(a)', 'right'
  case ('unexpected')
    if (me == 2) stop
    sync all
  case ('allocate')
    if (me == 2) stop
    allocate (refused[*])
  case ('team')
    if (me == 2) stop
    form team (1, half)
  case ('image')
    me = 0
    sync images (images + 1)
  case default
    error stop 'there is no such way'
  end select
end program endings
