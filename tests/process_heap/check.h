/* The checks of these tests, in C and C++. The first that fails ends the process. */
#ifndef RMA_TESTS_PROCESS_HEAP_CHECK_H
#define RMA_TESTS_PROCESS_HEAP_CHECK_H

#include <stdio.h>
#include <stdlib.h>

#define CHECK(condition)                                                      \
  do {                                                                        \
    if (!(condition)) {                                                       \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      abort();                                                                \
    }                                                                         \
  } while (0)

#endif
