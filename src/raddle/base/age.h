// "Who is oldest among these?" without sorting: each member knows the set of those older than it,
// or has a number.
#pragma once
#include <array>
#include <bit>
#include <cstdint>

#include "raddle/base/mask.h"

namespace raddle {

/// Up to 64 members. Insertion is one store, removal N stores (vectorised), the question a short
/// descent.
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

/// The same for up to 128 members. Rows are kept as two columns of words, so that a removal is one
/// vectorised pass over the half that can be concerned.
class AgeMatrix128 {
 public:
  void insert(unsigned i) {
    older_[0][i] = members_.word(0);
    older_[1][i] = members_.word(1);
    members_.set(i);
  }
  void remove(unsigned i) {
    members_.clear(i);
    std::uint64_t* column = older_[i >> 6];
    std::uint64_t keep = ~(1ull << (i & 63));
    for (unsigned j = 0; j < 64; ++j) column[j] &= keep;
    if (members_.word(1) == 0) return;  // rows of absent members are written anew when they come
    for (unsigned j = 64; j < 128; ++j) column[j] &= keep;
  }
  /// Precondition: candidates is a non-empty subset of the members.
  unsigned oldest(const Mask128& candidates) const {
    unsigned i = candidates.first();
    if (candidates.word(1) == 0) {  // as in all queues of up to 64
      while (std::uint64_t m = older_[0][i] & candidates.word(0)) i = lowest(m);
      return i;
    }
    while (true) {
      std::uint64_t low = older_[0][i] & candidates.word(0),
                    high = older_[1][i] & candidates.word(1);
      if ((low | high) == 0) return i;
      i = low != 0 ? lowest(low) : 64 + lowest(high);
    }
  }
  /// Whether one of the candidates is older than i. Precondition: all are members.
  bool any_older(const Mask128& candidates, unsigned i) const {
    return (older_[0][i] & candidates.word(0)) != 0 ||
           (candidates.word(1) != 0 && (older_[1][i] & candidates.word(1)) != 0);
  }
  const Mask128& members() const { return members_; }

 private:
  std::uint64_t older_[2][128] = {};
  Mask128 members_;
};

/// The same for the launch slots: larger and seldom asked. Members have numbers; insertion is one
/// store, removal nothing, the question looks at each candidate.
class KernelAge {
 public:
  void insert(unsigned i) { number_[i] = ++last_; }
  /// Precondition: candidates is a non-empty set of members.
  unsigned oldest(const KernelSet& candidates) const {
    unsigned best = candidates.first();
    candidates.each([&](unsigned i) {
      if (number_[i] < number_[best]) best = i;
    });
    return best;
  }
  /// Counts insertions: the older of two members has the lower number.
  std::uint64_t number(unsigned i) const { return number_[i]; }

 private:
  std::array<std::uint64_t, kKernelSlots> number_{};
  std::uint64_t last_ = 0;
};

}  // namespace raddle
