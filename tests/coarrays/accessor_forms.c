/* What accessors of gfortran 15 do beside reading their object: ask the caller for more data, allocate
 * components, take dummy arguments and characters, and name teams. As accessors.c, from C. */

#include "accessor_interface.h"

enum { kNumbers = 5000, kWords = 6, kWordBytes = 5 };

/* The coarray. Its component `list` is allocatable. */
typedef struct {
  int numbers[kNumbers];
  char words[kWords][kWordBytes];
  int* list;
  int listed;
} object_t;

/* The data of an accessor of numbers(places): the subscripts are in memory of the caller. */
typedef struct {
  const int* places;
  size_t count;
} places_t;

static int indices[8];
enum { kPlaces, kGetPlaced, kSetPlaced, kDummy, kWordsOf, kAllocate, kListed, kHasList };

static int number_of(int image, size_t index) { return image * 100000 + (int)index; }

static descriptor_t list_of(void* data, size_t count, size_t bytes, signed char type) {
  return (descriptor_t){.data = data,
                        .offset = (size_t)-1,
                        .element_bytes = bytes,
                        .rank = 1,
                        .type = type,
                        .span = (ptrdiff_t)bytes,
                        .dim = {{1, 1, (ptrdiff_t)count}}};
}

static void* memory(size_t bytes) {
  void* const made = malloc(bytes);
  if (made == NULL) abort();
  return made;
}

/* Runs at the caller, in whose memory the object is: its own data. */
static void get_places(void* data, const int* image, void** result, int32_t* allocated, void* object,
                       token_t token, size_t unused, size_t* length, const size_t* object_length) {
  (void)data, (void)image, (void)token, (void)unused, (void)length, (void)object_length;
  const places_t* asked = object;
  *(descriptor_t*)result = list_of(memory((asked->count + 1) * sizeof(int)), asked->count, sizeof(int), 1);
  memcpy(((descriptor_t*)result)->data, asked->places, asked->count * sizeof(int));
  *allocated = 1;
}
/* Returns the subscripts, which are freed by the caller. */
static int* ask_places(token_t token, int image, size_t* count) {
  descriptor_t places = list_of(NULL, 0, sizeof(int), 1);
  void* at = NULL;
  _gfortran_caf_get_from_remote(token, NULL, NULL, image, 0, &at, NULL, &places, true, indices[kPlaces], NULL,
                                0, NULL, NULL, NULL);
  *count = (size_t)places.dim[0].upper;
  return places.data;
}
static void get_placed(void* data, const int* image, void** result, int32_t* allocated, void* object,
                       token_t token, size_t unused, size_t* length, const size_t* object_length) {
  (void)data, (void)unused, (void)length, (void)object_length;
  size_t count = 0;
  int* places = ask_places(token, *image, &count);
  for (size_t i = 0; i < count; ++i) places[i] = ((object_t*)object)->numbers[places[i]];
  *(descriptor_t*)result = list_of(places, count, sizeof(int), 1);
  *allocated = 1;
}
static void set_placed(void* data, const int* image, void* object, const void* value, token_t token,
                       size_t unused, const size_t* object_length, const size_t* value_length) {
  (void)data, (void)unused, (void)object_length, (void)value_length;
  size_t count = 0;
  int* places = ask_places(token, *image, &count);
  const int* values = ((const descriptor_t*)value)->data;
  for (size_t i = 0; i < count; ++i) ((object_t*)object)->numbers[places[i]] = values[i];
  free(places);
}

/* numbers of a dummy argument, whose descriptor says where it begins */
static void get_dummy(void* data, const int* image, void** result, int32_t* allocated, void* object,
                      token_t token, size_t unused, size_t* length, const size_t* object_length) {
  (void)data, (void)image, (void)token, (void)unused, (void)length, (void)object_length;
  *allocated = 0;
  *result = (int*)((descriptor_t*)object)->data + ((descriptor_t*)object)->dim[0].lower;
}

/* words(2:4), of which `length` says the characters */
static void get_words(void* data, const int* image, void** result, int32_t* allocated, void* object,
                      token_t token, size_t unused, size_t* length, const size_t* object_length) {
  (void)data, (void)image, (void)token, (void)unused;
  char* words = memory(3 * *length);
  for (size_t i = 0; i < 3; ++i)
    memcpy(words + i * *length, ((object_t*)object)->words[i + 1], *object_length);
  *(descriptor_t*)result = list_of(words, 3, *length, 6);
  *allocated = 1;
}

