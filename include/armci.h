/**
 * @file armci.h
 * ARMCI, the Aggregate Remote Memory Copy Interface, over librma.
 *
 * These conventions hold for every function here:
 *  - Arguments come in ARMCI's order: source, destination, size, process.
 *  - A process is named by its rank in the job, or in the communicator that ARMCI was initialized on. This
 *    holds also where groups are used. A rank within a group appears only where the text says "group rank".
 *  - The address of memory on another process is that process's own address. Local memory may be any memory.
 *    Remote memory comes from ARMCI_Malloc, ARMCI_Malloc_local and related calls.
 *  - Sizes and strides are in bytes, counts[0] included. Strided calls take `levels` strides at either side
 *    and levels + 1 counts: counts[0] bytes, repeated counts[1] times at distance stride[0]; all of that is
 *    repeated counts[2] times at distance stride[1], and so on. Strides may have any sign.
 *  - A call that returns an int returns 0 for success. For wrong arguments it returns -1 (a null pointer), -3
 *    (a size), -4 (levels) or -5 (a process), and has done nothing. Every other failure ends the job by
 *    ARMCI_Error, because programs do not check for it.
 *  - Operations to the same process take effect in program order; nonblocking operations do so once they were
 *    waited for. Operations to different processes are unordered. A blocking put or accumulate returns when
 *    its source may be reused.
 *  - At the target, the elements of an accumulate must be aligned to their own size, or for complex types to
 *    the size of their parts. This holds for the address and for the strides there. An accumulate that is not
 *    aligned so ends the job.
 *  - The owner of remote memory takes no part when other processes access it.
 *  - Every ARMCI_X is a weak name of PARMCI_X (parmci.h), so that a profiler may define ARMCI_X itself.
 */
#ifndef RMA_ARMCI_H
#define RMA_ARMCI_H

#include <stddef.h>

#ifdef _ARMCI_H_
#error "the armci.h of another ARMCI was included before librma's: its types and numbers are others"
#endif

/* 1 if the library runs beside an MPI that the program uses, 0 if it runs without one. An installed header
 * has the value that belongs to its library. */
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

/* Types of accumulate: int, double, float, complex of floats, complex of doubles, long. The last type, RA,
 * does not add: it performs dst ^= src on longs and ignores the scale. It is atomic with respect to itself
 * and to ARMCI_Rmw, but not to the other types. */
#define ARMCI_ACC_OFF 36
#define ARMCI_ACC_INT 37
#define ARMCI_ACC_DBL 38
#define ARMCI_ACC_FLT 39
#define ARMCI_ACC_CPL 40
#define ARMCI_ACC_DCP 41
#define ARMCI_ACC_LNG 42
#define ARMCI_ACC_RA 43

/* The maximum number of stride levels. */
#define ARMCI_MAX_STRIDE_LEVEL 8

/* The type of memory sizes. */
typedef long armci_size_t;

/* One descriptor of a vector transfer: ptr_array_len segments of `bytes` bytes each.
 *
 * MIND THE ORDER of the two numbers. It is the order of the original ARMCI and of ComEx; ARMCI-MPI has
 * `bytes` first. An initializer without member names that was written for one order compiles with the other,
 * and then moves wrong data. Therefore C compilers that can do so warn of such initializers. If a program's
 * initializers are right, define RMA_ARMCI_POSITIONAL_GIOV to turn the warning off. */
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

/* The handle of a nonblocking operation, or of several operations that were aggregated. ARMCI_INIT_HANDLE
 * initializes it. A program may use it again after it was waited for. A program may pass a null pointer
 * instead of a handle; then ARMCI_WaitAll, ARMCI_WaitProc or a fence waits for the operation. */
typedef struct armci_hdl {
  unsigned long operation;
  unsigned long aggregate;
} armci_hdl_t;

/* A group of processes. Group 0 is the group of all processes. */
typedef int ARMCI_Group;

/* The description of memory that ARMCI_Memget fills in. Other processes need it to access that memory. */
typedef struct armci_meminfo_ds {
  char* armci_addr; /* the creator's address */
  char* addr;       /* the same */
  size_t size;
  int cpid; /* the creator */
  long idlist[128];
} armci_meminfo_t;

/* A domain is a resource that processes share. The only kind is a host. */
typedef int armci_domain_t;
#define ARMCI_DOMAIN_SMP 0

/* ---- Life ---------------------------------------------------------------------------------------------- */

/* Initializes ARMCI. Collective. Calls nest: each needs its own ARMCI_Finalize. After the last ARMCI_Finalize
 * a program may initialize ARMCI again. If a program ends with code 0 without ARMCI_Finalize, the library
 * finalizes ARMCI then. */
int ARMCI_Init(void);
int ARMCI_Init_args(int* argc, char*** argv);
/* Does the same as ARMCI_Init. Several threads may call ARMCI in any case, whatever MPI thread level is
 * requested. */
int ARMCI_Init_thread(int requested);
/* Returns 1 between the first ARMCI_Init and the last ARMCI_Finalize, else 0. */
int ARMCI_Initialized(void);
void ARMCI_Finalize(void);

