// What is in order with what between the warps of a block: a vector clock for each warp, which
// barriers pass on, and words of shared memory that are written with release and read with acquire
// (PTX ISA, "Memory Consistency Model": release and acquire patterns). Warps are taken to run in
// step, so a fence or an acquire of one lane counts for its whole warp.
//
// A warp's asynchronous copies (cp.async) run beside it: they have a clock of their own, which
// counts the warp's groups of copies, and the warp knows of a group when it has waited for it.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <map>

namespace raddle::ptx {
struct Instruction;
}

namespace raddle::exec {

/// What an instruction orders, beside what it accesses.
struct Order {
  bool strong : 1 =
      false;  ///< atomic, volatile, relaxed, acquire, release: none races with another
  bool acquires : 1 = false;
  bool releases : 1 = false;
  bool updates : 1 = false;  ///< writes depending on what it reads
  bool returns : 1 = false;  ///< ... and the program sees what it has read
  bool fence : 1 = false;
  enum class Copies : std::uint8_t { None, Start, EndGroup, Wait, WaitForAll };
  Copies copies = Copies::None;   ///< what it does to asynchronous copies
  std::uint32_t groups_left = 0;  ///< of a Wait: so many may stay under way
};
Order order_of(const ptx::Instruction& instruction);

class WarpClocks {
 public:
  static constexpr unsigned kMaxWarps = 32, kBarriers = 16;
  /// Who may have accessed memory: a warp, or its copies.
  static constexpr unsigned kAgents = 2 * kMaxWarps;
  static constexpr unsigned copies_of(unsigned warp) { return kMaxWarps + warp; }

  WarpClocks() {
    for (unsigned w = 0; w < kMaxWarps; ++w) own_[w][w] = 1;
    group_.fill(1);
  }
  /// Of what the warp, or a copy that it starts, does next; never 0.
  std::uint32_t now(unsigned warp) const { return own_[warp][warp]; }
  std::uint32_t group(unsigned warp) const { return group_[warp]; }
  /// Does what `earlier` did at `clock` come before what `warp` does next?
  bool in_order(unsigned earlier, std::uint32_t clock, unsigned warp) const {
    return earlier == warp || own_[warp][earlier] >= clock;
  }

  /// The warp comes to a barrier, to wait there or only to say that it has come.
  void arrives(unsigned warp, unsigned barrier, bool waits);
  /// A warp that has waited at the barrier goes on.
  void goes_on(unsigned warp, unsigned barrier);
  /// All that have waited go on.
  void opened(unsigned barrier) { barriers_[barrier] = {}; }

  void fence(unsigned warp);
  void copies(unsigned warp, Order order);
  void reads(unsigned warp, std::uint64_t at, unsigned bytes, Order order);
  void writes(unsigned warp, std::uint64_t at, unsigned bytes, Order order);

 private:
  using Clocks = std::array<std::uint32_t, kAgents>;
  /// What comes before the value of a word, for those that acquire it.
  struct Release {
    Clocks clocks{};
    unsigned writer = 0;
  };
  std::array<Clocks, kMaxWarps> own_{};        // by warp
  std::array<Clocks, kMaxWarps> fenced_{};     // own, at the last fence: what strong writes release
  std::array<Clocks, kMaxWarps> observed_{};   // what the next fence acquires
  std::array<Clocks, kBarriers> barriers_{};   // of those that have come
  std::map<std::uint64_t, Release> released_;  // by address
  std::array<std::uint32_t, kMaxWarps> group_{};  // by warp: that its copies are in now
};

}  // namespace raddle::exec