/* list = value, which allocates it */
static void set_list(void* data, const int* image, void* object, const void* value, token_t token,
                     size_t unused, const size_t* object_length, const size_t* value_length) {
  (void)data, (void)image, (void)token, (void)unused, (void)object_length, (void)value_length;
  object_t* mine = object;
  const descriptor_t* values = value;
  mine->listed = (int)values->dim[0].upper;
  mine->list = realloc(mine->list, (size_t)mine->listed * sizeof(int));
  if (mine->list == NULL) abort();
  memcpy(mine->list, values->data, (size_t)mine->listed * sizeof(int));
}
static void get_list(void* data, const int* image, void** result, int32_t* allocated, void* object,
                     token_t token, size_t unused, size_t* length, const size_t* object_length) {
  (void)data, (void)image, (void)token, (void)unused, (void)length, (void)object_length;
  const object_t* mine = object;
  *(descriptor_t*)result = list_of(mine->list, (size_t)mine->listed, sizeof(int), 1);
  *allocated = 0;
}
static void has_list(void* data, const int* image, int32_t* present, void* object, token_t token,
                     size_t unused) {
  (void)data, (void)image, (void)token, (void)unused;
  *present = ((object_t*)object)->list != NULL;
}

static void register_all(void) {
  const getter_t all[] = {get_places,
                          get_placed,
                          (getter_t)(void (*)(void))set_placed,
                          get_dummy,
                          get_words,
                          (getter_t)(void (*)(void))set_list,
                          get_list,
                          (getter_t)(void (*)(void))has_list};
  for (int i = 0; i < 8; ++i) _gfortran_caf_register_accessor(1000 - i, all[i]);
  _gfortran_caf_register_accessors_finish();
  for (int i = 0; i < 8; ++i) indices[i] = _gfortran_caf_get_remote_function_index(1000 - i);
}

/* d = numbers(places)[image], more than once: the first run of an accessor is not as the others. The long
 * vector is several messages. `initial` is the image's number in the initial team. */
static void get_by_vectors(token_t token, int image, int initial) {
  static int places[4000];
  const size_t counts[] = {3, 1, 4000, 0, 7};
  for (size_t r = 0; r < sizeof counts / sizeof *counts; ++r) {
    places_t data = {places, counts[r]};
    for (size_t i = 0; i < data.count; ++i) places[i] = (int)((i * 7919 + (size_t)me) % kNumbers);
    descriptor_t got = list_of(NULL, 0, sizeof(int), 1);
    void* at = NULL;
    _gfortran_caf_get_from_remote(token, NULL, NULL, image, 0, &at, NULL, &got, true, indices[kGetPlaced],
                                  &data, sizeof data, NULL, NULL, NULL);
    expect(got.dim[0].upper == (ptrdiff_t)data.count, "the number of placed numbers", image);
    for (size_t i = 0; i < data.count; ++i)
      expect(((int*)got.data)[i] == number_of(initial, (size_t)places[i]), "a placed number", image);
    free(got.data);
  }
}

/* numbers(places)[next] = values, each image its own places */
static void set_by_vectors(token_t token, object_t* mine) {
  const int next = me % images + 1;
  const int before = (me + images - 2) % images + 1;
  const int places[] = {4, 2, 4999};
  int values[] = {-me, -2 * me, -3 * me};
  places_t data = {places, 3};
  const descriptor_t value = list_of(values, 3, sizeof(int), 1);
  for (int round = 0; round < 3; ++round) {
    int stat = -1;
    _gfortran_caf_send_to_remote(token, NULL, NULL, next, sizeof values, values, NULL, &value,
                                 indices[kSetPlaced], &data, sizeof data, &stat, NULL, NULL);
    expect(stat == 0, "the status of setting placed numbers", next);
    _gfortran_caf_sync_all(NULL, NULL, 0);
    for (int i = 0; i < 3; ++i) {
      expect(mine->numbers[places[i]] == -before * (i + 1), "a placed number that was set", before);
      mine->numbers[places[i]] = number_of(me, (size_t)places[i]);
    }
    _gfortran_caf_sync_all(NULL, NULL, 0);
  }
}

static void get_dummies(token_t token, const object_t* mine, int image) {
  for (size_t first = 0; first < 300; first += 100) {
    const descriptor_t dummy = list_of((void*)(mine->numbers + first), kNumbers - first, sizeof(int), 1);
    int got = -1;
    void* at = &got;
    _gfortran_caf_get_from_remote(token, &dummy, NULL, image, sizeof got, &at, NULL, NULL, false,
                                  indices[kDummy], NULL, 0, NULL, NULL, NULL);
    expect(got == number_of(image, first + 1), "a number of a dummy argument", image);
  }
}

