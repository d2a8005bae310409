! Measures coarrays between image 1 and image 2, and three small programs on both. It is Fortran 2018 that
! gfortran 12 compiles, so it measures other libraries too: bench/compare.sh --suite coarrays. With
! RMA_BENCH_CONTROLS the program calls rma.h, too, and measures what the runtime's own barrier and reduction
! take beside those of Fortran.
!
! usage: rmarun -n 2 coarrays-bench [--json FILE] [--backend NAME] [--quick] [--suite coarrays]
!   --json FILE       write the rows as JSON too
!   --backend NAME    the library that is measured, for the JSON (default rma)
!   --quick           a tenth of the calls: shows that it works, measures little
!   --suite coarrays  the only suite; for bench/compare.sh
! Each line has what is done, and its time in nanoseconds: the median of several samples.
module measuring
  use, intrinsic :: iso_fortran_env, only: int64
  implicit none
  private
  public :: open_report, close_report, start, stop_and_keep, report, calls_of, samples

  integer, parameter :: samples = 15

  real(8) :: times(samples, 2)
  integer :: kept(2) = 0, json = 0, divisor = 1
  integer(int64) :: began, rate
  logical :: first = .true.

contains

  subroutine open_report()
    character(200) :: word, file, backend
    integer :: i
    file = ''
    backend = 'rma'
    i = 0
    do while (i < command_argument_count())
      i = i + 1
      call get_command_argument(i, word)
      select case (word)
      case ('--json')
        i = i + 1
        call get_command_argument(i, file)
      case ('--backend')
        i = i + 1
        call get_command_argument(i, backend)
      case ('--quick')
        divisor = 10
      case ('--suite')
        i = i + 1
      case ('--help', '-h')
        if (this_image() == 1) print '(a)', &
          'usage: rmarun -n 2 coarrays-bench [--json FILE] [--quick] [--suite coarrays] [--backend NAME]', &
          'Measures coarrays of Fortran: transfers, synchronization and three small programs.'
        stop
      case default
        error stop 'coarrays-bench: an unknown argument'
      end select
    end do
    call system_clock(count_rate=rate)
    if (this_image() /= 1 .or. file == '') return
    open (newunit=json, file=trim(file), status='replace', action='write')
    write (json, '(3a, i0, a)') '{"backend": "', trim(backend), '", "ranks": ', num_images(), ', "rows": ['
  end subroutine open_report

  subroutine close_report()
    if (json == 0) return
    write (json, '(a)') ']}'
    close (json)
  end subroutine close_report

  ! Returns how often to make a call in one sample.
  integer function calls_of(calls)
    integer, intent(in) :: calls
    calls_of = max(calls / divisor, 1)
  end function calls_of

  subroutine start()
    call system_clock(began)
  end subroutine start

  ! Keeps the time since start() as a sample of `count` operations. Two sets of samples may be taken in turn.
  subroutine stop_and_keep(count, set)
    integer, intent(in) :: count
    integer, intent(in), optional :: set
    integer(int64) :: ended
    integer :: place, to
    real(8) :: time
    call system_clock(ended)
    to = 1
    if (present(set)) to = set
    time = real(ended - began, 8) * 1e9 / rate / count
    ! Samples are kept in ascending order.
    place = kept(to)
    do while (place > 0)
      if (times(place, to) <= time) exit
      times(place + 1, to) = times(place, to)
      place = place - 1
    end do
    times(place + 1, to) = time
    kept(to) = kept(to) + 1
  end subroutine stop_and_keep

  subroutine report(name, set)
    character(*), intent(in) :: name
    integer, intent(in), optional :: set
    integer :: from
    real(8) :: median
    from = 1
    if (present(set)) from = set
    median = times((kept(from) + 1) / 2, from)
    kept(from) = 0
    if (this_image() /= 1) return
    print '(a26, f14.1)', name, median
    if (json == 0) return
    if (.not. first) write (json, '(a)') ','
    first = .false.
    write (json, '(3a, f0.2, a)') '{"suite": "coarrays", "row": "coarray ', name, &
      '", "unit": "ns", "median": ', median, '}'
  end subroutine report

end module measuring

#ifdef RMA_BENCH_CONTROLS
! The functions of rma.h that are measured beside Fortran's statements.
module controls
  use, intrinsic :: iso_c_binding, only: c_double, c_int, c_ptr, c_size_t
  implicit none
  integer(c_int), parameter :: rma_double = 4, rma_sum = 0  ! RMA_DOUBLE, RMA_SUM
  interface
    function rma_team_world() bind(c) result(team)
      import :: c_ptr
      type(c_ptr) :: team
    end function rma_team_world
    function rma_barrier(team) bind(c) result(status)
      import :: c_int, c_ptr
      type(c_ptr), value :: team
      integer(c_int) :: status
    end function rma_barrier
    function rma_allreduce(team, dst, src, count, type, op) bind(c) result(status)
      import :: c_double, c_int, c_ptr, c_size_t
      type(c_ptr), value :: team
      real(c_double) :: dst, src
      integer(c_size_t), value :: count
      integer(c_int), value :: type, op
      integer(c_int) :: status
    end function rma_allreduce
  end interface
