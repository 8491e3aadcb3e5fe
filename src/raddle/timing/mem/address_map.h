// Where a line lives: L2 slice, DRAM channel, bank, row and column, for any number of slices and
// channels. Every step splits a number n into n / d and n % d and then rotates the remainder by a
// hash of the quotient. For one quotient that is a permutation of the remainders, so each step is a
// bijection for every d, while strides that share factors with d still spread (the aim of the XOR
// interleavings of Rau, ISCA 1991, which need powers of two).
#pragma once
#include <cstdint>

#include "raddle/base/error.h"
#include "raddle/timing/gpu/machine.h"

namespace raddle::timing {

/// Exact division of 32-bit numbers by a number known at construction: one multiplication (Lemire,
/// Kaser, Kurz 2019).
class Divisor {
 public:
  explicit Divisor(std::uint32_t d) : d_(d), magic_(d == 1 ? 0 : ~std::uint64_t{0} / d + 1) {
    RADDLE_ASSERT(d != 0);
  }
  std::uint32_t value() const { return d_; }
  std::uint32_t quotient(std::uint32_t n) const {
    return d_ == 1 ? n
                   : static_cast<std::uint32_t>(static_cast<unsigned __int128>(magic_) * n >> 64);
  }

 private:
  std::uint32_t d_;
  std::uint64_t magic_;
};

/// Deals consecutive numbers out to `parts` piles: n -> (pile, place in the pile), a bijection.
class Spread {
 public:
  struct Place {
    std::uint32_t pile, index;
  };
  /// Spreads that follow one another need different salts, else the turns of one repeat those of
  /// the other.
  Spread(std::uint32_t parts, std::uint32_t salt) : parts_(parts), salt_(salt) {}
  Place operator()(std::uint32_t n) const {
    std::uint32_t index = parts_.quotient(n), d = parts_.value();
    std::uint64_t turned = n - index * d + (std::uint64_t{mix(index ^ salt_)} * d >> 32);
    return {static_cast<std::uint32_t>(turned >= d ? turned - d : turned), index};
  }

 private:
  static std::uint32_t mix(std::uint32_t x) {
    x = (x ^ x >> 16) * 0x85ebca6bu;
    x = (x ^ x >> 13) * 0xc2b2ae35u;
    return x ^ x >> 16;
  }
  Divisor parts_;
  std::uint32_t salt_;
};

class AddressMap {
 public:
  struct DramPlace {
    std::uint32_t bank, row, column;  ///< column counts lines inside the row
  };
  /// Preconditions: slices is a multiple of channels; interleave_bytes and row_bytes are multiples
  /// of the line size.
  explicit AddressMap(const MachineSpec& machine)
      : chunk_lines_(machine.dram.interleave_bytes / machine.l2.line_bytes),
        row_lines_(machine.dram.row_bytes / machine.l2.line_bytes),
        slices_per_channel_(machine.l2.slices / machine.dram.channels),
        channels_(machine.dram.channels, 0),
        slices_(slices_per_channel_, 0x9e3779b9u),
        banks_(machine.dram.banks, 0x7f4a7c15u),
        sets_(machine.l2.sets(), 0xf39cc060u) {
    RADDLE_ASSERT(machine.l2.slices % machine.dram.channels == 0);
  }
  unsigned slices_per_channel() const { return slices_per_channel_; }
  /// Slice of the whole machine; slice / slices_per_channel() is its channel.
  unsigned slice(std::uint32_t line) const {
    Spread::Place at = in_channel(line);
    return at.pile * slices_per_channel_ + slices_(at.index).pile;
  }
  unsigned channel(std::uint32_t line) const { return in_channel(line).pile; }
  /// Set inside the line's slice.
  unsigned set(std::uint32_t line) const {
    return sets_(slices_(in_channel(line).index).index).pile;
  }
  /// Place inside the line's channel: consecutive lines of a channel fill a row, consecutive rows
  /// go round the banks.
  DramPlace dram(std::uint32_t line) const {
    std::uint32_t local = in_channel(line).index, page = row_lines_.quotient(local);
    Spread::Place at = banks_(page);
    return {at.pile, at.index, local - page * row_lines_.value()};
  }

 private:
  /// Channel, and the line's number among the lines of that channel.
  Spread::Place in_channel(std::uint32_t line) const {
    std::uint32_t chunk = chunk_lines_.quotient(line), d = chunk_lines_.value();
    Spread::Place at = channels_(chunk);
    return {at.pile, at.index * d + (line - chunk * d)};
  }
  Divisor chunk_lines_, row_lines_;
  std::uint32_t slices_per_channel_;
  Spread channels_, slices_, banks_, sets_;
};

}  // namespace raddle::timing
