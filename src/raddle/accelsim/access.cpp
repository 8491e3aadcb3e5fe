#include "raddle/accelsim/access.h"

#include <algorithm>
#include <bit>

#include "raddle/base/error.h"

namespace raddle::accelsim {

namespace {

using std::uint32_t;
using std::uint64_t;

unsigned lowest(LaneMask mask) { return static_cast<unsigned>(std::countr_zero(mask)); }

/// The pieces of one access, behind what `out` already holds.
class Collector {
 public:
  explicit Collector(std::vector<uint32_t>& out) : out_(out), begin_(out.size()) {}
  unsigned count() const {
    return static_cast<unsigned>((out_.size() - begin_) / trace::kTransactionWords);
  }
  void add(uint32_t line, uint32_t words, LaneMask lane) {
    // Neighbours mostly share a line, so the latest is looked at first.
    for (std::size_t at = out_.size(); at > begin_; at -= trace::kTransactionWords) {
      uint32_t* transaction = &out_[at - trace::kTransactionWords];
      if (transaction[0] != line) continue;
      transaction[1] |= words;
      transaction[2] |= lane;
      return;
    }
    if (count() == trace::kMaxTransactions) return;  // as in exec: many offsets of 16-byte accesses
    out_.insert(out_.end(), {line, words, lane});
  }

 private:
  std::vector<uint32_t>& out_;
  std::size_t begin_;
};

unsigned passes(const std::array<uint64_t, kLanes>& unit, LaneMask mask, unsigned classes) {
  RADDLE_ASSERT(classes != 0 && classes <= kLanes);
  std::array<std::uint8_t, kLanes> load{};
  unsigned maximum = 0;
  for (LaneMask m = mask; m != 0; m &= m - 1) {
    const unsigned lane = lowest(m);
    bool first = true;
    for (LaneMask before = mask & ((m & (0 - m)) - 1); before != 0 && first; before &= before - 1)
      first = unit[lowest(before)] != unit[lane];
    if (first) maximum = std::max<unsigned>(maximum, ++load[unit[lane] % classes]);
  }
  return maximum;
}

}  // namespace

unsigned global_transactions(const Addresses& at, LaneMask mask, unsigned bytes,
                             std::vector<uint32_t>& out) {
  RADDLE_ASSERT(bytes != 0);
  Collector transactions(out);
  for (LaneMask m = mask; m != 0; m &= m - 1) {
    const unsigned lane = lowest(m);
    uint64_t word = at[lane] / 4;
    const uint64_t last = (at[lane] + bytes - 1) / 4;
    while (word <= last) {  // twice where a line ends in between
      constexpr uint64_t kWords = trace::kLineBytes / 4;
      const uint64_t line = word / kWords, end = std::min(last + 1, (line + 1) * kWords);
      const auto n = static_cast<unsigned>(end - word);
      const uint32_t words = n == kWords ? ~uint32_t{0} : ((uint32_t{1} << n) - 1) << word % kWords;
      transactions.add(static_cast<uint32_t>(line), words, m & (0 - m));
      word = end;
    }
  }
  return transactions.count();
}

unsigned local_transactions(const Addresses& at, LaneMask mask, unsigned bytes,
                            std::vector<uint32_t>& out) {
  Collector transactions(out);
  for (LaneMask m = mask; m != 0; m &= m - 1) {
    const LaneMask lane = m & (0 - m);
    for (uint64_t word = at[lowest(m)] / 4; word <= (at[lowest(m)] + bytes - 1) / 4; ++word)
      transactions.add(static_cast<uint32_t>(word), lane, lane);
  }
  return transactions.count();
}

unsigned bank_passes(const Addresses& at, LaneMask mask, unsigned bytes) {
  const unsigned shift = bytes >= 16 ? 4 : bytes >= 8 ? 3 : 2, group = 128u >> shift;
  Addresses unit{};
  for (unsigned lane = 0; lane < kLanes; ++lane) unit[lane] = at[lane] >> shift;
  unsigned total = 0;
  for (unsigned from = 0; from < kLanes; from += group) {
    const LaneMask served = group == kLanes ? mask : mask & ((1u << group) - 1) << from;
    total += passes(unit, served, group);
  }
  return total;
}

unsigned atomic_passes(const Addresses& at, LaneMask mask, unsigned bytes) {
  const unsigned unit = std::max(bytes, 4u), banks = 128 / unit;
  RADDLE_ASSERT(banks != 0);
  std::array<std::uint8_t, kLanes> load{};
  unsigned maximum = 0;
  for (LaneMask m = mask; m != 0; m &= m - 1)
    maximum = std::max<unsigned>(maximum, ++load[at[lowest(m)] / unit % banks]);
  return maximum;
}

unsigned distinct(const Addresses& at, LaneMask mask) {
  unsigned n = 0;
  for (; mask != 0; ++n) {
    const std::uint64_t first = at[lowest(mask)];
    for (LaneMask m = mask; m != 0; m &= m - 1)
      if (at[lowest(m)] == first) mask &= ~(m & (0 - m));
  }
  return n;
}

void Regions::find(uint64_t region) {
  constexpr uint64_t kFree = ~uint64_t{0};
  taken_.resize(kPlaces, kFree);
  auto found = std::ranges::find(taken_, region);
  if (found == taken_.end() && region < kPlaces && taken_[region] == kFree)
    found = taken_.begin() + static_cast<std::ptrdiff_t>(region);
  // From above, where allocators that start low do not come.
  for (auto place = taken_.end(); found == taken_.end() && place != taken_.begin();)
    if (*--place == kFree) found = place;
  if (found == taken_.end())
    throw InputError("global addresses lie in more than " + std::to_string(kPlaces) +
                     " regions of 4 GiB");
  *found = region;
  last_ = region;
  place_ = static_cast<uint64_t>(found - taken_.begin());
}

}  // namespace raddle::accelsim
