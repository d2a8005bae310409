! Coarrays with MPI, OpenSHMEM and the module rma in one program: the same numbers, the same memory, one job.
program mixed
  use, intrinsic :: iso_c_binding, only: c_int
  use mpi_f08
  use rma
  implicit none
  interface
    subroutine shmem_init() bind(c)
    end subroutine shmem_init
    subroutine shmem_finalize() bind(c)
    end subroutine shmem_finalize
    integer(c_int) function shmem_my_pe() bind(c)
      import :: c_int
    end function shmem_my_pe
    subroutine shmem_barrier_all() bind(c)
    end subroutine shmem_barrier_all
  end interface
  integer, save, target :: value(2)[*] = 0
  integer :: me, images, right, left, sum, got
  type(MPI_Win) :: window

  me = this_image()
  images = num_images()
  right = mod(me, images) + 1
  left = mod(me + images - 2, images) + 1
  call MPI_Init()
  call shmem_init()
  call rma_init()
  call MPI_Comm_rank(MPI_COMM_WORLD, got)
  if (got /= me - 1) error stop 'MPI has another number'
  if (shmem_my_pe() /= me - 1) error stop 'OpenSHMEM has another number'
  if (rma_rank() /= me - 1) error stop 'the module rma has another number'

  ! A coarray is the memory of a window, and other interfaces reach it by its address.
  call MPI_Win_create(value, 8_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, window)
  call MPI_Win_fence(0, window)
  call MPI_Put(me, 1, MPI_INTEGER, right - 1, 0_MPI_ADDRESS_KIND, 1, MPI_INTEGER, window)
  call MPI_Win_fence(0, window)
  if (value(1) /= left) error stop 'a put of MPI to a coarray'
  value(2)[right] = 10 * me
  call shmem_barrier_all()
  if (value(2) /= 10 * left) error stop 'a put to a coarray before a barrier of OpenSHMEM'
  got = 0
  call MPI_Get(got, 1, MPI_INTEGER, right - 1, 1_MPI_ADDRESS_KIND, 1, MPI_INTEGER, window)
  call MPI_Win_fence(0, window)
  if (got /= 10 * me) error stop 'a get of MPI from a coarray'
  sum = me
  call MPI_Allreduce(MPI_IN_PLACE, sum, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  got = me
  call co_sum(got)
  if (sum /= got) error stop 'sums'

  call MPI_Win_free(window)
  call rma_finalize()
  call shmem_finalize()
  call MPI_Finalize()
  value(1)[right] = -me
  sync all
  if (value(1) /= -left) error stop 'a put behind the end of the other interfaces'
end program mixed
