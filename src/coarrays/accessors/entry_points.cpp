// Coindexed objects by accessors: what gfortran calls from version 15 on.

#include "coarrays/accessors/entry_points.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "coarrays/accessors/blocks.hpp"
#include "coarrays/accessors/calls.hpp"
#include "coarrays/accessors/runs.hpp"
#include "coarrays/images.hpp"
#include "coarrays/memory.hpp"
#include "coarrays/outcome.hpp"

namespace librma::coarrays {
namespace {

bool serving = false;

/// The object of a statement.
struct Object {
  const Coarray* token;
  const Descriptor* array;
  const std::size_t* length;
  int image;
  Team** team;
  int* team_number;
};

/// Returns the team in which the statement counts images, or null if there is no such team.
const Team* team_of(const Object& object) {
  const Team* team = current.team;
  if (object.team != nullptr) team = is_team(*object.team) ? *object.team : nullptr;
  if (object.team_number == nullptr) return team;
  while (team != nullptr && team->number != *object.team_number) team = team->parent;
  return team;
}

/// Returns the world rank of the object's image. Returns -1 if there is no such image, and reports the
/// reason.
int rank_of(const Object& object, const Outcome& outcome) {
  const auto place = static_cast<std::size_t>(object.image) - 1;
  // The only image that an accessor names is its caller.
  if (runs_accessor()) return place < static_cast<std::size_t>(rma_size()) ? static_cast<int>(place) : -1;
  const Team* const team = team_of(object);
  if (team == nullptr) {
    outcome.fail(kFailure, "the coindexed object names a team that was not formed");
    return -1;
  }
  if (place < team->ranks.size()) return team->ranks[place];
  refuse_image(outcome, object.image, team->ranks.size());
  return -1;
}

/// Returns the address of the object's coarray as `rank` knows it, or of the part of it that a dummy argument
/// is; or null.
std::byte* address_of(const Object& object, int rank) {
  const Coarray& coarray = *object.token;
  std::byte* const first =
      coarray.places.empty() ? coarray.mine : coarray.places[static_cast<std::size_t>(rank)].there;
  if (object.array == nullptr || first == nullptr) return first;
  const std::uintptr_t offset =
      reinterpret_cast<std::uintptr_t>(object.array->data) - reinterpret_cast<std::uintptr_t>(coarray.mine);
  return offset < coarray.bytes ? first + offset : first;
}

/// Runs the call at the object's image. Reports how it ended. Returns whether there is an answer.
bool run_there(const Object& object, CallMaker& maker, Bytes& answer, const Outcome& outcome) {
  const int rank = rank_of(object, outcome);
  if (rank < 0) return false;
  maker.call.object = address_of(object, rank);
  if (maker.call.object == nullptr) {
    outcome.fail(kFailure, "the image has no part of the coarray");
    return false;
  }
  maker.call.object_length = object.length != nullptr ? *object.length : 0;
  maker.call.callers_data = static_cast<std::byte*>(const_cast<void*>(maker.data));
  if (runs_accessor()) {
    note_nested_call();
    maker.call.flags |= Call::kNested;
  }
  Bytes call = maker.bytes();
  if (rank == rma_rank()) {
    answer = run_call(call, rank + 1);
    outcome.succeed();
    return true;
  }
  return outcome.report(call_at(rank, call, answer));
}

/// Makes `*memory` as long as the result, and copies that there.
void copy_reallocated(const Result& result, void** memory) {
  void* const larger = std::realloc(*memory, std::max<std::size_t>(result.bytes.size(), 1));
  if (larger == nullptr) die("no memory is left for the result of a coindexed object");
  *memory = larger;
  if (!result.bytes.empty()) std::memcpy(larger, result.bytes.data(), result.bytes.size());
}

/// The arguments of an accessor that gets.
struct Get {
  std::size_t bytes;
  std::size_t* length;
  Descriptor* array;
  bool may_reallocate;
  int accessor;
  void* data;
  std::size_t data_bytes;
};

bool get_there(const Object& object, const Get& get, Bytes& answer, const Outcome& outcome) {
  const bool characters = object.length != nullptr;
  CallMaker maker = {.call = {.kind = Call::kGet,
                              .flags = (characters ? Call::kCharacters : 0U) |
                                       (get.array != nullptr && get.may_reallocate ? Call::kReallocates : 0U),
                              .accessor = get.accessor,
                              .other_length = get.length != nullptr ? *get.length : 1,
                              .element_bytes = get.bytes,
                              .data_bytes = get.data_bytes},
                     .object = object.array,
                     .other = get.array,
                     .value = nullptr,
                     .data = get.data};
  return run_there(object, maker, answer, outcome);
}

}  // namespace

void caf_register_accessor(int hash, Getter accessor) {
  add_accessor(hash, reinterpret_cast<void (*)()>(accessor));
}

// Each image comes here before it makes a call, and nobody makes one before all have come.
void caf_register_accessors_finish() {
  start();
  sort_accessors();
  if (!serving) {
    serving = true;
    serve_calls({.run = run_call, .in_handler = may_run_in_handler});
  } else {
    require(rma_barrier(rma_team_world()));
  }
}

int caf_get_remote_function_index(int hash) { return accessor_index(hash); }

void caf_get_from_remote(const Coarray* token, const Descriptor* object, const std::size_t* object_length,
                         int image, std::size_t bytes, void** result, std::size_t* result_length,
                         Descriptor* result_array, bool may_reallocate, int accessor, void* data,
                         std::size_t data_bytes, int* stat, Team** team, int* team_number) {
  const Outcome outcome{.stat = stat};
  Bytes answer;
  if (!get_there({token, object, object_length, image, team, team_number},
                 {bytes, result_length, result_array, may_reallocate, accessor, data, data_bytes}, answer,
                 outcome)) {
    return;
  }
  const Result got(answer);
  if (result_array != nullptr && may_reallocate) {
    void* memory = result_array->data;
    copy_reallocated(got, &memory);
    std::memcpy(result_array, &got.head.array, descriptor_bytes(&got.head.array));
    result_array->data = static_cast<std::byte*>(memory);
    if (result != nullptr) *result = memory;
  } else if (result_array == nullptr && may_reallocate && result_length != nullptr) {
    copy_reallocated(got, result);
  } else if (!got.bytes.empty()) {
    std::memcpy(result_array != nullptr ? result_array->data : *result, got.bytes.data(), got.bytes.size());
  }
  if (result_length != nullptr) *result_length = got.head.length;
}

std::int32_t caf_is_present_on_remote(const Coarray* token, int image, int accessor, void* data,
                                      std::size_t data_bytes) {
  if (token == nullptr) return 0;  // never allocated
  CallMaker maker = {.call = {.kind = Call::kPresent, .accessor = accessor, .data_bytes = data_bytes},
                     .object = nullptr,
                     .other = nullptr,
                     .value = nullptr,
                     .data = data};
  Bytes answer;
  std::int32_t present = 0;
  if (run_there({token, nullptr, nullptr, image, nullptr, nullptr}, maker, answer, {}) &&
      answer.size() == sizeof present) {
    std::memcpy(&present, answer.data(), sizeof present);
  }
  return present;
}

void caf_send_to_remote(const Coarray* token, Descriptor* object, const std::size_t* object_length, int image,
                        std::size_t bytes, const void* value, const std::size_t* value_length,
                        const Descriptor* value_array, int accessor, void* data, std::size_t data_bytes,
                        int* stat, Team** team, int* team_number) {
  const bool characters = value_length != nullptr;
  std::size_t value_bytes = bytes * (characters ? *value_length : 1);
  if (characters && value_array != nullptr) value_bytes *= count_of_all(*value_array);
  CallMaker maker = {.call = {.kind = Call::kSet,
                              .flags = characters ? Call::kCharacters : 0U,
                              .accessor = accessor,
                              .other_length = characters ? *value_length : 0,
                              .value_bytes = value_bytes,
                              .data_bytes = data_bytes},
                     .object = object,
                     .other = value_array,
                     .value = value_array != nullptr ? value_array->data : value,
                     .data = data};
  Bytes answer;
  static_cast<void>(
      run_there({token, object, object_length, image, team, team_number}, maker, answer, {.stat = stat}));
}

void caf_transfer_between_remotes(const Coarray* dst_token, Descriptor* dst, std::size_t* dst_length,
                                  int dst_image, int dst_accessor, void* dst_data, std::size_t dst_data_bytes,
                                  const Coarray* src_token, const Descriptor* src,
                                  const std::size_t* src_length, int src_image, int src_accessor,
                                  void* src_data, std::size_t src_data_bytes, std::size_t bytes, bool scalar,
                                  int* dst_stat, Team** dst_team, int* dst_team_number, int* src_stat) {
  Descriptor between = {};
  Bytes answer;
  if (!get_there(
          {src_token, src, src_length, src_image, nullptr, nullptr},
          {bytes, dst_length, scalar ? nullptr : &between, !scalar, src_accessor, src_data, src_data_bytes},
          answer, {.stat = src_stat})) {
    return;
  }
  const Result got(answer);
  between = got.head.array;
  between.data = const_cast<std::byte*>(got.bytes.data());
  const bool characters = src_length != nullptr;
  CallMaker maker = {.call = {.kind = Call::kSet,
                              .flags = characters ? Call::kCharacters : 0U,
                              .accessor = dst_accessor,
                              .other_length = characters ? got.head.length : 0,
                              .value_bytes = got.bytes.size(),
                              .data_bytes = dst_data_bytes},
                     .object = dst,
                     .other = scalar ? nullptr : &between,
                     .value = got.bytes.data(),
                     .data = dst_data};
  Bytes done;
  static_cast<void>(run_there({dst_token, dst, dst_length, dst_image, dst_team, dst_team_number}, maker, done,
                              {.stat = dst_stat}));
}

}  // namespace librma::coarrays