end module controls
#endif

program coarrays_bench
  use, intrinsic :: iso_fortran_env, only: atomic_int_kind, event_type, lock_type
  use measuring
#ifdef RMA_BENCH_CONTROLS
  use, intrinsic :: iso_c_binding, only: c_int, c_ptr, c_size_t
  use controls
#endif
  implicit none
  integer, parameter :: most = 524288, side = 512  ! numbers of 8 bytes
  integer(8), save :: word[*]
  real(8), allocatable :: block(:)[:], matrix(:, :)[:], other_matrix(:, :)[:]
  real(8), allocatable :: local(:), section(:, :), grid(:, :)
  type(event_type), save :: event[*]
  type(lock_type), save :: guard[*]
  integer(atomic_int_kind), save :: next_task[*] = 0
  integer :: me, n

  me = this_image()
  allocate (block(most)[*], matrix(side, side)[*], other_matrix(side, side)[*])
  allocate (local(most), section(side, side))
  word = 0
  block = me
  matrix = me
  local = me
  section = me
  call open_report()

  call measure_scalars()
  n = 8
  do while (n <= most)
    call measure_blocks(n)
    n = n * 8
  end do
  call measure_blocks(most)
  call measure_sections()
  call measure_synchronization()
  call measure_heat()
  call measure_transpose()
  call measure_tasks()
  call close_report()

