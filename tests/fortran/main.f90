! Runs groups of tests on every rank of the job: fortran-tests GROUP... All ranks fail if one does.
program main
  use checks
  use rma
  use accumulate_tests
  use atomic_tests
  use error_tests
  use kind_tests
  use memory_tests
  use notify_tests
  use section_tests
  use team_tests
  use vector_tests
  implicit none
  character(len=32) :: group
  integer :: argument, total = 0

  call rma_init()
  if (command_argument_count() == 0) call rma_abort(2, 'usage: fortran-tests GROUP...')
  do argument = 1, command_argument_count()
    call get_command_argument(argument, group)
    total = total + failures_of(group)
  end do
  call rma_finalize()
  if (total /= 0) stop 1

contains

  ! Runs a group. The result is the number of failures on all ranks together, the same on each.
  integer function failures_of(name)
    character(len=*), intent(in) :: name
    integer :: failed(1)
    failures = 0
    call group_begins(name)
    select case (name)
    case ('accumulate')
      call test_accumulate()
    case ('atomics')
      call test_atomics()
    case ('errors')
      call test_errors()
    case ('kinds')
      call test_kinds()
    case ('memory')
      call test_memory()
    case ('notify')
      call test_notify()
    case ('sections')
      call test_sections()
    case ('stops')
      call test_stop()
    case ('teams')
      call test_teams()
    case ('vectors')
      call test_vectors()
    case default
      call rma_abort(2, 'fortran-tests: no such group of tests: ' // name)
    end select
    failed(1) = failures
    call rma_allreduce(failed, op=RMA_SUM)
    failures_of = failed(1)
    if (rma_rank() == 0) print '(3a, i0, a, i0, a)', 'fortran ', trim(name), ' on ', rma_size(), ' ranks: ', &
      failed(1), ' failures'
  end function failures_of
end program main
