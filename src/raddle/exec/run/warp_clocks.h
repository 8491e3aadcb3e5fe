// What is in order with what between the warps of a block: a vector clock for each warp, which
// barriers pass on, and words of shared memory that are written with release and read with acquire
// (PTX ISA, "Memory Consistency Model": release and acquire patterns). Warps are taken to run in
// step, so a fence or an acquire of one lane counts for its whole warp.
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
};
Order order_of(const ptx::Instruction& instruction);

class WarpClocks {
 public:
  static constexpr unsigned kMaxWarps = 32, kBarriers = 16;
  WarpClocks() {
    for (unsigned w = 0; w < kMaxWarps; ++w) own_[w][w] = 1;
  }
  /// Of what the warp does next; never 0.
  std::uint32_t now(unsigned warp) const { return own_[warp][warp]; }
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
  void reads(unsigned warp, std::uint64_t at, unsigned bytes, Order order);
  void writes(unsigned warp, std::uint64_t at, unsigned bytes, Order order);

 private:
  using Clocks = std::array<std::uint32_t, kMaxWarps>;
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
};

}  // namespace raddle::exec
