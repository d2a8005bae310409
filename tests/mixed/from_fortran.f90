! Fortran with MPI, and C with OpenSHMEM, in one program. MPI comes first, and the C part's static data are
! symmetric all the same.
program from_fortran
  use mpi
  use, intrinsic :: iso_c_binding, only: c_int, c_long
  implicit none
  interface
    integer(c_long) function sum_of_neighbors(mine) bind(c)
      import :: c_long
      integer(c_long), value :: mine
    end function
    subroutine end_shmem() bind(c)
    end subroutine
  end interface
  integer :: rank, ranks, error, right, all_right
  integer(c_long) :: got, want

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  got = sum_of_neighbors(int(rank + 1, c_long))
  want = modulo(rank + ranks - 1, ranks) + 1 + modulo(rank + 1, ranks) + 1
  right = merge(1, 0, got == want)
  call MPI_Allreduce(right, all_right, 1, MPI_INTEGER, MPI_MIN, MPI_COMM_WORLD, error)
  call end_shmem()
  call MPI_Finalize(error)
  if (all_right /= 1) error stop 'a rank has got wrong numbers'
end program
