! Accumulate for each of its types, with and without scale: all ranks add to the same elements of rank 0 at
! once.
module accumulate_tests
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  use checks
  use rma
  implicit none
  private
  public :: test_accumulate

  integer, parameter :: times = 50

contains

  subroutine test_accumulate()
    call test_int32()
    call test_int64()
    call test_real32()
    call test_real64()
    call test_complex32()
    call test_complex64()
  end subroutine test_accumulate

  ! The expected sums: each rank adds (1 + 2) * [1, 2, 3, 4] so many times.
  integer function total()
    total = 3 * times * rma_size()
  end function total

  subroutine test_int32()
    integer(int32), pointer :: mine(:)
    type(rma_array), allocatable :: parts(:)
    integer :: i
    call rma_malloc(mine, parts, 4)
    mine = 5
    call rma_barrier()
    do i = 1, times
      call rma_acc(parts(0), [1, 2, 3, 4])
      call rma_acc(parts(0), [1, 2, 3, 4], scale=2)
    end do
    call rma_barrier()
    if (rma_rank() == 0) call expect(all(mine == 5 + total() * [1, 2, 3, 4]), 'int32')
    call rma_free(parts)
  end subroutine test_int32

  subroutine test_int64()
    integer(int64), pointer :: mine(:)
    type(rma_array), allocatable :: parts(:)
    integer(int64) :: addend(4)
    integer :: i
    call rma_malloc(mine, parts, 4)
    mine = 5
    addend = [1, 2, 3, 4] * 2_int64**33
    call rma_barrier()
    do i = 1, times
      call rma_acc(parts(0), addend)
      call rma_acc(parts(0), addend, 2_int64)
    end do
    call rma_barrier()
    if (rma_rank() == 0) call expect(all(mine == 5 + total() * addend), 'int64')
    call rma_free(parts)
  end subroutine test_int64

  subroutine test_real32()
    real(real32), pointer :: mine(:)
    type(rma_array), allocatable :: parts(:)
    integer :: i
    call rma_malloc(mine, parts, 4)
    mine = 5
    call rma_barrier()
    do i = 1, times
      call rma_acc(parts(0), real([1, 2, 3, 4], real32))
      call rma_acc(parts(0), real([1, 2, 3, 4], real32), 2.0_real32)
    end do
    call rma_barrier()
    if (rma_rank() == 0) call expect(all(mine == 5 + total() * [1, 2, 3, 4]), 'real32')
    call rma_free(parts)
  end subroutine test_real32

  subroutine test_real64()
    real(real64), pointer :: mine(:)
    type(rma_array), allocatable :: parts(:)
    type(rma_request) :: requests(2)
    real(real64), asynchronous :: addend(8)
    integer :: i
    call rma_malloc(mine, parts, 4)
    mine = 5
    addend = [1, 0, 2, 0, 3, 0, 4, 0]
    call rma_barrier()
    do i = 1, times
      call rma_acc_nb(parts(0), addend(1::2), requests(1))
      call rma_acc_nb(rma_section(parts(0), stride=-1), addend(7:1:-2), requests(2), 2.0_real64)
      call rma_wait_all(requests)
    end do
    call rma_barrier()
    if (rma_rank() == 0) call expect(all(mine == 5 + total() * [1, 2, 3, 4]), 'real64')
    call rma_free(parts)
  end subroutine test_real64

  subroutine test_complex32()
    complex(real32), pointer :: mine(:)
    type(rma_array), allocatable :: parts(:)
    integer :: i
    call rma_malloc(mine, parts, 4)
    mine = (5, -5)
    call rma_barrier()
    do i = 1, times
      call rma_acc(parts(0), cmplx([1, 2, 3, 4], kind=real32), scale=(0.0_real32, 3.0_real32))
    end do
    call rma_barrier()
    if (rma_rank() == 0) call expect(all(mine == (5, -5) + total() * [1, 2, 3, 4] * (0, 1)), 'complex32')
    call rma_free(parts)
  end subroutine test_complex32

  subroutine test_complex64()
    complex(real64), pointer :: mine(:)
    type(rma_array), allocatable :: parts(:)
    integer :: i
    call rma_malloc(mine, parts, 4)
    mine = (5, -5)
    call rma_barrier()
    do i = 1, times
      call rma_acc_nbi(parts(0), cmplx([1, 2, 3, 4], kind=real64))
      call rma_fence_all()
      call rma_acc(parts(0), cmplx([1, 2, 3, 4], kind=real64), (0.0_real64, 2.0_real64))
    end do
    call rma_barrier()
    if (rma_rank() == 0) then
      call expect(all(mine == (5, -5) + times * rma_size() * [1, 2, 3, 4] * (1, 2)), 'complex64')
    end if
    call rma_free(parts)
  end subroutine test_complex64
end module accumulate_tests
