/* The functions that gfortran 15 calls for coindexed objects, called from C as its code calls them. Each
 * image runs accessors at every image, its own included, and compares what it gets and what it has set. The
 * accessors follow pointers into memory that only their own image has. */

#include "accessor_interface.h"

enum { kNumbers = 100000, kWords = 20 };

/* The coarray: type with an array, a list in memory that only this image has, and a text. */
typedef struct node {
  struct node* next;
  int value;
} node_t;
typedef struct {
  double numbers[kNumbers];
  node_t* list; /* null on even images */
  char text[kWords];
  int scalar;
} object_t;

/* What the accessors of sections know of the statement: numbers(first:last:step). */
typedef struct {
  ptrdiff_t first, last, step;
} range_t;
static size_t count_of(const range_t* range) {
  return (size_t)((range->last - range->first) / range->step + 1);
}
static double number_of(int image, ptrdiff_t index) { return image * 1e6 + (double)index; }

static void get_scalar(void* data, const int* image, void** result, int32_t* allocated, void* object,
                       token_t token, size_t unused, size_t* length, const size_t* object_length) {
  (void)data, (void)image, (void)token, (void)unused, (void)length, (void)object_length;
  *allocated = 0;
  *result = &((object_t*)object)->scalar;
}
/* scalar at the end of the list, of which `data` says the place */
static void get_listed(void* data, const int* image, void** result, int32_t* allocated, void* object,
                       token_t token, size_t unused, size_t* length, const size_t* object_length) {
  (void)image, (void)token, (void)unused, (void)length, (void)object_length;
  node_t* node = ((object_t*)object)->list;
  for (int place = *(const int*)data; place > 0; --place) node = node->next;
  *allocated = 0;
  *result = &node->value;
}
static void get_section(void* data, const int* image, void** result, int32_t* allocated, void* object,
                        token_t token, size_t unused, size_t* length, const size_t* object_length) {
  (void)image, (void)token, (void)unused, (void)length, (void)object_length;
  const range_t* range = data;
  descriptor_t* array = (descriptor_t*)result;
  const size_t count = count_of(range);
  double* packed = malloc((count + 1) * sizeof *packed);
  if (packed == NULL) abort();
  for (size_t i = 0; i < count; ++i)
    packed[i] = ((object_t*)object)->numbers[range->first + (ptrdiff_t)i * range->step];
  array->data = packed;
  array->span = sizeof *packed;
  array->element_bytes = sizeof *packed;
  array->rank = 1;
  array->dim[0].stride = 1;
  array->dim[0].lower = 1;
  array->dim[0].upper = (ptrdiff_t)count;
  *allocated = 1;
}
static void get_text(void* data, const int* image, void** result, int32_t* allocated, void* object,
                     token_t token, size_t unused, size_t* length, const size_t* object_length) {
  (void)data, (void)image, (void)token, (void)unused, (void)object_length;
  char* text = ((object_t*)object)->text;
  *length = strlen(text);
  *allocated = 0;
  *result = text;
}
static void has_list(void* data, const int* image, int32_t* present, void* object, token_t token,
                     size_t unused) {
  (void)data, (void)image, (void)token, (void)unused;
  *present = ((object_t*)object)->list != NULL;
}
static void set_scalar(void* data, const int* image, void* object, const void* value, token_t token,
                       size_t unused, const size_t* length, const size_t* value_length) {
  (void)token, (void)unused, (void)length, (void)value_length;
  ((object_t*)object)->scalar = *(const int*)value + *(const int*)data + *image;
}
static void set_section(void* data, const int* image, void* object, const void* value, token_t token,
                        size_t unused, const size_t* length, const size_t* value_length) {
  (void)image, (void)token, (void)unused, (void)length, (void)value_length;
  const range_t* range = data;
  const descriptor_t* array = value;
  for (size_t i = 0; i < count_of(range); ++i)
    ((object_t*)object)->numbers[range->first + (ptrdiff_t)i * range->step] = ((const double*)array->data)[i];
}

typedef void (*getter_t)(void*, const int*, void**, int32_t*, void*, token_t, size_t, size_t*, const size_t*);
enum { kScalar, kListed, kSection, kText, kPresent, kSetScalar, kSetSection, kAccessors };
static int indices[kAccessors];
/* Hashes are in no order, and negative ones are allowed. */
static int hash_of(int accessor) { return (accessor * 7919 + 12345) * (accessor % 2 == 0 ? 1 : -1); }

static void register_all(void) {
  const getter_t all[] = {get_scalar,
                          get_listed,
                          get_section,
                          get_text,
                          (getter_t)(void (*)(void))has_list,
                          (getter_t)(void (*)(void))set_scalar,
                          (getter_t)(void (*)(void))set_section};
  for (int i = 0; i < kAccessors; ++i) _gfortran_caf_register_accessor(hash_of(i), all[i]);
  _gfortran_caf_register_accessors_finish();
  for (int i = 0; i < kAccessors; ++i) indices[i] = _gfortran_caf_get_remote_function_index(hash_of(i));
  expect(_gfortran_caf_get_remote_function_index(1) == -1, "an unknown accessor", me);
}