#if RMA_ARMCI_MPI
/* Does the same as ARMCI_Init for the processes of `comm` only. From then on a process is named by its rank
 * in `comm`. Returns 1, not 0, for success. */
int ARMCI_Init_mpi_comm(MPI_Comm comm);
/* Does the same as ARMCI_Init_mpi_comm, but returns 0 for success. */
int ARMCI_Init_thread_comm(int requested, MPI_Comm comm);
/* Returns the communicator of a group's members. It was created together with the group. */
MPI_Comm armci_group_comm(ARMCI_Group* group);
#endif

/* Does nothing, because no resource of this library outlives its processes. */
void ARMCI_Cleanup(void);
/* Prints the text and the code and ends the job. Beside an MPI it ends all processes that the MPI started.
 * The job's exit code is `code`, or 1 if `code` would mean success. First flushes this process's C
 * streams. */
void ARMCI_Error(const char* text, int code);
/* Do the same. armci_die2 prints a second number. */
void armci_die(const char* text, int code);
void armci_die2(const char* text, int code, int number);

/* ---- Memory -------------------------------------------------------------------------------------------- */

/* Allocates memory that all processes can access. Collective over the default group. Members may ask for
 * different sizes. addresses[i] becomes the address of the member with group rank i, or null if it asked for
 * 0 bytes. Returns nonzero on all members if one of them has no room. */
int ARMCI_Malloc(void* addresses[], armci_size_t bytes);
/* Frees memory of ARMCI_Malloc. Collective over the default group. Each process passes its own address, which
 * may be null. */
int ARMCI_Free(void* address);
int ARMCI_Malloc_group(void* addresses[], armci_size_t bytes, ARMCI_Group* group);
int ARMCI_Free_group(void* address, ARMCI_Group* group);
/* Do the same as the calls above. The library has one kind of memory and ignores `device`. */
int ARMCI_Malloc_memdev(void* addresses[], armci_size_t bytes, const char* device);
int ARMCI_Malloc_group_memdev(void* addresses[], armci_size_t bytes, ARMCI_Group* group, const char* device);
int ARMCI_Free_memdev(void* address);

/* Allocates memory of this process that other processes can access. Not collective. Returns null if there is
 * no room. */
void* ARMCI_Malloc_local(armci_size_t bytes);
int ARMCI_Free_local(void* address);

/* Allocates as ARMCI_Malloc_local does and fills in a description, which the program sends to other
 * processes. `flags` is 0. */
void ARMCI_Memget(size_t bytes, armci_meminfo_t* memory, int flags);
/* Returns the address to use for that memory, plus `offset`, in operations to process `memory->cpid`. */
void* ARMCI_Memat(armci_meminfo_t* memory, long offset);
/* Ends the use of an address that ARMCI_Memat returned. Does nothing in this library. */
void ARMCI_Memdt(armci_meminfo_t* memory, long offset);
/* Frees the memory if the calling process is its creator. */
void ARMCI_Memctl(armci_meminfo_t* memory);

/* Copies between local buffers. */
void ARMCI_Copy(void* src, void* dst, int bytes);

/* ---- Transfers ----------------------------------------------------------------------------------------- */

int ARMCI_Put(void* src, void* dst, int bytes, int proc);
#define ARMCI_Put1(src, dst, bytes, proc) ARMCI_Put(src, dst, bytes, proc)
int ARMCI_Get(void* src, void* dst, int bytes, int proc);
/* Performs dst += *scale * src. The update of each element is atomic with respect to other accumulates. */
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

/* Put data as ARMCI_Put and ARMCI_PutS do, then store `value` into the target's *flag. A process that sees
 * the value also sees the data. */
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

/* The nonblocking forms of the calls above. */
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

/* Initializes a handle, which then names no operation. The macro exists for programs that test whether there
 * is one. */
void ARMCI_INIT_HANDLE(armci_hdl_t* handle);
#define ARMCI_INIT_HANDLE(handle) (ARMCI_INIT_HANDLE)(handle)

/* Waits for the operations of a handle. Then the source of a put may be reused, and the data of a get has
 * arrived. */
int ARMCI_Wait(armci_hdl_t* handle);
/* Tests without waiting. Returns 0 if the operations of the handle are complete, 1 if they are not. */
int ARMCI_Test(armci_hdl_t* handle);
/* ARMCI_WaitAll waits for all nonblocking operations, with and without handles. ARMCI_WaitProc waits for
 * those to one process. */
int ARMCI_WaitAll(void);
int ARMCI_WaitProc(int proc);

/* Turns aggregation on for a handle. From then on the library may gather contiguous puts, or gets, with this
 * handle to one process, and carry them out together when the handle is waited for. It does so if the process
 * is on another host. */
void ARMCI_SET_AGGREGATE_HANDLE(armci_hdl_t* handle);
/* Carries out the operations that were gathered and turns aggregation off. */
void ARMCI_UNSET_AGGREGATE_HANDLE(armci_hdl_t* handle);

/* Wait until all operations that this process issued are visible at their targets: those to `proc`, those to
 * all processes, and those to the processes of a group. */
