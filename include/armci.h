/**
 * @file armci.h
 * ARMCI, the Aggregate Remote Memory Copy Interface, over librma.
 *
 * Conventions that hold for every function here:
 *  - Arguments come in ARMCI's order: source, destination, size, process.
 *  - A process is called by its rank in the job (or in the communicator that ARMCI was initialized on), also
 *    where groups are used; a group's own ranks only appear where the text says "group rank".
 *  - An address on another process is that process's own. Local memory may be anything. Remote memory comes
 *    from ARMCI_Malloc, ARMCI_Malloc_local and their like.
 *  - Sizes, counts[0] included, and strides are in bytes. Strided calls take `levels` strides at either side
 *    and levels + 1 counts: counts[0] bytes, counts[1] times at distance stride[0], all that counts[2] times
 *    at distance stride[1], and so on. Strides may have any sign.
 *  - Where a call returns an int, it is 0 for success; for arguments that make no sense -1 (a null pointer),
 *    -3 (a size), -4 (levels), -5 (a process), and nothing was done. What else goes wrong ends the job by
 *    ARMCI_Error, because programs do not look.
 *  - Operations to the same process take effect in program order, nonblocking ones once they were waited for.
 *    To different processes there is no order. A blocking put or accumulate returns when its source may be
 *    reused.
 *  - The elements of an accumulate are aligned at the target, each to its own size, a complex one to its
 * part's: the address, and the strides there. An accumulate that is not ends the job.
 *  - The owner of remote memory does nothing for others to reach it.
 *  - Every ARMCI_X is a weak name of PARMCI_X (parmci.h), so that a profiler may define ARMCI_X itself.
 */
#ifndef RMA_ARMCI_H
#define RMA_ARMCI_H

#include <stddef.h>

#ifdef _ARMCI_H_
#error "the armci.h of another ARMCI was included before librma's: its types and numbers are others"
#endif

/* 1 beside an MPI that the program has, 0 without one. An installed header says which library it goes with.
 */
#ifndef RMA_ARMCI_MPI
#define RMA_ARMCI_MPI 0
#endif
#if RMA_ARMCI_MPI
#include <mpi.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Constants and types ------------------------------------------------------------------------------- */

/* Operations of ARMCI_Rmw: on int, and on long. */
#define ARMCI_SWAP 10
#define ARMCI_SWAP_LONG 11
#define ARMCI_FETCH_AND_ADD 12
#define ARMCI_FETCH_AND_ADD_LONG 13

/* Types of accumulate: int, double, float, complex of floats, complex of doubles, long. With the last, RA,
 * nothing is added: dst ^= src, by longs, whatever the scale; atomic against itself and ARMCI_Rmw, not the
 * others. */
#define ARMCI_ACC_OFF 36
#define ARMCI_ACC_INT 37
#define ARMCI_ACC_DBL 38
#define ARMCI_ACC_FLT 39
#define ARMCI_ACC_CPL 40
#define ARMCI_ACC_DCP 41
#define ARMCI_ACC_LNG 42
#define ARMCI_ACC_RA 43

/* The most stride levels. */
#define ARMCI_MAX_STRIDE_LEVEL 8

/* Sizes of memory. */
typedef long armci_size_t;

/* One descriptor of a vector transfer: ptr_array_len pieces of `bytes` bytes each.
 *
 * MIND THE ORDER of the two numbers. It is that of the original ARMCI and of ComEx; ARMCI-MPI has `bytes`
 * first. An initializer without the members' names that was written for the one compiles with the other, and
 * moves wrong data. So C compilers that can warn of such initializers; where a program's are right, define
 * RMA_ARMCI_POSITIONAL_GIOV to have it quiet. */
#if !defined(RMA_ARMCI_POSITIONAL_GIOV) && !defined(__cplusplus) && defined(__has_attribute)
#if __has_attribute(designated_init)
#define RMA_ARMCI_BY_NAME __attribute__((designated_init))
#endif
#endif
#ifndef RMA_ARMCI_BY_NAME
#define RMA_ARMCI_BY_NAME
#endif
typedef struct {
  void** src_ptr_array;
  void** dst_ptr_array;
  int ptr_array_len;
  int bytes;
} RMA_ARMCI_BY_NAME armci_giov_t;

/* A nonblocking operation, or several that were aggregated. To be initialized by ARMCI_INIT_HANDLE; may be
 * used again after it was waited for. A null pointer in its place means: no handle, the operation is waited
 * for by ARMCI_WaitAll, ARMCI_WaitProc or a fence. */
typedef struct armci_hdl {
  unsigned long operation;
  unsigned long aggregate;
} armci_hdl_t;

