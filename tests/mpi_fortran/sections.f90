! Array sections as buffers in the module mpi_f08: of every shape, where the operation goes on after the call,
! and where it does not. Elements beside a section stay as they are.
module section_data
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use mpi_f08
  implicit none
  integer, parameter :: untouched = -77
  integer :: rank, n, right, left, checks = 0, failures = 0
contains
  subroutine expect(holds, text)
    logical, intent(in) :: holds
    character(len=*), intent(in) :: text
    checks = checks + 1
    if (holds) return
    failures = failures + 1
    print '(a,i0,2a)', 'rank ', rank, ': ', text
  end subroutine expect

  ! The values that a rank sends.
  integer function value(from, i)
    integer, intent(in) :: from, i
    value = 1000 * from + i
  end function value

  subroutine fill(section, from)
    integer, intent(out) :: section(:, :)
    integer, intent(in) :: from
    integer :: i, j
    do j = 1, size(section, 2)
      do i = 1, size(section, 1)
        section(i, j) = value(from, i + (j - 1) * size(section, 1))
      end do
    end do
  end subroutine fill

  logical function is_filled(section, from)
    integer, intent(in) :: section(:, :)
    integer, intent(in) :: from
    integer :: wanted(size(section, 1), size(section, 2))
    call fill(wanted, from)
    is_filled = all(section == wanted)
  end function is_filled

  ! The section is that of a whole array with `others` elements beside it.
  subroutine test_section(section, whole, text)
    integer, intent(inout), target :: section(:, :)
    integer, intent(in), target :: whole(:, :)
    character(len=*), intent(in) :: text
    integer :: given(size(section, 1), size(section, 2))
    integer :: count, beside
    given = section
    count = size(section)
    beside = size(whole) - count
    call exchange('isend and irecv')
    call exchange('issend and irecv')
    call exchange('ibsend and irecv')
    call exchange('sendrecv')
    call exchange('isendrecv')
    call exchange('isendrecv_replace')
    call exchange('send_init and recv_init')
    call exchange('partitions')
    call exchange('imrecv')
    call exchange('large counts')
    call exchange('file')
    call exchange('testall')
    call exchange('get_status')
    call exchange('put')
    call exchange('get')
    call exchange('accumulate')
    call exchange('get_accumulate')
    call exchange('rput')
    call exchange('rget')
    section = given

  contains
    subroutine exchange(how)
      character(len=*), intent(in) :: how
      integer, allocatable :: mine(:, :), room(:, :)
      integer, allocatable :: sent(:, :)
      type(MPI_Request) :: requests(2)
      type(MPI_Message) :: message
      type(MPI_Status) :: status
      type(MPI_Win) :: win
      type(MPI_File) :: file
      character(len=100) :: name
      integer :: round, from
      integer(int64) :: clock  ! counts nanoseconds, which jobs at the same time differ in
      logical :: flag
      integer, asynchronous, allocatable :: memory(:)
      ! The data go out of a section of the same kind.
      allocate (sent(2 * size(section, 1), 3 * size(section, 2)), source=untouched)
      allocate (mine, mold=section)
      allocate (room, mold=section)
      call fill(sent(::2, ::3), rank)
      section = untouched
      from = left
      requests = MPI_REQUEST_NULL
      select case (how)
      case ('isend and irecv', 'testall')
        call MPI_Irecv(section, count, MPI_INTEGER, left, 1, MPI_COMM_WORLD, requests(1))
        call MPI_Isend(sent(::2, ::3), count, MPI_INTEGER, right, 1, MPI_COMM_WORLD, requests(2))
        if (how == 'testall') then
          flag = .false.
          do while (.not. flag)
            call MPI_Testall(2, requests, flag, MPI_STATUSES_IGNORE)
          end do
        else
          call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
        end if
      case ('get_status')
        call MPI_Irecv(section, count, MPI_INTEGER, left, 1, MPI_COMM_WORLD, requests(1))
        call MPI_Isend(sent(::2, ::3), count, MPI_INTEGER, right, 1, MPI_COMM_WORLD, requests(2))
        flag = .false.
        do while (.not. flag)
          if (rank == 0) call MPI_Request_get_status(requests(1), flag, status)
          if (rank /= 0) call MPI_Request_get_status_all(1, requests, flag, MPI_STATUSES_IGNORE)
        end do
        call expect(is_filled(section, from), text // ': told by get_status')
        section(1, 1) = -5
        call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
        call expect(section(1, 1) == -5, text // ': stored once')
        section(1, 1) = value(from, 1)
      case ('issend and irecv')
        call MPI_Issend(sent(::2, ::3), count, MPI_INTEGER, right, 1, MPI_COMM_WORLD, requests(2))
        call MPI_Irecv(section, count, MPI_INTEGER, left, 1, MPI_COMM_WORLD, requests(1))
        call MPI_Wait(requests(1), status)
        call MPI_Wait(requests(2), status)
      case ('ibsend and irecv')
        call MPI_Ibsend(sent(::2, ::3), count, MPI_INTEGER, right, 1, MPI_COMM_WORLD, requests(2))
        call MPI_Irecv(section, count, MPI_INTEGER, left, 1, MPI_COMM_WORLD, requests(1))
        call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
      case ('sendrecv')
        call MPI_Sendrecv(sent(::2, ::3), count, MPI_INTEGER, right, 1, section, count, MPI_INTEGER, left, &
          1, MPI_COMM_WORLD, status)
      case ('isendrecv')
        call MPI_Isendrecv(sent(::2, ::3), count, MPI_INTEGER, right, 1, section, count, MPI_INTEGER, left, &
          1, MPI_COMM_WORLD, requests(1))
        call MPI_Wait(requests(1), status)
      case ('isendrecv_replace')
        call fill(section, rank)
        call MPI_Isendrecv_replace(section, count, MPI_INTEGER, right, 1, left, 1, MPI_COMM_WORLD, &
          requests(1))
        call MPI_Wait(requests(1), status)
      case ('send_init and recv_init')
        call MPI_Send_init(sent(::2, ::3), count, MPI_INTEGER, right, 1, MPI_COMM_WORLD, requests(1))
        call MPI_Recv_init(section, count, MPI_INTEGER, left, 1, MPI_COMM_WORLD, requests(2))
        do round = 1, 3
          call fill(sent(::2, ::3), rank + 10 * round)
          section = untouched
          call MPI_Startall(2, requests)
          call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
          call expect(is_filled(section, left + 10 * round), text // ': ' // how)
        end do
        from = left + 30
        call MPI_Request_free(requests(1))
        call MPI_Request_free(requests(2))
      case ('partitions')
        ! Those of the sender are columns, which are filled while the operation is under way.
        call MPI_Psend_init(sent(::2, ::3), size(section, 2), int(size(section, 1), MPI_COUNT_KIND), &
          MPI_INTEGER, right, 1, MPI_COMM_WORLD, MPI_INFO_NULL, requests(1))
        call MPI_Precv_init(section, 1, int(count, MPI_COUNT_KIND), MPI_INTEGER, left, 1, MPI_COMM_WORLD, &
          MPI_INFO_NULL, requests(2))
        do round = 1, 3
          sent(::2, ::3) = -1
          section = untouched
          call MPI_Startall(2, requests)
          call fill(sent(::2, ::3), rank + 10 * round)
          call MPI_Pready_range(0, size(section, 2) - 1, requests(1))
          flag = .false.
          do while (.not. flag)
            call MPI_Parrived(requests(2), 0, flag)
          end do
          call expect(is_filled(section, left + 10 * round), text // ': has arrived')
          call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
        end do
        from = left + 30
        call MPI_Request_free(requests(1))
        call MPI_Request_free(requests(2))
      case ('imrecv')
        call MPI_Isend(sent(::2, ::3), count, MPI_INTEGER, right, 1, MPI_COMM_WORLD, requests(1))
        call MPI_Mprobe(left, 1, MPI_COMM_WORLD, message, status)
        call MPI_Imrecv(section, count, MPI_INTEGER, message, requests(2))
        call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
      case ('large counts')
        call MPI_Irecv(section, int(count, MPI_COUNT_KIND), MPI_INTEGER, left, 1, MPI_COMM_WORLD, requests(1))
        call MPI_Isend(sent(::2, ::3), int(count, MPI_COUNT_KIND), MPI_INTEGER, right, 1, MPI_COMM_WORLD, &
          requests(2))
        call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
      case ('file')
        call system_clock(clock)
        write (name, '(a,i0)') '/tmp/librma-sections-', clock
        call MPI_Bcast(name, len(name), MPI_CHARACTER, 0, MPI_COMM_WORLD)
        call MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE + MPI_MODE_RDWR + MPI_MODE_DELETE_ON_CLOSE, &
          MPI_INFO_NULL, file)
        call MPI_File_iwrite_at(file, int(4 * count * rank, MPI_OFFSET_KIND), sent(::2, ::3), count, &
          MPI_INTEGER, requests(1))
        call MPI_Wait(requests(1), status)
        call MPI_Barrier(MPI_COMM_WORLD)
        call MPI_File_iread_at_all(file, int(4 * count * left, MPI_OFFSET_KIND), section, count, &
          MPI_INTEGER, requests(1))
        call MPI_Wait(requests(1), status)
        call MPI_File_close(file)
      case default
        allocate (memory(count), source=0)
        call MPI_Win_create(memory, int(4 * count, MPI_ADDRESS_KIND), 4, MPI_INFO_NULL, MPI_COMM_WORLD, win)
        call MPI_Win_fence(0, win)
        if (index(how, 'get') > 0) then
          memory = [(value(rank, round), round=1, count)]
          call MPI_Win_fence(0, win)
        end if
        if (how(1:1) == 'r') call MPI_Win_fence(MPI_MODE_NOSUCCEED, win)
        if (how(1:1) == 'r') call MPI_Win_lock_all(0, win)
        select case (how)
        case ('put')
          call MPI_Put(sent(::2, ::3), count, MPI_INTEGER, right, 0_MPI_ADDRESS_KIND, count, MPI_INTEGER, win)
        case ('rput')
          call MPI_Rput(sent(::2, ::3), count, MPI_INTEGER, right, 0_MPI_ADDRESS_KIND, count, MPI_INTEGER, &
            win, requests(1))
          call MPI_Wait(requests(1), status)
        case ('accumulate')
          call MPI_Accumulate(sent(::2, ::3), count, MPI_INTEGER, right, 0_MPI_ADDRESS_KIND, count, &
            MPI_INTEGER, MPI_SUM, win)
        case ('get')
          call MPI_Get(section, count, MPI_INTEGER, left, 0_MPI_ADDRESS_KIND, count, MPI_INTEGER, win)
        case ('rget')
          call MPI_Rget(section, count, MPI_INTEGER, left, 0_MPI_ADDRESS_KIND, count, MPI_INTEGER, win, &
            requests(1))
          call MPI_Wait(requests(1), status)
        case ('get_accumulate')
          call MPI_Get_accumulate(sent(::2, ::3), count, MPI_INTEGER, section, count, MPI_INTEGER, left, &
            0_MPI_ADDRESS_KIND, count, MPI_INTEGER, MPI_NO_OP, win)
        end select
        if (how(1:1) == 'r') call MPI_Win_unlock_all(win)
        if (how(1:1) == 'r') call MPI_Barrier(MPI_COMM_WORLD)
        if (how(1:1) /= 'r') call MPI_Win_fence(0, win)
        call MPI_Win_free(win)
        ! A put leaves the section alone, and the window has the data.
        if (index(how, 'get') == 0) then
          call expect(all(section == untouched), text // ': ' // how // ' leaves its own data')
          section = reshape(memory, shape(section))
        end if
      end select
      call expect(is_filled(section, from), text // ': ' // how)
      call expect(count_of(whole, untouched - 1) == beside, text // ': ' // how // ', beside the section')
      call expect(count_of(sent, untouched) == size(sent) - count, text // ': ' // how // &
        ', beside what is sent')
    end subroutine exchange
  end subroutine test_section

  integer function count_of(array, wanted)
    integer, intent(in) :: array(:, :), wanted
    count_of = count(array == wanted)
  end function count_of
end module section_data

program sections
  use section_data
  implicit none
  integer, target :: plane(9, 9)
  integer, target :: line(40)
  integer, pointer :: view(:, :)
  real(real64), asynchronous :: wide(12, 5), sum_of(12, 5), gathered(3, 64), everything(6, 64)
  complex(real64), asynchronous :: pairs(10)
  character(len=3), asynchronous :: words(8)
  type(MPI_Request) :: request
  type(MPI_Status) :: status
  integer, allocatable :: bsend_buffer(:)
  integer(MPI_ADDRESS_KIND) :: first, second
  integer :: i, j, ierror

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, n)
  right = mod(rank + 1, n)
  left = mod(rank + n - 1, n)
  allocate (bsend_buffer(100000))
  call MPI_Buffer_attach(bsend_buffer, 400000)
  call expect(MPI_SUBARRAYS_SUPPORTED, 'MPI_SUBARRAYS_SUPPORTED')

  plane = untouched - 1
  call test_section(plane(1:7:3, 2:6:2), plane, 'every third of every second')
  call test_section(plane(9:1:-2, 3:5), plane, 'backwards')
  call test_section(plane(5:5, 9:1:-1), plane, 'a row backwards')
  call test_section(plane(2:8, :), plane, 'a band')
  call test_section(plane(:, ::4), plane, 'whole columns')
  call test_section(plane(:, 9:1:-1), plane, 'columns backwards')
  call test_section(plane(:, :), plane, 'all')
  line = untouched - 1
  view(1:4, 1:10) => line
  call test_section(view(2:3, ::3), view, 'by a pointer')
  call test_assumed_size(plane)

  ! Collectives: data of other types.
  forall (i=1:12, j=1:5) wide(i, j) = i + 100 * j + 10000 * rank
  sum_of = -1
  call MPI_Iallreduce(wide(1:12:5, 5:1:-2), sum_of(2:12:4, 1:3), 9, MPI_REAL8, MPI_SUM, MPI_COMM_WORLD, &
    request)
  call MPI_Wait(request, status)
  do j = 1, 3
    do i = 1, 3
      call expect(nint(sum_of(4 * i - 2, j)) == n * (5 * i - 4 + 100 * (7 - 2 * j)) + 5000 * n * (n - 1), &
        'iallreduce')
    end do
  end do
  call expect(count(nint(sum_of) == -1) == 60 - 9, 'iallreduce, beside the section')
  sum_of = -1
  if (rank == 0) sum_of(::6, ::2) = wide(::6, ::2)
  call MPI_Ibcast(sum_of(::6, ::2), 6, MPI_REAL8, 0, MPI_COMM_WORLD, request)
  call MPI_Wait(request, status)
  call expect(all(nint(sum_of(1, ::2)) == [101, 301, 501]) .and. count(nint(sum_of) == -1) == 54, 'ibcast')
  everything = -1
  gathered = -1
  call MPI_Iallgather(wide(2:10:4, 1), 3, MPI_REAL8, everything(5:1:-2, 1:n), 3, MPI_REAL8, MPI_COMM_WORLD, &
    request)
  call MPI_Wait(request, status)
  do i = 1, n
    call expect(all(nint(everything(5:1:-2, i)) == [102, 106, 110] + 10000 * (i - 1)), 'iallgather')
  end do
  call expect(count(nint(everything) == -1) == size(everything) - 3 * n, 'iallgather, beside the section')
  call MPI_Allreduce_init(wide(::3, 2), everything(2:5, 64), 4, MPI_DOUBLE_PRECISION, MPI_MAX, &
    MPI_COMM_WORLD, MPI_INFO_NULL, request)
  call MPI_Request_free(request)
  call MPI_Allreduce_init(wide(::3, 2), everything(::2, 63), 3, MPI_DOUBLE_PRECISION, MPI_MAX, &
    MPI_COMM_WORLD, MPI_INFO_NULL, request)
  do i = 1, 3
    wide(:, 2) = [(rank + i * j, j=1, 12)]
    call MPI_Start(request)
    call MPI_Wait(request, status)
    call expect(all(nint(everything(::2, 63)) == n - 1 + i * [1, 4, 7]), 'allreduce_init')
  end do
  call MPI_Request_free(request)
  call expect(nint(everything(2, 63)) == -1, 'allreduce_init, beside the section')
  ! A complex element holds two of the datatype's.
  pairs = cmplx(rank, -rank, real64)
  if (rank == 0) pairs(10:1:-3) = [(cmplx(i, 10 * i, real64), i=1, 4)]
  call MPI_Ibcast(pairs(10:1:-3), 8, MPI_REAL8, 0, MPI_COMM_WORLD, request)
  call MPI_Wait(request, status)
  call expect(nint(real(pairs(10))) == 1 .and. nint(aimag(pairs(1))) == 40 .and. &
    nint(real(pairs(2))) == rank, 'complex')
  words = '...'
  if (rank == 0) words(2::3) = ['abc', 'def', 'ghi']
  call MPI_Ibcast(words(2::3), 9, MPI_CHARACTER, 0, MPI_COMM_WORLD, request)
  call MPI_Wait(request, status)
  call expect(words(5) == 'def' .and. words(8) == 'ghi' .and. words(1) == '...' .and. words(3) == '...', &
    'words')

  ! Addresses are those of the elements.
  call MPI_Get_address(plane(3:9:2, 2), first)
  call MPI_Get_address(plane(3, 2), second)
  call expect(first == second, 'get_address')
  call MPI_Get_address(plane(9:1:-1, 2), first)
  call MPI_Get_address(plane(9, 2), second)
  call expect(first == second, 'get_address backwards')

  ! Sizes of variables of any kind and rank.
  call MPI_Sizeof(plane, i)
  call MPI_Sizeof(wide(3, 2), j, ierror)
  call expect(i == 4 .and. j == 8 .and. ierror == MPI_SUCCESS, 'sizeof')
  call MPI_Sizeof(pairs(::2), i)
  call PMPI_Sizeof(first, j)
  call expect(i == 16 .and. j == 8, 'sizeof of a section')
  call MPI_Sizeof(1_1, i)
  call MPI_Sizeof(words(1)(1:1), j)
  call expect(i == 1 .and. j == 1, 'sizeof of constants')
  call MPI_Sizeof(.true., i)
  call expect(i == 4, 'sizeof of a logical')

  ! What is refused is refused by the error handler, and more elements than the section has are.
  call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN)
  call MPI_Psend_init(plane(::2, 1), 5, 2_MPI_COUNT_KIND, MPI_INTEGER, right, 0, MPI_COMM_WORLD, &
    MPI_INFO_NULL, request, ierror)
  call expect(ierror == MPI_ERR_COUNT, 'too many partitions')
  call MPI_Precv_init(plane(::2, 1), 0, 1_MPI_COUNT_KIND, MPI_INTEGER, left, 0, MPI_COMM_WORLD, &
    MPI_INFO_NULL, request, ierror)
  call expect(ierror == MPI_ERR_ARG, 'no partitions')
  call MPI_Precv_init(plane(::2, 1), 1, 1_MPI_COUNT_KIND, MPI_INTEGER, n, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &
    request, ierror)
  call expect(ierror == MPI_ERR_RANK, 'partitions from nobody')

  if (checks < 400) call expect(.false., 'few checks')
  if (failures /= 0) call MPI_Abort(MPI_COMM_WORLD, 1)
  call MPI_Finalize()
  if (rank == 0) print '(i0,a)', checks, ' checks'

contains
  ! An assumed-size array is contiguous, and nobody knows its end.
  subroutine test_assumed_size(array)
    integer :: array(3, *)
    type(MPI_Request) :: requests(2)
    array(:, 1:2) = rank
    call MPI_Isend(array, 3, MPI_INTEGER, right, 5, MPI_COMM_WORLD, requests(1))
    call MPI_Irecv(array(1, 2), 3, MPI_INTEGER, left, 5, MPI_COMM_WORLD, requests(2))
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
    call expect(all(array(:, 2) == left) .and. all(array(:, 1) == rank), 'assumed size')
    array(:, 1:2) = untouched - 1
  end subroutine test_assumed_size
end program sections