contains

  subroutine measure_scalars()
    integer :: sample, calls
    integer(8) :: i, got
    calls = calls_of(20000)
    sync all
    do sample = 1, samples
      call start()
      if (me == 1) then
        do i = 1, calls
          word[2] = i
        end do
      end if
      sync memory
      call stop_and_keep(calls)
      sync all
    end do
    call report('put 8 B')
    got = 0
    do sample = 1, samples
      call start()
      if (me == 1) then
        do i = 1, calls
          got = got + word[2]
        end do
      end if
      call stop_and_keep(calls)
      sync all
    end do
    call report('get 8 B')
    if (got < 0) print *, got  ! so that the gets are not left out
  end subroutine measure_scalars

  ! Returns a size in words as a reader writes it.
  function size_text(words) result(text)
    integer, intent(in) :: words
    character(:), allocatable :: text
    character(12) :: number
    if (words * 8 >= 1048576) then
      write (number, '(i0, a)') words / 131072, ' MiB'
    else if (words * 8 >= 1024) then
      write (number, '(i0, a)') words / 128, ' KiB'
    else
      write (number, '(i0, a)') words * 8, ' B'
    end if
    text = trim(number)
  end function size_text

  subroutine measure_blocks(words)
    integer, intent(in) :: words
    integer :: sample, calls, i
    calls = calls_of(max(10, min(5000, 4000000 / words)))
    do sample = 1, samples
      call start()
      if (me == 1) then
        do i = 1, calls
          block(1:words)[2] = local(1:words)
        end do
      end if
      sync memory
      call stop_and_keep(calls)
      sync all
    end do
    call report('put '//size_text(words))
    do sample = 1, samples
      call start()
      if (me == 1) then
        do i = 1, calls
          local(1:words) = block(1:words)[2]
        end do
      end if
      call stop_and_keep(calls)
      sync all
    end do
    call report('get '//size_text(words))
  end subroutine measure_blocks

  subroutine measure_sections()
    integer :: sample, calls, i
    calls = calls_of(200)
    do sample = 1, samples
      call start()
      if (me == 1) then
        do i = 1, calls
          matrix(7, :)[2] = section(:, 1)
        end do
      end if
      sync memory
      call stop_and_keep(calls)
      sync all
    end do
    call report('put a row of 512')
    do sample = 1, samples
      call start()
      if (me == 1) then
        do i = 1, calls
          section(:, 1) = matrix(7, :)[2]
        end do
      end if
      call stop_and_keep(calls)
      sync all
    end do
    call report('get a row of 512')
    calls = calls_of(20)
    do sample = 1, samples
      call start()
      if (me == 1) then
        do i = 1, calls
          matrix(1:256:2, 1:256:2)[2] = section(1:128, 1:128)
        end do
      end if
      sync memory
      call stop_and_keep(calls)
      sync all
    end do
    call report('put 128x128 step 2')
    do sample = 1, samples
      call start()
      if (me == 1) then
        do i = 1, calls
          section(1:128, 1:128) = matrix(1:128, 1:128)[2]
        end do
      end if
      call stop_and_keep(calls)
      sync all
    end do
    call report('get 128x128 of 512x512')
  end subroutine measure_sections

  subroutine measure_synchronization()
    integer :: sample, calls, i
    real(8) :: sum
#ifdef RMA_BENCH_CONTROLS
    integer(c_int) :: failed
    type(c_ptr) :: world
    failed = 0
    world = rma_team_world()
#endif
    calls = calls_of(2000)
    sum = 1
    do sample = 1, samples
      sync all
      call start()
      do i = 1, calls
        sync all
      end do
      call stop_and_keep(calls)
#ifdef RMA_BENCH_CONTROLS
      call start()
      do i = 1, calls
        failed = max(failed, rma_barrier(world))
      end do
      call stop_and_keep(calls, 2)
#endif
    end do
    call report('sync all')
#ifdef RMA_BENCH_CONTROLS
    call report('rma_barrier', 2)
#endif
    do sample = 1, samples
      call start()
      do i = 1, calls
        sync images (3 - me)
      end do
      call stop_and_keep(calls)
    end do
    call report('sync images')
    do sample = 1, samples
      sync all
      call start()
      do i = 1, calls
        call co_sum(sum)
        sum = 1
      end do
      call stop_and_keep(calls)
#ifdef RMA_BENCH_CONTROLS
      call start()
      do i = 1, calls
        failed = max(failed, rma_allreduce(world, sum, sum, 1_c_size_t, rma_double, rma_sum))
        sum = 1
      end do
      call stop_and_keep(calls, 2)
#endif
    end do
    call report('co_sum 8 B')
#ifdef RMA_BENCH_CONTROLS
    call report('rma_allreduce 8 B', 2)
    if (failed /= 0) error stop 'coarrays-bench: a call of rma.h failed'
#endif
    ! There and back, so two posts and two waits.
    do sample = 1, samples
      sync all
      call start()
      do i = 1, calls
        if (me == 1) event post (event[2])
        event wait (event)
        if (me == 2) event post (event[1])
      end do
      call stop_and_keep(2 * calls)
    end do
    call report('event post and wait')
    do sample = 1, samples
      sync all
      call start()
      if (me == 1) then
        do i = 1, calls
          lock (guard[2])
          unlock (guard[2])
        end do
      end if
      call stop_and_keep(calls)
    end do
    sync all
    call report('lock and unlock')
  end subroutine measure_synchronization

  ! Jacobi steps on a grid of which each image has half the columns. The halos are the outer columns of
  ! `matrix`.
  subroutine measure_heat()
    integer :: sample, steps, step
    steps = calls_of(20)
    allocate (grid(side, side))
    matrix = me
    do sample = 1, samples
      sync all
      call start()
      do step = 1, steps
        grid(2:side - 1, 2:side - 1) = (matrix(1:side - 2, 2:side - 1) + matrix(3:, 2:side - 1) &
                                        + matrix(2:side - 1, 1:side - 2) + matrix(2:side - 1, 3:)) / 4
        sync images (3 - me)
        matrix(2:side - 1, 2:side - 1) = grid(2:side - 1, 2:side - 1)
        if (me == 1) then
          matrix(:, 1)[2] = matrix(:, side - 1)
        else
          matrix(:, side)[1] = matrix(:, 2)
        end if
        sync images (3 - me)
      end do
      call stop_and_keep(steps)
    end do
    call report('heat, a step of 512x512')
  end subroutine measure_heat

  ! The transpose of a matrix whose columns the images share: each image fetches the block that becomes its
  ! own.
  subroutine measure_transpose()
    integer :: sample, rounds, round, image, first
    rounds = calls_of(10)
    first = (me - 1) * side / 2
    do sample = 1, samples
      sync all
      call start()
      do round = 1, rounds
        do image = 1, 2
          section(1:side / 2, 1:side / 2) = matrix(first + 1:first + side / 2, 1:side / 2)[image]
          other_matrix((image - 1) * side / 2 + 1:image * side / 2, 1:side / 2) = &
            transpose(section(1:side / 2, 1:side / 2))
        end do
        sync all
      end do
      call stop_and_keep(rounds)
    end do
    call report('transpose 512x512')
  end subroutine measure_transpose

  ! The images draw tasks from a counter of image 1. The row is missing for libraries whose atomic_fetch_add
  ! does not return the old value: OpenCoarrays 2.10.1 leaves the variable as it was, and the loop ends by
  ! chance or never.
  subroutine measure_tasks()
    integer(atomic_int_kind) :: task
    integer :: sample, tasks
    sync all
    task = -1
    call atomic_fetch_add(next_task[1], 0, task)
    if (task /= 0) then
      if (me == 1) print '(a)', 'a task of a counter: atomic_fetch_add does not return the old value'
      return
    end if
    tasks = calls_of(2000)
    do sample = 1, samples
      if (me == 1) call atomic_define(next_task, 0)
      sync all
      call start()
      do
        call atomic_fetch_add(next_task[1], 1, task)
        if (task >= tasks) exit
      end do
      sync all
      call stop_and_keep(tasks)
    end do
    call report('a task of a counter')
  end subroutine measure_tasks

end program coarrays_bench
