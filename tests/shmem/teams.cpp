// Teams and the contexts made from them, and queries.

#include <cstring>
#include <string>

#include "check.hpp"

namespace {

long static_long;

void check_strided(int me, int size) {
  for (int start = 0; start < size; ++start) {
    for (const int stride : {1, 2, 3, -1}) {
      const int room = stride > 0 ? (size - 1 - start) / stride + 1 : start + 1;
      shmem_team_config_t config = {.num_contexts = 3};
      shmem_team_t team = SHMEM_TEAM_WORLD;
      CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, start, stride, room, &config, SHMEM_TEAM_NUM_CONTEXTS,
                                     &team) == 0);
      const int distance = me - start;
      const bool member = distance % stride == 0 && distance / stride >= 0 && distance / stride < room;
      CHECK((team != SHMEM_TEAM_INVALID) == member);
      CHECK(shmem_team_n_pes(team) == (member ? room : -1));
      CHECK(shmem_team_my_pe(team) == (member ? distance / stride : -1));
      if (!member) continue;
      shmem_team_config_t told = {.num_contexts = 0};
      CHECK(shmem_team_get_config(team, SHMEM_TEAM_NUM_CONTEXTS, &told) == 0);
      CHECK(told.num_contexts == 3);
      for (int pe = 0; pe < room; ++pe) {
        CHECK(shmem_team_translate_pe(team, pe, SHMEM_TEAM_WORLD) == start + pe * stride);
        CHECK(shmem_team_translate_pe(SHMEM_TEAM_WORLD, start + pe * stride, team) == pe);
      }
      CHECK(shmem_team_translate_pe(team, room, SHMEM_TEAM_WORLD) == -1);
      CHECK(shmem_sync(team) == 0);
      shmem_team_destroy(team);
      CHECK(shmem_team_n_pes(team) == -1);
    }
  }
  shmem_team_t none = SHMEM_TEAM_WORLD;
  CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, 0, 1, size + 1, nullptr, 0, &none) != 0);
  CHECK(none == SHMEM_TEAM_INVALID);
  CHECK(shmem_team_split_strided(SHMEM_TEAM_INVALID, 0, 1, 1, nullptr, 0, &none) != 0);
}

void check_grid(int me, int size) {
  for (int width = 1; width <= size + 1; ++width) {
    shmem_team_t row = SHMEM_TEAM_INVALID;
    shmem_team_t column = SHMEM_TEAM_INVALID;
    CHECK(shmem_team_split_2d(SHMEM_TEAM_WORLD, width, nullptr, 0, &row, nullptr, 0, &column) == 0);
    const int range = width < size ? width : size;
    CHECK(shmem_team_my_pe(row) == me % range);
    CHECK(shmem_team_my_pe(column) == me / range);
    CHECK(shmem_team_translate_pe(row, 0, SHMEM_TEAM_WORLD) == me / range * range);
    CHECK(shmem_team_translate_pe(column, 0, SHMEM_TEAM_WORLD) == me % range);
    shmem_team_destroy(row);
    shmem_team_destroy(column);
  }
}

