! Runs one group of tests on every rank of the job: fortran-tests GROUP. All ranks fail if one does.
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
  integer :: failed(1)

  call get_command_argument(1, group)
  call rma_init()
  call group_begins(group)
  select case (group)
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
    call rma_abort(2, 'fortran-tests: no such group of tests: ' // group)
  end select
  failed(1) = failures
  call rma_allreduce(failed, op=RMA_SUM)
  if (rma_rank() == 0) print '(3a, i0, a, i0, a)', 'fortran ', trim(group), ' on ', rma_size(), ' ranks: ', failed(1), &
    ' failures'
  call rma_finalize()
  if (failed(1) /= 0) stop 1
end program main
