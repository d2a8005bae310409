/// @file
/// The product itself.
#ifndef SUMMA_MULTIPLY_HPP
#define SUMMA_MULTIPLY_HPP

#include <cstddef>
#include <rma/rma.hpp>
#include <vector>

#include "grid.hpp"
#include "options.hpp"

namespace summa {

/// The costs of one rank's share of a product.
struct Cost {
  double seconds = 0;                ///< from the first get to the last dgemm
  double communication_seconds = 0;  ///< issuing gets and waiting for them
  std::size_t gets = 0;
  std::size_t bytes = 0;
};

/// One product C += A x B, by steps of at most `block` of the inner dimension. Each rank gets the blocks of A
/// and B that its block of C needs; no other rank has to send them.
///
/// kOverlap has two buffers of each kind and gets into one while it multiplies from the other; kBlocking
/// gets, then multiplies. After van de Geijn and Watts, "SUMMA: Scalable Universal Matrix Multiplication
/// Algorithm" (1997), with its broadcasts turned into gets.
class Product {
 public:
  /// Prepares the steps and the buffers. Local. The grid and the matrices must outlive the product.
  Product(const Grid& grid, const Matrix& a, const Matrix& b, const Matrix& c, std::size_t block, Mode mode);

  /// Multiplies. The call is local, but no rank may change A and B meanwhile.
  Cost run();

 private:
  /// A range of the inner dimension that one grid column holds of A and one grid row of B.
  struct Step {
    Band inner;
    int a_column;
    int b_row;
  };

  /// The blocks of one step, and the gets that bring them. In the heap, so that no path needs to register
  /// them.
  struct Buffers {
    Buffers(std::size_t a_elements, std::size_t b_elements);
    rma::LocalArray<double> a;  ///< rows of C's block x inner, by row
    rma::LocalArray<double> b;  ///< inner x columns of C's block, by row
    rma::Request a_request;
    rma::Request b_request;
  };

  void start_gets(const Step& step, Buffers& buffers);
  void finish_gets(Buffers& buffers);
  void add(const Step& step, const Buffers& buffers) const;

  const Grid& grid_;
  const Matrix& a_;
  const Matrix& b_;
  const Matrix& c_;
  Mode mode_;
  std::size_t rows_;  // of this rank's block of C, as are the columns
  std::size_t columns_;
  std::vector<Step> steps_;
  std::vector<Buffers> buffers_;
  Cost cost_;
};

}  // namespace summa

#endif
