! The buffered data of a Fortran unit is written when ARMCI_Error ends the program.
program buffered
  use, intrinsic :: iso_c_binding, only: c_char, c_int, c_null_char
  implicit none

  interface
    function armci_init() bind(c, name="ARMCI_Init")
      import :: c_int
      integer(c_int) :: armci_init
    end function
    subroutine armci_error(text, code) bind(c, name="ARMCI_Error")
      import :: c_char, c_int
      character(kind=c_char), intent(in) :: text(*)
      integer(c_int), value :: code
    end subroutine
  end interface

  if (armci_init() /= 0) stop 1
  write(*, '(a)') "a unit of Fortran"
  call armci_error("behind it" // c_null_char, 7_c_int)
end program