void ARMCI_Fence(int proc);
void ARMCI_AllFence(void);
void ARMCI_GroupFence(ARMCI_Group* group);
/* Performs ARMCI_AllFence and then waits until all members of the default group have called ARMCI_Barrier. */
void ARMCI_Barrier(void);

/* A program calls these before and after its own loads and stores to memory that other processes access. They
 * order those loads and stores with the operations that other processes have completed. This library needs
 * nothing else. */
void ARMCI_Access_begin(void* address);
void ARMCI_Access_end(void* address);

/* ---- Atomics, mutexes, notification -------------------------------------------------------------------- */

/* Performs an atomic operation on the remote *prem. ARMCI_FETCH_AND_ADD stores the old value of *prem into
 * the local *ploc and adds `extra` to *prem. ARMCI_SWAP exchanges *prem and *ploc. */
int ARMCI_Rmw(int op, void* ploc, void* prem, int extra, int proc);

/* Creates `count` mutexes at this process. `count` may differ by process and may be 0. Collective over all
 * processes. Only one set of mutexes exists at a time. */
int ARMCI_Create_mutexes(int count);
int ARMCI_Destroy_mutexes(void);
void ARMCI_Lock(int mutex, int proc);
/* Unlocks. The next holder sees the operations that this holder issued. */
void ARMCI_Unlock(int mutex, int proc);

/* Notifies `proc`, in order behind all puts of this process to it. Returns how often this process has
 * notified `proc` by now. */
int armci_notify(int proc);
/* Waits for the next notification by `proc`. Sets *count to the number of notifications by `proc` that this
 * process has waited for by now. Returns the number of times that `proc` has notified. */
int armci_notify_wait(int proc, int* count);

/* ---- Groups -------------------------------------------------------------------------------------------- */

/* Create a group of `count` members of the default group, or of `parent`. `members` lists their group ranks
 * there, in ascending order. The members of the new group call it. Another process that calls it gets a group
 * that it is not a member of. */
void ARMCI_Group_create(int count, int* members, ARMCI_Group* group);
void ARMCI_Group_create_child(int count, int* members, ARMCI_Group* group, ARMCI_Group* parent);
/* Frees a group. Collective over the group. */
void ARMCI_Group_free(ARMCI_Group* group);
/* Stores this process's group rank into *rank. If the process is not a member, stores -1 and returns 1. */
int ARMCI_Group_rank(ARMCI_Group* group, int* rank);
void ARMCI_Group_size(ARMCI_Group* group, int* size);
void ARMCI_Group_set_default(ARMCI_Group* group);
void ARMCI_Group_get_default(ARMCI_Group* group);
void ARMCI_Group_get_world(ARMCI_Group* group);
/* Returns the process that has the group rank `group_rank`. */
int ARMCI_Absolute_id(ARMCI_Group* group, int group_rank);

/* ---- Topology ------------------------------------------------------------------------------------------ */

/* Return 1 if this process has mapped the memory of `proc`, else 0. */
int ARMCI_Same_node(int proc);
int armci_sameclusnode(int proc);
/* Always return 1, because processes of a host share the memory of ARMCI_Malloc. */
int ARMCI_Uses_shm(void);
int ARMCI_Uses_shm_grp(ARMCI_Group* group);
/* Does nothing, because the library takes memory from the system as it is needed, up to RMA_HEAP_SIZE. */
void ARMCI_Set_shm_limit(unsigned long limit);

/* Hosts are numbered from 0 in the order of their lowest ranks. The processes of a host are numbered from 0
 * in the order of their ranks. */
int armci_domain_count(armci_domain_t domain);
int armci_domain_id(armci_domain_t domain, int proc);
int armci_domain_my_id(armci_domain_t domain);
int armci_domain_nprocs(armci_domain_t domain, int id);
int armci_domain_glob_proc_id(armci_domain_t domain, int id, int place);
int armci_domain_same_id(armci_domain_t domain, int proc);

/* ---- Other functions ----------------------------------------------------------------------------------- */

/* armci_write_strided gathers strided memory into a buffer. armci_read_strided scatters a buffer into strided
 * memory. Both work on memory of this process. */
void armci_write_strided(void* src, int levels, int strides[], int counts[], char* buffer);
void armci_read_strided(void* dst, int levels, int strides[], int counts[], char* buffer);

/* An iterator over the contiguous segments of strided memory. The include guard has the name of a header that
 * some programs bring themselves. */
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
/* armci_stride_info_size and armci_stride_info_count return the number of segments, armci_stride_info_pos the
 * index of the current segment. */
int armci_stride_info_size(stride_info_t* info);
int armci_stride_info_count(stride_info_t* info);
int armci_stride_info_pos(stride_info_t* info);
int armci_stride_info_has_more(stride_info_t* info);
void armci_stride_info_next(stride_info_t* info);
/* Return the current segment's address, its size in bytes, and its offset from the base in bytes. */
void* armci_stride_info_seg_ptr(stride_info_t* info);
int armci_stride_info_seg_size(stride_info_t* info);
int armci_stride_info_seg_off(stride_info_t* info);
#endif

#ifdef __cplusplus
}
#endif

#include "parmci.h"

#endif
