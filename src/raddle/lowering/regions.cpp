#include "raddle/lowering/regions.h"

#include <algorithm>
#include <bit>
#include <set>

#include "raddle/lowering/liveness.h"

namespace raddle::lowering {

namespace {

using trace::Operand;
using trace::OpKind;
using trace::StaticInst;
using u32 = std::uint32_t;

class RegionFinder {
 public:
  explicit RegionFinder(const Plan& plan)
      : plan_(plan), code_(plan.code()), size_(size_without_aliases(plan.code())), found_(size_) {
    find_blocks();
    find_ways();
    find_varying();
  }

  Regions run() {
    for (u32 b = 0; b < blocks(); ++b) {
      const u32 i = begin_[b + 1] - 1;
      const StaticInst& in = at(i);
      if (in.kind != OpKind::Branch || in.next.size() != 2 || plan_.guard(i) == nullptr) continue;
      const bool varying = varies(plan_.guard(i)->reg);
      if (leaves_loop(b)) {
        if (varying) meet_at(meeting_[b]);  // what prepares it stands before the loop: left out
      } else if (!predicate(b, varying) && varying && meet_at(meeting_[b])) {
        found_.prepares[i] = true;
      }
    }
    return std::move(found_);
  }

 private:
  static constexpr u32 kEnd = ~u32{0};  // the block behind every end of the kernel
  const StaticInst& at(u32 i) const { return code_.instructions[i]; }
  u32 blocks() const { return static_cast<u32>(begin_.size()) - 1; }

  void find_blocks() {
    block_ = basic_blocks(code_);
    for (u32 i = 0; i < size_; ++i)
      if (i == 0 || block_[i] != block_[i - 1]) begin_.push_back(i);
    begin_.push_back(size_);
  }

  std::vector<u32> followers(u32 b) const {
    const StaticInst& last = at(begin_[b + 1] - 1);
    std::vector<u32> out;
    if (!last.jumps && b + 1 < blocks()) out.push_back(b + 1);
    for (const u32 to : last.next)
      if (to < size_) out.push_back(block_[to]);
    return out;
  }

  /// A set of blocks.
  class Blocks {
   public:
    explicit Blocks(u32 n, bool all = false) : words_((n + 63) / 64, all ? ~std::uint64_t{0} : 0) {}
    bool contains(u32 b) const { return b != kEnd && (words_[b / 64] >> b % 64 & 1) != 0; }
    /// false: it was there.
    bool insert(u32 b) {
      const bool fresh = !contains(b);
      words_[b / 64] |= std::uint64_t{1} << b % 64;
      return fresh;
    }
    void keep(const Blocks& others) {
      for (std::size_t i = 0; i < words_.size(); ++i) words_[i] &= others.words_[i];
    }
    unsigned size() const {
      unsigned n = 0;
      for (const std::uint64_t word : words_) n += static_cast<unsigned>(std::popcount(word));
      return n;
    }
    friend bool operator==(const Blocks&, const Blocks&) = default;

   private:
    std::vector<std::uint64_t> words_;
  };

  /// Of each block those that every way from it passes, itself among them, when `edges` lead
  /// onwards; with edges that lead back, every way to it. Sweeps go to and fro, since ways lead
  /// mostly in one direction of the text.
  static std::vector<Blocks> passed_always(const std::vector<std::vector<u32>>& edges) {
    const auto n = static_cast<u32>(edges.size());
    std::vector<Blocks> passed(n, Blocks(n, true));
    bool again = true;
    for (bool back = true; again; back = !back) {
      again = false;
      for (u32 k = 0; k < n; ++k) {
        const u32 b = back ? n - 1 - k : k;
        Blocks now = edges[b].empty() ? Blocks(n) : passed[edges[b][0]];
        for (const u32 next : edges[b]) now.keep(passed[next]);
        now.insert(b);
        if (now == passed[b]) continue;
        passed[b] = std::move(now);
        again = true;
      }
    }
    return passed;
  }

  void find_ways() {
    const u32 n = blocks();
    std::vector<std::vector<u32>> onwards(n);
    before_.resize(n);
    for (u32 b = 0; b < n; ++b) {
      onwards[b] = followers(b);
      for (const u32 to : onwards[b]) before_[to].push_back(b);
    }
    const std::vector<Blocks> passed = passed_always(onwards);
    std::vector<unsigned> sizes;
    for (const Blocks& those : passed) sizes.push_back(those.size());
    // Of those that are always passed the nearest passes all others.
    meeting_.assign(n, kEnd);
    for (u32 b = 0; b < n; ++b)
      for (u32 x = 0; x < n && meeting_[b] == kEnd; ++x)
        if (x != b && passed[b].contains(x) && sizes[x] + 1 == sizes[b]) meeting_[b] = x;
    const std::vector<Blocks> needed = passed_always(before_);
    for (u32 b = 0; b < n; ++b)
      for (const u32 head : onwards[b])
        if (needed[b].contains(head)) loops_.push_back(loop(head, b));
  }

