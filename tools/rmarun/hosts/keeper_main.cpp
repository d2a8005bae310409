// rmarun-keeper: `rmarun --rank` for jobs that do not bind their ranks, without the libraries of rmarun. Each
// rank waits for its keeper, and a process that loads PMIx, hwloc and the library of C++ starts 8 ms later.

#include "rmarun/hosts/keeper.hpp"
#include "rmarun/privileges.hpp"

int main() {
  rmarun::refuse_lent_rights();
  return rmarun::run_keeper(nullptr);
}
