// What the products of sparse matrices with dense vectors and matrices share.
#pragma once
#include "raddle/cusparse/descriptors.h"

namespace raddle::cusparse {

/// The letters of a product's types in kernels' names. Refuses what there is not, by name where
/// NVIDIA's `what` has it.
struct ProductTypes {
  std::string letters;
  bool adds;  ///< sums can be added to what the result holds, as transposes need
};
ProductTypes product_types(int type_a, int type_b, int type_c, int compute,
                           const std::string& what);

/// The lines of A are rows of op(A): each element of the result is one line's sum.
inline bool lines_are_rows(const SparseMatrixDescriptor& a, int op) {
  return (a.format == kCsc) == (op != kPlain);
}

}  // namespace raddle::cusparse
