// Enumerates the segments of strided memory, for programs that pack and unpack.

#include <cstring>

#include "armci.h"

extern "C" {

void armci_stride_info_init(stride_info_t* info, void* base, int levels, const int* strides,
                            const int* counts) {
  *info = {};
  info->base_ptr = static_cast<char*>(base);
  info->stride_levels = levels;
  info->size = 1;
  info->seg_count[0] = counts[0];
  for (int i = 0; i < levels; ++i) {
    info->stride_arr[i] = strides[i];
    info->seg_count[i + 1] = counts[i + 1];
    info->size *= counts[i + 1];
  }
}

void armci_stride_info_destroy(stride_info_t* /*info*/) {}

int armci_stride_info_size(stride_info_t* info) { return info->size; }

int armci_stride_info_count(stride_info_t* info) { return info->size; }

int armci_stride_info_pos(stride_info_t* info) { return info->pos; }

int armci_stride_info_has_more(stride_info_t* info) { return info->pos < info->size ? 1 : 0; }

void armci_stride_info_next(stride_info_t* info) {
  ++info->pos;
  for (int i = 0; i < info->stride_levels; ++i) {
    if (++info->itr[i] < info->seg_count[i + 1]) return;
    info->itr[i] = 0;
  }
}

void* armci_stride_info_seg_ptr(stride_info_t* info) {
  char* segment = info->base_ptr;
  for (int i = 0; i < info->stride_levels; ++i) {
    segment += static_cast<std::ptrdiff_t>(info->itr[i]) * info->stride_arr[i];
  }
  return segment;
}

int armci_stride_info_seg_size(stride_info_t* info) { return info->seg_count[0]; }

int armci_stride_info_seg_off(stride_info_t* info) {
  return static_cast<int>(static_cast<char*>(armci_stride_info_seg_ptr(info)) - info->base_ptr);
}

void armci_write_strided(void* src, int levels, int strides[], int counts[], char* buffer) {
  stride_info_t segments;
  armci_stride_info_init(&segments, src, levels, strides, counts);
  const auto bytes = static_cast<std::size_t>(counts[0]);
  for (; armci_stride_info_has_more(&segments) != 0; armci_stride_info_next(&segments), buffer += bytes) {
    std::memcpy(buffer, armci_stride_info_seg_ptr(&segments), bytes);
  }
}

void armci_read_strided(void* dst, int levels, int strides[], int counts[], char* buffer) {
  stride_info_t segments;
  armci_stride_info_init(&segments, dst, levels, strides, counts);
  const auto bytes = static_cast<std::size_t>(counts[0]);
  for (; armci_stride_info_has_more(&segments) != 0; armci_stride_info_next(&segments), buffer += bytes) {
    std::memcpy(armci_stride_info_seg_ptr(&segments), buffer, bytes);
  }
}

}  // extern "C"
