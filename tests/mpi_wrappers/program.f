C Prints the sum of all ranks, counted from 1.
      PROGRAM RANKS
      INCLUDE 'mpif.h'
      INTEGER IERR, RANK, N, TOTAL
      DOUBLE PRECISION PART, WHOLE
      CALL MPI_INIT(IERR)
      CALL MPI_COMM_RANK(MPI_COMM_WORLD, RANK, IERR)
      CALL MPI_COMM_SIZE(MPI_COMM_WORLD, N, IERR)
      CALL MPI_ALLREDUCE(RANK + 1, TOTAL, 1, MPI_INTEGER, MPI_SUM,
     &                   MPI_COMM_WORLD, IERR)
C Another type, which needs the option that the compiler script adds.
      PART = RANK + 1
      CALL MPI_ALLREDUCE(PART, WHOLE, 1, MPI_DOUBLE_PRECISION, MPI_SUM,
     &                   MPI_COMM_WORLD, IERR)
      IF (RANK .EQ. 0 .AND. NINT(WHOLE) .EQ. TOTAL) THEN
        PRINT '(A, I0, A, I0)', 'sum ', TOTAL, ' of ', N
      END IF
      CALL MPI_FINALIZE(IERR)
      END
