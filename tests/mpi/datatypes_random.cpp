// Random nested datatypes beside their type maps: packing, messages between different types of one signature,
// counts of messages that came in part, truncated messages, and types that are made again from their
// contents.

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include "type_maker.hpp"

namespace {

using mpi_test::Element;
using mpi_test::rank_in;
using mpi_test::size_of;
using mpi_test::TypeMaker;
using mpi_test::TypeMemory;
using mpi_test::TypeModel;

constexpr int kTypes = 150;
constexpr int kDepth = 4;

void packs(TypeMaker& maker, const TypeModel& model) {
  const int count = maker.below(4);
  TypeMemory memory(model, count);
  memory.fill(1);
  const std::vector<unsigned char> expected = memory.data(model, count);
  int size = -1;
  SUCCEEDS(MPI_Pack_size(count, model.type, MPI_COMM_WORLD, &size));
  CHECK(static_cast<std::size_t>(size) == expected.size());
  // The packed data lie behind something else, and in front of something.
  std::vector<unsigned char> packed(expected.size() + 5, 0xAA);
  int position = 3;
  SUCCEEDS(MPI_Pack(memory.address(), count, model.type, packed.data(), static_cast<int>(packed.size()),
                    &position, MPI_COMM_WORLD));
  CHECK(static_cast<std::size_t>(position) == expected.size() + 3);
  CHECK(std::equal(expected.begin(), expected.end(), packed.begin() + 3));
  CHECK(packed[2] == 0xAA && packed[expected.size() + 3] == 0xAA);

  // Unpacking changes the elements, and not what lies between them.
  TypeMemory target(model, count);
  TypeMemory wanted(model, count);
  target.fill(2);
  wanted.fill(2);
  wanted.place(model, count, expected);
  position = 3;
  SUCCEEDS(MPI_Unpack(packed.data(), static_cast<int>(packed.size()), &position, target.address(), count,
                      model.type, MPI_COMM_WORLD));
  CHECK(static_cast<std::size_t>(position) == expected.size() + 3);
  CHECK(target.all() == wanted.all());

  if (expected.empty()) return;
  position = 0;
  CHECK(MPI_Pack(memory.address(), count, model.type, packed.data(), static_cast<int>(expected.size()) - 1,
                 &position, MPI_COMM_WORLD) == MPI_ERR_TRUNCATE);
  CHECK(position == 0);
}

/// Swaps the bytes of the elements of a message, which makes external32 of it: none of the elements here has
/// another size there.
std::vector<unsigned char> swapped(const TypeModel& model, int count, std::vector<unsigned char> bytes) {
  auto at = bytes.begin();
  for (int i = 0; i < count; ++i) {
    for (const Element& one : model.map) {
      std::reverse(at, at + one.bytes);
      at += one.bytes;
    }
  }
  return bytes;
}

void packs_external(TypeMaker& maker, const TypeModel& model) {
  const int count = maker.below(3);
  TypeMemory memory(model, count);
  memory.fill(3);
  const std::vector<unsigned char> data = memory.data(model, count);
  MPI_Aint size = -1;
  SUCCEEDS(MPI_Pack_external_size("external32", count, model.type, &size));
  CHECK(static_cast<std::size_t>(size) == data.size());
  std::vector<unsigned char> packed(data.size() + 1);
  MPI_Aint position = 0;
  SUCCEEDS(
      MPI_Pack_external("external32", memory.address(), count, model.type, packed.data(), size, &position));
  packed.pop_back();
  CHECK(position == size && packed == swapped(model, count, data));
  TypeMemory target(model, count);
  TypeMemory wanted(model, count);
  wanted.place(model, count, data);
  position = 0;
  SUCCEEDS(
      MPI_Unpack_external("external32", packed.data(), size, &position, target.address(), count, model.type));
  CHECK(position == size && target.all() == wanted.all());
}

/// The arguments that made a type.
struct Contents {
  int combiner = MPI_COMBINER_NAMED;
  std::vector<int> integers;
  std::vector<MPI_Aint> addresses;
  std::vector<MPI_Datatype> types;
};

Contents contents_of(MPI_Datatype type) {
  Contents contents;
  int integers = -1;
  int addresses = -1;
  int types = -1;
  SUCCEEDS(MPI_Type_get_envelope(type, &integers, &addresses, &types, &contents.combiner));
  if (contents.combiner == MPI_COMBINER_NAMED) return contents;
  // One more than is needed, so that the pointers are not null.
  contents.integers.resize(static_cast<std::size_t>(integers) + 1);
  contents.addresses.resize(static_cast<std::size_t>(addresses) + 1);
  contents.types.resize(static_cast<std::size_t>(types));
  SUCCEEDS(MPI_Type_get_contents(type, integers + 1, addresses + 1, types, contents.integers.data(),
                                 contents.addresses.data(), contents.types.data()));
  return contents;
}

/// Makes a type again from what the library says about it. The caller frees the result unless it is
/// predefined.
MPI_Datatype made_again(MPI_Datatype type) {
  Contents contents = contents_of(type);
  if (contents.combiner == MPI_COMBINER_NAMED) return type;
  std::vector<MPI_Datatype> parts;
  for (MPI_Datatype& part : contents.types) {
    parts.push_back(made_again(part));
    int none = 0;
    int combiner = 0;
    SUCCEEDS(MPI_Type_get_envelope(part, &none, &none, &none, &combiner));
    if (combiner != MPI_COMBINER_NAMED) SUCCEEDS(MPI_Type_free(&part));
  }
  const int* const ints = contents.integers.data();
  const MPI_Aint* const addresses = contents.addresses.data();
  const MPI_Datatype part = parts.front();
  MPI_Datatype made = MPI_DATATYPE_NULL;
  switch (contents.combiner) {
    case MPI_COMBINER_DUP:
      SUCCEEDS(MPI_Type_dup(part, &made));
      break;
    case MPI_COMBINER_CONTIGUOUS:
      SUCCEEDS(MPI_Type_contiguous(ints[0], part, &made));
      break;
    case MPI_COMBINER_VECTOR:
      SUCCEEDS(MPI_Type_vector(ints[0], ints[1], ints[2], part, &made));
      break;
    case MPI_COMBINER_HVECTOR:
      SUCCEEDS(MPI_Type_create_hvector(ints[0], ints[1], addresses[0], part, &made));
      break;
    case MPI_COMBINER_INDEXED:
      SUCCEEDS(MPI_Type_indexed(ints[0], ints + 1, ints + 1 + ints[0], part, &made));
      break;
    case MPI_COMBINER_HINDEXED:
      SUCCEEDS(MPI_Type_create_hindexed(ints[0], ints + 1, addresses, part, &made));
      break;
    case MPI_COMBINER_INDEXED_BLOCK:
      SUCCEEDS(MPI_Type_create_indexed_block(ints[0], ints[1], ints + 2, part, &made));
      break;
    case MPI_COMBINER_HINDEXED_BLOCK:
      SUCCEEDS(MPI_Type_create_hindexed_block(ints[0], ints[1], addresses, part, &made));
      break;
    case MPI_COMBINER_STRUCT:
      SUCCEEDS(MPI_Type_create_struct(ints[0], ints + 1, addresses, parts.data(), &made));
      break;
    case MPI_COMBINER_SUBARRAY: {
      const int n = ints[0];
      SUCCEEDS(MPI_Type_create_subarray(n, ints + 1, ints + 1 + n, ints + 1 + 2 * n, ints[1 + 3 * n], part,
                                        &made));
      break;
    }
    case MPI_COMBINER_DARRAY: {
      const int n = ints[2];
      SUCCEEDS(MPI_Type_create_darray(ints[0], ints[1], n, ints + 3, ints + 3 + n, ints + 3 + 2 * n,
                                      ints + 3 + 3 * n, ints[3 + 4 * n], part, &made));
      break;
    }
    case MPI_COMBINER_RESIZED:
      SUCCEEDS(MPI_Type_create_resized(part, addresses[0], addresses[1], &made));
      break;
    default:
      CHECK(!"a known combiner");
  }
  for (std::size_t i = 0; i < parts.size(); ++i) {
    int none = 0;
    int combiner = 0;
    SUCCEEDS(MPI_Type_get_envelope(parts[i], &none, &none, &none, &combiner));
    if (combiner != MPI_COMBINER_NAMED) SUCCEEDS(MPI_Type_free(&parts[i]));
  }
  return made;
}

void contents_make_the_type_again(const TypeModel& model) {
  TypeModel again = model;
  again.type = made_again(model.type);
  if (again.type == model.type) return;
  SUCCEEDS(MPI_Type_commit(&again.type));
  again.check_bounds();
  TypeMemory memory(model, 1);
  memory.fill(4);
  const std::vector<unsigned char> expected = memory.data(model, 1);
  std::vector<unsigned char> packed(expected.size() + 1);
  int position = 0;
  SUCCEEDS(MPI_Pack(memory.address(), 1, again.type, packed.data(), static_cast<int>(packed.size()),
                    &position, MPI_COMM_WORLD));
  packed.pop_back();
  CHECK(packed == expected);
  SUCCEEDS(MPI_Type_free(&again.type));
}

/// The basic elements of `count` elements of a type.
std::vector<Element> elements_of(const TypeModel& model, int count) {
  std::vector<Element> elements;
  for (int i = 0; i < count; ++i) elements.insert(elements.end(), model.map.begin(), model.map.end());
  return elements;
}

/// Each rank sends to the next one, with one type, and receives with another one. Both have the same
/// signature, or the message is shorter or longer than the receive.
class Ring {
 public:
  Ring() : next_((rank_in(MPI_COMM_WORLD) + 1) % size_of(MPI_COMM_WORLD)) {
    const int size = size_of(MPI_COMM_WORLD);
    previous_ = (rank_in(MPI_COMM_WORLD) + size - 1) % size;
  }

