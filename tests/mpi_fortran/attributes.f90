! Attributes between the languages (MPI 4.1, section 19.3.7): each way of setting one, by keys of each
! language, read in each way; copy and delete procedures of each language; and the predefined attributes in C
! and in Fortran.
module attribute_callbacks
  use mpi
  implicit none
  integer :: calls = 0
  integer(MPI_ADDRESS_KIND) :: seen = 0
contains
  subroutine copy(object, keyval, extra, value_in, value_out, flag, ierror)
    integer :: object, keyval, ierror
    integer(MPI_ADDRESS_KIND) :: extra, value_in, value_out
    logical :: flag
    calls = calls + 1
    seen = value_in
    value_out = value_in
    flag = extra == 2_MPI_ADDRESS_KIND**40
    ierror = MPI_SUCCESS
  end subroutine copy

  subroutine delete(object, keyval, value, extra, ierror)
    integer :: object, keyval, ierror
    integer(MPI_ADDRESS_KIND) :: value, extra
    calls = calls + 1
    seen = value
    ierror = MPI_SUCCESS
    if (extra /= 2_MPI_ADDRESS_KIND**40) ierror = MPI_ERR_OTHER
  end subroutine delete

  subroutine old_copy(object, keyval, extra, value_in, value_out, flag, ierror)
    integer :: object, keyval, extra, value_in, value_out, ierror
    logical :: flag
    calls = calls + 1
    seen = value_in
    value_out = value_in
    flag = extra == -99
    ierror = MPI_SUCCESS
  end subroutine old_copy

  subroutine old_delete(object, keyval, value, extra, ierror)
    integer :: object, keyval, value, extra, ierror
    calls = calls + 1
    seen = value
    ierror = MPI_SUCCESS
    if (extra /= -99) ierror = MPI_ERR_OTHER
  end subroutine old_delete
end module attribute_callbacks

program attributes
  use mpi
  use attribute_callbacks
  implicit none
  integer, parameter :: address = MPI_ADDRESS_KIND
  integer, parameter :: is_comm = 1, is_type = 2, is_win = 3
  ! Also the languages of keys: C, Fortran, and Fortran with MPI_KEYVAL_CREATE.
  integer, parameter :: by_c = 1, by_address = 2, by_integer = 3
  integer :: failures = 0, checks = 0
  integer :: ierror, object, kind, key_language, setter, i, rank
  integer(address) :: memory(16)
  integer(address), parameter :: values(4) = [5_address, -7_address, 2_address**40 + 3, -2_address**40 - 5]

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  do kind = is_comm, is_win
    object = new_object(kind)
    call test_predefined(kind, object)
    do key_language = by_c, merge(by_integer, by_address, kind == is_comm)
      do setter = by_c, merge(by_integer, by_address, kind == is_comm)
        do i = 1, merge(2, 4, setter == by_integer)
          call test_attribute(kind, object, key_language, setter, values(i), values(mod(i, 2) + 1))
        end do
      end do
    end do
    if (kind /= is_win) call test_dup_procedure(kind, object)
    call free_object(kind, object)
  end do
  if (checks < 500) then
    print *, 'only ', checks, ' checks'
    failures = failures + 1
  end if
  if (failures /= 0) call MPI_Abort(MPI_COMM_WORLD, 1, ierror)
  call MPI_Finalize(ierror)
  if (rank == 0) print '(i0,a)', checks, ' checks'

