#include "raddle/lowering/liveness.h"

#include <algorithm>
#include <bit>
#include <string_view>

namespace raddle::lowering {

namespace {

using u32 = std::uint32_t;
using SetWord = std::uint64_t;
constexpr unsigned kBits = 64;

/// A set of registers that counts some of them.
class LiveSet {
 public:
  LiveSet(std::span<const SetWord> bits, const std::vector<bool>& counted)
      : bits_(bits.begin(), bits.end()), counted_(counted) {
    for (std::size_t w = 0; w < bits_.size(); ++w)
      for (SetWord rest = bits_[w]; rest != 0; rest &= rest - 1)
        count_ += counted_[w * kBits + static_cast<unsigned>(std::countr_zero(rest))] ? 1 : 0;
  }
  void before(const LiveStep& step) {
    if (!step.guarded)
      for (u32 r : step.writes) change(r, false);
    for (u32 r : step.reads) change(r, true);
  }
  u32 count() const { return count_; }
  const std::vector<SetWord>& bits() const { return bits_; }

 private:
  void change(u32 r, bool live) {
    SetWord& word = bits_[r / kBits];
    const SetWord bit = SetWord{1} << r % kBits;
    if (((word & bit) != 0) == live) return;
    word ^= bit;
    if (counted_[r]) count_ += live ? 1u : ~0u;
  }

  std::vector<SetWord> bits_;
  const std::vector<bool>& counted_;
  u32 count_ = 0;
};

class Solver {
 public:
  Solver(std::span<const LiveStep> steps, const std::vector<bool>& counted)
      : steps_(steps), counted_(counted), words_((counted.size() + kBits - 1) / kBits) {
    find_blocks();
    live_in_.assign(blocks() * words_, 0);
  }

  std::vector<u32> run() {
    for (bool again = true; again;) {
      again = false;
      for (u32 b = blocks(); b-- > 0;) again |= improve(b);
    }
    std::vector<u32> out(steps_.size());
    for (u32 b = 0; b < blocks(); ++b) {
      LiveSet live(live_out(b), counted_);
      for (u32 i = begin_[b + 1]; i-- > begin_[b];) {
        live.before(steps_[i]);
        out[i] = live.count();
      }
    }
    return out;
  }

 private:
  u32 blocks() const { return static_cast<u32>(begin_.size()) - 1; }

  void find_blocks() {
    const auto size = static_cast<u32>(steps_.size());
    std::vector<bool> leads(size + 1, false);
    leads[0] = true;
    for (u32 i = 0; i < size; ++i) {
      if (!steps_[i].jumps) continue;
      leads[i + 1] = true;
      for (u32 to : steps_[i].next) leads[to] = true;
    }
    block_of_.resize(size);
    for (u32 i = 0; i < size; ++i) {
      if (leads[i]) begin_.push_back(i);
      block_of_[i] = static_cast<u32>(begin_.size()) - 1;
    }
    begin_.push_back(size);
  }

  std::vector<SetWord> live_out(u32 block) const {
    std::vector<SetWord> out(words_, 0);
    const auto add = [&](u32 step) {
      if (step >= steps_.size()) return;
      const SetWord* in = &live_in_[block_of_[step] * words_];
      for (std::size_t w = 0; w < words_; ++w) out[w] |= in[w];
    };
    const u32 last = begin_[block + 1] - 1;
    if (!steps_[last].jumps) add(last + 1);
    for (u32 to : steps_[last].next) add(to);
    return out;
  }

  bool improve(u32 block) {
    LiveSet live(live_out(block), counted_);
    for (u32 i = begin_[block + 1]; i-- > begin_[block];) live.before(steps_[i]);
    SetWord* in = &live_in_[block * words_];
    if (std::equal(live.bits().begin(), live.bits().end(), in)) return false;
    std::copy(live.bits().begin(), live.bits().end(), in);
    return true;
  }

  std::span<const LiveStep> steps_;
  const std::vector<bool>& counted_;
  const std::size_t words_;
  std::vector<u32> begin_;        // first step of each block, and the end
  std::vector<u32> block_of_;     // by step
  std::vector<SetWord> live_in_;  // by block
};

/// Operand 0 of a wgmma is both: it adds to it.
bool reads_what_it_writes(std::string_view opcode) { return opcode.starts_with("wgmma"); }

}  // namespace

std::vector<u32> count_live(std::span<const LiveStep> steps, const std::vector<bool>& counted) {
  if (steps.empty() || counted.empty()) return std::vector<u32>(steps.size());
  return Solver(steps, counted).run();
}

u32 size_without_aliases(const trace::KernelCode& code) {
  return static_cast<u32>(
      std::ranges::count(code.instructions, trace::kNoRegister, &trace::StaticInst::alias_of));
}

std::vector<u32> basic_blocks(const trace::KernelCode& code) {
  const u32 size = size_without_aliases(code);
  std::vector<bool> leads(size + 1, false);
  for (u32 i = 0; i < size; ++i) {
    if (code.instructions[i].jumps) leads[i + 1] = true;
    for (const u32 to : code.instructions[i].next) leads[to] = true;
  }
  std::vector<u32> block(size);
  for (u32 i = 1; i < size; ++i) block[i] = block[i - 1] + (leads[i] ? 1 : 0);
  return block;
}

bool calls_functions(const trace::KernelCode& code) {
  return std::ranges::any_of(code.instructions, [&](const trace::StaticInst& in) {
    return !trace::is_device_call(in.kind) && in.opcode < code.opcode_names.size() &&
           code.opcode_names[in.opcode].starts_with("call");
  });
}

std::vector<u32> live_in_ptx(const trace::KernelCode& code) {
  if (code.register_bytes.empty() || calls_functions(code)) return {};
  std::vector<u32> first;
  std::vector<bool> counted;
  for (const std::uint8_t bytes : code.register_bytes) {
    first.push_back(static_cast<u32>(counted.size()));
    counted.resize(counted.size() + std::max(bytes / 4, 1), bytes != 0);
  }
  first.push_back(static_cast<u32>(counted.size()));
  std::vector<LiveStep> steps(size_without_aliases(code));
  for (u32 i = 0; i < steps.size(); ++i) {
    const trace::StaticInst& in = code.instructions[i];
    LiveStep& step = steps[i];
    step.jumps = in.jumps;
    step.next = in.next;
    step.guarded = in.predicate != trace::kNoRegister;
    const bool both = reads_what_it_writes(code.opcode_names[in.opcode]);
    for (const trace::Operand& operand : in.operands) {
      if (operand.reg == trace::kNoRegister) continue;
      const bool writes = operand.kind == trace::Operand::Kind::Write;
      step.guarded |= operand.kind == trace::Operand::Kind::Guard;
      for (u32 word = first[operand.reg]; word < first[operand.reg + 1]; ++word) {
        if (writes) step.writes.push_back(word);
        if (!writes || both) step.reads.push_back(word);
      }
    }
  }
  std::vector<u32> live = count_live(steps, counted);
  for (u32 i = static_cast<u32>(steps.size()); i < code.instructions.size(); ++i)
    live.push_back(live[code.instructions[i].alias_of]);
  return live;
}

}  // namespace raddle::lowering
