/**
 * @file mp3.h
 * The names by which programs of Global Arrays and ARMCI start and end the layer that runs their processes.
 * That is the MPI beside which ARMCI runs, or ARMCI's own messages if there is no MPI.
 */
#ifndef RMA_ARMCI_MP3_H
#define RMA_ARMCI_MP3_H

#include "message.h"

#if RMA_ARMCI_MPI
#define MP_INIT(argc, argv) MPI_Init(&(argc), &(argv))
#define MP_FINALIZE() MPI_Finalize()
#define MP_BARRIER() MPI_Barrier(MPI_COMM_WORLD)
#define MP_PROCS(count) MPI_Comm_size(MPI_COMM_WORLD, count)
#define MP_MYID(rank) MPI_Comm_rank(MPI_COMM_WORLD, rank)
#define MP_TIMER MPI_Wtime
/* Ends the job unless the MPI call has succeeded. */
#define MP_ASSERT(status)                                                         \
  do {                                                                            \
    const int rma_mp_status_ = (status);                                          \
    if (rma_mp_status_ != MPI_SUCCESS) MPI_Abort(MPI_COMM_WORLD, rma_mp_status_); \
  } while (0)
#else
#define MP_INIT(argc, argv) armci_msg_init(&(argc), &(argv))
#define MP_FINALIZE() armci_msg_finalize()
#define MP_BARRIER() armci_msg_barrier()
#define MP_PROCS(count) ((void)(*(count) = armci_msg_nproc()))
#define MP_MYID(rank) ((void)(*(rank) = armci_msg_me()))
#define MP_TIMER armci_timer
/* The calls above end the job themselves. */
#define MP_ASSERT(call) call
#endif

#define ARMCI_INIT(argc, argv) ARMCI_Init_args(&(argc), &(argv))
/* A name of Global Arrays, for programs that include its ga.h. */
#define GA_INIT(argc, argv) GA_Initialize()

#endif