contains

  subroutine expect(found, wanted, text)
    integer(address), intent(in) :: found, wanted
    character(len=*), intent(in) :: text
    checks = checks + 1
    if (found == wanted) return
    failures = failures + 1
    print '(a,i0,a,i0,a,i0,a,i0,a,i0)', text // ': ', found, ', not ', wanted, '; kind ', kind, ', key of ', &
      key_language, ', set by ', setter
  end subroutine expect

  integer function new_object(kind) result(object)
    integer, intent(in) :: kind
    if (kind == is_comm) call MPI_Comm_dup(MPI_COMM_WORLD, object, ierror)
    if (kind == is_type) call MPI_Type_contiguous(3, MPI_INTEGER, object, ierror)
    if (kind == is_win) call MPI_Win_create(memory, 16_address * 8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &
      object, ierror)
  end function new_object

  subroutine free_object(kind, object)
    integer, intent(in) :: kind
    integer, intent(inout) :: object
    if (kind == is_comm) call MPI_Comm_free(object, ierror)
    if (kind == is_type) call MPI_Type_free(object, ierror)
    if (kind == is_win) call MPI_Win_free(object, ierror)
  end subroutine free_object

  subroutine create_key(kind, language, key)
    integer, intent(in) :: kind, language
    integer, intent(out) :: key
    integer(address) :: extra
    extra = 2_address**40
    if (language == by_c) call c_create_key(kind, key)
    if (language == by_integer) call MPI_Keyval_create(old_copy, old_delete, key, -99, ierror)
    if (language /= by_address) return
    if (kind == is_comm) call MPI_Comm_create_keyval(copy, delete, key, extra, ierror)
    if (kind == is_type) call MPI_Type_create_keyval(copy, delete, key, extra, ierror)
    if (kind == is_win) call MPI_Win_create_keyval(copy, delete, key, extra, ierror)
  end subroutine create_key

  subroutine free_key(kind, key)
    integer, intent(in) :: kind
    integer, intent(inout) :: key
    if (kind == is_comm) call MPI_Comm_free_keyval(key, ierror)
    if (kind == is_type) call MPI_Type_free_keyval(key, ierror)
    if (kind == is_win) call MPI_Win_free_keyval(key, ierror)
  end subroutine free_key

  subroutine set(kind, object, setter, key, value)
    integer, intent(in) :: kind, object, setter, key
    integer(address), intent(in) :: value
    ierror = MPI_SUCCESS
    if (setter == by_c) call c_set(kind, object, key, value)
    if (setter == by_integer) call MPI_Attr_put(object, key, int(value), ierror)
    if (setter == by_address .and. kind == is_comm) call MPI_Comm_set_attr(object, key, value, ierror)
    if (setter == by_address .and. kind == is_type) call MPI_Type_set_attr(object, key, value, ierror)
    if (setter == by_address .and. kind == is_win) call MPI_Win_set_attr(object, key, value, ierror)
    call expect(int(ierror, address), 0_address, 'set')
  end subroutine set

  subroutine get(kind, object, key, value, flag)
    integer, intent(in) :: kind, object, key
    integer(address), intent(out) :: value
    logical, intent(out) :: flag
    value = -1
    if (kind == is_comm) call MPI_Comm_get_attr(object, key, value, flag, ierror)
    if (kind == is_type) call MPI_Type_get_attr(object, key, value, flag, ierror)
    if (kind == is_win) call MPI_Win_get_attr(object, key, value, flag, ierror)
  end subroutine get

  ! How C sees an attribute that is set so.
  integer function c_width(setter)
    integer, intent(in) :: setter
    c_width = merge(0, merge(8, 4, setter == by_address), setter == by_c)
  end function c_width

  integer(address) function low_bits(value)
    integer(address), intent(in) :: value
    integer :: low
    low = transfer(value, low)  ! the first four bytes
    low_bits = int(low, address)
  end function low_bits

  ! Reads an attribute in all ways.
  subroutine expect_value(kind, object, setter, key, wanted, text)
    integer, intent(in) :: kind, object, setter, key
    integer(address), intent(in) :: wanted
    character(len=*), intent(in) :: text
    integer(address) :: value
    logical :: flag
    integer :: found, old
    call c_get(kind, object, key, c_width(setter), value, found)
    call expect(int(found, address), 1_address, text // ', found by C')
    call expect(value, wanted, text // ', read by C')
    call get(kind, object, key, value, flag)
    call expect(merge(1_address, 0_address, flag), 1_address, text // ', found by Fortran')
    call expect(value, wanted, text // ', read by Fortran')
    if (kind /= is_comm) return
    call MPI_Attr_get(object, key, old, flag, ierror)
    call expect(int(old, address), low_bits(wanted), text // ', read as an INTEGER')
  end subroutine expect_value

  ! A callback of the key has been called, once, and has seen the value.
  subroutine expect_callback(language, wanted, text)
    integer, intent(in) :: language
    integer(address), intent(in) :: wanted
    character(len=*), intent(in) :: text
    integer :: c_calls
    integer(address) :: c_value
    call c_seen(c_calls, c_value)
    call expect(int(c_calls, address), merge(1_address, 0_address, language == by_c), text // ', calls in C')
    call expect(int(calls, address), merge(0_address, 1_address, language == by_c), text // &
      ', calls in Fortran')
    if (language == by_c) call expect(c_value, wanted, text // ', seen in C')
    if (language == by_address) call expect(seen, wanted, text // ', seen in Fortran')
    if (language == by_integer) call expect(seen, low_bits(wanted), text // ', seen as an INTEGER')
    calls = 0
  end subroutine expect_callback

  subroutine test_attribute(kind, object, key_language, setter, value, other)
    integer, intent(in) :: kind, object, key_language, setter
    integer(address), intent(in) :: value, other
    integer :: key, key_again, twin, twin_setter
    integer(address) :: twin_value
    call create_key(kind, key_language, key)
    call c_expect_width(c_width(setter))
    call set(kind, object, setter, key, value)
    call expect_value(kind, object, setter, key, value, 'a value')
    if (kind /= is_win) then
      if (kind == is_comm) call MPI_Comm_dup(object, twin, ierror)
      if (kind == is_type) call MPI_Type_dup(object, twin, ierror)
      call expect_callback(key_language, value, 'copy')
      ! The C function returns what it gets, so the copy is what the original is.
      twin_setter = merge(setter, key_language, key_language == by_c)
      twin_value = merge(low_bits(value), value, key_language == by_integer)
      call expect_value(kind, twin, twin_setter, key, twin_value, 'a copy')
      ! The copy has a value of its own.
      call set(kind, object, setter, key, other)
      call expect_callback(key_language, value, 'set again')
      call expect_value(kind, twin, twin_setter, key, twin_value, 'a copy, afterwards')
      call c_expect_width(c_width(twin_setter))
      call free_object(kind, twin)
      call expect_callback(key_language, twin_value, 'the end of the copy')
      call c_expect_width(c_width(setter))
    else
      call set(kind, object, setter, key, other)
      call expect_callback(key_language, value, 'set again')
    end if
    call expect_value(kind, object, setter, key, other, 'another value')
    key_again = key
    call free_key(kind, key_again)
    if (setter == by_c) then
      if (kind == is_comm) call MPI_Comm_delete_attr(object, key, ierror)
      if (kind == is_type) call MPI_Type_delete_attr(object, key, ierror)
      if (kind == is_win) call MPI_Win_delete_attr(object, key, ierror)
    else
      call c_delete(kind, object, key)
    end if
    call expect_callback(key_language, other, 'delete')
  end subroutine test_attribute

  ! The predefined copy procedure keeps the value and who has set it.
  subroutine test_dup_procedure(kind, object)
    integer, intent(in) :: kind, object
    integer :: key, setter, twin
    integer(address) :: none
    none = 0
    key = MPI_KEYVAL_INVALID
    if (kind == is_comm) call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, key, none, &
      ierror)
    if (kind == is_type) call MPI_Type_create_keyval(MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN, key, none, &
      ierror)
    do setter = by_c, merge(by_integer, by_address, kind == is_comm)
      call set(kind, object, setter, key, -11_address)
      if (kind == is_comm) call MPI_Comm_dup(object, twin, ierror)
      if (kind == is_type) call MPI_Type_dup(object, twin, ierror)
      call set(kind, object, setter, key, 12_address)
      call expect_value(kind, twin, setter, key, -11_address, 'a duplicate')
      call free_object(kind, twin)
    end do
    call c_delete(kind, object, key)
    call free_key(kind, key)
  end subroutine test_dup_procedure

  subroutine test_predefined(kind, object)
    integer, intent(in) :: kind, object
    integer, parameter :: comm_keys(7) = [MPI_TAG_UB, MPI_IO, MPI_HOST, MPI_WTIME_IS_GLOBAL, MPI_APPNUM, &
      MPI_LASTUSEDCODE, MPI_UNIVERSE_SIZE]
    integer, parameter :: win_keys(5) = [MPI_WIN_BASE, MPI_WIN_SIZE, MPI_WIN_DISP_UNIT, &
      MPI_WIN_CREATE_FLAVOR, MPI_WIN_MODEL]
    integer, parameter :: win_widths(5) = [0, 8, 4, 4, 4]
    integer(address) :: value, in_c
    integer :: i, found, old
    logical :: flag
    if (kind == is_comm) then
      do i = 1, size(comm_keys)
        call c_get(kind, object, comm_keys(i), 4, in_c, found)
        call get(kind, object, comm_keys(i), value, flag)
        call expect(merge(1_address, 0_address, flag), int(found, address), 'a predefined attribute, found')
        if (found == 0) cycle
        call expect(value, in_c, 'a predefined attribute')
        call MPI_Attr_get(object, comm_keys(i), old, flag, ierror)
        call expect(int(old, address), in_c, 'a predefined attribute as an INTEGER')
      end do
    else if (kind == is_win) then
      do i = 1, size(win_keys)
        call c_get(kind, object, win_keys(i), win_widths(i), in_c, found)
        call get(kind, object, win_keys(i), value, flag)
        call expect(int(found, address), 1_address, 'a predefined attribute of a window, found')
        call expect(value, in_c, 'a predefined attribute of a window')
      end do
      call MPI_Get_address(memory, in_c, ierror)
      call get(kind, object, MPI_WIN_BASE, value, flag)
      call expect(value, in_c, 'MPI_WIN_BASE')
      call get(kind, object, MPI_WIN_SIZE, value, flag)
      call expect(value, 128_address, 'MPI_WIN_SIZE')
      call get(kind, object, MPI_WIN_DISP_UNIT, value, flag)
      call expect(value, 8_address, 'MPI_WIN_DISP_UNIT')
    end if
  end subroutine test_predefined
end program attributes
