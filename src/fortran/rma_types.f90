! The types and constants of module rma. Their values and layouts are those of rma.h and
! src/fortran/array.hpp.
module rma_types
  use, intrinsic :: iso_c_binding, only: c_int, c_int32_t, c_int64_t, c_intptr_t, c_null_ptr, c_ptr
  implicit none
  private

  ! The status codes, which calls store into `stat`.
  integer(c_int), parameter, public :: &
    RMA_SUCCESS = 0, RMA_ERR_NOT_INITIALIZED = 1, RMA_ERR_ARGUMENT = 2, RMA_ERR_RANK = 3, RMA_ERR_SIZE = 4, &
    RMA_ERR_ALIGNMENT = 5, RMA_ERR_ADDRESS = 6, RMA_ERR_NO_MEMORY = 7, RMA_ERR_SETTING = 8, &
    RMA_ERR_LAUNCH = 9, RMA_ERR_PEER_LOST = 10, RMA_ERR_UNSUPPORTED = 11, RMA_ERR_SYSTEM = 12, &
    RMA_ERR_STATE = 13, RMA_ERR_VERSION = 14, RMA_ERR_TRUNCATED = 15, RMA_ERR_CANCELED = 16

  ! Operators of rma_reduce and rma_allreduce.
  integer(c_int), parameter, public :: &
    RMA_SUM = 0, RMA_PROD = 1, RMA_MIN = 2, RMA_MAX = 3, RMA_BAND = 4, RMA_BOR = 5, RMA_BXOR = 6

  ! Comparisons of rma_wait_until and rma_test_until.
  integer(c_int), parameter, public :: RMA_EQ = 0, RMA_NE = 1, RMA_LT = 2, RMA_LE = 3, RMA_GT = 4, RMA_GE = 5

  ! The maximum number of dimensions of an array.
  integer, parameter, public :: RMA_MAX_DIMENSIONS = 15

  ! An array, or a section or an element of one, in the memory of some rank. Remote operations take it.
  ! rma_malloc, rma_malloc_local, rma_register and rma_remote_array make it, and rma_section and rma_element
  ! select from it. It is a plain value, which may be copied and sent to other ranks (rma_allgather).
  type, bind(C), public :: rma_array
    integer(c_intptr_t) :: address  ! the owner's address of the first element
    integer(c_int32_t) :: rank      ! the owner, a rank of the world team
    integer(c_int32_t), private :: mark
    integer(c_int32_t), private :: type
    integer(c_int32_t), private :: dimensions
    integer(c_int64_t), private :: element_bytes
    integer(c_int64_t), private :: lower(RMA_MAX_DIMENSIONS)
    integer(c_int64_t), private :: extent(RMA_MAX_DIMENSIONS)
    integer(c_int64_t), private :: stride(RMA_MAX_DIMENSIONS)
  end type rma_array

  ! A nonblocking operation that has not been waited for yet. A request that was never started, or that was
  ! waited for, counts as complete.
  type, bind(C), public :: rma_request
    private
    integer(c_int64_t) :: handle = 0
  end type rma_request

  ! A team: an ordered subset of the job's ranks.
  type, bind(C), public :: rma_team
    private
    type(c_ptr) :: handle = c_null_ptr
  end type rma_team

  ! Mutexes that were created together.
  type, bind(C), public :: rma_mutexes
    private
    type(c_ptr) :: handle = c_null_ptr
  end type rma_mutexes
end module rma_types