/* A group of processes; 0 is all of them. */
typedef int ARMCI_Group;

/* What ARMCI_Memget fills in, and what others need to reach that memory. */
typedef struct armci_meminfo_ds {
  char* armci_addr; /* the creator's address */
  char* addr;       /* the same */
  size_t size;
  int cpid; /* the creator */
  long idlist[128];
} armci_meminfo_t;

/* What processes may have in common: a host. */
typedef int armci_domain_t;
#define ARMCI_DOMAIN_SMP 0

/* ---- Life ---------------------------------------------------------------------------------------------- */

/* Collective. Counted: each needs its ARMCI_Finalize. After the last one ARMCI may be initialized again. */
int ARMCI_Init(void);
int ARMCI_Init_args(int* argc, char*** argv);
/* As ARMCI_Init: several threads may call in any case, whatever level of MPI's is requested. */
int ARMCI_Init_thread(int requested);
/* Whether an ARMCI_Init has no ARMCI_Finalize yet. */
int ARMCI_Initialized(void);
void ARMCI_Finalize(void);

#if RMA_ARMCI_MPI
/* As ARMCI_Init, for the processes of `comm` only, which are called by their ranks in it from then on.
 * Returns 1, not 0, for success. */
int ARMCI_Init_mpi_comm(MPI_Comm comm);
/* The same, with 0 for success. */
int ARMCI_Init_thread_comm(int requested, MPI_Comm comm);
/* The communicator of a group's members, made with the group. */
MPI_Comm armci_group_comm(ARMCI_Group* group);
#endif

/* Nothing of this library outlives its processes: does nothing. */
void ARMCI_Cleanup(void);
/* Prints the text and the code, and ends the job, beside an MPI all processes that it started. The job's exit
 * code is `code`, or 1 where that would say success. What standard output and other streams of C hold is
 * written first, in this process. */
void ARMCI_Error(const char* text, int code);
/* The same, the latter with a second number to print. */
void armci_die(const char* text, int code);
void armci_die2(const char* text, int code, int number);

/* ---- Memory -------------------------------------------------------------------------------------------- */

/* Collective over the default group. Sizes may differ. addresses[i] is that of the member of group rank i,
 * null where it asked for 0 bytes. Nonzero on all members when one of them has no room. */
int ARMCI_Malloc(void* addresses[], armci_size_t bytes);
/* Collective over the default group; takes this process's own address, null included. */
int ARMCI_Free(void* address);
int ARMCI_Malloc_group(void* addresses[], armci_size_t bytes, ARMCI_Group* group);
int ARMCI_Free_group(void* address, ARMCI_Group* group);
/* As above; there is one kind of memory, whatever device is named. */
int ARMCI_Malloc_memdev(void* addresses[], armci_size_t bytes, const char* device);
int ARMCI_Malloc_group_memdev(void* addresses[], armci_size_t bytes, ARMCI_Group* group, const char* device);
int ARMCI_Free_memdev(void* address);

/* Memory of this process that others may reach; not collective. Null when there is no room. */
void* ARMCI_Malloc_local(armci_size_t bytes);
int ARMCI_Free_local(void* address);

/* ARMCI_Malloc_local with a description for others, to be sent to them. `flags` is 0. */
void ARMCI_Memget(size_t bytes, armci_meminfo_t* memory, int flags);
/* The address by which operations on process `memory->cpid` call the memory. */
void* ARMCI_Memat(armci_meminfo_t* memory, long offset);
/* Undoes ARMCI_Memat. */
void ARMCI_Memdt(armci_meminfo_t* memory, long offset);
/* Frees it, when the creator calls. */
void ARMCI_Memctl(armci_meminfo_t* memory);

/* Copies between local buffers. */
void ARMCI_Copy(void* src, void* dst, int bytes);

/* ---- Transfers ----------------------------------------------------------------------------------------- */

int ARMCI_Put(void* src, void* dst, int bytes, int proc);
#define ARMCI_Put1(src, dst, bytes, proc) ARMCI_Put(src, dst, bytes, proc)
int ARMCI_Get(void* src, void* dst, int bytes, int proc);
/* dst += *scale * src. Atomic, element by element, against other accumulates. */
int ARMCI_Acc(int type, void* scale, void* src, void* dst, int bytes, int proc);

int ARMCI_PutS(void* src, int src_strides[], void* dst, int dst_strides[], int counts[], int levels,
               int proc);
int ARMCI_GetS(void* src, int src_strides[], void* dst, int dst_strides[], int counts[], int levels,
               int proc);
