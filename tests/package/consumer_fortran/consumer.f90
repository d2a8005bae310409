! A Fortran program as a user would write it: built against the installed library only, by each way to find
! it.
program consumer
  use, intrinsic :: iso_fortran_env, only: int64
  use rma
  implicit none
  integer(int64), pointer :: mine
  type(rma_array), allocatable :: numbers(:)
  integer :: rank, ranks
  logical :: is_right

  call rma_init()
  rank = rma_rank()
  ranks = rma_size()
  call rma_malloc(mine, numbers, upper=[integer :: ])
  call rma_put(numbers(mod(rank + 1, ranks)), 100_int64 + rank)
  call rma_barrier()
  is_right = mine == 100 + mod(rank + ranks - 1, ranks)
  print '(a, i0, a, i0, a, a)', 'consumer of Fortran, rank ', rank, ' of ', ranks, ': ', &
    merge('right', 'WRONG', is_right)
  call rma_free(numbers)
  call rma_finalize()
  if (.not. is_right) error stop 1
end program consumer
