/// @file
/// The product itself.
#ifndef SUMMA_MULTIPLY_HPP
#define SUMMA_MULTIPLY_HPP

#include <cstddef>
#include <vector>

#include "grid.hpp"
#include "options.hpp"
#include "transfer.hpp"

namespace summa {

/// The costs of one rank's share of a product.
struct Cost {
  double seconds = 0;                ///< from the first transfer to the last dgemm
  double communication_seconds = 0;  ///< starting transfers and waiting for them
  std::size_t panels = 0;            ///< that this rank used
  std::size_t bytes = 0;
};

/// One product C += A x B, by steps of at most `block` of the inner dimension. The panels of A and B that a
/// rank's block of C needs are brought to it, as transfer.hpp says.
///
/// kOverlap has two buffers of each kind and fills one while it multiplies from the other; kBlocking
/// fills, then multiplies. After van de Geijn and Watts, "SUMMA: Scalable Universal Matrix Multiplication
/// Algorithm" (1997), with its broadcasts turned into transfers from the owner to each user.
class Product {
 public:
  /// Prepares the steps and the buffers. Local. The grid and the matrices must outlive the product.
  Product(const Grid& grid, const Matrix& a, const Matrix& b, const Matrix& c, std::size_t block, Mode mode);

  /// Multiplies. One-sided, the call is local, but no rank may change A and B meanwhile. Two-sided, all ranks
  /// multiply at the same time.
  Cost run();

 private:
  /// A range of the inner dimension that one grid column holds of A and one grid row of B.
  struct Step {
    Band inner;
    int a_column;
    int b_row;
  };

  /// The panels of one step, and the transfers that bring them.
  struct Buffers {
    Buffers(std::size_t a_elements, std::size_t b_elements);
    Buffer a;  ///< rows of C's block x inner, by row
    Buffer b;  ///< inner x columns of C's block, by row
    Transfer transfer;
  };

  void start_transfers(const Step& step, Buffers& buffers);
  void finish_transfers(Buffers& buffers);
  void add(const Step& step, const Buffers& buffers) const;

  const Grid& grid_;
  const Matrix& a_;
  const Matrix& b_;
  const Matrix& c_;
  Mode mode_;
  std::size_t rows_;  // of this rank's block of C, as are the columns
  std::size_t columns_;
  std::vector<int> row_users_;     // ranks of this grid row that have a part of C
  std::vector<int> column_users_;  // and of this grid column
  std::vector<Step> steps_;
  std::vector<Buffers> buffers_;
  Cost cost_;
};

}  // namespace summa

#endif
