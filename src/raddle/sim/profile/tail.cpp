#include "raddle/sim/profile/tail.h"

#include <algorithm>
#include <vector>

#include "raddle/base/error.h"

namespace raddle::sim {

std::uint64_t tail_cycles(std::span<const KernelResult> kernels,
                          std::span<const timing::BlockSpan> blocks, unsigned sms) {
  constexpr std::size_t kNone = ~std::size_t{0};
  std::vector<std::size_t> tree(kernels.size(), kNone);  // by launch: place of its tree's ends
  std::vector<Cycle> last;                               // by tree and SM
  std::vector<Cycle> end;                                // by tree
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    if (kernels[i].parent) {
      RADDLE_ASSERT(kernels[i].parent->kernel < i);
      tree[i] = tree[kernels[i].parent->kernel];
      continue;
    }
    tree[i] = end.size();
    end.push_back(kernels[i].begin);
    last.insert(last.end(), sms, kernels[i].begin);
  }
  for (const timing::BlockSpan& block : blocks) {
    const std::size_t of = tree.at(block.launch);
    Cycle& sm = last.at(of * sms + block.sm);
    sm = std::max(sm, block.end);
    end[of] = std::max(end[of], block.end);
  }
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < last.size(); ++i) sum += end[i / sms] - last[i];
  return sum;
}

}  // namespace raddle::sim
