// Who has accessed the shared memory of a block, as far as later accesses may race with it.
//
// Of each place the last plain write is known, and the plain reads since; in order or raced with,
// an older one tells a later access nothing more. Strong accesses (atomic, volatile, relaxed,
// acquire, release) race with plain ones alone, so that they do not take the place of those: the
// last of each warp are known beside them, until a plain write.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "raddle/exec/run/warp_clocks.h"

namespace raddle::exec {

/// An access of a place; clock 0: there was none.
struct SharedUse {
  std::uint32_t clock = 0, inst = 0;
  std::uint32_t execution = 0;      ///< of which it is: an instruction in a loop has several
  std::uint8_t warp = 0, lane = 0;  ///< the warp, or its copies (WarpClocks)
};

class SharedUses {
 public:
  /// Nothing is known yet, not even how much memory there is.
  bool empty() const { return places_.empty(); }
  void begin(std::size_t bytes) { places_.resize((bytes + 3) / 4); }
  /// A place is a word, or from split() on a byte.
  unsigned place_bytes() const { return place_bytes_; }
  void split();

  /// Has somebody written there? `at`: of a byte in it.
  bool written(std::uint64_t at) const { return place(at).written; }
  /// An earlier write that a read or write races with, or nullptr.
  const SharedUse* racing_write(const WarpClocks& clocks, std::uint64_t at, const SharedUse& use,
                                bool strong) const;
  /// An earlier read that a write races with, or nullptr.
  const SharedUse* racing_read(const WarpClocks& clocks, std::uint64_t at, const SharedUse& use,
                               bool strong) const;
  void read(const WarpClocks& clocks, std::uint64_t at, const SharedUse& use, bool strong);
  void write(std::uint64_t at, const SharedUse& use, bool strong);

 private:
  using ByWarp = std::array<SharedUse, WarpClocks::kMaxWarps>;
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  struct Place {
    SharedUse write, read;  // the last plain ones
    bool written = false;
    bool many = false;  // plain reads that nothing puts in order: they are in `readers`
    std::uint32_t readers = kNone, strong = kNone;  // into the tables; kept for the next time
  };
  struct Strong {
    ByWarp reads{}, writes{};
  };
  const Place& place(std::uint64_t at) const { return places_[at / place_bytes_]; }
  Place& place(std::uint64_t at) { return places_[at / place_bytes_]; }
  Strong& strong_of(Place& here);

  unsigned place_bytes_ = 4;
  std::vector<Place> places_;
  std::vector<ByWarp> readers_;
  std::vector<Strong> strong_;
};

}  // namespace raddle::exec
