#include "raddle/ptx/block_graph.h"

#include <algorithm>

#include "raddle/base/error.h"
#include "raddle/ptx/analysis.h"

namespace raddle::ptx {
namespace {

bool ends_thread(const Instruction& instruction) {
  return instruction.opcode == "ret" || instruction.opcode == "exit" ||
         instruction.opcode == "trap";
}

bool ends_block(const Instruction& instruction) {
  return instruction.opcode == "bra" || instruction.opcode == "brx" || ends_thread(instruction);
}

}  // namespace

void successors_of(const Function& function, std::uint32_t index, std::vector<std::uint32_t>& out) {
  const auto n = static_cast<std::uint32_t>(function.instructions.size());
  const Instruction& instruction = function.instructions[index];
  out.clear();
  if (instruction.opcode == "bra") {
    RADDLE_ASSERT(!instruction.operands.empty());
    out.push_back(instruction.operands[0].target);
  } else if (instruction.opcode == "brx") {
    out = instruction.branch_targets;
  } else if (ends_thread(instruction)) {
    out.push_back(n);
  }
  if (!ends_block(instruction) || instruction.guard != kNoIndex) out.push_back(index + 1);
  std::sort(out.begin(), out.end());
  RADDLE_ASSERT(out.empty() || out.back() <= n);  // labels are resolved
  out.erase(std::unique(out.begin(), out.end()), out.end());
}

std::vector<std::vector<std::uint32_t>> successors(const Function& function) {
  std::vector<std::vector<std::uint32_t>> all(function.instructions.size());
  for (std::uint32_t i = 0; i < all.size(); ++i) successors_of(function, i, all[i]);
  return all;
}

Rows Rows::transposed(std::size_t rows) const {
  Rows out;
  RADDLE_ASSERT(std::ranges::all_of(values_, [&](std::uint32_t value) { return value < rows; }));
  out.starts_.assign(rows + 1, 0);
  for (std::uint32_t value : values_) ++out.starts_[value + 1];
  for (std::size_t r = 0; r < rows; ++r) out.starts_[r + 1] += out.starts_[r];
  out.values_.resize(values_.size());
  std::vector<std::uint32_t> next(out.starts_.begin(), out.starts_.end() - 1);
  for (std::uint32_t row = 0; row < size(); ++row)
    for (std::uint32_t value : (*this)[row]) out.values_[next[value]++] = row;
  return out;
}

BlockGraph::BlockGraph(const Function& function) {
  const auto n = static_cast<std::uint32_t>(function.instructions.size());
  std::vector<std::uint32_t> targets;
  std::vector<bool> leads(n + 1, false);
  leads[0] = true;
  for (std::uint32_t i = 0; i < n; ++i) {
    if (!ends_block(function.instructions[i])) continue;
    successors_of(function, i, targets);
    for (std::uint32_t target : targets) leads[target] = true;
    leads[i + 1] = true;
  }
  std::vector<std::uint32_t> block_at(n + 1);
  for (std::uint32_t i = 0; i < n; ++i) {
    if (leads[i]) begin.push_back(i);
    block_at[i] = static_cast<std::uint32_t>(begin.size()) - 1;
  }
  count = static_cast<std::uint32_t>(begin.size());
  begin.push_back(n);
  block_at[n] = exit();
  for (std::uint32_t block = 0; block < count; ++block) {
    successors_of(function, begin[block + 1] - 1, targets);
    for (std::uint32_t target : targets) successors.add(block_at[target]);
    successors.end_row();
  }
  predecessors = successors.transposed(count + 1);
}

}  // namespace raddle::ptx
