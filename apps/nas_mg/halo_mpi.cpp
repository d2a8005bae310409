// Swaps over MPI: a persistent receive and send for each box, with a derived datatype.

#include <mpi.h>

#include <vector>

#include "halo.hpp"

namespace nas_mg {

namespace {

// A committed datatype of this shape; the caller frees it.
MPI_Datatype datatype(const Shape& shape) {
  const auto bytes = [](std::size_t points) { return static_cast<MPI_Aint>(points * sizeof(double)); };
  const auto count = [&](std::size_t axis) { return static_cast<int>(shape.counts[axis]); };
  MPI_Datatype plane = MPI_DATATYPE_NULL;
  MPI_Datatype box = MPI_DATATYPE_NULL;
  MPI_Type_create_hvector(count(1), count(0), bytes(shape.strides[0]), MPI_DOUBLE, &plane);
  MPI_Type_create_hvector(count(2), 1, bytes(shape.strides[1]), plane, &box);
  MPI_Type_free(&plane);
  MPI_Type_commit(&box);
  return box;
}

}  // namespace

struct Halo::Implementation {
  std::vector<double> memory;
  std::vector<std::vector<MPI_Request>> swaps;
};

Halo::Halo(Job& /*job*/, std::size_t points, std::size_t /*channels*/)
    : implementation_(std::make_unique<Implementation>()) {
  implementation_->memory.resize(points);
}

Halo::~Halo() {
  for (std::vector<MPI_Request>& requests : implementation_->swaps) {
    for (MPI_Request& request : requests) MPI_Request_free(&request);
  }
}

const char* Halo::communication() { return "MPI, sends and receives"; }

double* Halo::memory() const { return implementation_->memory.data(); }

Halo::Swap Halo::describe(std::span<const Message> messages) {
  std::vector<MPI_Request> requests;
  for (const Message& message : messages) {
    MPI_Datatype type = datatype(message.shape);
    const int tag = static_cast<int>(message.channel);
    MPI_Recv_init(memory() + message.arrival, 1, type, message.from, tag, MPI_COMM_WORLD,
                  &requests.emplace_back());
    MPI_Send_init(memory() + message.source, 1, type, message.to, tag, MPI_COMM_WORLD,
                  &requests.emplace_back());
    MPI_Type_free(&type);  // the requests keep it
  }
  implementation_->swaps.push_back(std::move(requests));
  return implementation_->swaps.size() - 1;
}

void Halo::exchange(Swap swap) {
  std::vector<MPI_Request>& requests = implementation_->swaps[swap];
  MPI_Startall(static_cast<int>(requests.size()), requests.data());
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
}

}  // namespace nas_mg
