#pragma once

#include <cstddef>
#include <cstdint>

#include "coarrays/abi.hpp"

// The functions that the compiler's code calls. Images count from 1 in the current team; 0 means the calling
// image where that is said. A `stat` that is not null takes the outcome, and `message`, of `length`
// characters, its text. If `stat` is null, a failure ends the job.

namespace librma::coarrays {

/// Declares caf_NAME, which the compiler calls _gfortran_caf_NAME.
#define RMA_CAF(result, name, ...) result caf_##name(__VA_ARGS__) __asm__("_gfortran_caf_" #name)

extern "C" {

// Life
RMA_CAF(void, init, int* argc, char*** argv);
RMA_CAF(void, finalize, void);
RMA_CAF([[noreturn]] void, stop_numeric, int code, bool quiet);
RMA_CAF([[noreturn]] void, stop_str, const char* text, std::size_t length, bool quiet);
RMA_CAF([[noreturn]] void, error_stop, int code, bool quiet);
RMA_CAF([[noreturn]] void, error_stop_str, const char* text, std::size_t length, bool quiet);
RMA_CAF([[noreturn]] void, fail_image, void);

// Images
RMA_CAF(int, this_image, int distance);
RMA_CAF(int, num_images, int distance, int failed);
RMA_CAF(int, image_status, int image, Team* team);
RMA_CAF(void, failed_images, Descriptor* images, Team* team, const int* kind);
RMA_CAF(void, stopped_images, Descriptor* images, Team* team, const int* kind);
RMA_CAF(void, random_init, bool repeatable, bool image_distinct);

// Memory
RMA_CAF(void, register, std::size_t size, int type, Coarray** token, Descriptor* shape, int* stat,
        char* message, std::size_t length);
RMA_CAF(void, deregister, Coarray** token, int type, int* stat, char* message, std::size_t length);

// Transfers: `offset` bytes behind the coarray's start lies the first element of the section, whose strides
// the descriptor on the coarray's side has. `subscripts` is null, or has an entry for each dimension of that
// descriptor.
RMA_CAF(void, get, const Coarray* token, std::size_t offset, int image, const Descriptor* src,
        const Subscripts* subscripts, Descriptor* dst, int src_kind, int dst_kind, bool may_overlap,
        int* stat);
RMA_CAF(void, send, const Coarray* token, std::size_t offset, int image, const Descriptor* dst,
        const Subscripts* subscripts, const Descriptor* src, int dst_kind, int src_kind, bool may_overlap,
        int* stat, Team** team);
RMA_CAF(void, sendget, const Coarray* dst_token, std::size_t dst_offset, int dst_image, const Descriptor* dst,
        const Subscripts* dst_subscripts, const Coarray* src_token, std::size_t src_offset, int src_image,
        const Descriptor* src, const Subscripts* src_subscripts, int dst_kind, int src_kind, bool may_overlap,
        int* stat);
RMA_CAF(void, get_by_ref, const Coarray* token, int image, Descriptor* dst, const Reference* references,
        int dst_kind, int src_kind, bool may_overlap, bool dst_reallocatable, int* stat, int src_type);
RMA_CAF(void, send_by_ref, const Coarray* token, int image, const Descriptor* src,
        const Reference* references, int dst_kind, int src_kind, bool may_overlap, bool dst_reallocatable,
        int* stat, int dst_type);
RMA_CAF(void, sendget_by_ref, const Coarray* dst_token, int dst_image, const Reference* dst_references,
        const Coarray* src_token, int src_image, const Reference* src_references, int dst_kind, int src_kind,
        bool may_overlap, int* dst_stat, int* src_stat, int dst_type, int src_type);
RMA_CAF(int, is_present, const Coarray* token, int image, const Reference* references);

// Synchronization. `count` is -1 for all images.
RMA_CAF(void, sync_all, int* stat, char* message, std::size_t length);
RMA_CAF(void, sync_memory, int* stat, char* message, std::size_t length);
RMA_CAF(void, sync_images, int count, const int* images, int* stat, char* message, std::size_t length);

// Locks and events. `index` counts the elements of the coarray from 0. `image` 0 is the calling image.
RMA_CAF(void, lock, Coarray* token, std::size_t index, int image, int* acquired, int* stat, char* message,
        std::size_t length);
RMA_CAF(void, unlock, Coarray* token, std::size_t index, int image, int* stat, char* message,
        std::size_t length);
RMA_CAF(void, event_post, Coarray* token, std::size_t index, int image, int* stat, char* message,
        std::size_t length);
RMA_CAF(void, event_wait, Coarray* token, std::size_t index, int until_count, int* stat, char* message,
        std::size_t length);
RMA_CAF(void, event_query, Coarray* token, std::size_t index, int image, int* count, int* stat);

// Atomics. `image` 0 is the calling image. `old` may be null.
RMA_CAF(void, atomic_define, Coarray* token, std::size_t offset, int image, const void* value, int* stat,
        int type, int kind);
RMA_CAF(void, atomic_ref, Coarray* token, std::size_t offset, int image, void* value, int* stat, int type,
        int kind);
RMA_CAF(void, atomic_cas, Coarray* token, std::size_t offset, int image, void* old, const void* compare,
        const void* value, int* stat, int type, int kind);
RMA_CAF(void, atomic_op, int operation, Coarray* token, std::size_t offset, int image, const void* value,
        void* old, int* stat, int type, int kind);

// Collective subroutines. `result_image` 0: all images get the result.
RMA_CAF(void, co_broadcast, Descriptor* data, int source_image, int* stat, char* message, std::size_t length);
RMA_CAF(void, co_sum, Descriptor* data, int result_image, int* stat, char* message, std::size_t length);
RMA_CAF(void, co_min, Descriptor* data, int result_image, int* stat, char* message, int characters,
        std::size_t length);
RMA_CAF(void, co_max, Descriptor* data, int result_image, int* stat, char* message, int characters,
        std::size_t length);
RMA_CAF(void, co_reduce, Descriptor* data, void* (*combine)(void*, void*), int flags, int result_image,
        int* stat, char* message, int characters, std::size_t length);

// Teams
RMA_CAF(void, form_team, int number, Team** team, int index);
RMA_CAF(void, change_team, Team** team, int unused);
RMA_CAF(void, end_team, Team** team);
RMA_CAF(void, sync_team, Team** team, int unused);
RMA_CAF(int, team_number, const Team* team);

}  // extern "C"
}  // namespace librma::coarrays