int ARMCI_AccS(int type, void* scale, void* src, int src_strides[], void* dst, int dst_strides[],
               int counts[], int levels, int proc);

int ARMCI_PutV(armci_giov_t list[], int count, int proc);
int ARMCI_GetV(armci_giov_t list[], int count, int proc);
int ARMCI_AccV(int type, void* scale, armci_giov_t list[], int count, int proc);

/* Then stores `value` to the process's *flag: who sees it sees the data. */
int ARMCI_Put_flag(void* src, void* dst, int bytes, int* flag, int value, int proc);
int ARMCI_PutS_flag(void* src, int src_strides[], void* dst, int dst_strides[], int counts[], int levels,
                    int* flag, int value, int proc);
int ARMCI_PutS_flag_dir(void* src, int src_strides[], void* dst, int dst_strides[], int counts[], int levels,
                        int* flag, int value, int proc);

int ARMCI_PutValueInt(int value, void* dst, int proc);
int ARMCI_PutValueLong(long value, void* dst, int proc);
int ARMCI_PutValueFloat(float value, void* dst, int proc);
int ARMCI_PutValueDouble(double value, void* dst, int proc);
int ARMCI_GetValueInt(void* src, int proc);
long ARMCI_GetValueLong(void* src, int proc);
float ARMCI_GetValueFloat(void* src, int proc);
double ARMCI_GetValueDouble(void* src, int proc);

/* The same, nonblocking. */
int ARMCI_NbPut(void* src, void* dst, int bytes, int proc, armci_hdl_t* handle);
int ARMCI_NbGet(void* src, void* dst, int bytes, int proc, armci_hdl_t* handle);
int ARMCI_NbAcc(int type, void* scale, void* src, void* dst, int bytes, int proc, armci_hdl_t* handle);
int ARMCI_NbPutS(void* src, int src_strides[], void* dst, int dst_strides[], int counts[], int levels,
                 int proc, armci_hdl_t* handle);
int ARMCI_NbGetS(void* src, int src_strides[], void* dst, int dst_strides[], int counts[], int levels,
                 int proc, armci_hdl_t* handle);
int ARMCI_NbAccS(int type, void* scale, void* src, int src_strides[], void* dst, int dst_strides[],
                 int counts[], int levels, int proc, armci_hdl_t* handle);
int ARMCI_NbPutV(armci_giov_t list[], int count, int proc, armci_hdl_t* handle);
int ARMCI_NbGetV(armci_giov_t list[], int count, int proc, armci_hdl_t* handle);
int ARMCI_NbAccV(int type, void* scale, armci_giov_t list[], int count, int proc, armci_hdl_t* handle);
int ARMCI_NbPutValueInt(int value, void* dst, int proc, armci_hdl_t* handle);
int ARMCI_NbPutValueLong(long value, void* dst, int proc, armci_hdl_t* handle);
int ARMCI_NbPutValueFloat(float value, void* dst, int proc, armci_hdl_t* handle);
int ARMCI_NbPutValueDouble(double value, void* dst, int proc, armci_hdl_t* handle);

/* ---- Completion ---------------------------------------------------------------------------------------- */

/* Makes a handle one of no operation. The macro is for programs that look for one. */
void ARMCI_INIT_HANDLE(armci_hdl_t* handle);
#define ARMCI_INIT_HANDLE(handle) (ARMCI_INIT_HANDLE)(handle)

/* The source may be reused; what was to be got is there. */
int ARMCI_Wait(armci_hdl_t* handle);
/* 0 when it is so, 1 while it is not. */
int ARMCI_Test(armci_hdl_t* handle);
/* Of all nonblocking operations, with and without handles; of those to a process. */
int ARMCI_WaitAll(void);
int ARMCI_WaitProc(int proc);

/* From now on contiguous puts, or gets, with this handle to one process may be gathered, and carried out
 * together when the handle is waited for. They are where the process is on another host. */
void ARMCI_SET_AGGREGATE_HANDLE(armci_hdl_t* handle);
/* Carries out what was gathered, and ends that. */
void ARMCI_UNSET_AGGREGATE_HANDLE(armci_hdl_t* handle);

/* What this process did to `proc`, to all, is visible there. */
void ARMCI_Fence(int proc);
void ARMCI_AllFence(void);
void ARMCI_GroupFence(ARMCI_Group* group);
/* ARMCI_AllFence, and all of the default group have arrived. */
void ARMCI_Barrier(void);

/* Around a program's own loads and stores to its memory that others reach. They order these with what others
 * have completed, and nothing else is needed here. */
void ARMCI_Access_begin(void* address);
void ARMCI_Access_end(void* address);

