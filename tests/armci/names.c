/* Checks that every name of ARMCI exists, that each ARMCI_X is another name of its PARMCI_X, and that
 * constants have the values that binaries use. */
#undef NDEBUG
#include <armci.h>
#include <assert.h>
#include <message.h>
#include <parmci.h>
#include <stdio.h>
#include <stdlib.h>

_Static_assert(ARMCI_SWAP == 10 && ARMCI_SWAP_LONG == 11, "");
_Static_assert(ARMCI_FETCH_AND_ADD == 12 && ARMCI_FETCH_AND_ADD_LONG == 13, "");
_Static_assert(ARMCI_ACC_INT == 37 && ARMCI_ACC_DBL == 38 && ARMCI_ACC_FLT == 39, "");
_Static_assert(ARMCI_ACC_CPL == 40 && ARMCI_ACC_DCP == 41 && ARMCI_ACC_LNG == 42 && ARMCI_ACC_RA == 43, "");
_Static_assert(ARMCI_MAX_STRIDE_LEVEL == 8 && ARMCI_DOMAIN_SMP == 0, "");
_Static_assert(sizeof(armci_size_t) == sizeof(long) && sizeof(ARMCI_Group) == sizeof(int), "");
_Static_assert(offsetof(armci_giov_t, src_ptr_array) == 0, "");
_Static_assert(offsetof(armci_giov_t, dst_ptr_array) == sizeof(void*), "");
_Static_assert(offsetof(armci_giov_t, ptr_array_len) == 2 * sizeof(void*), "");
_Static_assert(offsetof(armci_giov_t, bytes) == 2 * sizeof(void*) + sizeof(int), "");

/* Tests the function, not the macro. */
#undef ARMCI_INIT_HANDLE

typedef void (*function)(void);
struct name {
  const char* text;
  function weak;
  function strong;
};
#define NAME(name) \
  { "ARMCI_" #name, (function)ARMCI_##name, (function)PARMCI_##name }
#define ALONE(name) \
  { #name, (function)name, (function)name }

int main(void) {
  const struct name names[] = {
    NAME(Init),
    NAME(Init_args),
    NAME(Init_thread),
    NAME(Initialized),
    NAME(Finalize),
    NAME(Cleanup),
    NAME(Error),
    NAME(Malloc),
    NAME(Free),
    NAME(Malloc_group),
    NAME(Free_group),
    NAME(Malloc_memdev),
    NAME(Malloc_group_memdev),
    NAME(Free_memdev),
    NAME(Malloc_local),
    NAME(Free_local),
    NAME(Memget),
    NAME(Memat),
    NAME(Memdt),
    NAME(Memctl),
    NAME(Copy),
    NAME(Put),
    NAME(Get),
    NAME(Acc),
    NAME(PutS),
    NAME(GetS),
    NAME(AccS),
    NAME(PutV),
    NAME(GetV),
    NAME(AccV),
    NAME(Put_flag),
    NAME(PutS_flag),
    NAME(PutS_flag_dir),
    NAME(PutValueInt),
    NAME(PutValueLong),
    NAME(PutValueFloat),
    NAME(PutValueDouble),
    NAME(GetValueInt),
    NAME(GetValueLong),
    NAME(GetValueFloat),
    NAME(GetValueDouble),
    NAME(NbPut),
    NAME(NbGet),
    NAME(NbAcc),
    NAME(NbPutS),
    NAME(NbGetS),
    NAME(NbAccS),
    NAME(NbPutV),
    NAME(NbGetV),
    NAME(NbAccV),
    NAME(NbPutValueInt),
    NAME(NbPutValueLong),
    NAME(NbPutValueFloat),
    NAME(NbPutValueDouble),
    NAME(INIT_HANDLE),
    NAME(Wait),
    NAME(Test),
    NAME(WaitAll),
    NAME(WaitProc),
    NAME(SET_AGGREGATE_HANDLE),
    NAME(UNSET_AGGREGATE_HANDLE),
    NAME(Fence),
    NAME(AllFence),
    NAME(GroupFence),
    NAME(Barrier),
    NAME(Access_begin),
    NAME(Access_end),
    NAME(Rmw),
    NAME(Create_mutexes),
    NAME(Destroy_mutexes),
    NAME(Lock),
    NAME(Unlock),
    NAME(Group_create),
    NAME(Group_create_child),
    NAME(Group_free),
    NAME(Group_rank),
    NAME(Group_size),
    NAME(Group_set_default),
    NAME(Group_get_default),
    NAME(Group_get_world),
    NAME(Absolute_id),
    NAME(Same_node),
    NAME(Uses_shm),
    NAME(Uses_shm_grp),
    NAME(Set_shm_limit),
#if RMA_ARMCI_MPI
    NAME(Init_mpi_comm),
    NAME(Init_thread_comm),
    ALONE(armci_msg_init_comm),
    ALONE(armci_group_comm),
#endif
    {"armci_notify", (function)armci_notify, (function)parmci_notify},
    {"armci_notify_wait", (function)armci_notify_wait, (function)parmci_notify_wait},
    ALONE(armci_die),
    ALONE(armci_die2),
    ALONE(armci_domain_count),
    ALONE(armci_domain_glob_proc_id),
    ALONE(armci_domain_id),
    ALONE(armci_domain_my_id),
    ALONE(armci_domain_nprocs),
    ALONE(armci_domain_same_id),
    ALONE(armci_read_strided),
    ALONE(armci_sameclusnode),
    ALONE(armci_stride_info_count),
    ALONE(armci_stride_info_destroy),
    ALONE(armci_stride_info_has_more),
    ALONE(armci_stride_info_init),
    ALONE(armci_stride_info_next),
    ALONE(armci_stride_info_pos),
    ALONE(armci_stride_info_seg_off),
    ALONE(armci_stride_info_seg_ptr),
    ALONE(armci_stride_info_seg_size),
    ALONE(armci_stride_info_size),
    ALONE(armci_write_strided),
  };
  const size_t count = sizeof names / sizeof names[0];
  for (size_t i = 0; i < count; ++i) {
    if (names[i].weak != NULL && names[i].weak == names[i].strong) continue;
    fprintf(stderr, "%s is not its strong name's function\n", names[i].text);
    return EXIT_FAILURE;
  }
  printf("%zu names\n", count);
  return EXIT_SUCCESS;
}
