// Memory that belongs to this process alone, for the program over MPI.

#include "memory.hpp"

namespace summa {

Buffer make_buffer(std::size_t elements) {
  return {new double[elements](), [](double* memory) { delete[] memory; }};
}

}  // namespace summa
