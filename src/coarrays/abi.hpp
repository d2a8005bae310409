#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

// The binary interface between the code that gfortran 12 to 14 makes with -fcoarray=lib and its library: the
// types that both know, and the functions. GCC's libgfortran/caf/libcaf.h describes it.

namespace librma::coarrays {

constexpr std::size_t kMaxDimensions = 15;

/// The types of elements (dtype of a descriptor).
enum ElementType : signed char { kInteger = 1, kLogical, kReal, kComplex, kDerived, kCharacter };

/// One dimension of an array. The stride counts elements.
struct Dimension {
  std::ptrdiff_t stride;
  std::ptrdiff_t lower;
  std::ptrdiff_t upper;
};

/// An array, or a scalar with `rank` 0. Only the first `rank` dimensions exist in memory.
struct Descriptor {
  std::byte* data;
  std::size_t offset;
  std::size_t element_bytes;
  int version;
  unsigned char rank;
  signed char type;
  short attribute;
  std::ptrdiff_t span;  ///< bytes from one element to the next, of which `stride` counts
  std::array<Dimension, kMaxDimensions> dim;
};

/// The bounds of a section, or in a list of references, of one dimension of it.
struct Triplet {
  std::ptrdiff_t first;
  std::ptrdiff_t last;
  std::ptrdiff_t step;
};

/// How one dimension is subscripted: by a vector of `count` subscripts, or if `count` is 0, by a triplet.
/// Both are in terms of the bounds that the array's descriptor has.
struct Subscripts {
  std::size_t count;
  union {
    struct {
      const void* values;
      int kind;
    } vector;
    Triplet triplet;
  };
};

/// One step of a reference such as a(2)%x(:, 3), from the coarray to the data.
struct Reference {
  enum Type : int { kComponent, kArray, kStaticArray };
  enum Mode : unsigned char { kEnd, kVector, kFull, kRange, kSingle, kOpenEnd, kOpenStart };
  const Reference* next;
  int type;
  std::size_t item_bytes;
  union {
    struct {
      std::ptrdiff_t offset;        ///< of the component in the derived type
      std::ptrdiff_t token_offset;  ///< not 0 if the component is allocatable or a pointer
    } component;
    struct {
      std::array<unsigned char, kMaxDimensions> mode;  ///< kEnd behind the last dimension
      int static_array_type;
      union Subscript {
        Triplet range;
        struct {
          const void* values;
          std::size_t count;
          int kind;
        } vector;
      };
      std::array<Subscript, kMaxDimensions> dim;
    } array;
  };
};

/// Why memory is registered, and how it is given back.
enum RegisterType : int {
  kStaticCoarray,
  kAllocatableCoarray,
  kStaticLock,
  kAllocatableLock,
  kCriticalSection,
  kStaticEvent,
  kAllocatableEvent,
  kComponentToken,   ///< only makes the token of an allocatable component
  kComponentMemory,  ///< allocates the memory of such a component
};
enum DeregisterType : int { kForget, kFreeMemory };

/// Values of `stat`, as in the module iso_fortran_env.
enum Stat : int {
  kLocked = 1,
  kLockedOtherImage = 2,
  kUnlocked = 0,
  kFailure = 1,  ///< of all statements without a value of their own
  kStoppedImage = 6000,
  kFailedImage = 6001,
  /// The statement has the lock, which an image held that has failed. gfortran 12 to 14 have no name for it.
  kUnlockedFailedImage = 6002,
};

/// The flags of co_reduce.
enum OperatorFlags : int { kResultByReference = 1, kHiddenLength = 2, kArgumentsByValue = 4 };

struct Coarray;
struct Team;

}  // namespace librma::coarrays