  void pass(TypeMaker& maker, const TypeModel& receiving) {
    const int room = 1 + maker.below(3);  // elements of the receive
    std::vector<Element> elements = elements_of(receiving, room);
    // Sometimes elements are missing, and sometimes there are too many.
    const int variant = maker.below(4);
    if (variant == 0 && !elements.empty()) {
      elements.resize(static_cast<std::size_t>(maker.below(static_cast<int>(elements.size()))));
    }
    if (variant == 1) elements.push_back({0, MPI_INT, 4});
    const TypeModel sending = maker.relaid(elements);

    TypeMemory out(sending, 1);
    out.fill(static_cast<unsigned>(rank_in(MPI_COMM_WORLD)));
    TypeMemory theirs(sending, 1);
    theirs.fill(static_cast<unsigned>(previous_));
    TypeMemory in(receiving, room);
    TypeMemory wanted(receiving, room);
    in.fill(99);
    wanted.fill(99);
    wanted.place(receiving, room, theirs.data(sending, 1));

    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status status;
    SUCCEEDS(MPI_Irecv(in.address(), room, receiving.type, previous_, 7, MPI_COMM_WORLD, &request));
    SUCCEEDS(MPI_Send(out.address(), 1, sending.type, next_, 7, MPI_COMM_WORLD));
    const int code = MPI_Wait(&request, &status);
    CHECK(in.all() == wanted.all());
    if (variant == 1) {
      CHECK(code == MPI_ERR_TRUNCATE);
      return;
    }
    CHECK(code == MPI_SUCCESS);
    int count = -1;
    SUCCEEDS(MPI_Get_elements(&status, receiving.type, &count));
    if (!receiving.map.empty()) CHECK(count == static_cast<int>(elements.size()));
    SUCCEEDS(MPI_Get_count(&status, receiving.type, &count));
    if (receiving.map.empty()) return;
    const bool whole = elements.size() % receiving.map.size() == 0;
    CHECK(count == (whole ? static_cast<int>(elements.size() / receiving.map.size()) : MPI_UNDEFINED));
    // The status that a program makes says the same.
    MPI_Status made = {};
    SUCCEEDS(MPI_Status_set_elements(&made, receiving.type, static_cast<int>(elements.size())));
    SUCCEEDS(MPI_Get_elements(&made, receiving.type, &count));
    CHECK(count == static_cast<int>(elements.size()));
  }

 private:
  int next_;
  int previous_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  const unsigned seed = mpi_test::test_seed();
  Ring ring;
  for (int i = 0; i < kTypes; ++i) {
    const int before = mpi_test::failures;
    TypeMaker maker(seed + static_cast<unsigned>(i));
    const TypeModel model = maker.make(kDepth);
    packs(maker, model);
    packs_external(maker, model);
    contents_make_the_type_again(model);
    ring.pass(maker, model);
    if (mpi_test::failures != before) std::fprintf(stderr, "type number %d\n", i);
  }
  const int result = mpi_test::result();
  MPI_Finalize();
  return result;
}
