/**
 * @file message.h
 * The messages of ARMCI: global operations, broadcasts, barriers, and blocking two-sided messages.
 *
 * Conventions that hold for every function here:
 *  - Processes are called as in armci.h: by their ranks in the job, also where a group is used. Of a call
 *    without a group, `root` is a rank of the default group, which is the same thing unless
 *    ARMCI_Group_set_default was called.
 *  - A call that names a group, or a scope, is collective over the members that it means: each calls it with
 *    the same scope, length, operator, type and root, in the same order. Calls without a group are of the
 *    default group, two-sided messages of the job.
 *  - Scopes are parts of the group: SCOPE_ALL its members; SCOPE_NODE its members on the caller's host, for
 * each host by itself; SCOPE_MASTERS the first member of each host. Others may call with SCOPE_MASTERS too:
 * they return at once, their data as it was.
 *  - Lengths, sizes and counts of 0 are allowed, with any pointer.
 *  - Operators are the strings "+", "*", "max", "min", "absmax", "absmin" for all types, and for integers
 * "or",
 *    "|" and "bor" (bitwise or), "&" and "band" (bitwise and), "||" and "lor", "&&" and "land" (logical,
 * giving 0 or 1). What follows behind them does not matter: a Fortran string has no end.
 *  - "absmax" and "absmin" give absolute values, also in a group of one process.
 *  - A result is the same on all that get one, bit for bit.
 *  - Misuse, a failure and a process that is lost end the job with a text (as ARMCI_Error does).
 *  - Called by one thread of a process at a time.
 */
#ifndef RMA_ARMCI_MESSAGE_H
#define RMA_ARMCI_MESSAGE_H

#include "armci.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Types of elements. */
#define ARMCI_INT (-99)
#define ARMCI_LONG (-101)
#define ARMCI_LONG_LONG (-102)
#define ARMCI_FLOAT (-306)
#define ARMCI_DOUBLE (-307)

/* Scopes. */
#define SCOPE_ALL 333
#define SCOPE_NODE 337
#define SCOPE_MASTERS 339

/* ---- Life ---------------------------------------------------------------------------------------------- */

/** Makes ready what a program needs before ARMCI_Init: the MPI beside which ARMCI runs, where there is one
 * and it was not initialized; else the job. From then on the calls of this header may be used, whether ARMCI
 * is initialized or not. While it is not, the first one that is more than armci_msg_me and armci_msg_nproc
 * waits until all processes call one, or ARMCI_Init. The arguments may be null. */
void armci_msg_init(int* argc, char*** argv);

#if RMA_ARMCI_MPI
/** The same for the processes of `comm`, by their ranks in it, where MPI runs: collective over them. The last
 * of these two counts, and ARMCI_Init's communicator, if messages have not begun the job before. */
void armci_msg_init_comm(MPI_Comm comm);
#endif

/** Ends what armci_msg_init made, after ARMCI_Finalize: MPI, whoever initialized it, or the job. */
void armci_msg_finalize(void);

/** Ends the whole job with this exit code. Does not return. */
void armci_msg_abort(int code);

/** This process, 0 to armci_msg_nproc() - 1. */
int armci_msg_me(void);
/** The number of processes of the job. Both keep what they say after the last ARMCI_Finalize. */
int armci_msg_nproc(void);

/** Seconds since some moment, the same during the life of a process. */
double armci_timer(void);

/* ---- Barriers ------------------------------------------------------------------------------------------ */

/** ARMCI_AllFence, and all members have arrived. */
void armci_msg_barrier(void);
void armci_msg_group_barrier(ARMCI_Group* group);
/** The strong names of these two. */
void parmci_msg_barrier(void);
void parmci_msg_group_barrier(ARMCI_Group* group);

/* ---- Broadcasts ---------------------------------------------------------------------------------------- */

