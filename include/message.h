/**
 * @file message.h
 * The messages of ARMCI: global operations, broadcasts, barriers, and blocking two-sided messages.
 *
 * These conventions hold for every function here:
 *  - Processes are named as in armci.h, by their ranks in the job, also where a group is used. For a call
 *    without a group, `root` is a rank of the default group. That is the same number unless
 *    ARMCI_Group_set_default was called.
 *  - A call that takes a group or a scope is collective over the members that these select. Each of them
 *    calls it with the same scope, length, operator, type and root, and all make these calls in the same
 *    order. Calls without a group are collective over the default group. Two-sided messages go between any
 *    two processes of the job.
 *  - A scope selects a part of the group. SCOPE_ALL selects all its members. SCOPE_NODE selects its members
 *    on the caller's host; each host then performs the call by itself. SCOPE_MASTERS selects the first member
 *    of each host. Other members may call with SCOPE_MASTERS too; they return at once and their data does not
 *    change.
 *  - Lengths, sizes and counts may be 0, with any pointer.
 *  - Operators are strings: "+", "*", "max", "min", "absmax", "absmin" for all types. Integers also have
 *    "or", "|" and "bor" (bitwise or), "&" and "band" (bitwise and), "||" and "lor", "&&" and "land"
 *    (logical, with result 0 or 1). Characters behind the operator are ignored, because a Fortran string has
 *    no end mark.
 *  - "absmax" and "absmin" yield absolute values, also in a group of one process.
 *  - All members that get a result get the same one, bit for bit.
 *  - Wrong use, a failure, or a lost process ends the job with a text, as ARMCI_Error does.
 *  - Only one thread of a process may call these functions at a time.
 */
#ifndef RMA_ARMCI_MESSAGE_H
#define RMA_ARMCI_MESSAGE_H

#include "armci.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Element types. */
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

/** Prepares the process before ARMCI_Init. If ARMCI runs beside an MPI, initializes the MPI unless that was
 *  done; else joins the job. From then on a program may use the calls of this header, whether ARMCI is
 *  initialized or not. While ARMCI is not initialized, the first call other than armci_msg_me and
 *  armci_msg_nproc waits until all processes have made such a call or called ARMCI_Init. The arguments may be
 *  null. */
void armci_msg_init(int* argc, char*** argv);

#if RMA_ARMCI_MPI
/** Does the same for the processes of `comm`, which are named by their ranks in it. Collective over them. MPI
 *  must be initialized. The job has the processes of the last call of armci_msg_init or armci_msg_init_comm,
 *  or of the communicator that ARMCI was initialized on, unless a message has started the job before. */
void armci_msg_init_comm(MPI_Comm comm);
#endif

/** Undoes armci_msg_init; called after ARMCI_Finalize. Finalizes the MPI, even if another call initialized
 *  it, or leaves the job. */
void armci_msg_finalize(void);

/** Ends the whole job with this exit code. Does not return. */
void armci_msg_abort(int code);

/** Returns the rank of this process, 0 to armci_msg_nproc() - 1. */
int armci_msg_me(void);
/** Returns the number of processes of the job. After the last ARMCI_Finalize both functions return the same
 *  as before. */
int armci_msg_nproc(void);

/** Returns the seconds since a fixed moment. The moment does not change during the life of a process. */
double armci_timer(void);

/* ---- Barriers ------------------------------------------------------------------------------------------ */

/** Performs ARMCI_AllFence and then waits until all members have called the barrier. */
void armci_msg_barrier(void);
void armci_msg_group_barrier(ARMCI_Group* group);
/** The strong names of these two. */
void parmci_msg_barrier(void);
void parmci_msg_group_barrier(ARMCI_Group* group);

/* ---- Broadcasts ---------------------------------------------------------------------------------------- */

/** Copies `len` bytes of the root's buffer to every member's buffer. */
void armci_msg_bcast(void* buffer, int len, int root);
/** Does the same as armci_msg_bcast. */
void armci_msg_brdcst(void* buffer, int len, int root);
/** Broadcasts within a scope. The root takes part even if it is not a master; with SCOPE_MASTERS it then
 *  passes its data to the first master. */
