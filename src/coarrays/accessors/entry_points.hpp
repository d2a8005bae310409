#pragma once

#include <cstddef>
#include <cstdint>

#include "coarrays/abi.hpp"
#include "coarrays/entry_points.hpp"

// The functions for coindexed objects that gfortran calls from version 15 on, in place of get, send, sendget
// and their forms by reference. GCC's libgfortran/caf/libcaf.h describes them. For each access to another
// image the compiler makes a function, its *accessor*, which the image that has the data executes. `data` is
// what the accessor needs to know of the statement, such as subscripts.

namespace librma::coarrays {

/// Stores where the data are into `*result`, which is a Descriptor if the statement needs one. The caller
/// frees them if `*allocated` is 1.
using Getter = void (*)(void* data, const int* image, void** result, std::int32_t* allocated, void* object,
                        Coarray* token, std::size_t unused, std::size_t* result_length,
                        const std::size_t* object_length);
using Presence = void (*)(void* data, const int* image, std::int32_t* present, void* object, Coarray* token,
                          std::size_t unused);
/// Assigns `value`, which is a Descriptor if the statement has one, to the object.
using Setter = void (*)(void* data, const int* image, void* object, const void* value, Coarray* token,
                        std::size_t unused, const std::size_t* object_length,
                        const std::size_t* value_length);

extern "C" {

RMA_CAF(void, register_accessor, int hash, Getter accessor);
RMA_CAF(void, register_accessors_finish);
RMA_CAF(int, get_remote_function_index, int hash);
RMA_CAF(void, get_from_remote, const Coarray* token, const Descriptor* object,
        const std::size_t* object_length, int image, std::size_t bytes, void** result,
        std::size_t* result_length, Descriptor* result_array, bool may_reallocate, int accessor, void* data,
        std::size_t data_bytes, int* stat, Team** team, int* team_number);
RMA_CAF(std::int32_t, is_present_on_remote, const Coarray* token, int image, int accessor, void* data,
        std::size_t data_bytes);
RMA_CAF(void, send_to_remote, const Coarray* token, Descriptor* object, const std::size_t* object_length,
        int image, std::size_t bytes, const void* value, const std::size_t* value_length,
        const Descriptor* value_array, int accessor, void* data, std::size_t data_bytes, int* stat,
        Team** team, int* team_number);
/// The arguments behind `scalar` are those that gfortran 15 passes. GCC's libcaf.h names others,
/// `src_stat` in front of the team and a team of the source behind, which only later versions pass.
RMA_CAF(void, transfer_between_remotes, const Coarray* dst_token, Descriptor* dst, std::size_t* dst_length,
        int dst_image, int dst_accessor, void* dst_data, std::size_t dst_data_bytes, const Coarray* src_token,
        const Descriptor* src, const std::size_t* src_length, int src_image, int src_accessor, void* src_data,
        std::size_t src_data_bytes, std::size_t bytes, bool scalar, int* dst_stat, Team** dst_team,
        int* dst_team_number, int* src_stat);

}  // extern "C"
}  // namespace librma::coarrays
