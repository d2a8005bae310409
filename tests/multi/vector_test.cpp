// Vector put, get and accumulate: random descriptors from a seed, between every two kinds of memory. The
// definition, piece by piece, is the model.

#include <algorithm>

#include "harness.hpp"
#include "numbers.hpp"
#include "shapes.hpp"

namespace multi {
namespace {

constexpr std::size_t kVectorRoom = 8192;

int many_vectors() { return rounds(ranks() <= 4 ? 40 : 8); }

void put(Mode mode, const IoVector& iov, int rank) {
  run(mode, rank, rma_put_vector, rma_put_vector_nb, rma_put_vector_nbi, iov.data(), iov.size());
}

void get(Mode mode, const IoVector& iov, int rank) {
  run(mode, rank, rma_get_vector, rma_get_vector_nb, rma_get_vector_nbi, iov.data(), iov.size());
}

void acc(Mode mode, const IoVector& iov, rma_type_t type, const void* scale, int rank) {
  run(mode, rank, rma_acc_vector, rma_acc_vector_nb, rma_acc_vector_nbi, iov.data(), iov.size(), type, scale);
}

/// Calls visit(dst offset, src offset, bytes) for each piece.
template <typename Visit>
void each_piece(const Vector& vector, const Visit& visit) {
  for (const Vector::Descriptor& descriptor : vector.descriptors) {
    for (const Vector::Piece& piece : descriptor.pieces) visit(piece.dst, piece.src, descriptor.bytes);
  }
}

TEST(Vector, Put) {
  for (const Remote remote : kRemotes) {
    Slices slices(remote, kVectorRoom);
    Random random({21, static_cast<std::uint64_t>(me())});
    each_round(many_vectors(), remote, random, [&](Local local, Mode mode, int target) {
      const Vector vector = draw_vector(random, {.room = kVectorRoom});
      const Buffer source(local, kVectorRoom);
      random.fill(source.bytes());
      put(mode, IoVector(vector, slices.at(target), source.data()), target);
      each_piece(vector, [&](std::size_t to, std::size_t from, std::size_t bytes) {
        std::copy_n(source.data() + from, bytes, slices.model(target).data() + to);
      });
    });
    slices.check();
  }
}

TEST(Vector, Get) {
  for (const Remote remote : kRemotes) {
    Slices slices(remote, kVectorRoom);
    Random random({22, static_cast<std::uint64_t>(me())});
    each_round(many_vectors(), remote, random, [&](Local local, Mode mode, int target) {
      const Vector vector = draw_vector(random, {.room = kVectorRoom});
      const Buffer sink(local, kVectorRoom);
      random.fill(sink.bytes());
      std::vector<std::byte> expected(sink.bytes().begin(), sink.bytes().end());
      get(mode, IoVector(vector, sink.data(), slices.at(target)), target);
      each_piece(vector, [&](std::size_t to, std::size_t from, std::size_t bytes) {
        std::copy_n(slices.model(target).data() + from, bytes, expected.data() + to);
      });
      EXPECT_EQ(first_difference(sink.bytes(), expected), kVectorRoom);
    });
    slices.check();
  }
}

TEST(Vector, Accumulate) {
  for (const rma_type_t type : kTypes) {
    for (const Remote remote : kRemotes) {
      SCOPED_TRACE(testing::Message() << "type " << type);
      Slices slices(remote, kVectorRoom,
                    [&](Random& draws, std::span<std::byte> bytes) { fill_numbers(draws, type, bytes); });
      Random random({23, static_cast<std::uint64_t>(me()), static_cast<std::uint64_t>(type)});
      int turn = 0;
      each_round(many_vectors(), remote, random, [&](Local local, Mode mode, int target) {
        if (turn++ % 4 != 0) return;
        const Vector vector = draw_vector(random, {.room = kVectorRoom, .unit = type_bytes(type)});
        const Buffer source(local, kVectorRoom);
        fill_numbers(random, type, source.bytes());
        const Scale scale(random, type);
        acc(mode, IoVector(vector, slices.at(target), source.data()), type, scale.get(), target);
        each_piece(vector, [&](std::size_t to, std::size_t from, std::size_t bytes) {
          model_acc(type, slices.model(target).data() + to, source.data() + from, bytes, scale.get());
        });
      });
      slices.check();
    }
  }
}

TEST(Vector, PiecesInWindowAndRegisteredMemoryOfOneRank) {
  Slices heap(Remote::window, 512);
  Slices registered(Remote::registered, 512);
  Random random({24, static_cast<std::uint64_t>(me())});
  std::vector<std::byte> source(256);
  random.fill(source);
  const int target = neighbour(1);
  std::vector<void*> dst;
  std::vector<const void*> src;
  for (std::size_t i = 0; i < 8; ++i) {
    Slices& slices = i % 2 == 0 ? heap : registered;
    dst.push_back(slices.at(target) + 40 * i);
    src.push_back(source.data() + 32 * i);
    std::copy_n(source.data() + 32 * i, 32, slices.model(target).data() + 40 * i);
  }
  const rma_iov_t iov = {.dst = dst.data(), .src = src.data(), .segments = 8, .bytes = 32};
  EXPECT_TRUE(ok(rma_put_vector(&iov, 1, target)));
  heap.check();
  registered.check();
}

}  // namespace
}  // namespace multi
