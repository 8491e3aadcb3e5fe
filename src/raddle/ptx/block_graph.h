// Basic blocks of a function and their edges, as flat arrays.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "raddle/ptx/module.h"

namespace raddle::ptx {

/// Instructions that may run after `index`, each once; n (one past the last) is the exit. Replaces
/// `out`.
void successors_of(const Function& function, std::uint32_t index, std::vector<std::uint32_t>& out);

/// One list of numbers per row, packed.
class Rows {
 public:
  void add(std::uint32_t value) { values_.push_back(value); }
  void end_row() { starts_.push_back(static_cast<std::uint32_t>(values_.size())); }
  std::span<const std::uint32_t> operator[](std::size_t row) const {
    return {values_.data() + starts_[row], values_.data() + starts_[row + 1]};
  }
  std::size_t size() const { return starts_.size() - 1; }
  /// Row r of the result lists the rows that hold r, in order. Precondition: values < `rows`.
  Rows transposed(std::size_t rows) const;

 private:
  std::vector<std::uint32_t> starts_{0}, values_;
};

struct BlockGraph {
  explicit BlockGraph(const Function& function);
  std::uint32_t exit() const { return count; }  ///< the block number that stands for the exit

  std::uint32_t count = 0;
  std::vector<std::uint32_t> begin;  ///< first instruction of each block; begin[count] = n
  Rows successors, predecessors;  ///< successors may name the exit; predecessors has a row for it
};

}  // namespace raddle::ptx