/** Copies `len` bytes of the root's buffer to everyone's. */
void armci_msg_bcast(void* buffer, int len, int root);
/** The same. */
void armci_msg_brdcst(void* buffer, int len, int root);
/** The root takes part, also where it is no master: with SCOPE_MASTERS it hands its data to the first one. */
void armci_msg_bcast_scope(int scope, void* buffer, int len, int root);
/** `root` is a process, not a group rank. */
void armci_msg_group_bcast_scope(int scope, void* buffer, int len, int root, ARMCI_Group* group);
/** From the first member on the caller's host to the others there. */
void armci_msg_clus_brdcst(void* buffer, int len);
/** From member `first` of the group to the `count` - 1 members behind it: group ranks. Other members may call
 * it as well. */
void armci_grp_clus_brdcst(void* buffer, int len, int first, int count, ARMCI_Group* group);

/* ---- Global operations --------------------------------------------------------------------------------- */

/** x[i] = x[i] op x[i] op ..., over all members, for `n` elements; the result is everywhere. */
void armci_msg_gop_scope(int scope, void* x, int n, char* op, int type);
void armci_msg_igop(int* x, int n, char* op);
void armci_msg_lgop(long* x, int n, char* op);
void armci_msg_llgop(long long* x, int n, char* op);
void armci_msg_fgop(float* x, int n, char* op);
void armci_msg_dgop(double* x, int n, char* op);

/** The same of a group. */
void armci_msg_group_gop_scope(int scope, void* x, int n, char* op, int type, ARMCI_Group* group);
void armci_msg_group_igop(int* x, int n, char* op, ARMCI_Group* group);
void armci_msg_group_lgop(long* x, int n, char* op, ARMCI_Group* group);
void armci_msg_group_llgop(long long* x, int n, char* op, ARMCI_Group* group);
void armci_msg_group_fgop(float* x, int n, char* op, ARMCI_Group* group);
void armci_msg_group_dgop(double* x, int n, char* op, ARMCI_Group* group);

/** The same with SCOPE_NODE. */
void armci_msg_clus_igop(int* x, int n, char* op);
void armci_msg_clus_lgop(long* x, int n, char* op);
void armci_msg_clus_llgop(long long* x, int n, char* op);
void armci_msg_clus_fgop(float* x, int n, char* op);
void armci_msg_clus_dgop(double* x, int n, char* op);

/** As armci_msg_gop_scope with the result at the first member only; what others have in `x` is undefined
 * then. */
void armci_msg_reduce(void* x, int n, char* op, int type);
void armci_msg_reduce_scope(int scope, void* x, int n, char* op, int type);

/** Of `n` bytes at each member with `contribute` other than 0, selects those that begin with the least
 * ("min") or the greatest ("max") number of `type`, of equal ones those of the first member, and copies them
 * to everyone's `x`. Where nobody contributes, everyone gets the first member's. */
void armci_msg_sel_scope(int scope, void* x, int n, char* op, int type, int contribute);
/** The same with SCOPE_ALL. */
void armci_msg_sel(void* x, int n, char* op, int type, int contribute);

/** Adds up `n` pointers: where each member gave its own in its place, and null in all others, everyone gets
 * all. */
void armci_exchange_address(void* pointers[], int n);
void armci_exchange_address_grp(void* pointers[], int n, ARMCI_Group* group);

/** A binary tree over the members of the job that the scope means: its root, and above and below this
 * process, -1 where there is none. */
void armci_msg_bintree(int scope, int* root, int* up, int* left, int* right);

/* ---- Two-sided messages -------------------------------------------------------------------------------- */

/** Sends `len` bytes to process `to`. Returns when the buffer may be reused: without a receive for messages
 * of up to 8000 bytes, as long as not hundreds of them are on their way to processes that receive nothing,
 * and for any to oneself. For longer ones that may be when they are received. */
void armci_msg_snd(int tag, void* buffer, int len, int to);

/** Receives the first message of this tag from process `from`, which is at most `buflen` bytes long.
 * `*msglen` is how long; may be null. */
void armci_msg_rcv(int tag, void* buffer, int buflen, int* msglen, int from);

/** As armci_msg_rcv, from any process, in the order of arrival; returns from which. */
int armci_msg_rcvany(int tag, void* buffer, int buflen, int* msglen);

#ifdef __cplusplus
}
#endif

#endif
