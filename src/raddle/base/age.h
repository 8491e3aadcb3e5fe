// "Who is oldest among these?" without sorting: each member knows the set of those older than it.
#pragma once
#include <bit>
#include <cstdint>

#include "raddle/base/mask.h"

namespace raddle {

/// Up to 64 members. Insertion is one store, removal N stores (vectorised), the question a short descent.
class AgeMatrix64 {
 public:
  void insert(unsigned i) {
    older_[i] = members_;
    members_ |= 1ull << i;
  }
  void remove(unsigned i) {
    std::uint64_t keep = ~(1ull << i);
    members_ &= keep;
    for (std::uint64_t& mask : older_) mask &= keep;
  }
  /// Precondition: candidates is a non-empty subset of the members.
  unsigned oldest(std::uint64_t candidates) const {
    unsigned i = lowest(candidates);
    while (std::uint64_t m = older_[i] & candidates) i = lowest(m);
    return i;
  }
  /// Members older than i.
  std::uint64_t older_than(unsigned i) const { return older_[i]; }
  std::uint64_t members() const { return members_; }

 private:
  std::uint64_t older_[64] = {};
  std::uint64_t members_ = 0;
};

/// The same for up to 128 members.
class AgeMatrix128 {
 public:
  void insert(unsigned i) {
    older_[i] = members_;
    members_.set(i);
  }
  void remove(unsigned i) {
    members_.clear(i);
    for (Mask128& mask : older_) mask.clear(i);
  }
  unsigned oldest(const Mask128& candidates) const {
    unsigned i = candidates.first();
    for (Mask128 m = older_[i] & candidates; m.any(); m = older_[i] & candidates) i = m.first();
    return i;
  }
  const Mask128& members() const { return members_; }

 private:
  Mask128 older_[128] = {};
  Mask128 members_;
};

}  // namespace raddle
