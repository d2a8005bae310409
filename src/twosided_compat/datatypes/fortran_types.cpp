// The datatypes of Fortran that are chosen by precision and range.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "twosided_compat/calls.hpp"
#include "twosided_compat/datatypes/datatypes.hpp"
#include "twosided_compat/objects/errors.hpp"
#include "util/try_assign.hpp"

namespace librma::mpi {
namespace {

/// Gives the program the type that these arguments choose, which is the same as `base`. The same arguments
/// choose the same handle, and nobody frees it (MPI 4.1, section 19.1.9).
int choose(int combiner, const std::vector<int>& arguments, MPI_Datatype base, MPI_Datatype* newtype) {
  RMA_TRY_ASSIGN(type, find_datatype(base));
  static std::mutex lock;
  // Never destroyed, because the program's own destructors may still make calls.
  static auto* const kChosen = new std::map<std::pair<int, std::vector<int>>, Datatype*>;
  const std::lock_guard guard(lock);
  Datatype*& chosen = (*kChosen)[{combiner, arguments}];
  if (chosen == nullptr) {
    TypeContents contents(combiner, Form::kPlain);
    contents.add_ints(arguments.data(), static_cast<int>(arguments.size()));
    chosen = new Datatype(*type, std::move(contents));
  }
  *newtype = chosen->handle<MPI_Datatype>();
  return MPI_SUCCESS;
}

/// The kinds of gfortran for which there are datatypes. A kind holds `digits` decimal digits, and exponents
/// of 10 up to `range`.
struct RealKind {
  int digits;
  int range;
  MPI_Datatype real;
  MPI_Datatype complex;
};

const RealKind* find_real(int digits, int range) {
  static const std::array kKinds = {RealKind{6, 37, MPI_REAL4, MPI_COMPLEX8},
                                    RealKind{15, 307, MPI_REAL8, MPI_COMPLEX16},
                                    RealKind{33, 4931, MPI_REAL16, MPI_COMPLEX32}};
  const auto* const found = std::find_if(kKinds.begin(), kKinds.end(), [&](const RealKind& kind) {
    return (digits == MPI_UNDEFINED || digits <= kind.digits) &&
           (range == MPI_UNDEFINED || range <= kind.range);
  });
  return found != kKinds.end() ? found : nullptr;
}

int make_real(int combiner, int digits, int range, MPI_Datatype RealKind::*type, MPI_Datatype* newtype) {
  if (digits == MPI_UNDEFINED && range == MPI_UNDEFINED)
    return failure(MPI_ERR_ARG, "both p and r are MPI_UNDEFINED");
  const RealKind* const kind = find_real(digits, range);
  if (kind == nullptr)
    return failure(MPI_ERR_ARG, fmt::format("no kind has {} digits and a range of {}", digits, range));
  return choose(combiner, {digits, range}, kind->*type, newtype);
}

}  // namespace

int type_create_f90_real(int p, int r, MPI_Datatype* newtype) {
  return make_real(MPI_COMBINER_F90_REAL, p, r, &RealKind::real, newtype);
}

int type_create_f90_complex(int p, int r, MPI_Datatype* newtype) {
  return make_real(MPI_COMBINER_F90_COMPLEX, p, r, &RealKind::complex, newtype);
}

int type_create_f90_integer(int r, MPI_Datatype* newtype) {
  struct IntegerKind {
    int digits;
    MPI_Datatype type;
  };
  static const std::array kKinds = {IntegerKind{2, MPI_INTEGER1}, IntegerKind{4, MPI_INTEGER2},
                                    IntegerKind{9, MPI_INTEGER4}, IntegerKind{18, MPI_INTEGER8},
                                    IntegerKind{38, MPI_INTEGER16}};
  const auto* const found =
      std::find_if(kKinds.begin(), kKinds.end(), [&](const IntegerKind& kind) { return r <= kind.digits; });
  if (found == kKinds.end()) return failure(MPI_ERR_ARG, fmt::format("no kind has integers of {} digits", r));
  return choose(MPI_COMBINER_F90_INTEGER, {r}, found->type, newtype);
}

}  // namespace librma::mpi
