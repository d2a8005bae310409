! Initial values, sync images, locks, critical sections, events and atomic subroutines.
module sync_tests
  use, intrinsic :: iso_fortran_env, only: atomic_int_kind, atomic_logical_kind, event_type, lock_type, &
    stat_locked, stat_locked_other_image, stat_unlocked
  use checks, only: check, draw, seed_numbers
  implicit none
  private
  public :: test_synchronization

  integer, save :: early[*] = -1
  integer, save :: slots(64)[*] = 0
  integer, save :: counter[*] = 0
  type(lock_type), save :: guards(3)[*]
  type(lock_type), allocatable :: heap_guards(:)[:]
  type(event_type), save :: rings(2)[*]
  type(event_type), allocatable :: heap_rings(:)[:]
  integer(atomic_int_kind), save :: number(2)[*] = 5
  logical(atomic_logical_kind), save :: flag[*] = .false.

contains

  subroutine test_synchronization()
    integer :: right
    ! Nothing comes before this put: the initial value of the other image must not come behind it.
    right = mod(this_image(), num_images()) + 1
    early[right] = this_image()
    sync all
    call check(early == mod(this_image() + num_images() - 2, num_images()) + 1, &
      'an initial value came behind a put')
    call test_sync_images()
    call test_locks()
    call test_critical()
    call test_events()
    call test_atomics()
  end subroutine test_synchronization

  ! All images draw the same pairs; those of a pair exchange values.
  subroutine test_sync_images()
    integer :: round, one, other, me, partner, stat
    me = this_image()
    call seed_numbers(4711)
    do round = 1, 200
      one = draw(1, num_images())
      other = draw(1, num_images())
      if (me /= one .and. me /= other) cycle
      partner = merge(other, one, me == one)
      slots(me)[partner] = round + me
      sync images (partner)
      call check(slots(partner) == round + partner, 'a value behind sync images')
      sync images ([partner], stat=stat)
      call check(stat == 0, 'stat of sync images')
    end do
    sync images (*)
    ! Image 1 with each other image, which names it alone.
    slots(1) = 0
    sync all
    if (me == 1) then
      slots(me) = 99
      sync images (*)
    else
      sync images (1)
      call check(slots(1)[1] == 99, 'a value of image 1 behind sync images')
    end if
    stat = 0
    if (num_images() > 1) then
      sync images ([1, 2, 1], stat=stat)
      call check(stat /= 0, 'an image that sync images names twice')
    end if
    sync all
  end subroutine test_sync_images

  subroutine test_locks()
    integer :: i, stat, images, next
    logical :: acquired
    character(20) :: text
    images = num_images()
    allocate (heap_guards(2)[*])
    counter = 0
    slots = 0
    sync all
    do i = 1, 50
      lock (guards(2)[images])
      counter[1] = counter[1] + 1
      unlock (guards(2)[images])
      lock (heap_guards(1)[1])
      slots(1)[1] = slots(1)[1] + 1
      unlock (heap_guards(1)[1])
    end do
    sync all
    if (this_image() == 1) call check(counter == 50 * images .and. slots(1) == 50 * images, &
      'increments under a lock')
    ! Several locks at once, given back in another order.
    lock (guards(1))
    lock (guards(3))
    lock (heap_guards(2))
    unlock (guards(1))
    lock (guards(1), stat=stat)
    call check(stat == 0, 'stat of lock')
    lock (guards(1), stat=stat, errmsg=text)
    call check(stat == stat_locked, 'stat of a lock that this image holds')
    call check(text(:10) == 'this image', 'errmsg of a lock that this image holds')
    unlock (heap_guards(2))
    unlock (guards(3))
    sync all
    next = mod(this_image(), images) + 1
    if (images > 1) then
      lock (guards(1)[next], acquired_lock=acquired)
      call check(.not. acquired, 'acquired_lock of a lock that another image holds')
      unlock (guards(1)[next], stat=stat)
      call check(stat == stat_locked_other_image, 'stat of unlocking another image''s lock')
    end if
    sync all
    unlock (guards(1))
    lock (heap_guards(2)[next], acquired_lock=acquired)
    call check(acquired, 'acquired_lock of a free lock')
    unlock (heap_guards(2)[next])
    text = 'kept'
    unlock (guards(1), stat=stat, errmsg=text)
    call check(stat == stat_unlocked .and. text /= 'kept', 'stat of unlocking a free lock')
    sync all
    deallocate (heap_guards)
  end subroutine test_locks

  subroutine test_critical()
    integer :: i
    counter = 0
    sync all
    do i = 1, 50
      critical
        counter[1] = counter[1] + 1
      end critical
    end do
    sync all
    if (this_image() == 1) call check(counter == 50 * num_images(), 'increments in a critical section')
    sync all
  end subroutine test_critical

  ! Rounds of a ring: each image waits for its left neighbour and posts to the right one.
  subroutine test_events()
    integer :: i, count, stat, me, images, right
    me = this_image()
    images = num_images()
    right = mod(me, images) + 1
    allocate (heap_rings(2)[*])
    slots = 0
    sync all
    do i = 1, 50
      if (me /= 1) then
        event wait (rings(2))
        call check(slots(1) == i, 'a value behind an event')
      end if
      slots(1)[right] = i
      event post (rings(2)[right])
      if (me == 1) then
        event wait (rings(2))
        call check(slots(1) == i, 'a value behind an event of the whole ring')
      end if
    end do
    ! Many posts and one wait.
    do i = 1, 3
      event post (heap_rings(2)[1], stat=stat)
      call check(stat == 0, 'stat of event post')
    end do
    sync all
    if (me == 1) then
      call event_query(heap_rings(2), count, stat)
      call check(count == 3 * images .and. stat == 0, 'the count of an event')
      event wait (heap_rings(2), until_count=3 * images - 1)
      call event_query(heap_rings(2), count)
      call check(count == 1, 'the count behind a wait')
      event wait (heap_rings(2))
      call event_query(heap_rings(1), count)
      call check(count == 0, 'the count of an event without posts')
    end if
    sync all
    deallocate (heap_rings)
  end subroutine test_events

  subroutine test_atomics()
    integer(atomic_int_kind) :: old, now
    logical(atomic_logical_kind) :: was, is
    integer :: i, images
    images = num_images()
    sync all
    do i = 1, 100
      call atomic_add(number(1)[1], 1)
    end do
    call atomic_fetch_add(number(2)[images], 3, old)
    call check(mod(old - 5, 3) == 0 .and. old >= 5, 'the old value of atomic_fetch_add')
    sync all
    call atomic_ref(now, number(1)[1])
    call check(now == 5 + 100 * images, 'the sum of atomic_add')
    call atomic_ref(now, number(2)[images])
    call check(now == 5 + 3 * images, 'the sum of atomic_fetch_add')
    sync all
    ! Each image its own variable.
    call atomic_define(number(1), 12)
    call atomic_fetch_and(number(1), 10, old)
    call check(old == 12, 'atomic_fetch_and')
    call atomic_fetch_or(number(1), 3, old)
    call check(old == 8, 'atomic_fetch_or')
    call atomic_fetch_xor(number(1), 1, old)
    call check(old == 11, 'atomic_fetch_xor')
    call atomic_and(number(1), 14)
    call atomic_or(number(1), 4)
    call atomic_xor(number(1), 15)
    call atomic_ref(now, number(1))
    call check(now == 1, 'atomic_and, atomic_or and atomic_xor')
    call atomic_cas(number(1), old, 2, 20)
    call atomic_ref(now, number(1))
    call check(old == 1 .and. now == 1, 'atomic_cas of another value')
    call atomic_cas(number(1), old, 1, 20)
    call atomic_ref(now, number(1))
    call check(old == 1 .and. now == 20, 'atomic_cas of the same value')
    call atomic_define(flag[mod(this_image(), images) + 1], .true.)
    sync all
    call atomic_ref(is, flag)
    call check(logical(is), 'a logical that was defined')
    call atomic_cas(flag, was, .true._atomic_logical_kind, .false._atomic_logical_kind)
    call atomic_ref(is, flag)
    call check(logical(was .and. .not. is), 'atomic_cas of a logical')
    sync all
  end subroutine test_atomics

end module sync_tests
