// The calls that ask about a datatype, name it, commit it and free it.

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "twosided_compat/calls.hpp"
#include "twosided_compat/datatypes/datatypes.hpp"
#include "twosided_compat/objects/errors.hpp"
#include "twosided_compat/objects/object_names.hpp"
#include "util/try.hpp"
#include "util/try_assign.hpp"

namespace librma::mpi {
namespace {

/// The predefined types of a class that MPI_Type_match_size knows, with one type for each size.
struct SizedType {
  int type_class;
  int size;
  MPI_Datatype type;
};

const SizedType* sized_type(int type_class, int size) {
  static const std::array kTypes = {SizedType{MPIX_TYPECLASS_LOGICAL, 1, MPI_LOGICAL1},
                                    SizedType{MPIX_TYPECLASS_LOGICAL, 2, MPI_LOGICAL2},
                                    SizedType{MPIX_TYPECLASS_LOGICAL, 4, MPI_LOGICAL4},
                                    SizedType{MPIX_TYPECLASS_LOGICAL, 8, MPI_LOGICAL8},
                                    SizedType{MPIX_TYPECLASS_LOGICAL, 16, MPI_LOGICAL16},
                                    SizedType{MPI_TYPECLASS_INTEGER, 1, MPI_INTEGER1},
                                    SizedType{MPI_TYPECLASS_INTEGER, 2, MPI_INTEGER2},
                                    SizedType{MPI_TYPECLASS_INTEGER, 4, MPI_INTEGER4},
                                    SizedType{MPI_TYPECLASS_INTEGER, 8, MPI_INTEGER8},
                                    SizedType{MPI_TYPECLASS_INTEGER, 16, MPI_INTEGER16},
                                    SizedType{MPI_TYPECLASS_REAL, 2, MPI_REAL2},
                                    SizedType{MPI_TYPECLASS_REAL, 4, MPI_REAL4},
                                    SizedType{MPI_TYPECLASS_REAL, 8, MPI_REAL8},
                                    SizedType{MPI_TYPECLASS_REAL, 16, MPI_REAL16},
                                    SizedType{MPI_TYPECLASS_COMPLEX, 4, MPI_COMPLEX4},
                                    SizedType{MPI_TYPECLASS_COMPLEX, 8, MPI_COMPLEX8},
                                    SizedType{MPI_TYPECLASS_COMPLEX, 16, MPI_COMPLEX16},
                                    SizedType{MPI_TYPECLASS_COMPLEX, 32, MPI_COMPLEX32}};
  const auto* const found = std::find_if(kTypes.begin(), kTypes.end(), [&](const SizedType& type) {
    return type.type_class == type_class && type.size == size;
  });
  return found != kTypes.end() ? found : nullptr;
}

}  // namespace

int type_size(MPI_Datatype datatype, MPI_Count* size) {
  RMA_TRY_ASSIGN(type, find_datatype(datatype));
  *size = type->size();
  return MPI_SUCCESS;
}

int type_get_extent(MPI_Datatype datatype, MPI_Count* lb, MPI_Count* extent) {
  RMA_TRY_ASSIGN(type, find_datatype(datatype));
  *lb = type->bounds().lower;
  *extent = type->bounds().extent;
  return MPI_SUCCESS;
}

int type_get_true_extent(MPI_Datatype datatype, MPI_Count* true_lb, MPI_Count* true_extent) {
  RMA_TRY_ASSIGN(type, find_datatype(datatype));
  *true_lb = type->bounds().true_lower;
  *true_extent = type->bounds().true_extent;
  return MPI_SUCCESS;
}

int type_get_name(MPI_Datatype datatype, char* type_name, int* resultlen) {
  if (datatype == MPI_DATATYPE_NULL) return give_name("MPI_DATATYPE_NULL", type_name, resultlen);
  RMA_TRY_ASSIGN(type, find_datatype(datatype));
  return give_name(type->name(), type_name, resultlen);
}

int type_set_name(MPI_Datatype datatype, const char* type_name) {
  RMA_TRY_ASSIGN(type, find_datatype(datatype));
  if (type_name == nullptr) return failure(MPI_ERR_ARG, "type_name is null");
  // A longer name is cut: the standard lets a library keep what fits.
  type->set_name(std::string(type_name, strnlen(type_name, MPI_MAX_OBJECT_NAME - 1)));
  return MPI_SUCCESS;
}

int type_commit(MPI_Datatype* datatype) {
  RMA_TRY_ASSIGN(type, find_datatype(*datatype));
  type->commit();
  return MPI_SUCCESS;
}

int type_free(MPI_Datatype* datatype) {
  RMA_TRY_ASSIGN(type, find_datatype(*datatype));
  if (type->predefined() != nullptr)
    return failure(MPI_ERR_TYPE,
                   std::string(type->predefined()->name) + " is predefined and cannot be freed");
  RMA_TRY(type->remove_handle());
  *datatype = MPI_DATATYPE_NULL;
  return MPI_SUCCESS;
}

int type_match_size(int typeclass, int size, MPI_Datatype* datatype) {
  const SizedType* const found = sized_type(typeclass, size);
  if (found == nullptr) {
    return failure(MPI_ERR_ARG, fmt::format("no datatype of the class {} has {} bytes", typeclass, size));
  }
  *datatype = found->type;
  return MPI_SUCCESS;
}

// The standard wants MPI_DATATYPE_NULL for types that have no predefined pair.
int type_get_value_index(MPI_Datatype value_type, MPI_Datatype index_type, MPI_Datatype* pair_type) {
  RMA_TRY(find_datatype(value_type).failure());
  RMA_TRY(find_datatype(index_type).failure());
  struct KnownPair {
    MPI_Datatype value;
    MPI_Datatype index;
    MPI_Datatype pair;
  };
  static const std::array kPairs = {
      KnownPair{MPI_FLOAT, MPI_INT, MPI_FLOAT_INT},
      KnownPair{MPI_DOUBLE, MPI_INT, MPI_DOUBLE_INT},
      KnownPair{MPI_LONG, MPI_INT, MPI_LONG_INT},
      KnownPair{MPI_INT, MPI_INT, MPI_2INT},
      KnownPair{MPI_SHORT, MPI_INT, MPI_SHORT_INT},
      KnownPair{MPI_LONG_DOUBLE, MPI_INT, MPI_LONG_DOUBLE_INT},
      KnownPair{MPI_REAL, MPI_REAL, MPI_2REAL},
      KnownPair{MPI_DOUBLE_PRECISION, MPI_DOUBLE_PRECISION, MPI_2DOUBLE_PRECISION},
      KnownPair{MPI_INTEGER, MPI_INTEGER, MPI_2INTEGER}};
  const auto* const found = std::find_if(kPairs.begin(), kPairs.end(), [&](const KnownPair& known) {
    return known.value == value_type && known.index == index_type;
  });
  *pair_type = found != kPairs.end() ? found->pair : MPI_DATATYPE_NULL;
  return MPI_SUCCESS;
}

int type_get_attr(MPI_Datatype handle, int keyval, void* value, int* flag) {
  RMA_TRY_ASSIGN(type, find_datatype(handle));
  if (value == nullptr || flag == nullptr) return failure(MPI_ERR_ARG, "attribute_val or flag is null");
  return type->attributes.get(keyval, value, flag);
}

}  // namespace librma::mpi
