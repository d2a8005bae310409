      subroutine header(number)
      implicit none
      include 'mpif.h'
      integer number, status(MPI_STATUS_SIZE)
      status(MPI_SOURCE) = MPI_COMM_WORLD
      status(MPI_TAG) = MPI_ANY_TAG
      number = status(MPI_SOURCE) + status(MPI_TAG)
      end