static void get_everything(token_t token, int image) {
  int scalar = -1;
  void* at = &scalar;
  int stat = -1;
  _gfortran_caf_get_from_remote(token, NULL, NULL, image, sizeof scalar, &at, NULL, NULL, false,
                                indices[kScalar], NULL, 0, &stat, NULL, NULL);
  expect(stat == 0 && scalar == 10 * image, "the scalar", image);

  const bool listed = _gfortran_caf_is_present_on_remote(token, image, indices[kPresent], NULL, 0) != 0;
  expect(listed == (image % 2 == 1), "the presence of the list", image);
  for (int place = 0; listed && place < 5; ++place) {
    _gfortran_caf_get_from_remote(token, NULL, NULL, image, sizeof scalar, &at, NULL, NULL, false,
                                  indices[kListed], &place, sizeof place, &stat, NULL, NULL);
    expect(scalar == image * 100 + place, "a number of the list", image);
  }

  const range_t ranges[] = {{0, 0, 1}, {3, 90, 4}, {0, kNumbers - 1, 1}, {kNumbers - 1, 0, -3}};
  for (size_t r = 0; r < sizeof ranges / sizeof *ranges; ++r) {
    range_t range = ranges[r];
    const size_t count = count_of(&range);
    for (int reallocates = 0; reallocates < 2; ++reallocates) {
      double* room = malloc((reallocates != 0 ? 1 : count) * sizeof *room);
      if (room == NULL) abort();
      descriptor_t array = {.data = room,
                            .element_bytes = sizeof *room,
                            .rank = 1,
                            .type = 3,
                            .span = sizeof *room,
                            .dim = {{1, 1, reallocates != 0 ? 1 : (ptrdiff_t)count}}};
      void* result = room;
      _gfortran_caf_get_from_remote(token, NULL, NULL, image, count * sizeof *room, &result, NULL, &array,
                                    reallocates != 0, indices[kSection], &range, sizeof range, &stat, NULL,
                                    NULL);
      expect(array.dim[0].upper == (ptrdiff_t)count, "the size of a section", image);
      for (size_t i = 0; i < count; ++i)
        expect(((double*)array.data)[i] == number_of(image, range.first + (ptrdiff_t)i * range.step),
               "a section", image);
      free(array.data);
    }
  }

  size_t length = 0;
  const size_t object_length = kWords;
  void* text = NULL;
  _gfortran_caf_get_from_remote(token, NULL, &object_length, image, 1, &text, &length, NULL, true,
                                indices[kText], NULL, 0, &stat, NULL, NULL);
  char right[kWords];
  snprintf(right, sizeof right, "image %d", image * image * image);
  expect(length == strlen(right) && memcmp(text, right, length) == 0, "the text", image);
  free(text);
}

/* Each image sets a part of the numbers of the next one, and copies a part of that to the one behind. */
static void set_everything(token_t token, object_t* mine) {
  const int next = me % images + 1;
  const int third = next % images + 1;
  int base = 1000;
  int stat = -1;
  const int value = 7;
  _gfortran_caf_send_to_remote(token, NULL, NULL, next, sizeof value, &value, NULL, NULL, indices[kSetScalar],
                               &base, sizeof base, &stat, NULL, NULL);
  expect(stat == 0, "setting the scalar", next);

  range_t whole = {0, kNumbers / 2 - 1, 1};
  const size_t count = count_of(&whole);
  double* values = malloc(count * sizeof *values);
  if (values == NULL) abort();
  for (size_t i = 0; i < count; ++i) values[i] = -number_of(me, (ptrdiff_t)i);
  const descriptor_t array = {.data = values,
                              .element_bytes = sizeof *values,
                              .rank = 1,
                              .type = 3,
                              .span = sizeof *values,
                              .dim = {{1, 1, (ptrdiff_t)count}}};
  _gfortran_caf_send_to_remote(token, NULL, NULL, next, count * sizeof *values, values, NULL, &array,
                               indices[kSetSection], &whole, sizeof whole, &stat, NULL, NULL);
  range_t from = {10, 4009, 1};
  range_t to = {kNumbers - 1, kNumbers - 4000, -1};
  _gfortran_caf_transfer_between_remotes(token, NULL, NULL, third, indices[kSetSection], &to, sizeof to,
                                         token, NULL, NULL, next, indices[kSection], &from, sizeof from,
                                         4000 * sizeof(double), false, &stat, NULL, NULL, &stat);
  free(values);
  _gfortran_caf_sync_all(NULL, NULL, 0);
  const int before = (me + images - 2) % images + 1;
  const int second = (before + images - 2) % images + 1;
  expect(mine->scalar == value + base + before, "the scalar that was set", before);
  for (size_t i = 0; i < count; ++i)
    expect(mine->numbers[i] == -number_of(before, (ptrdiff_t)i), "a section that was set", before);
  for (ptrdiff_t i = 0; i < 4000; ++i)
    expect(mine->numbers[kNumbers - 1 - i] == -number_of(second, 10 + i), "a section that was copied",
           second);
}

int main(int argc, char** argv) {
  token_t token;
  object_t* mine = begin(&argc, &argv, register_all, sizeof(object_t), &token);
  for (int i = 0; i < kNumbers; ++i) mine->numbers[i] = number_of(me, i);
  node_t nodes[5];
  for (int i = 0; i < 5; ++i)
    nodes[i] = (node_t){.next = i < 4 ? &nodes[i + 1] : NULL, .value = me * 100 + i};
  mine->list = me % 2 == 1 ? nodes : NULL;
  snprintf(mine->text, sizeof mine->text, "image %d", me * me * me);
  mine->scalar = 10 * me;
  _gfortran_caf_sync_all(NULL, NULL, 0);

  for (int i = 0; i < images; ++i) get_everything(token, (me + i) % images + 1);
  int stat = 0;
  int scalar = 0;
  void* at = &scalar;
  _gfortran_caf_get_from_remote(token, NULL, NULL, images + 1, sizeof scalar, &at, NULL, NULL, false,
                                indices[kScalar], NULL, 0, &stat, NULL, NULL);
  expect(stat != 0, "the status of no image", images + 1);
  _gfortran_caf_sync_all(NULL, NULL, 0);
  set_everything(token, mine);
  _gfortran_caf_sync_all(NULL, NULL, 0);
  return end(&token);
}
