// The job over librma.

#include <rma/rma.hpp>

#include "job.hpp"

namespace apps {

Job::Job(int& /*argc*/, char**& /*argv*/) { rma::check(rma_init()); }

Job::~Job() {
  // While an exception ends this rank, the others do not make the collective call.
  if (std::uncaught_exceptions() == 0) static_cast<void>(rma_finalize());
}

int Job::rank() const { return rma::rank(); }
int Job::size() const { return rma::size(); }

void Job::barrier() { rma::Team::world().barrier(); }
double Job::sum(double mine) { return rma::Team::world().allreduce(mine, rma::Reduction::kSum); }
void Job::sum(std::span<double> values) { rma::Team::world().allreduce(values, rma::Reduction::kSum); }
double Job::max(double mine) { return rma::Team::world().allreduce(mine, rma::Reduction::kMax); }
void Job::gather(std::span<const std::byte> mine, std::span<std::byte> all) {
  rma::Team::world().allgather(all, mine);
}

}  // namespace apps