/// A context of a team takes the team's numbers.
void check_contexts(int me, int size) {
  shmem_team_t backwards = SHMEM_TEAM_INVALID;
  CHECK(shmem_team_split_strided(SHMEM_TEAM_WORLD, size - 1, -1, size, nullptr, 0, &backwards) == 0);
  shmem_ctx_t ctx = SHMEM_CTX_INVALID;
  CHECK(shmem_team_create_ctx(backwards, SHMEM_CTX_NOSTORE, &ctx) == 0);
  shmem_team_t of = SHMEM_TEAM_INVALID;
  CHECK(shmem_ctx_get_team(ctx, &of) == 0 && of == backwards);
  CHECK(shmem_ctx_get_team(SHMEM_CTX_DEFAULT, &of) == 0 && of == SHMEM_TEAM_WORLD);
  CHECK(shmem_ctx_get_team(SHMEM_CTX_INVALID, &of) != 0 && of == SHMEM_TEAM_INVALID);
  static_long = -1;
  shmem_barrier_all();
  const int next = (shmem_team_my_pe(backwards) + 1) % size;
  shmem_ctx_session_start(ctx, SHMEM_CTX_SESSION_BATCH, nullptr, 0);
  shmem_p(ctx, &static_long, static_cast<long>(me), next);
  shmem_ctx_session_stop(ctx);
  shmem_ctx_fence(ctx);
  shmem_ctx_quiet(ctx);
  shmem_ctx_pe_quiet(ctx, &next, 1);
  shmem_pe_quiet(&next, 1);
  shmem_barrier_all();
  CHECK(static_long == (me + 1) % size);  // the PE behind this one in the team is the next in the world
  shmem_ctx_destroy(ctx);
  CHECK(shmem_team_create_ctx(SHMEM_TEAM_INVALID, 0, &ctx) != 0 && ctx == SHMEM_CTX_INVALID);
  // Calls that complete operations ignore this context (OpenSHMEM 1.5, shmem_quiet and shmem_fence).
  const int self = shmem_my_pe();
  shmem_ctx_quiet(SHMEM_CTX_INVALID);
  shmem_ctx_fence(SHMEM_CTX_INVALID);
  shmem_ctx_pe_quiet(SHMEM_CTX_INVALID, &self, 1);
  shmem_ctx_session_start(SHMEM_CTX_INVALID, 0, nullptr, 0);
  shmem_ctx_session_stop(SHMEM_CTX_INVALID);
  shmem_ctx_destroy(SHMEM_CTX_INVALID);
  shmem_team_destroy(backwards);
  // Contexts do not run out.
  for (int i = 0; i < 5000; ++i) {
    CHECK(shmem_ctx_create(0, &ctx) == 0);
    shmem_ctx_destroy(ctx);
  }
}

void check_queries(int me, int size) {
  CHECK(shmem_team_n_pes(SHMEM_TEAM_WORLD) == size && shmem_team_my_pe(SHMEM_TEAM_WORLD) == me);
  CHECK(shmem_team_n_pes(SHMEM_TEAM_SHARED) == size && shmem_team_my_pe(SHMEM_TEAM_SHARED) == me);
  CHECK(_my_pe() == me && _num_pes() == size);
  long* const heap = static_cast<long*>(shmem_malloc(sizeof(long)));
  long local = 0;
  for (int pe = 0; pe < size; ++pe) {
    CHECK(shmem_pe_accessible(pe) == 1 && shmem_addr_accessible(heap, pe) == 1);
    CHECK(shmem_addr_accessible(&static_long, pe) == 1 && shmem_addr_accessible(&local, pe) == 0);
    CHECK(shmem_ptr(heap, pe) != nullptr &&
          shmem_team_ptr(SHMEM_TEAM_SHARED, heap, pe) == shmem_ptr(heap, pe));
    CHECK(shmem_ptr(&local, pe) == nullptr);
  }
  CHECK(shmem_ptr(heap, me) == heap && shmem_ptr(&static_long, me) == &static_long);
  CHECK(shmem_pe_accessible(size) == 0 && shmem_pe_accessible(-1) == 0 && shmem_ptr(heap, size) == nullptr);
  CHECK(shmem_team_ptr(SHMEM_TEAM_INVALID, heap, 0) == nullptr);
  // What a PE stores through the pointer is in the other's memory.
  *heap = -1;
  shmem_barrier_all();
  *static_cast<long*>(shmem_ptr(heap, (me + 1) % size)) = me;
  shmem_barrier_all();
  CHECK(*heap == (me + size - 1) % size);
  shmem_free(heap);
  int major = 0;
  int minor = 0;
  std::string name(SHMEM_MAX_NAME_LEN, 'x');
  shmem_info_get_version(&major, &minor);
  shmem_info_get_name(name.data());
  CHECK(major == SHMEM_MAJOR_VERSION && minor == SHMEM_MINOR_VERSION);
  CHECK(std::strcmp(name.c_str(), SHMEM_VENDOR_STRING) == 0);
  shmem_pcontrol(1, 2, 3);
}

}  // namespace

int main() {
  int initialized = 1;
  shmem_query_initialized(&initialized);
  const bool early = initialized != 0;
  int provided = -1;
  CHECK(shmem_init_thread(SHMEM_THREAD_FUNNELED, &provided) == 0);
  CHECK(!early && provided >= SHMEM_THREAD_FUNNELED);
  // Calls nest.
  shmem_init();
  shmem_finalize();
  shmem_query_initialized(&initialized);
  CHECK(initialized == 1);
  const int me = shmem_my_pe();
  const int size = shmem_n_pes();
  check_queries(me, size);
  check_strided(me, size);
  check_grid(me, size);
  check_contexts(me, size);
  return shmem_tests::result();
}