  /// The blocks from which `last` is reached without passing `head`, and that one.
  Blocks loop(u32 head, u32 last) const {
    Blocks out(blocks());
    out.insert(head);
    std::vector<u32> todo = {last};
    while (!todo.empty()) {
      const u32 b = todo.back();
      todo.pop_back();
      if (!out.insert(b)) continue;
      todo.insert(todo.end(), before_[b].begin(), before_[b].end());
    }
    return out;
  }

  /// Registers that may differ between lanes. What is written on a way that only some lanes take is
  /// not followed.
  void find_varying() {
    for (bool again = true; again;) {
      again = false;
      for (u32 i = 0; i < size_; ++i) {
        const StaticInst& in = at(i);
        const bool reads_memory = in.kind != OpKind::Alu && in.kind != OpKind::LoadConst;
        const bool differs =
            reads_memory || std::ranges::any_of(in.operands, [&](const Operand& o) {
              return (o.kind == Operand::Kind::Special && o.value != 1) ||
                     (o.kind != Operand::Kind::Write && varies(o.reg));
            });
        if (!differs) continue;
        for (const Operand& o : in.operands)
          if (o.kind == Operand::Kind::Write && o.reg != trace::kNoRegister)
            again |= varying_.insert(o.reg).second;
      }
    }
  }
  bool varies(u32 reg) const { return reg != trace::kNoRegister && varying_.contains(reg); }

  /// Blocks from `first` on, each the only way to the next, up to the meeting place; none if the
  /// way parts or others come in.
  std::vector<u32> side_from(u32 first, u32 meeting) const {
    std::vector<u32> out;
    for (u32 b = first; b != meeting;) {
      const std::vector<u32> next = followers(b);
      if (before_[b].size() != 1 || next.size() != 1 || out.size() == blocks()) return {};
      out.push_back(b);
      b = next[0];
    }
    return out;
  }

  /// Makes predicates of the branch at the end of b, if both sides are short and can have them.
  bool predicate(u32 b, bool varying) {
    const u32 meeting = meeting_[b];
    if (meeting == kEnd) return false;
    const u32 decides = begin_[b + 1] - 1;
    std::vector<u32> branches = {decides}, guarded;
    for (const u32 first : followers(b)) {
      if (first == meeting) continue;
      const std::vector<u32> side = side_from(first, meeting);
      if (side.empty()) return false;
      unsigned left = 0;
      for (const u32 s : side)
        for (u32 k = begin_[s]; k < begin_[s + 1]; ++k) {
          if (at(k).kind == OpKind::Branch) {
            branches.push_back(k);
            continue;
          }
          if (!can_be_predicated(at(k))) return false;
          left += plan_.is_removed(k) ? 0 : 1;
          guarded.push_back(k);
        }
      if (left > (varying ? kMaxPredicated : kMaxPredicatedUniform)) return false;
    }
    for (const u32 i : branches) {
      found_.predicated[i] = true;
      if (i != decides) found_.branch[i] = decides;
    }
    for (const u32 k : guarded) found_.branch[k] = decides;
    found_.meeting[decides] = begin_[meeting];
    return true;
  }
  static bool can_be_predicated(const StaticInst& in) {
    switch (in.kind) {
      case OpKind::Alu:
      case OpKind::LoadConst:
      case OpKind::LoadShared:
      case OpKind::LoadGlobal:
      case OpKind::StoreShared:
      case OpKind::StoreGlobal:
      case OpKind::StoreLocal:
        return true;
      default:
        return false;
    }
  }

  /// Is b in a loop and can all its ways lead out of it?
  bool leaves_loop(u32 b) const {
    return std::ranges::any_of(loops_, [&](const Blocks& loop) {
      return loop.contains(b) && !loop.contains(meeting_[b]);
    });
  }

  /// false: where the kernel ends nobody waits.
  bool meet_at(u32 meeting) {
    if (meeting == kEnd || at(begin_[meeting]).kind == OpKind::Exit) return false;
    found_.meets[begin_[meeting]] = true;
    return true;
  }

  const Plan& plan_;
  const trace::KernelCode& code_;
  const u32 size_;
  std::vector<u32> begin_, block_, meeting_;
  std::vector<std::vector<u32>> before_;
  std::vector<Blocks> loops_;  ///< one for each way back
  std::set<u32> varying_;
  Regions found_;
};

}  // namespace

Regions find_regions(const Plan& plan, Generation generation) {
  const u32 size = size_without_aliases(plan.code());
  const bool has_barriers = generation == Generation::Volta || generation == Generation::Hopper;
  if (!has_barriers || size == 0 || calls_functions(plan.code())) return Regions(size);
  return RegionFinder(plan).run();
}

}  // namespace raddle::lowering