/* ---- Atomics, mutexes, notification -------------------------------------------------------------------- */

/* ARMCI_FETCH_AND_ADD: *prem += extra, with the old value in *ploc. ARMCI_SWAP: exchanges *prem and *ploc. */
int ARMCI_Rmw(int op, void* ploc, void* prem, int extra, int proc);

/* `count` mutexes at this process (may differ, and be 0). Collective over all processes; one set at a time.
 */
int ARMCI_Create_mutexes(int count);
int ARMCI_Destroy_mutexes(void);
void ARMCI_Lock(int mutex, int proc);
/* The next holder sees what this one did. */
void ARMCI_Unlock(int mutex, int proc);

/* Tells `proc`, behind everything that was put there. Returns how often it was told by now. */
int armci_notify(int proc);
/* Waits for the next notification of `proc`. *count is how often it was waited for by now; returns how often
 * `proc` has notified. */
int armci_notify_wait(int proc, int* count);

/* ---- Groups -------------------------------------------------------------------------------------------- */

/* A group of `count` members of the default group (of `parent`), by their group ranks there, ascending.
 * Called by the members of the new group; others get a group that they are not in. */
void ARMCI_Group_create(int count, int* members, ARMCI_Group* group);
void ARMCI_Group_create_child(int count, int* members, ARMCI_Group* group, ARMCI_Group* parent);
/* Collective over the group. */
void ARMCI_Group_free(ARMCI_Group* group);
/* This process's group rank, -1 (and 1 returned) where it is no member. */
int ARMCI_Group_rank(ARMCI_Group* group, int* rank);
void ARMCI_Group_size(ARMCI_Group* group, int* size);
void ARMCI_Group_set_default(ARMCI_Group* group);
void ARMCI_Group_get_default(ARMCI_Group* group);
void ARMCI_Group_get_world(ARMCI_Group* group);
/* The process that has a group rank. */
int ARMCI_Absolute_id(ARMCI_Group* group, int group_rank);

/* ---- Topology ------------------------------------------------------------------------------------------ */

/* 1 when the process's memory is mapped here, else 0. */
int ARMCI_Same_node(int proc);
int armci_sameclusnode(int proc);
/* Memory from ARMCI_Malloc is one that processes of a host share: always 1. */
int ARMCI_Uses_shm(void);
int ARMCI_Uses_shm_grp(ARMCI_Group* group);
/* Memory is taken as it is needed, up to RMA_HEAP_SIZE: does nothing. */
void ARMCI_Set_shm_limit(unsigned long limit);

/* Hosts are numbered from 0 by their lowest ranks, and the processes of one by their ranks. */
int armci_domain_count(armci_domain_t domain);
int armci_domain_id(armci_domain_t domain, int proc);
int armci_domain_my_id(armci_domain_t domain);
int armci_domain_nprocs(armci_domain_t domain, int id);
int armci_domain_glob_proc_id(armci_domain_t domain, int id, int place);
int armci_domain_same_id(armci_domain_t domain, int proc);

/* ---- What programs use besides ------------------------------------------------------------------------- */

/* Gathers strided memory into a buffer, and scatters a buffer. All of this process. */
void armci_write_strided(void* src, int levels, int strides[], int counts[], char* buffer);
void armci_read_strided(void* dst, int levels, int strides[], int counts[], char* buffer);

/* Goes over the contiguous segments of strided memory. The guard is the one of a header that programs may
 * have of their own. */
#ifndef _STRIDE_INFO_H_
#define _STRIDE_INFO_H_
typedef struct {
  char* base_ptr;
  int stride_levels;
  int stride_arr[ARMCI_MAX_STRIDE_LEVEL];
  int seg_count[ARMCI_MAX_STRIDE_LEVEL + 1];
  int size;
  int pos;
  int itr[ARMCI_MAX_STRIDE_LEVEL];
} stride_info_t;

void armci_stride_info_init(stride_info_t* info, void* base, int levels, const int* strides,
                            const int* counts);
void armci_stride_info_destroy(stride_info_t* info);
/* Segments in all, and which of them it stands at. */
int armci_stride_info_size(stride_info_t* info);
int armci_stride_info_count(stride_info_t* info);
int armci_stride_info_pos(stride_info_t* info);
int armci_stride_info_has_more(stride_info_t* info);
void armci_stride_info_next(stride_info_t* info);
/* The segment that it stands at. */
void* armci_stride_info_seg_ptr(stride_info_t* info);
int armci_stride_info_seg_size(stride_info_t* info);
int armci_stride_info_seg_off(stride_info_t* info);
#endif

#ifdef __cplusplus
}
#endif

#include "parmci.h"

#endif
