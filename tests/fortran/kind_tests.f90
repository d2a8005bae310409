! Put, get and pointers for every type that has its own pointer interface, with 0 to 5 dimensions, and for
! types that have none.
module kind_tests
  use, intrinsic :: iso_c_binding, only: c_f_pointer, c_null_ptr
  use, intrinsic :: iso_fortran_env, only: int8, int16, int32, int64, real32, real64
  use checks
  use rma
  implicit none
  private
  public :: test_kinds

  integer, parameter :: full(4) = [2, 3, 4, 2]

contains

  subroutine test_kinds()
    call test_int8()
    call test_int32()
    call test_int64()
    call test_real32()
    call test_real64()
    call test_complex32()
    call test_complex64()
    call test_ranks()
    call test_other_types()
  end subroutine test_kinds

  pure integer function neighbour()
    neighbour = mod(rma_rank() + 1, rma_size())
  end function neighbour

  ! Returns the integers 1, 2, ... that all types can hold, different on each rank.
  function numbers(rank) result(values)
    integer, intent(in) :: rank
    integer :: values(product(full)), i
    values = [(mod(i + 13 * rank, 127), i = 1, product(full))]
  end function numbers

  pure integer function left()
    left = mod(rma_rank() + rma_size() - 1, rma_size())
  end function left

  subroutine test_int8()
    integer(int8), pointer :: mine(:, :, :, :)
    integer(int8) :: out(2, 3, 4, 2), in(2, 3, 4, 2)
    type(rma_array), allocatable :: parts(:)
    call rma_malloc(mine, parts, full)
    out = reshape(int(numbers(rma_rank()), int8), full)
    call rma_put(parts(neighbour()), out)
    call rma_barrier()
    call expect(all(mine == reshape(int(numbers(left()), int8), full)), 'int8: put')
    call rma_get(in, parts(neighbour()))
    call expect(all(in == out), 'int8: get')
    call rma_free(parts)
  end subroutine test_int8

  subroutine test_int32()
    integer(int32), pointer :: mine(:, :, :, :)
    integer(int32) :: out(2, 3, 4, 2), in(2, 3, 4, 2)
    type(rma_array), allocatable :: parts(:)
    call rma_malloc(mine, parts, full)
    out = reshape(numbers(rma_rank()), full)
    call rma_put(parts(neighbour()), out)
    call rma_barrier()
    call expect(all(mine == reshape(numbers(left()), full)), 'int32: put')
    call rma_get(in, parts(neighbour()))
    call expect(all(in == out), 'int32: get')
    call rma_free(parts)
  end subroutine test_int32

  subroutine test_int64()
    integer(int64), pointer :: mine(:, :, :, :)
    integer(int64) :: out(2, 3, 4, 2), in(2, 3, 4, 2)
    type(rma_array), allocatable :: parts(:)
    call rma_malloc(mine, parts, full)
    out = reshape(numbers(rma_rank()), full) * 2_int64**40
    call rma_put(parts(neighbour()), out)
    call rma_barrier()
    call expect(all(mine == reshape(numbers(left()), full) * 2_int64**40), 'int64: put')
    call rma_get(in, parts(neighbour()))
    call expect(all(in == out), 'int64: get')
    call rma_free(parts)
  end subroutine test_int64

  subroutine test_real32()
    real(real32), pointer :: mine(:, :, :, :)
    real(real32) :: out(2, 3, 4, 2), in(2, 3, 4, 2)
    type(rma_array), allocatable :: parts(:)
    call rma_malloc(mine, parts, full)
    out = reshape(real(numbers(rma_rank()), real32), full) / 8
    call rma_put(parts(neighbour()), out)
    call rma_barrier()
    call expect(all(mine == reshape(real(numbers(left()), real32), full) / 8), 'real32: put')
    call rma_get(in, parts(neighbour()))
    call expect(all(in == out), 'real32: get')
    call rma_free(parts)
  end subroutine test_real32

  subroutine test_real64()
    real(real64), pointer :: mine(:, :, :, :)
    real(real64) :: out(2, 3, 4, 2), in(2, 3, 4, 2)
    type(rma_array), allocatable :: parts(:)
    call rma_malloc(mine, parts, full)
    out = reshape(real(numbers(rma_rank()), real64), full) / 8
    call rma_put(parts(neighbour()), out)
    call rma_barrier()
    call expect(all(mine == reshape(real(numbers(left()), real64), full) / 8), 'real64: put')
    call rma_get(in, parts(neighbour()))
    call expect(all(in == out), 'real64: get')
    call rma_free(parts)
  end subroutine test_real64

  subroutine test_complex32()
    complex(real32), pointer :: mine(:, :, :, :)
    complex(real32) :: out(2, 3, 4, 2), in(2, 3, 4, 2)
    type(rma_array), allocatable :: parts(:)
    call rma_malloc(mine, parts, full)
    out = reshape(cmplx(numbers(rma_rank()), -numbers(rma_rank()), real32), full)
    call rma_put(parts(neighbour()), out)
    call rma_barrier()
    call expect(all(mine == reshape(cmplx(numbers(left()), -numbers(left()), real32), full)), &
      'complex32: put')
    call rma_get(in, parts(neighbour()))
    call expect(all(in == out), 'complex32: get')
    call rma_free(parts)
  end subroutine test_complex32

  subroutine test_complex64()
    complex(real64), pointer :: mine(:, :, :, :)
    complex(real64) :: out(2, 3, 4, 2), in(2, 3, 4, 2)
    type(rma_array), allocatable :: parts(:)
    call rma_malloc(mine, parts, full)
    out = reshape(cmplx(numbers(rma_rank()), -numbers(rma_rank()), real64), full)
    call rma_put(parts(neighbour()), out)
    call rma_barrier()
    call expect(all(mine == reshape(cmplx(numbers(left()), -numbers(left()), real64), full)), &
      'complex64: put')
    call rma_get(in, parts(neighbour()))
    call expect(all(in == out), 'complex64: get')
    ! Puts the imaginary parts into real numbers: every other number on both sides.
    call rma_get(in%re, rma_section(rma_remote_array(parts(neighbour())%address, neighbour(), 0.0_real64, &
      96), first=2, stride=2))
    call expect(all(in%re == out%im) .and. all(in%im == out%im), 'complex64: parts')
    call rma_barrier()
    call rma_free(parts)
  end subroutine test_complex64

  ! Scalars, and arrays of 1, 2, 3 and 5 dimensions.
  subroutine test_ranks()
    real(real64), pointer :: scalar, list(:), matrix(:, :), cube(:, :, :), five(:, :, :, :, :)
    type(rma_array), allocatable :: of_scalar(:), of_list(:), of_matrix(:), of_cube(:), of_five(:)
    real(real64) :: data(32)
    integer :: i
    data = [(i + 100 * rma_rank(), i = 1, 32)]
    call rma_malloc(scalar, of_scalar, [integer :: ])
    call rma_malloc(list, of_list, 32)
    call rma_malloc(matrix, of_matrix, [4, 8])
    call rma_malloc(cube, of_cube, [4, 2, 4])
    call rma_malloc(five, of_five, [2, 2, 2, 2, 2])
    call rma_put(of_scalar(neighbour()), data(7))
    call rma_put(of_list(neighbour()), data)
    ! Elements correspond in array element order, even if the shapes differ.
    call rma_put(of_matrix(neighbour()), data)
    call rma_put(of_cube(neighbour()), reshape(data, [8, 4]))
    call rma_put(of_five(neighbour()), reshape(data, [4, 4, 2]))
    call rma_barrier()
    data = [(i + 100 * left(), i = 1, 32)]
    call expect(scalar == data(7), 'a scalar')
    call expect(all(list == data), 'one dimension')
    call expect(all(matrix == reshape(data, [4, 8])), 'two dimensions')
    call expect(all(cube == reshape(data, [4, 2, 4])), 'three dimensions')
    call expect(all(five == reshape(data, [2, 2, 2, 2, 2])), 'five dimensions')
    call rma_barrier()
    call rma_free(of_scalar)
    call rma_free(of_list)
    call rma_free(of_matrix)
    call rma_free(of_cube)
    call rma_free(of_five)
  end subroutine test_ranks

  ! Puts characters, logicals and derived types into memory of bytes, described anew.
  subroutine test_other_types()
    type :: particle
      integer(int16) :: kind
      real(real64) :: place(3)
    end type particle
    integer(int8), pointer :: bytes(:)
    type(rma_array), allocatable :: parts(:)
    type(rma_array) :: there
    type(particle) :: out(4), in(4)
    type(particle), pointer :: mine(:)
    character(len=5) :: word, words(3)
    logical :: flags(4), seen(4)
    integer :: i
    call rma_malloc(bytes, parts, 4 * storage_size(out) / 8)

    out = [(particle(int(i, int16), [real(real64) :: i, rma_rank(), -i]), i = 1, 4)]
    there = rma_remote_array(parts(neighbour())%address, neighbour(), out, 4)
    call rma_put(there, out)
    call rma_barrier()
    call c_f_pointer(transfer(parts(rma_rank())%address, c_null_ptr), mine, [4])
    call expect(all(mine%kind == [1, 2, 3, 4]) .and. all(nint(mine%place(2)) == left()), 'a derived type')
    in%kind = 0
    call rma_get(in(4:1:-1), there)
    call expect(all(in%kind == [4, 3, 2, 1]), 'a derived type, backwards')
    ! Transfers one component of each: the elements have gaps between them.
    in%kind = 0
    call rma_put(rma_remote_array(parts(neighbour())%address, neighbour(), 1_int16, 4), out%kind)
    call rma_get(in%kind, rma_remote_array(parts(neighbour())%address, neighbour(), 1_int16, 4))
    call expect(all(in%kind == out%kind), 'a component')
    call rma_barrier()

    there = rma_remote_array(parts(neighbour())%address, neighbour(), 'words', 3)
    call rma_put(there, ['first', 'other', 'third'])
    call rma_get(word, rma_element(there, 2))
    call rma_get(words(3:1:-1), there)
    call expect(word == 'other' .and. all(words == ['third', 'other', 'first']), 'characters')
    call rma_barrier()

    flags = [.true., .false., .false., .true.]
    there = rma_remote_array(parts(neighbour())%address, neighbour(), flags, 4)
    call rma_put(there, flags)
    call rma_get(seen, there)
    call expect(all(seen .eqv. flags), 'logicals')
    call rma_barrier()
    call rma_free(parts)
  end subroutine test_other_types
end module kind_tests
