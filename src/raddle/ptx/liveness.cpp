// Liveness over basic blocks with bitsets, visiting only blocks whose neighbours changed. Only
// registers that some block reads before writing them need it (Briggs' semi-pruned form); they are
// treated in groups, so that memory stays bounded.
#include "raddle/ptx/liveness.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "raddle/base/error.h"
#include "raddle/ptx/analysis.h"
#include "raddle/ptx/block_graph.h"

namespace raddle::ptx {
namespace {

using Word = std::uint64_t;
constexpr std::size_t kWordBits = 64;

// What one block does to one register.
struct Touch {
  std::uint32_t block, reg;
  bool reads_first = false;  // before any write that surely happens
  bool kills = false;        // a write that surely happens
  bool writes = false;
};

class Liveness {
 public:
  explicit Liveness(const Function& function)
      : function_(function), graph_(function), intervals_(function.registers.size()) {}

  std::vector<LiveInterval> run(std::size_t group_bytes) {
    for (std::uint32_t block = 0; block < graph_.count; ++block) scan(block);
    pin_register_parameters();
    number_globals();
    const std::size_t row = 5 * sizeof(Word) * std::max<std::size_t>(graph_.count, 1);
    const std::size_t wanted = (globals_.size() + kWordBits - 1) / kWordBits;
    words_ = std::clamp<std::size_t>(group_bytes / row, 1, std::max<std::size_t>(wanted, 1));
    std::size_t touch = 0;
    for (std::size_t first = 0; first < globals_.size(); first += words_ * kWordBits)
      touch = solve_group(first, touch);
    return std::move(intervals_);
  }

 private:
  void cover(std::uint32_t reg, std::uint32_t position) {
    RADDLE_ASSERT(reg < intervals_.size());
    LiveInterval& interval = intervals_[reg];
    interval.begin = std::min(interval.begin, position);
    interval.end = std::max(interval.end, position);
  }

  // Positions of reads and writes, and what the block as a whole does.
  void scan(std::uint32_t block) {
    latest_.resize(function_.registers.size(), kNoIndex);
    const std::size_t start = touches_.size();
    const auto touch = [&](std::uint32_t reg) -> Touch& {
      std::uint32_t& at = latest_[reg];
      if (at == kNoIndex || at < start) {
        at = static_cast<std::uint32_t>(touches_.size());
        touches_.push_back({block, reg});
      }
      return touches_[at];
    };
    for (std::uint32_t i = graph_.begin[block]; i < graph_.begin[block + 1]; ++i) {
      const Instruction& instruction = function_.instructions[i];
      register_access(function_, instruction, access_);
      for (std::uint32_t reg : access_.reads) {
        cover(reg, 2 * i);
        Touch& seen = touch(reg);
        seen.reads_first |= !seen.kills;
      }
      for (std::uint32_t reg : access_.writes) {
        cover(reg, 2 * i + 1);
        Touch& seen = touch(reg);
        seen.writes = true;
        seen.kills |= instruction.guard == kNoIndex;
      }
    }
  }

  // ".func (.reg .u32 r) f (.reg .u32 a)": caller and callee share them all along.
  void pin_register_parameters() {
    std::uint32_t reg = 0;
    const auto pin = [&](const std::vector<Variable>& all) {
      for (const Variable& variable : all) {
        if (variable.space != Space::Reg) continue;
        cover(reg, 0);
        cover(reg++, 2 * graph_.begin[graph_.count] + 1);
      }
    };
    pin(function_.returns);
    pin(function_.parameters);
  }

  // Numbers the registers that are live into some block, and sorts what happens to them by that
  // number.
  void number_globals() {
    std::vector<std::uint32_t> number(function_.registers.size(), kNoIndex);
    for (const Touch& touch : touches_) {
      if (!touch.reads_first || number[touch.reg] != kNoIndex) continue;
      number[touch.reg] = static_cast<std::uint32_t>(globals_.size());
      globals_.push_back(touch.reg);
    }
    std::erase_if(touches_, [&](const Touch& touch) { return number[touch.reg] == kNoIndex; });
    for (Touch& touch : touches_) touch.reg = number[touch.reg];
    std::sort(touches_.begin(), touches_.end(), [](const Touch& a, const Touch& b) {
      return std::pair(a.reg, a.block) < std::pair(b.reg, b.block);
    });
  }

