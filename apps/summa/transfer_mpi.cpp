// Transfers over MPI: the owner sends the panel to each of the other users, with a derived datatype unless it
// is contiguous.

#include <mpi.h>

#include <vector>

#include "transfer.hpp"

namespace summa {

namespace {

// The order of the panels tells them apart.
constexpr int kTag = 0;

int rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

// A committed datatype of the panel's layout; the caller frees it.
MPI_Datatype datatype(const Panel& panel) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_vector(static_cast<int>(panel.rows), static_cast<int>(panel.width), static_cast<int>(panel.stride),
                  MPI_DOUBLE, &type);
  MPI_Type_commit(&type);
  return type;
}

}  // namespace

const char* communication() { return "MPI, sends and receives"; }

struct Transfer::Implementation {
  std::vector<MPI_Request> requests;
};

Transfer::Transfer() : implementation_(std::make_unique<Implementation>()) {}
Transfer::~Transfer() = default;
Transfer::Transfer(Transfer&&) noexcept = default;

void Transfer::start(const Panel& panel, double* to) {
  const int me = rank();
  std::vector<MPI_Request>& requests = implementation_->requests;
  if (panel.owner != me) {
    if (!panel.used_by(me)) return;
    MPI_Irecv(to, static_cast<int>(panel.elements()), MPI_DOUBLE, panel.owner, kTag, MPI_COMM_WORLD,
              &requests.emplace_back());
    return;
  }
  const double* const from = panel.block->local().data() + panel.first;
  MPI_Datatype type = panel.contiguous() ? MPI_DATATYPE_NULL : datatype(panel);
  for (const int user : panel.users) {
    if (user == me) continue;
    if (panel.contiguous()) {
      MPI_Isend(from, static_cast<int>(panel.elements()), MPI_DOUBLE, user, kTag, MPI_COMM_WORLD,
                &requests.emplace_back());
    } else {
      MPI_Isend(from, 1, type, user, kTag, MPI_COMM_WORLD, &requests.emplace_back());
    }
  }
  if (type != MPI_DATATYPE_NULL) MPI_Type_free(&type);  // the requests keep it
  if (panel.used_by(me)) copy_own(panel, to);
}

void Transfer::finish() {
  std::vector<MPI_Request>& requests = implementation_->requests;
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  requests.clear();
}

}  // namespace summa
