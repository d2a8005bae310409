! The ARMCI calls for Fortran programs, as armci.h and message.h have them: one interface for each C function, with its
! name. Addresses are type(c_ptr): c_loc of a target, or an address from armci_malloc. A group is an integer. Functions
! of C are functions here. Strides and counts are lists of c_int, in bytes. The module only declares the functions of
! libarmci. A program links libarmci, and librma_fortran for the module's object code.
module armci
  use, intrinsic :: iso_c_binding, only: c_char, c_double, c_float, c_int, c_long, c_ptr
  implicit none
  private

  ! Operations of armci_rmw, on c_int and on c_long.
  integer(c_int), parameter, public :: &
    ARMCI_SWAP = 10, ARMCI_SWAP_LONG = 11, ARMCI_FETCH_AND_ADD = 12, ARMCI_FETCH_AND_ADD_LONG = 13
  ! Types of accumulate: c_int, c_double, c_float, c_float_complex, c_double_complex, c_long.
  integer(c_int), parameter, public :: &
    ARMCI_ACC_INT = 37, ARMCI_ACC_DBL = 38, ARMCI_ACC_FLT = 39, ARMCI_ACC_CPL = 40, ARMCI_ACC_DCP = 41, &
    ARMCI_ACC_LNG = 42
  ! Types of messages.
  integer(c_int), parameter, public :: &
    ARMCI_INT = -99, ARMCI_LONG = -101, ARMCI_LONG_LONG = -102, ARMCI_FLOAT = -306, ARMCI_DOUBLE = -307
  integer(c_int), parameter, public :: SCOPE_ALL = 333, SCOPE_NODE = 337, SCOPE_MASTERS = 339

  ! A nonblocking operation.
  type, bind(C), public :: armci_hdl_t
    private
    integer(c_long) :: operation = 0
    integer(c_long) :: aggregate = 0
  end type armci_hdl_t

  public :: armci_init, armci_finalize, armci_initialized, armci_error
  public :: armci_malloc, armci_free, armci_malloc_group, armci_free_group, armci_malloc_local, armci_free_local
  public :: armci_put, armci_get, armci_acc, armci_puts, armci_gets, armci_accs
  public :: armci_nbput, armci_nbget, armci_nbacc, armci_nbputs, armci_nbgets, armci_nbaccs
  public :: armci_wait, armci_test, armci_waitall, armci_waitproc
  public :: armci_fence, armci_allfence, armci_barrier
  public :: armci_rmw, armci_create_mutexes, armci_destroy_mutexes, armci_lock, armci_unlock
  public :: armci_group_create, armci_group_create_child, armci_group_free, armci_group_rank, armci_group_size
  public :: armci_group_set_default, armci_group_get_default, armci_group_get_world, armci_absolute_id
  public :: armci_same_node
  public :: armci_msg_me, armci_msg_nproc, armci_msg_barrier, armci_msg_bcast, armci_msg_snd, armci_msg_rcv
  public :: armci_msg_igop, armci_msg_lgop, armci_msg_fgop, armci_msg_dgop, armci_msg_group_igop, armci_msg_group_dgop

  interface
    ! Life.

    integer(c_int) function armci_init() bind(C, name='ARMCI_Init')
      import
    end function armci_init

    subroutine armci_finalize() bind(C, name='ARMCI_Finalize')
      import
    end subroutine armci_finalize

    integer(c_int) function armci_initialized() bind(C, name='ARMCI_Initialized')
      import
    end function armci_initialized

    subroutine armci_error(text, code) bind(C, name='ARMCI_Error')
      import
      character(kind=c_char), intent(in) :: text(*)
      integer(c_int), value :: code
    end subroutine armci_error

    ! Memory: addresses(1) is that of group rank 0.

    integer(c_int) function armci_malloc(addresses, bytes) bind(C, name='ARMCI_Malloc')
      import
      type(c_ptr), intent(out) :: addresses(*)
      integer(c_long), value :: bytes
    end function armci_malloc

    integer(c_int) function armci_free(address) bind(C, name='ARMCI_Free')
      import
      type(c_ptr), value :: address
    end function armci_free

    integer(c_int) function armci_malloc_group(addresses, bytes, group) bind(C, name='ARMCI_Malloc_group')
      import
      type(c_ptr), intent(out) :: addresses(*)
      integer(c_long), value :: bytes
      integer(c_int), intent(in) :: group
    end function armci_malloc_group

    integer(c_int) function armci_free_group(address, group) bind(C, name='ARMCI_Free_group')
      import
      type(c_ptr), value :: address
      integer(c_int), intent(in) :: group
    end function armci_free_group

    type(c_ptr) function armci_malloc_local(bytes) bind(C, name='ARMCI_Malloc_local')
      import
      integer(c_long), value :: bytes
    end function armci_malloc_local

    integer(c_int) function armci_free_local(address) bind(C, name='ARMCI_Free_local')
      import
      type(c_ptr), value :: address
    end function armci_free_local

    ! Transfers.

    integer(c_int) function armci_put(src, dst, bytes, proc) bind(C, name='ARMCI_Put')
      import
      type(c_ptr), value :: src, dst
      integer(c_int), value :: bytes, proc
    end function armci_put

    integer(c_int) function armci_get(src, dst, bytes, proc) bind(C, name='ARMCI_Get')
      import
      type(c_ptr), value :: src, dst
      integer(c_int), value :: bytes, proc
    end function armci_get

    integer(c_int) function armci_acc(type, scale, src, dst, bytes, proc) bind(C, name='ARMCI_Acc')
      import
      integer(c_int), value :: type
      type(c_ptr), value :: scale, src, dst
      integer(c_int), value :: bytes, proc
    end function armci_acc

    integer(c_int) function armci_puts(src, src_strides, dst, dst_strides, counts, levels, proc) &
      bind(C, name='ARMCI_PutS')
      import
      type(c_ptr), value :: src, dst
      integer(c_int), intent(in) :: src_strides(*), dst_strides(*), counts(*)
      integer(c_int), value :: levels, proc
    end function armci_puts

    integer(c_int) function armci_gets(src, src_strides, dst, dst_strides, counts, levels, proc) &
      bind(C, name='ARMCI_GetS')
      import
      type(c_ptr), value :: src, dst
      integer(c_int), intent(in) :: src_strides(*), dst_strides(*), counts(*)
      integer(c_int), value :: levels, proc
    end function armci_gets

    integer(c_int) function armci_accs(type, scale, src, src_strides, dst, dst_strides, counts, levels, proc) &
      bind(C, name='ARMCI_AccS')
      import
      integer(c_int), value :: type
      type(c_ptr), value :: scale, src, dst
      integer(c_int), intent(in) :: src_strides(*), dst_strides(*), counts(*)
      integer(c_int), value :: levels, proc
    end function armci_accs

    ! Nonblocking transfers, and waiting for them.

    integer(c_int) function armci_nbput(src, dst, bytes, proc, handle) bind(C, name='ARMCI_NbPut')
      import
      type(c_ptr), value :: src, dst
      integer(c_int), value :: bytes, proc
      type(armci_hdl_t), intent(inout) :: handle
    end function armci_nbput

    integer(c_int) function armci_nbget(src, dst, bytes, proc, handle) bind(C, name='ARMCI_NbGet')
      import
      type(c_ptr), value :: src, dst
      integer(c_int), value :: bytes, proc
      type(armci_hdl_t), intent(inout) :: handle
    end function armci_nbget

    integer(c_int) function armci_nbacc(type, scale, src, dst, bytes, proc, handle) bind(C, name='ARMCI_NbAcc')
      import
      integer(c_int), value :: type
      type(c_ptr), value :: scale, src, dst
      integer(c_int), value :: bytes, proc
      type(armci_hdl_t), intent(inout) :: handle
    end function armci_nbacc

    integer(c_int) function armci_nbputs(src, src_strides, dst, dst_strides, counts, levels, proc, handle) &
      bind(C, name='ARMCI_NbPutS')
      import
      type(c_ptr), value :: src, dst
      integer(c_int), intent(in) :: src_strides(*), dst_strides(*), counts(*)
      integer(c_int), value :: levels, proc
      type(armci_hdl_t), intent(inout) :: handle
    end function armci_nbputs

    integer(c_int) function armci_nbgets(src, src_strides, dst, dst_strides, counts, levels, proc, handle) &
      bind(C, name='ARMCI_NbGetS')
      import
      type(c_ptr), value :: src, dst
      integer(c_int), intent(in) :: src_strides(*), dst_strides(*), counts(*)
      integer(c_int), value :: levels, proc
      type(armci_hdl_t), intent(inout) :: handle
    end function armci_nbgets

    integer(c_int) function armci_nbaccs(type, scale, src, src_strides, dst, dst_strides, counts, levels, proc, handle) &
      bind(C, name='ARMCI_NbAccS')
      import
      integer(c_int), value :: type
      type(c_ptr), value :: scale, src, dst
      integer(c_int), intent(in) :: src_strides(*), dst_strides(*), counts(*)
      integer(c_int), value :: levels, proc
      type(armci_hdl_t), intent(inout) :: handle
    end function armci_nbaccs

    integer(c_int) function armci_wait(handle) bind(C, name='ARMCI_Wait')
      import
      type(armci_hdl_t), intent(inout) :: handle
    end function armci_wait

    integer(c_int) function armci_test(handle) bind(C, name='ARMCI_Test')
      import
      type(armci_hdl_t), intent(inout) :: handle
    end function armci_test

    integer(c_int) function armci_waitall() bind(C, name='ARMCI_WaitAll')
      import
    end function armci_waitall

    integer(c_int) function armci_waitproc(proc) bind(C, name='ARMCI_WaitProc')
      import
      integer(c_int), value :: proc
    end function armci_waitproc

    ! Completion, atomics, mutexes.

    subroutine armci_fence(proc) bind(C, name='ARMCI_Fence')
      import
      integer(c_int), value :: proc
    end subroutine armci_fence

    subroutine armci_allfence() bind(C, name='ARMCI_AllFence')
      import
    end subroutine armci_allfence

    subroutine armci_barrier() bind(C, name='ARMCI_Barrier')
      import
    end subroutine armci_barrier

    integer(c_int) function armci_rmw(op, local, remote, extra, proc) bind(C, name='ARMCI_Rmw')
      import
      integer(c_int), value :: op
      type(c_ptr), value :: local, remote
      integer(c_int), value :: extra, proc
    end function armci_rmw

    integer(c_int) function armci_create_mutexes(count) bind(C, name='ARMCI_Create_mutexes')
      import
      integer(c_int), value :: count
    end function armci_create_mutexes

    integer(c_int) function armci_destroy_mutexes() bind(C, name='ARMCI_Destroy_mutexes')
      import
    end function armci_destroy_mutexes

    subroutine armci_lock(mutex, proc) bind(C, name='ARMCI_Lock')
      import
      integer(c_int), value :: mutex, proc
    end subroutine armci_lock

    subroutine armci_unlock(mutex, proc) bind(C, name='ARMCI_Unlock')
      import
      integer(c_int), value :: mutex, proc
    end subroutine armci_unlock

    ! Groups, and the processes of each host.

    subroutine armci_group_create(count, members, group) bind(C, name='ARMCI_Group_create')
      import
      integer(c_int), value :: count
      integer(c_int), intent(in) :: members(*)
      integer(c_int), intent(out) :: group
    end subroutine armci_group_create

    subroutine armci_group_create_child(count, members, group, parent) bind(C, name='ARMCI_Group_create_child')
      import
      integer(c_int), value :: count
      integer(c_int), intent(in) :: members(*)
      integer(c_int), intent(out) :: group
      integer(c_int), intent(in) :: parent
    end subroutine armci_group_create_child

    subroutine armci_group_free(group) bind(C, name='ARMCI_Group_free')
      import
      integer(c_int), intent(inout) :: group
    end subroutine armci_group_free

    integer(c_int) function armci_group_rank(group, rank) bind(C, name='ARMCI_Group_rank')
      import
      integer(c_int), intent(in) :: group
      integer(c_int), intent(out) :: rank
    end function armci_group_rank

    subroutine armci_group_size(group, size) bind(C, name='ARMCI_Group_size')
      import
      integer(c_int), intent(in) :: group
      integer(c_int), intent(out) :: size
    end subroutine armci_group_size

    subroutine armci_group_set_default(group) bind(C, name='ARMCI_Group_set_default')
      import
      integer(c_int), intent(in) :: group
    end subroutine armci_group_set_default

    subroutine armci_group_get_default(group) bind(C, name='ARMCI_Group_get_default')
      import
      integer(c_int), intent(out) :: group
    end subroutine armci_group_get_default

    subroutine armci_group_get_world(group) bind(C, name='ARMCI_Group_get_world')
      import
      integer(c_int), intent(out) :: group
    end subroutine armci_group_get_world

    integer(c_int) function armci_absolute_id(group, group_rank) bind(C, name='ARMCI_Absolute_id')
      import
      integer(c_int), intent(in) :: group
      integer(c_int), value :: group_rank
    end function armci_absolute_id

    integer(c_int) function armci_same_node(proc) bind(C, name='ARMCI_Same_node')
      import
      integer(c_int), value :: proc
    end function armci_same_node

    ! Messages and global operations: op is '+', '*', 'max', 'min', ..., followed by c_null_char.

    integer(c_int) function armci_msg_me() bind(C, name='armci_msg_me')
      import
    end function armci_msg_me

    integer(c_int) function armci_msg_nproc() bind(C, name='armci_msg_nproc')
      import
    end function armci_msg_nproc

    subroutine armci_msg_barrier() bind(C, name='armci_msg_barrier')
      import
    end subroutine armci_msg_barrier

    subroutine armci_msg_bcast(buffer, bytes, root) bind(C, name='armci_msg_bcast')
      import
      type(c_ptr), value :: buffer
      integer(c_int), value :: bytes, root
    end subroutine armci_msg_bcast

    subroutine armci_msg_snd(tag, buffer, bytes, to) bind(C, name='armci_msg_snd')
      import
      integer(c_int), value :: tag
      type(c_ptr), value :: buffer
      integer(c_int), value :: bytes, to
    end subroutine armci_msg_snd

    subroutine armci_msg_rcv(tag, buffer, room, bytes, from) bind(C, name='armci_msg_rcv')
      import
      integer(c_int), value :: tag
      type(c_ptr), value :: buffer
      integer(c_int), value :: room
      integer(c_int), intent(out) :: bytes
      integer(c_int), value :: from
    end subroutine armci_msg_rcv

    subroutine armci_msg_igop(x, n, op) bind(C, name='armci_msg_igop')
      import
      integer(c_int), intent(inout) :: x(*)
      integer(c_int), value :: n
      character(kind=c_char), intent(in) :: op(*)
    end subroutine armci_msg_igop

    subroutine armci_msg_lgop(x, n, op) bind(C, name='armci_msg_lgop')
      import
      integer(c_long), intent(inout) :: x(*)
      integer(c_int), value :: n
      character(kind=c_char), intent(in) :: op(*)
    end subroutine armci_msg_lgop

    subroutine armci_msg_fgop(x, n, op) bind(C, name='armci_msg_fgop')
      import
      real(c_float), intent(inout) :: x(*)
      integer(c_int), value :: n
      character(kind=c_char), intent(in) :: op(*)
    end subroutine armci_msg_fgop

    subroutine armci_msg_dgop(x, n, op) bind(C, name='armci_msg_dgop')
      import
      real(c_double), intent(inout) :: x(*)
      integer(c_int), value :: n
      character(kind=c_char), intent(in) :: op(*)
    end subroutine armci_msg_dgop

    subroutine armci_msg_group_igop(x, n, op, group) bind(C, name='armci_msg_group_igop')
      import
      integer(c_int), intent(inout) :: x(*)
      integer(c_int), value :: n
      character(kind=c_char), intent(in) :: op(*)
      integer(c_int), intent(in) :: group
    end subroutine armci_msg_group_igop

    subroutine armci_msg_group_dgop(x, n, op, group) bind(C, name='armci_msg_group_dgop')
      import
      real(c_double), intent(inout) :: x(*)
      integer(c_int), value :: n
      character(kind=c_char), intent(in) :: op(*)
      integer(c_int), intent(in) :: group
    end subroutine armci_msg_group_dgop
  end interface
end module armci
