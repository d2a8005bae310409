! Two ranks send allocatable arrays to each other, and put into them where they were not registered.
program allocatable_arrays
  use, intrinsic :: iso_c_binding
  implicit none
  interface
    integer(c_int) function rma_init() bind(c)
      import :: c_int
    end function
    integer(c_int) function rma_finalize() bind(c)
      import :: c_int
    end function
    integer(c_int) function rma_rank() bind(c)
      import :: c_int
    end function
    type(c_ptr) function rma_team_world() bind(c)
      import :: c_ptr
    end function
    integer(c_int) function rma_barrier(team) bind(c)
      import :: c_int, c_ptr
      type(c_ptr), value :: team
    end function
    integer(c_int) function rma_put(dst, src, bytes, rank) bind(c)
      import :: c_int, c_ptr, c_size_t
      type(c_ptr), value :: dst, src
      integer(c_size_t), value :: bytes
      integer(c_int), value :: rank
    end function
    integer(c_int) function rma_send(src, bytes, rank, tag, context) bind(c)
      import :: c_int, c_ptr, c_size_t
      type(c_ptr), value :: src
      integer(c_size_t), value :: bytes
      integer(c_int), value :: rank, tag, context
    end function
    integer(c_int) function rma_recv(dst, bytes, rank, tag, context, info) bind(c)
      import :: c_int, c_ptr, c_size_t
      type(c_ptr), value :: dst, info
      integer(c_size_t), value :: bytes
      integer(c_int), value :: rank, tag, context
    end function
  end interface
  integer, parameter :: n = 300000
  real(c_double), allocatable, target :: sent(:), received(:)
  type(c_ptr), target :: mine, theirs
  integer(c_int) :: rank, other
  integer(c_size_t) :: bytes

  call succeed(rma_init())
  rank = rma_rank()
  other = 1 - rank
  allocate(sent(n), received(n))
  bytes = int(n, c_size_t)*8
  sent = 1.5d0 + rank
  received = 0
  if (rank == 0) then
    call succeed(rma_send(c_loc(sent), bytes, other, 3, 0))
    call succeed(rma_recv(c_loc(received), bytes, other, 3, 0, c_null_ptr))
  else
    call succeed(rma_recv(c_loc(received), bytes, other, 3, 0, c_null_ptr))
    call succeed(rma_send(c_loc(sent), bytes, other, 3, 0))
  end if
  if (any(received /= 1.5d0 + other)) error stop 'a message'
  mine = c_loc(received)
  if (rank == 0) then
    call succeed(rma_send(c_loc(mine), c_sizeof(mine), other, 4, 0))
    call succeed(rma_recv(c_loc(theirs), c_sizeof(theirs), other, 4, 0, c_null_ptr))
  else
    call succeed(rma_recv(c_loc(theirs), c_sizeof(theirs), other, 4, 0, c_null_ptr))
    call succeed(rma_send(c_loc(mine), c_sizeof(mine), other, 4, 0))
  end if
  sent = 7.25d0 + rank
  call succeed(rma_barrier(rma_team_world()))
  call succeed(rma_put(theirs, c_loc(sent), bytes, other))
  call succeed(rma_barrier(rma_team_world()))
  if (any(received /= 7.25d0 + other)) error stop 'a put'
  call succeed(rma_finalize())
  deallocate(sent, received)
  print '(a)', 'allocatable: right'
contains
  subroutine succeed(status)
    integer(c_int), intent(in) :: status
    if (status /= 0) error stop 'a call failed'
  end subroutine
end program