  // Globals [first, first + words * 64), whose touches begin at `touch`; returns where they end.
  std::size_t solve_group(std::size_t first, std::size_t touch) {
    const std::size_t size = words_ * graph_.count;
    for (std::vector<Word>* set : {&reads_, &kills_, &writes_, &live_in_, &written_out_})
      set->assign(size, 0);
    const std::size_t limit = first + words_ * kWordBits;
    for (; touch < touches_.size() && touches_[touch].reg < limit; ++touch) {
      const Touch& what = touches_[touch];
      const std::size_t bit = what.reg - first;
      const std::size_t at = what.block * words_ + bit / kWordBits;
      const Word mask = Word{1} << bit % kWordBits;
      if (what.reads_first) reads_[at] |= mask;
      if (what.kills) kills_[at] |= mask;
      if (what.writes) writes_[at] |= mask;
    }
    propagate_reads();
    propagate_writes();
    cover_blocks(first);
    return touch;
  }

  // The union of `sets` over neighbours of a block, word by word. The exit has no set.
  Word gather(const std::vector<Word>& sets, std::span<const std::uint32_t> blocks,
              std::size_t word) const {
    Word all = 0;
    for (std::uint32_t block : blocks)
      if (block != graph_.exit()) all |= sets[block * words_ + word];
    return all;
  }

  // Sweeps over the blocks that may change, in layout order or against it, until `step` changes
  // none; `affected` are those to visit again after a change. Sweeps beat a queue: along a chain of
  // blocks everything moves in one go.
  template <class Step>
  void iterate(bool forwards, const Rows& affected, Step step) {
    std::vector<bool> waits(graph_.count + 1, true);
    for (bool again = true; again;) {
      again = false;
      for (std::uint32_t i = 0; i < graph_.count; ++i) {
        const std::uint32_t block = forwards ? i : graph_.count - 1 - i;
        if (!waits[block]) continue;
        waits[block] = false;
        if (!step(block)) continue;
        for (std::uint32_t next : affected[block]) waits[next] = true;
        again = true;
      }
    }
  }

  void propagate_reads() {
    iterate(false, graph_.predecessors, [&](std::uint32_t block) {
      Word changed = 0;
      for (std::size_t w = 0; w < words_; ++w) {
        const std::size_t at = block * words_ + w;
        const Word out = gather(live_in_, graph_.successors[block], w);
        const Word in = reads_[at] | (out & ~kills_[at]);
        changed |= in ^ live_in_[at];
        live_in_[at] = in;
      }
      return changed != 0;
    });
  }

  void propagate_writes() {
    iterate(true, graph_.successors, [&](std::uint32_t block) {
      Word changed = 0;
      for (std::size_t w = 0; w < words_; ++w) {
        const std::size_t at = block * words_ + w;
        const Word out = writes_[at] | gather(written_out_, graph_.predecessors[block], w);
        changed |= out ^ written_out_[at];
        written_out_[at] = out;
      }
      return changed != 0;
    });
  }

  void cover_blocks(std::size_t first) {
    for (std::uint32_t block = 0; block < graph_.count; ++block) {
      for (std::size_t w = 0; w < words_; ++w) {
        const std::size_t at = block * words_ + w;
        const Word written = gather(written_out_, graph_.predecessors[block], w);
        const Word live_out = gather(live_in_, graph_.successors[block], w);
        cover_all(live_in_[at] & written, first + w * kWordBits, 2 * graph_.begin[block]);
        cover_all(live_out & written_out_[at], first + w * kWordBits,
                  2 * graph_.begin[block + 1] - 1);
      }
    }
  }

  void cover_all(Word set, std::size_t first, std::uint32_t position) {
    for (; set != 0; set &= set - 1)
      cover(globals_[first + static_cast<std::size_t>(std::countr_zero(set))], position);
  }

  const Function& function_;
  BlockGraph graph_;
  std::vector<LiveInterval> intervals_;
  RegisterAccess access_;
  std::vector<Touch> touches_;
  std::vector<std::uint32_t> latest_;   // by register: its last touch
  std::vector<std::uint32_t> globals_;  // register of each global
  std::size_t words_ = 1;               // per block and set
  std::vector<Word> reads_, kills_, writes_, live_in_, written_out_;
};

}  // namespace

std::vector<LiveInterval> live_intervals(const Function& function, std::size_t group_bytes) {
  return Liveness(function).run(group_bytes);
}

}  // namespace raddle::ptx
