! Allocation, bounds, pointers to this rank's and to other ranks' memory, registered memory.
module memory_tests
  use, intrinsic :: iso_fortran_env, only: int32, int64, real64
  use checks
  use rma
  implicit none
  private
  public :: test_memory

contains

  subroutine test_memory()
    call test_bounds()
    call test_map()
    call test_local()
    call test_registered()
  end subroutine test_memory

  ! Each rank has another shape, and the first one has no elements. The bounds have 8 bytes.
  subroutine test_bounds()
    real(real64), pointer :: mine(:, :)
    type(rma_array), allocatable :: parts(:)
    real(real64) :: value
    integer :: rank, n
    n = rma_rank()
    call rma_malloc(mine, parts, upper=[int(n, int64), 10_int64], lower=[1, 9 - n])
    call expect(all(lbound(mine) == [1, merge(1, 9 - n, n == 0)]) .or. n == 0, 'lower bounds')
    call expect(all(shape(mine) == [n, n + 2]), 'the shape')
    call expect(associated(mine), 'a pointer, of no elements too')
    if (n > 0) mine = n
    if (n > 0) mine(n, 10) = -n
    call rma_barrier()
    do rank = 1, rma_size() - 1
      call rma_get(value, rma_element(parts(rank), [rank, 10]))
      call expect(nint(value) == -rank, 'the last element of a rank')
      call rma_get(value, rma_element(parts(rank), [1, 9 - rank]))
      call expect(nint(value) == rank, 'the first element of a rank')
    end do
    ! A transfer of no elements succeeds.
    call rma_put(parts(0), reshape([real(real64) :: ], [0, 2]))
    call rma_barrier()
    call rma_free(parts)
  end subroutine test_bounds

  ! Makes pointers to whole arrays and to sections, of every rank whose memory is mapped here.
  subroutine test_map()
    integer(int32), pointer :: mine(:, :), there(:, :), column(:, :), one
    type(rma_array), allocatable :: parts(:)
    character(len=200) :: text
    integer :: rank, stat, i
    call rma_malloc(mine, parts, [4, 3], lower=[0, 1])
    mine = reshape([(i + 100 * rma_rank(), i = 1, 15)], [5, 3])
    call rma_barrier()
    do rank = 0, rma_size() - 1
      if (.not. rma_same_host(rank)) cycle
      call rma_map(parts(rank), there)
      call expect(all(lbound(there) == [0, 1]) .and. there(4, 3) == 15 + 100 * rank, 'another rank''s array')
      call rma_map(rma_section(parts(rank), [4, 2], [0, 2], [-2, 1]), column)
      call expect(all(column(:, 1) == [10, 8, 6] + 100 * rank), 'a section of it')
      call rma_map(rma_element(parts(rank), [1, 1]), one)
      call expect(one == 2 + 100 * rank, 'an element of it')
    end do
    call rma_map(parts(0), one, stat, text)
    call expect_failure(stat, text, RMA_ERR_ARGUMENT, 'the pointer has 0 dimensions')
    call rma_map(rma_remote_array(parts(0)%address, 0, 1.0, [5, 3]), there, stat, text)
    call expect_failure(stat, text, RMA_ERR_ARGUMENT, 'the same type')
    call rma_barrier()
    call rma_free(parts)
  end subroutine test_map

  ! Allocates alone, and tells the others.
  subroutine test_local()
    real(real64), pointer :: mine(:)
    type(rma_array) :: part, parts(0:rma_size() - 1)
    real(real64) :: values(4)
    character(len=200) :: text
    integer :: stat, neighbour
    neighbour = mod(rma_rank() + 1, rma_size())
    call rma_malloc_local(mine, part, 13, lower=10)
    mine = rma_rank()
    call rma_allgather(parts, part)
    call rma_get(values, parts(neighbour))
    call expect(all(nint(values) == neighbour) .and. lbound(mine, 1) == 10, 'memory that was allocated alone')
    call rma_barrier()
    call rma_free_local(part)
    call rma_free_local(part, stat, text)
    call expect_failure(stat, text, RMA_ERR_ARGUMENT, 'never set')
    call rma_free_local(parts(rma_rank()), stat, text)
    call expect_failure(stat, text, RMA_ERR_ADDRESS, 'rma_free_local')
  end subroutine test_local

  subroutine test_registered()
    real(real64), target :: field(20, 10)
    type(rma_array) :: part, parts(0:rma_size() - 1)
    real(real64) :: row(10)
    character(len=200) :: text
    integer :: stat, neighbour
    neighbour = mod(rma_rank() + 1, rma_size())
    field = rma_rank()
    field(3, :) = -rma_rank()
    call rma_register(field, part)
    call rma_allgather(parts, part)
    call rma_get(row, rma_section(parts(neighbour), [3, 1], [3, 10]), stat, text)
    if (stat /= RMA_ERR_UNSUPPORTED) then  ! where the kernel lets one process read another's memory
      call expect_success(stat, text, 'rma_get of registered memory')
      call expect(all(nint(row) == -neighbour), 'registered memory')
    end if
    call rma_barrier()
    call rma_unregister(part)
    call rma_register(field(1:20:2, :), part, stat, text)
    call expect_failure(stat, text, RMA_ERR_ARGUMENT, 'gaps')
  end subroutine test_registered
end module memory_tests