static void get_characters(token_t token, int image) {
  const size_t object_length = kWordBytes;
  size_t length = kWordBytes;
  char room[3][kWordBytes];
  descriptor_t got = list_of(room, 3, kWordBytes, 6);
  void* at = room;
  _gfortran_caf_get_from_remote(token, NULL, &object_length, image, 1, &at, &length, &got, false,
                                indices[kWordsOf], NULL, 0, NULL, NULL, NULL);
  for (int i = 0; i < 3; ++i) {
    char right[32];
    snprintf(right, sizeof right, "w%d%d  ", image, i + 1);
    expect(memcmp(room[i], right, kWordBytes) == 0, "a word", image);
  }
}

/* The next image has no list, gets one, and then a longer one. */
static void allocate_lists(token_t token) {
  const int next = me % images + 1;
  static int values[3000];
  for (int i = 0; i < 3000; ++i) values[i] = me * 7 + i;
  expect(_gfortran_caf_is_present_on_remote(token, next, indices[kHasList], NULL, 0) == 0, "no list", next);
  for (size_t count = 10; count <= 3000; count *= 300) {
    const descriptor_t value = list_of(values, count, sizeof(int), 1);
    _gfortran_caf_send_to_remote(token, NULL, NULL, next, count * sizeof(int), values, NULL, &value,
                                 indices[kAllocate], NULL, 0, NULL, NULL, NULL);
    descriptor_t got = list_of(NULL, 0, sizeof(int), 1);
    void* at = NULL;
    _gfortran_caf_get_from_remote(token, NULL, NULL, next, 0, &at, NULL, &got, true, indices[kListed], NULL,
                                  0, NULL, NULL, NULL);
    expect(got.dim[0].upper == (ptrdiff_t)count && memcmp(got.data, values, count * sizeof(int)) == 0,
           "the list", next);
    free(got.data);
  }
  expect(_gfortran_caf_is_present_on_remote(token, next, indices[kHasList], NULL, 0) != 0, "the list", next);
}

static int number_by_team(token_t token, const object_t* mine, int image, void** team, int* number,
                          int* stat) {
  const descriptor_t all = list_of((void*)mine->numbers, kNumbers, sizeof(int), 1);
  int got = -1;
  void* at = &got;
  _gfortran_caf_get_from_remote(token, &all, NULL, image, sizeof got, &at, NULL, NULL, false, indices[kDummy],
                                NULL, 0, stat, team, number);
  return got;
}

/* The images with odd and with even numbers are teams. */
static void name_teams(token_t token, const object_t* mine) {
  void* team = NULL;
  int stat = 0;
  number_by_team(token, mine, 1, &team, NULL, &stat);
  expect(stat != 0, "the status of a team that was not formed", 1);
  const int first = me % 2 == 1 ? 1 : 2;
  const int members = (images - first) / 2 + 1;
  _gfortran_caf_form_team(first, &team, 0);
  for (int i = 1; i <= members; ++i)
    expect(number_by_team(token, mine, i, &team, NULL, &stat) == number_of(first + 2 * (i - 1), 1),
           "a number by team", i);
  number_by_team(token, mine, members + 1, &team, NULL, &stat);
  expect(stat != 0, "the status of no image of a team", members + 1);
  _gfortran_caf_change_team(&team, 0);
  int initial = -1;
  expect(number_by_team(token, mine, images, NULL, &initial, &stat) == number_of(images, 1),
         "a number by the initial team", images);
  expect(number_by_team(token, mine, members, NULL, NULL, &stat) == number_of(first + 2 * (members - 1), 1),
         "a number in a team", members);
  /* An accessor counts its caller in the initial team. */
  get_by_vectors(token, 1, first);
  _gfortran_caf_end_team(&team);
}

int main(int argc, char** argv) {
  token_t token;
  object_t* mine = begin(&argc, &argv, register_all, sizeof(object_t), &token);
  for (size_t i = 0; i < kNumbers; ++i) mine->numbers[i] = number_of(me, i);
  for (int i = 0; i < kWords; ++i) {
    char word[32];
    snprintf(word, sizeof word, "w%d%d  ", me, i);
    memcpy(mine->words[i], word, kWordBytes);
  }
  mine->list = NULL;
  _gfortran_caf_sync_all(NULL, NULL, 0);

  for (int i = 0; i < images; ++i) {
    const int image = (me + i) % images + 1;
    get_by_vectors(token, image, image);
    get_dummies(token, mine, image);
    get_characters(token, image);
  }
  _gfortran_caf_sync_all(NULL, NULL, 0);
  set_by_vectors(token, mine);
  allocate_lists(token);
  if (images > 1) name_teams(token, mine);
  _gfortran_caf_sync_all(NULL, NULL, 0);
  free(mine->list);
  return end(&token);
}
