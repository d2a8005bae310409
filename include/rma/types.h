/**
 * @file types.h
 * The types and constants of rma.h, which includes this file: status codes, element types, operators,
 * handles.
 */
#ifndef RMA_TYPES_H
#define RMA_TYPES_H

#include <stddef.h>
#include <stdint.h>

#define RMA_VERSION_MAJOR 0
#define RMA_VERSION_MINOR 1
#define RMA_VERSION_PATCH 0

#ifdef __cplusplus
#define RMA_ENUM : int
extern "C" {
#else
#define RMA_ENUM
#endif

/** The status codes that calls return. */
typedef enum rma_status RMA_ENUM {
  RMA_SUCCESS = 0,
  RMA_ERR_NOT_INITIALIZED = 1, /**< the call was made before rma_init or after rma_finalize */
  RMA_ERR_ARGUMENT = 2,        /**< a null pointer, an unknown enumerator, or an invalid handle */
  RMA_ERR_RANK = 3,            /**< the team has no such rank */
  RMA_ERR_SIZE = 4,            /**< a size or count overflows, or totals differ */
  RMA_ERR_ALIGNMENT = 5,       /**< an address is not aligned as its type requires, or an alignment is not a
                                    power of two */
  RMA_ERR_ADDRESS = 6,         /**< the memory is neither in the target's heap nor registered there. The check
                                    covers the heap's bounds, not whether the block is allocated. */
  RMA_ERR_NO_MEMORY = 7,       /**< the heap or the system has no memory left */
  RMA_ERR_SETTING = 8,         /**< an RMA_ environment variable is malformed, or unequal on two ranks */
  RMA_ERR_LAUNCH = 9,          /**< the launcher's services failed */
  RMA_ERR_PEER_LOST = 10,      /**< the other process has ended or cannot be reached */
  RMA_ERR_UNSUPPORTED = 11,    /**< the path to that memory does not support the operation */
  RMA_ERR_SYSTEM = 12,         /**< a system call failed; the text contains its errno */
  RMA_ERR_STATE = 13,          /**< the call does not fit the present state, for example it unlocks a mutex
                                    that the caller does not hold */
  RMA_ERR_VERSION = 14,        /**< two processes of the job were built from different versions of librma */
  RMA_ERR_TRUNCATED = 15,      /**< a message is longer than the buffer of its receive */
  RMA_ERR_CANCELED = 16        /**< the send or receive was cancelled */
} rma_status_t;

/** Element types of accumulate and reductions. */
typedef enum rma_type RMA_ENUM {
  RMA_INT = 0,           /**< int */
  RMA_LONG = 1,          /**< long */
  RMA_LONG_LONG = 2,     /**< long long */
  RMA_FLOAT = 3,         /**< float */
  RMA_DOUBLE = 4,        /**< double */
  RMA_COMPLEX_FLOAT = 5, /**< two floats: real, imaginary */
  RMA_COMPLEX_DOUBLE = 6 /**< two doubles: real, imaginary */
} rma_type_t;

/** Operators of reductions. RMA_MIN and RMA_MAX are not defined for complex types. RMA_BAND, RMA_BOR and
 *  RMA_BXOR (bitwise and, or, exclusive or) are defined for integers only. */
typedef enum rma_reduction RMA_ENUM {
  RMA_SUM = 0,
  RMA_PROD = 1,
  RMA_MIN = 2,
  RMA_MAX = 3,
  RMA_BAND = 4,
  RMA_BOR = 5,
  RMA_BXOR = 6
} rma_reduction_t;

/** Atomic read-modify-write operations. */
typedef enum rma_atomic_op RMA_ENUM {
  RMA_FETCH_ADD = 0,
  RMA_SWAP = 1,
  RMA_COMPARE_SWAP = 2, /**< stores the operand if the old value equals `compare` */
  RMA_AND = 3,
  RMA_OR = 4,
  RMA_XOR = 5,
  RMA_SET = 6,  /**< stores the operand, as RMA_SWAP does; for a caller that does not need the old value */
  RMA_FETCH = 7 /**< reads the value and ignores the operand */
} rma_atomic_op_t;

/** Comparisons for rma_wait_until and its relatives: the flag's value is on the left, the given value on the
 *  right. rma_wait_until compares them as unsigned integers. */
typedef enum rma_compare RMA_ENUM {
  RMA_EQ = 0,
  RMA_NE = 1,
  RMA_LT = 2,
  RMA_LE = 3,
  RMA_GT = 4,
  RMA_GE = 5
} rma_compare_t;

/** Words of this process that other ranks write, and what a caller of rma_wait_until_all, rma_test_until_all
 *  or their relatives wants of them. */
typedef struct rma_words {
  const void* words; /**< the first of `count` words that follow each other, aligned to the size of one */
  size_t count;
  size_t bytes;          /**< of a word: 2, 4 or 8 */
  int is_signed;         /**< 1: the words are compared as signed integers; 0: as unsigned ones */
  const int* left_out;   /**< for each word, a value other than 0 if it is left out; null: none is */
  rma_compare_t compare; /**< the word is on the left, its value on the right */
  const void* values;    /**< what the words are compared with, of the same size */
  int one_value;         /**< 1: `values` is one value for all words; 0: one for each */
} rma_words_t;

/** A team is an ordered subset of the job's ranks. The handle is local: it is valid in this process only. */
typedef struct rma_team* rma_team_t;

/** A set of mutexes that were created together. The handle is local: it is valid in this process only. */
typedef struct rma_mutexes* rma_mutexes_t;

/** A completion context: a part of this process's operations that is fenced apart from the others. The handle
 *  is local: it is valid in this process only. RMA_CONTEXT_DEFAULT is the context of threads that have chosen
 *  no other. */
typedef struct rma_context* rma_context_t;
#define RMA_CONTEXT_DEFAULT ((rma_context_t)0)

/** A request names a nonblocking operation that has not been waited for yet. The operation may be under way
 *  or complete. RMA_REQUEST_NULL names no operation and counts as complete. */
typedef uint64_t rma_request_t;
#define RMA_REQUEST_NULL ((rma_request_t)0)

/** The request of an operation that was complete when it was issued. All such operations share this one
 *  value. Waiting for it only makes the caller's variable RMA_REQUEST_NULL, so a second wait for a copy of it
 *  is not detected. */
#define RMA_REQUEST_COMPLETE ((rma_request_t)1)

/** The maximum number of stride levels of a strided transfer. */
#define RMA_MAX_LEVELS 16

/** One descriptor of an I/O vector. It describes `segments` segments of `bytes` bytes each. Segment i goes
 *  from src[i] to dst[i]. */
typedef struct rma_iov {
  void* const* dst;
  const void* const* src;
  size_t segments;
  size_t bytes;
} rma_iov_t;

/**
 * Functions by which the processes of a job find each other, for a program that has means of its own, such as
 * an MPI. The library calls allgather and barrier only inside rma_init_with and rma_finalize, in the thread
 * that makes that call, and in the same order on all processes. Both return 0 for success.
 */
typedef struct rma_bootstrap {
  int rank; /**< the rank of this process, 0 to size - 1 */
  int size; /**< the number of processes of the job */
  /** Gathers `bytes` bytes of each process, in the order of ranks, into every process's `all`. Collective. */
  int (*allgather)(void* context, const void* mine, void* all, size_t bytes);
  /** Returns when all processes have called it. Collective. */
  int (*barrier)(void* context);
  /** Ends all processes with `exit_code`. Any thread may call it, at any time until rma_finalize. It may be
   *  null; then an abort ends only this process. */
  void (*abort)(void* context, int exit_code);
  void* context; /**< the library passes it to the functions above */
} rma_bootstrap_t;

#undef RMA_ENUM

#ifdef __cplusplus
}
#endif

#endif
