// Layouts of matrix fragments, one for all instructions of a function that use it.
#pragma once
#include <array>
#include <map>
#include <memory>

#include "raddle/exec/slow/matrix.h"

namespace raddle::exec {

class FragmentCache {
 public:
  /// nullptr where `registers` registers cannot hold the fragment. `row`: only of the products of
  /// four quads (m8n8k4), whose layouts depend on it.
  std::shared_ptr<const Fragment> find(Role role, const MatrixShape& shape, Element element,
                                       unsigned registers, bool row);

 private:
  std::map<std::array<unsigned, 6>, std::shared_ptr<const Fragment>> known_;
};

}  // namespace raddle::exec
