! Joining and leaving the job, and the ranks in it. Part of module rma.
module rma_life
  use, intrinsic :: iso_c_binding, only: c_char, c_f_pointer, c_int, c_ptr, c_size_t
  implicit none
  private
  public :: rma_init, rma_finalize, rma_initialized, rma_rank, rma_size, rma_program, rma_same_host, rma_abort
  public :: rma_strerror, rma_version

  interface
    ! Joins the job. Collective over all its processes. Calls nest.
    subroutine rma_init(stat, errmsg) bind(C, name='rma_fortran_init')
      import :: c_int
      integer(c_int), optional, intent(out) :: stat
      type(*), dimension(..), optional, intent(inout) :: errmsg
    end subroutine rma_init

    ! Completes all outstanding operations and leaves the job. Collective.
    subroutine rma_finalize(stat, errmsg) bind(C, name='rma_fortran_finalize')
      import :: c_int
      integer(c_int), optional, intent(out) :: stat
      type(*), dimension(..), optional, intent(inout) :: errmsg
    end subroutine rma_finalize

    ! Returns this process's rank; -1 if the library is not initialized.
    pure integer(c_int) function rma_rank() bind(C, name='rma_rank')
      import :: c_int
    end function rma_rank

    ! Returns the number of processes of the job; -1 if the library is not initialized.
    pure integer(c_int) function rma_size() bind(C, name='rma_size')
      import :: c_int
    end function rma_size

    ! Returns the number of this process's program in a job of several programs; -1 if the library is not
    ! initialized.
    pure integer(c_int) function rma_program() bind(C, name='rma_program')
      import :: c_int
    end function rma_program

    ! Prints `text` and ends the whole job with `exit_code`. Does not return.
    subroutine rma_abort(exit_code, text) bind(C, name='rma_fortran_abort')
      import :: c_int
      integer(c_int), value :: exit_code
      type(*), dimension(..), optional, intent(in) :: text
    end subroutine rma_abort

    pure integer(c_int) function c_initialized() bind(C, name='rma_initialized')
      import :: c_int
    end function c_initialized

    pure integer(c_int) function c_same_host(rank) bind(C, name='rma_same_host')
      import :: c_int
      integer(c_int), value :: rank
    end function c_same_host

    type(c_ptr) function c_strerror(status) bind(C, name='rma_strerror')
      import :: c_int, c_ptr
      integer(c_int), value :: status
    end function c_strerror

    type(c_ptr) function c_version() bind(C, name='rma_version')
      import :: c_ptr
    end function c_version

    integer(c_size_t) function c_strlen(text) bind(C, name='strlen')
      import :: c_ptr, c_size_t
      type(c_ptr), value :: text
    end function c_strlen
  end interface

contains

  ! Returns whether this process is between rma_init and rma_finalize.
  pure logical function rma_initialized()
    rma_initialized = c_initialized() /= 0
  end function rma_initialized

  ! Returns whether this process has mapped the memory of `rank`.
  pure logical function rma_same_host(rank)
    integer, intent(in) :: rank
    rma_same_host = c_same_host(rank) /= 0
  end function rma_same_host

  ! Returns the name of a status code, such as 'RMA_ERR_RANK'.
  function rma_strerror(status) result(name)
    integer, intent(in) :: status
    character(len=:), allocatable :: name
    name = text_of(c_strerror(status))
  end function rma_strerror

  ! Returns the version of the running library as 'major.minor.patch'.
  function rma_version() result(version)
    character(len=:), allocatable :: version
    version = text_of(c_version())
  end function rma_version

  function text_of(c_text) result(text)
    type(c_ptr), intent(in) :: c_text
    character(len=:), allocatable :: text
    character(kind=c_char), pointer :: letters(:)
    integer :: i
    call c_f_pointer(c_text, letters, [c_strlen(c_text)])
    allocate (character(len=size(letters)) :: text)
    do i = 1, size(letters)
      text(i:i) = letters(i)
    end do
  end function text_of
end module rma_life
