! Two ranks send from a COMMON block and from arrays of a module to each other.
module arrays
  implicit none
  integer, parameter :: elements = 100000
  double precision :: initialized(elements) = 1d0
  double precision :: received(elements)
end module arrays

program static_data
  use mpi
  use arrays
  implicit none
  integer :: rank, code
  double precision :: in_common
  common /block/ in_common(elements)

  in_common(7) = 77d0
  call MPI_Init(code)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, code)
  call check(in_common(7) == 77d0 .and. in_common(8) == 0d0 .and. initialized(9) == 1d0, &
             'MPI_Init keeps the data')
  in_common = 10 + rank
  call exchange(in_common, 10)
  initialized = 20 + rank
  call exchange(initialized, 20)
  call MPI_Finalize(code)
  if (rank == 0) print '(a)', 'static data: right'

contains

  subroutine exchange(sent, base)
    double precision, intent(in) :: sent(elements)
    integer, intent(in) :: base
    integer, parameter :: tag = 3
    call MPI_Sendrecv(sent, elements, MPI_DOUBLE_PRECISION, 1 - rank, tag, &
                      received, elements, MPI_DOUBLE_PRECISION, 1 - rank, tag, &
                      MPI_COMM_WORLD, MPI_STATUS_IGNORE, code)
    call check(all(received == base + 1 - rank), 'the data arrive')
  end subroutine exchange

  subroutine check(holds, what)
    logical, intent(in) :: holds
    character(*), intent(in) :: what
    if (holds) return
    print '(2a)', 'not so: ', what
    error stop 1
  end subroutine check

end program static_data
