! The Fortran interface of librma: one-sided communication in a partitioned global address space. Begin with
! docs/using-fortran.md. The modules used here are made of functions.txt, which documents every procedure.
!
! Every subroutine except rma_abort has the optional arguments `stat` and `errmsg`. `stat` becomes RMA_SUCCESS
! or one of the RMA_ERR_ codes. `errmsg`, a character variable, gets the text of a failure. If `stat` is
! absent, a failure ends the job with the text. (`errmsg` is declared type(*) because gfortran 12 cannot pass
! an optional character(len=*) on.)
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
