! Runs the groups of tests that the arguments name.
program coarray_tests
  use collective_tests, only: test_collectives
  use component_tests, only: test_components
  use conversion_tests, only: test_conversions
  use section_tests, only: test_sections
  use sync_tests, only: test_synchronization
  use team_tests, only: test_teams
  implicit none
  character(20) :: group
  integer :: i

  do i = 1, command_argument_count()
    call get_command_argument(i, group)
    select case (group)
    case ('collectives')
      call test_collectives()
    case ('components')
      call test_components()
    case ('conversions')
      call test_conversions()
    case ('sections')
      call test_sections()
    case ('synchronization')
      call test_synchronization()
    case ('teams')
      call test_teams()
    case default
      error stop 'there is no such group of tests'
    end select
  end do
end program coarray_tests
