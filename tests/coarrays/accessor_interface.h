/* The functions that gfortran 15 calls for coindexed objects, as its code declares them, for tests in C. */
#ifndef TESTS_COARRAYS_ACCESSOR_INTERFACE_H
#define TESTS_COARRAYS_ACCESSOR_INTERFACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  ptrdiff_t stride, lower, upper;
} dimension_t;
typedef struct {
  void* data;
  size_t offset;
  size_t element_bytes;
  int version;
  signed char rank, type;
  short attribute;
  ptrdiff_t span;
  dimension_t dim[15];
} descriptor_t;
typedef void* token_t;
typedef void (*getter_t)(void* data, const int* image, void** result, int32_t* allocated, void* object,
                         token_t token, size_t unused, size_t* length, const size_t* object_length);

void _gfortran_caf_init(int* argc, char*** argv);
void _gfortran_caf_finalize(void);
int _gfortran_caf_this_image(int distance);
int _gfortran_caf_num_images(int distance, int failed);
void _gfortran_caf_register(size_t size, int type, token_t* token, descriptor_t* shape, int* stat,
                            char* message, size_t length);
void _gfortran_caf_deregister(token_t* token, int type, int* stat, char* message, size_t length);
void _gfortran_caf_sync_all(int* stat, char* message, size_t length);
void _gfortran_caf_error_stop(int code, bool quiet);
void _gfortran_caf_register_accessor(int hash, void (*accessor)(void*, const int*, void**, int32_t*, void*,
                                                                token_t, size_t, size_t*, const size_t*));
void _gfortran_caf_register_accessors_finish(void);
int _gfortran_caf_get_remote_function_index(int hash);
void _gfortran_caf_get_from_remote(token_t token, const descriptor_t* object, const size_t* object_length,
                                   int image, size_t bytes, void** result, size_t* result_length,
                                   descriptor_t* result_array, bool may_reallocate, int accessor, void* data,
                                   size_t data_bytes, int* stat, void** team, int* team_number);
int32_t _gfortran_caf_is_present_on_remote(token_t token, int image, int accessor, void* data,
                                           size_t data_bytes);
void _gfortran_caf_send_to_remote(token_t token, descriptor_t* object, const size_t* object_length, int image,
                                  size_t bytes, const void* value, const size_t* value_length,
                                  const descriptor_t* value_array, int accessor, void* data,
                                  size_t data_bytes, int* stat, void** team, int* team_number);
void _gfortran_caf_transfer_between_remotes(token_t dst_token, descriptor_t* dst, size_t* dst_length,
                                            int dst_image, int dst_accessor, void* dst_data,
                                            size_t dst_data_bytes, token_t src_token, const descriptor_t* src,
                                            const size_t* src_length, int src_image, int src_accessor,
                                            void* src_data, size_t src_data_bytes, size_t bytes, bool scalar,
                                            int* dst_stat, void** dst_team, int* dst_team_number,
                                            int* src_stat);
void _gfortran_caf_form_team(int number, void** team, int index);
void _gfortran_caf_change_team(void** team, int unused);
void _gfortran_caf_end_team(void** team);

static int me, images;

/* Ends the job unless `good`. */
static void expect(bool good, const char* what, int image) {
  if (good) return;
  fprintf(stderr, "image %d: %s of image %d is wrong\n", me, what, image);
  _gfortran_caf_error_stop(3, false);
}

/* Starts this image, and gives it an allocatable coarray of `bytes` bytes. Returns its part. */
static void* begin(int* argc, char*** argv, void (*register_accessors)(void), size_t bytes, token_t* token) {
  _gfortran_caf_init(argc, argv);
  register_accessors();
  me = _gfortran_caf_this_image(0);
  images = _gfortran_caf_num_images(0, -1);
  descriptor_t shape = {.data = NULL};
  *token = NULL;
  _gfortran_caf_register(bytes, 1, token, &shape, NULL, NULL, 0);
  return shape.data;
}

/* Frees the coarray, and ends this image, which has found nothing wrong. */
static int end(token_t* token) {
  _gfortran_caf_deregister(token, 0, NULL, NULL, 0);
  if (me == 1) printf("%d images, all right\n", images);
  _gfortran_caf_finalize();
  return 0;
}

#endif
