! A program in Fortran as it was before MPI 3.0 removed procedures and datatypes.
      program removed
      implicit none
      include 'mpif.h'
      external note
      integer ierror, rank, ranks, handler, now, extent, lower, upper
      integer record, strided, listed, i, first, second, class
      integer lengths(3), places(3), types(3), seen
      integer numbers(4)
      common /errors/ seen
      call MPI_INIT(ierror)
      call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierror)
      call MPI_COMM_SIZE(MPI_COMM_WORLD, ranks, ierror)
      seen = 0
      call MPI_ERRHANDLER_CREATE(note, handler, ierror)
      call MPI_ERRHANDLER_SET(MPI_COMM_WORLD, handler, ierror)
      call MPI_ERRHANDLER_GET(MPI_COMM_WORLD, now, ierror)
      if (now .ne. handler) error stop 'the error handler'
      call MPI_SEND(rank, 1, MPI_INTEGER, ranks, 0, MPI_COMM_WORLD, ierror)
      call MPI_ERROR_CLASS(seen, class, ierror)
      if (class .ne. MPI_ERR_RANK) error stop 'the error of the handler'
      call MPI_ADDRESS(numbers(1), first, ierror)
      call MPI_ADDRESS(numbers(3), second, ierror)
      if (second - first .ne. 8) error stop 'the difference of addresses'
      do i = 1, 3
        lengths(i) = 1
      end do
      places(1) = -8
      places(2) = 4
      places(3) = 40
      types(1) = MARKER_LB
      types(2) = MPI_INTEGER
      types(3) = MARKER_UB
      call MPI_TYPE_STRUCT(3, lengths, places, types, record, ierror)
      call MPI_TYPE_EXTENT(record, extent, ierror)
      call MPI_TYPE_LB(record, lower, ierror)
      call MPI_TYPE_UB(record, upper, ierror)
      if (extent .ne. 48 .or. lower .ne. -8 .or. upper .ne. 40) error stop 'markers'
      call MPI_TYPE_HVECTOR(3, 1, 16, MPI_INTEGER, strided, ierror)
      call MPI_TYPE_EXTENT(strided, extent, ierror)
      if (extent .ne. 36) error stop 'the vector'
      places(1) = 8
      places(2) = 32
      call MPI_TYPE_HINDEXED(2, lengths, places, MPI_INTEGER, listed, ierror)
      call MPI_TYPE_LB(listed, lower, ierror)
      call MPI_TYPE_UB(listed, upper, ierror)
      if (lower .ne. 8 .or. upper .ne. 36) error stop 'the list'
      call MPI_FINALIZE(ierror)
      end

      subroutine note(comm, code)
      implicit none
      integer comm, code, seen
      common /errors/ seen
      seen = code
      end
