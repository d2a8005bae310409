/**
 * @file parmci.h
 * The strong names behind the weak names of armci.h. Each PARMCI_X does the same as ARMCI_X.
 */
#ifndef RMA_PARMCI_H
#define RMA_PARMCI_H

#include "armci.h"

#ifdef __cplusplus
extern "C" {
#endif

int PARMCI_Init(void);
int PARMCI_Init_args(int* argc, char*** argv);
int PARMCI_Init_thread(int requested);
int PARMCI_Initialized(void);
void PARMCI_Finalize(void);
#if RMA_ARMCI_MPI
int PARMCI_Init_mpi_comm(MPI_Comm comm);
int PARMCI_Init_thread_comm(int requested, MPI_Comm comm);
#endif
void PARMCI_Cleanup(void);
void PARMCI_Error(const char* text, int code);
int PARMCI_Malloc(void* addresses[], armci_size_t bytes);
int PARMCI_Free(void* address);
int PARMCI_Malloc_group(void* addresses[], armci_size_t bytes, ARMCI_Group* group);
int PARMCI_Free_group(void* address, ARMCI_Group* group);
int PARMCI_Malloc_memdev(void* addresses[], armci_size_t bytes, const char* device);
int PARMCI_Malloc_group_memdev(void* addresses[], armci_size_t bytes, ARMCI_Group* group, const char* device);
int PARMCI_Free_memdev(void* address);
void* PARMCI_Malloc_local(armci_size_t bytes);
int PARMCI_Free_local(void* address);
void PARMCI_Memget(size_t bytes, armci_meminfo_t* memory, int flags);
void* PARMCI_Memat(armci_meminfo_t* memory, long offset);
void PARMCI_Memdt(armci_meminfo_t* memory, long offset);
void PARMCI_Memctl(armci_meminfo_t* memory);
void PARMCI_Copy(void* src, void* dst, int bytes);
int PARMCI_Put(void* src, void* dst, int bytes, int proc);
int PARMCI_Get(void* src, void* dst, int bytes, int proc);
int PARMCI_Acc(int type, void* scale, void* src, void* dst, int bytes, int proc);
int PARMCI_PutS(void* src, int src_strides[], void* dst, int dst_strides[], int counts[], int levels,
                int proc);
int PARMCI_GetS(void* src, int src_strides[], void* dst, int dst_strides[], int counts[], int levels,
                int proc);
int PARMCI_AccS(int type, void* scale, void* src, int src_strides[], void* dst, int dst_strides[],
                int counts[], int levels, int proc);
int PARMCI_PutV(armci_giov_t list[], int count, int proc);
int PARMCI_GetV(armci_giov_t list[], int count, int proc);
int PARMCI_AccV(int type, void* scale, armci_giov_t list[], int count, int proc);
int PARMCI_Put_flag(void* src, void* dst, int bytes, int* flag, int value, int proc);
int PARMCI_PutS_flag(void* src, int src_strides[], void* dst, int dst_strides[], int counts[], int levels,
                     int* flag, int value, int proc);
int PARMCI_PutS_flag_dir(void* src, int src_strides[], void* dst, int dst_strides[], int counts[], int levels,
                         int* flag, int value, int proc);
int PARMCI_PutValueInt(int value, void* dst, int proc);
int PARMCI_PutValueLong(long value, void* dst, int proc);
int PARMCI_PutValueFloat(float value, void* dst, int proc);
int PARMCI_PutValueDouble(double value, void* dst, int proc);
int PARMCI_GetValueInt(void* src, int proc);
long PARMCI_GetValueLong(void* src, int proc);
float PARMCI_GetValueFloat(void* src, int proc);
double PARMCI_GetValueDouble(void* src, int proc);
int PARMCI_NbPut(void* src, void* dst, int bytes, int proc, armci_hdl_t* handle);
int PARMCI_NbGet(void* src, void* dst, int bytes, int proc, armci_hdl_t* handle);
int PARMCI_NbAcc(int type, void* scale, void* src, void* dst, int bytes, int proc, armci_hdl_t* handle);
int PARMCI_NbPutS(void* src, int src_strides[], void* dst, int dst_strides[], int counts[], int levels,
                  int proc, armci_hdl_t* handle);
int PARMCI_NbGetS(void* src, int src_strides[], void* dst, int dst_strides[], int counts[], int levels,
                  int proc, armci_hdl_t* handle);
int PARMCI_NbAccS(int type, void* scale, void* src, int src_strides[], void* dst, int dst_strides[],
                  int counts[], int levels, int proc, armci_hdl_t* handle);
int PARMCI_NbPutV(armci_giov_t list[], int count, int proc, armci_hdl_t* handle);
int PARMCI_NbGetV(armci_giov_t list[], int count, int proc, armci_hdl_t* handle);
int PARMCI_NbAccV(int type, void* scale, armci_giov_t list[], int count, int proc, armci_hdl_t* handle);
int PARMCI_NbPutValueInt(int value, void* dst, int proc, armci_hdl_t* handle);
int PARMCI_NbPutValueLong(long value, void* dst, int proc, armci_hdl_t* handle);
int PARMCI_NbPutValueFloat(float value, void* dst, int proc, armci_hdl_t* handle);
int PARMCI_NbPutValueDouble(double value, void* dst, int proc, armci_hdl_t* handle);
void PARMCI_INIT_HANDLE(armci_hdl_t* handle);
int PARMCI_Wait(armci_hdl_t* handle);
int PARMCI_Test(armci_hdl_t* handle);
int PARMCI_WaitAll(void);
int PARMCI_WaitProc(int proc);
void PARMCI_SET_AGGREGATE_HANDLE(armci_hdl_t* handle);
void PARMCI_UNSET_AGGREGATE_HANDLE(armci_hdl_t* handle);
void PARMCI_Fence(int proc);
void PARMCI_AllFence(void);
void PARMCI_GroupFence(ARMCI_Group* group);
void PARMCI_Barrier(void);
void PARMCI_Access_begin(void* address);
void PARMCI_Access_end(void* address);
int PARMCI_Rmw(int op, void* ploc, void* prem, int extra, int proc);
int PARMCI_Create_mutexes(int count);
int PARMCI_Destroy_mutexes(void);
void PARMCI_Lock(int mutex, int proc);
void PARMCI_Unlock(int mutex, int proc);
int parmci_notify(int proc);
int parmci_notify_wait(int proc, int* count);
void PARMCI_Group_create(int count, int* members, ARMCI_Group* group);
void PARMCI_Group_create_child(int count, int* members, ARMCI_Group* group, ARMCI_Group* parent);
void PARMCI_Group_free(ARMCI_Group* group);
int PARMCI_Group_rank(ARMCI_Group* group, int* rank);
void PARMCI_Group_size(ARMCI_Group* group, int* size);
void PARMCI_Group_set_default(ARMCI_Group* group);
void PARMCI_Group_get_default(ARMCI_Group* group);
void PARMCI_Group_get_world(ARMCI_Group* group);
int PARMCI_Absolute_id(ARMCI_Group* group, int group_rank);
int PARMCI_Same_node(int proc);
int PARMCI_Uses_shm(void);
int PARMCI_Uses_shm_grp(ARMCI_Group* group);
void PARMCI_Set_shm_limit(unsigned long limit);

#ifdef __cplusplus
}
#endif

#endif