void armci_msg_bcast_scope(int scope, void* buffer, int len, int root);
/** Broadcasts within a scope of a group. `root` is a process, not a group rank. */
void armci_msg_group_bcast_scope(int scope, void* buffer, int len, int root, ARMCI_Group* group);
/** Broadcasts from the first member on the caller's host to the other members on that host. */
void armci_msg_clus_brdcst(void* buffer, int len);
/** Broadcasts from the member with group rank `first` to the `count` - 1 members with the next group ranks.
 *  Other members may call it as well. */
void armci_grp_clus_brdcst(void* buffer, int len, int first, int count, ARMCI_Group* group);

/* ---- Global operations --------------------------------------------------------------------------------- */

/** Combines the elements x[i] of all members by `op`, for `n` elements, and stores the result into every
 *  member's x[i]. */
void armci_msg_gop_scope(int scope, void* x, int n, char* op, int type);
void armci_msg_igop(int* x, int n, char* op);
void armci_msg_lgop(long* x, int n, char* op);
void armci_msg_llgop(long long* x, int n, char* op);
void armci_msg_fgop(float* x, int n, char* op);
void armci_msg_dgop(double* x, int n, char* op);

/** Do the same over a group. */
void armci_msg_group_gop_scope(int scope, void* x, int n, char* op, int type, ARMCI_Group* group);
void armci_msg_group_igop(int* x, int n, char* op, ARMCI_Group* group);
void armci_msg_group_lgop(long* x, int n, char* op, ARMCI_Group* group);
void armci_msg_group_llgop(long long* x, int n, char* op, ARMCI_Group* group);
void armci_msg_group_fgop(float* x, int n, char* op, ARMCI_Group* group);
void armci_msg_group_dgop(double* x, int n, char* op, ARMCI_Group* group);

/** Do the same with SCOPE_NODE. */
void armci_msg_clus_igop(int* x, int n, char* op);
void armci_msg_clus_lgop(long* x, int n, char* op);
void armci_msg_clus_llgop(long long* x, int n, char* op);
void armci_msg_clus_fgop(float* x, int n, char* op);
void armci_msg_clus_dgop(double* x, int n, char* op);

/** Do the same as armci_msg_gop_scope, but only the first member gets the result. The contents of `x` at the
 *  other members are undefined afterwards. */
void armci_msg_reduce(void* x, int n, char* op, int type);
void armci_msg_reduce_scope(int scope, void* x, int n, char* op, int type);

/** Selects one member's `n` bytes and copies them to every member's `x`. A member takes part in the selection
 *  if its `contribute` is not 0. `x` begins with a number of `type`. The call selects the member with the
 *  least ("min") or the greatest ("max") number, and of equal ones the first member. If no member
 *  contributes, all get the bytes of the first member. */
void armci_msg_sel_scope(int scope, void* x, int n, char* op, int type, int contribute);
/** Does the same with SCOPE_ALL. */
void armci_msg_sel(void* x, int n, char* op, int type, int contribute);

/** Adds up `n` pointers element by element over all members. If each member sets its own pointer in its own
 *  place and null in all other places, every member gets all pointers. */
void armci_exchange_address(void* pointers[], int n);
void armci_exchange_address_grp(void* pointers[], int n, ARMCI_Group* group);

/** Describes a binary tree over the members of the job that the scope selects. Stores the tree's root, and
 *  this process's parent and its two children, or -1 where there is none. */
void armci_msg_bintree(int scope, int* root, int* up, int* left, int* right);

/* ---- Two-sided messages -------------------------------------------------------------------------------- */

/** Sends `len` bytes to process `to`. Returns when the buffer may be reused. For messages of up to 8000 bytes
 *  that does not need a receive, unless hundreds of them are on their way to processes that receive nothing.
 *  It also does not need one for a message of any length to the process itself. For longer messages the call
 *  may return only when they are received. */
void armci_msg_snd(int tag, void* buffer, int len, int to);

/** Receives the first message with this tag from process `from`. The message must be at most `buflen` bytes
 *  long. Stores its length into `*msglen`, which may be null. */
void armci_msg_rcv(int tag, void* buffer, int buflen, int* msglen, int from);

/** Receives as armci_msg_rcv does, from any process, in the order of arrival. Returns the sender. */
int armci_msg_rcvany(int tag, void* buffer, int buflen, int* msglen);

#ifdef __cplusplus
}
#endif

#endif
