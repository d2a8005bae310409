! One-sided communication in a partitioned global address space: the Fortran interface of librma. docs/using-fortran.md
! is the way in; the modules used here document every procedure.
!
! Every subroutine but rma_abort takes `stat` and `errmsg`, both optional: `stat` becomes RMA_SUCCESS or one of the
! RMA_ERR_ codes, `errmsg`, a character variable, the text of a failure. A failure that no `stat` is there to take ends
! the job with the text. (`errmsg` is declared type(*) because gfortran 12 cannot pass an optional character(len=*) on.)
module rma
  use rma_types
  use rma_life
  use rma_memory
  use rma_transfers
  use rma_vectors
  use rma_completion
  use rma_atomics
  use rma_teams
  implicit none
  public
end module rma
