#include "raddle/exec/run/shared_uses.h"

#include <span>

namespace raddle::exec {

namespace {

/// Is the earlier access another's, and does nothing put it before this one?
bool unordered(const WarpClocks& clocks, const SharedUse& earlier, const SharedUse& use) {
  return earlier.clock != 0 && !clocks.in_order(earlier.warp, earlier.clock, use.warp);
}

const SharedUse* first_unordered(const WarpClocks& clocks, std::span<const SharedUse> earlier,
                                 const SharedUse& use) {
  for (const SharedUse& one : earlier)
    if (unordered(clocks, one, use)) return &one;
  return nullptr;
}

}  // namespace

void SharedUses::split() {
  if (place_bytes_ == 1) return;
  std::vector<Place> bytes;
  bytes.reserve(4 * places_.size());
  for (const Place& word : places_)
    for (unsigned i = 0; i < 4; ++i) {
      Place& byte = bytes.emplace_back(word);
      if (i == 0) continue;
      if (word.readers != kNone) {
        byte.readers = static_cast<std::uint32_t>(readers_.size());
        readers_.push_back(ByWarp(readers_[word.readers]));
      }
      if (word.strong != kNone) {
        byte.strong = static_cast<std::uint32_t>(strong_.size());
        strong_.push_back(Strong(strong_[word.strong]));
      }
    }
  places_ = std::move(bytes);
  place_bytes_ = 1;
}

SharedUses::Strong& SharedUses::strong_of(Place& here) {
  if (here.strong == kNone) {
    here.strong = static_cast<std::uint32_t>(strong_.size());
    strong_.emplace_back();
  }
  return strong_[here.strong];
}

const SharedUse* SharedUses::racing_write(const WarpClocks& clocks, std::uint64_t at,
                                          const SharedUse& use, bool strong) const {
  const Place& here = place(at);
  if (unordered(clocks, here.write, use)) return &here.write;
  if (strong || here.strong == kNone) return nullptr;
  return first_unordered(clocks, strong_[here.strong].writes, use);
}

const SharedUse* SharedUses::racing_read(const WarpClocks& clocks, std::uint64_t at,
                                         const SharedUse& use, bool strong) const {
  const Place& here = place(at);
  const SharedUse* found = nullptr;
  if (here.many) found = first_unordered(clocks, readers_[here.readers], use);
  else if (unordered(clocks, here.read, use)) found = &here.read;
  if (found != nullptr || strong || here.strong == kNone) return found;
  return first_unordered(clocks, strong_[here.strong].reads, use);
}

void SharedUses::read(const WarpClocks& clocks, std::uint64_t at, const SharedUse& use,
                      bool strong) {
  Place& here = place(at);
  if (strong) {
    strong_of(here).reads[use.warp] = use;
    return;
  }
  if (!here.many && !unordered(clocks, here.read, use)) {
    here.read = use;
    return;
  }
  if (here.readers == kNone) {
    here.readers = static_cast<std::uint32_t>(readers_.size());
    readers_.emplace_back();
  }
  ByWarp& all = readers_[here.readers];
  if (!here.many) {
    here.many = true;
    all.fill({});
    all[here.read.warp] = here.read;
  }
  all[use.warp] = use;
}

void SharedUses::write(std::uint64_t at, const SharedUse& use, bool strong) {
  Place& here = place(at);
  here.written = true;
  if (strong) {
    strong_of(here).writes[use.warp] = use;
    return;
  }
  here.write = use;
  here.read = {};
  here.many = false;
  if (here.strong != kNone) strong_[here.strong] = {};
}

}  // namespace raddle::exec
