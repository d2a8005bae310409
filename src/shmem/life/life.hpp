#pragma once

#include "shmem/job/errors.hpp"

namespace librma::shmem {

void init(Call call);
int init_thread(Call call, int requested, int* provided);
void start_pes(Call call, int n_pes);
void query_thread(Call call, int* provided);
void query_initialized(Call call, int* initialized);
void finalize(Call call);
[[noreturn]] void global_exit(Call call, int status);
int my_pe(Call call);
int n_pes(Call call);
void info_get_version(Call call, int* major, int* minor);
void info_get_name(Call call, char* name);
void pcontrol(Call call, int level);

}  // namespace librma::shmem
