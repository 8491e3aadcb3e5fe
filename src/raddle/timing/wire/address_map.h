// Where a line lives: L2 slice, DRAM channel, bank, row and column, for any number of slices and
// channels. Every step splits a number n into n / d and n % d and may turn the remainder by the
// quotient: XOR (Rau, ISCA 1991; powers of two), or rotation by a hash of it (any d). For one
// quotient both are permutations of the remainders, so each step is a bijection for every d, while
// strides that share factors with d still spread. Channels, slices, sets and banks are turned as
// dram.channel_hash, l2.slice_index, l2.index and dram.bank_hash say.
#pragma once
#include <cstdint>

#include "raddle/base/divisor.h"
#include "raddle/base/error.h"
#include "raddle/timing/spec/parts.h"

namespace raddle::timing {

/// Turns the members of a round: for every `round` a permutation of [0, parts).
inline std::uint32_t turned(std::uint32_t place, std::uint32_t parts, AddressHash hash,
                            std::uint32_t round, std::uint32_t salt) {
  if (hash == AddressHash::None) return place;
  if (hash == AddressHash::Xor) return place ^ (round & (parts - 1));
  std::uint32_t x = round ^ salt;
  x = (x ^ x >> 16) * 0x85ebca6bu;
  x = (x ^ x >> 13) * 0xc2b2ae35u;
  x ^= x >> 16;
  std::uint64_t at = place + (std::uint64_t{x} * parts >> 32);
  return static_cast<std::uint32_t>(at >= parts ? at - parts : at);
}

/// Interleaves consecutive numbers over `parts`: n -> (part, index in the part), a bijection.
class Interleave {
 public:
  struct Place {
    std::uint32_t part, index;
  };
  /// Interleaves that follow one another need different salts, else the turns of one repeat those
  /// of the other.
  Interleave(std::uint32_t parts, std::uint32_t salt, AddressHash hash = AddressHash::Mix)
      : parts_(parts), salt_(salt), hash_(hash) {}
  Place operator()(std::uint32_t n) const {
    std::uint32_t index = parts_.quotient(n), d = parts_.value();
    return {turned(n - index * d, d, hash_, index, salt_), index};
  }

 private:
  Divisor parts_;
  std::uint32_t salt_;
  AddressHash hash_;
};

class AddressMap {
 public:
  struct DramPlace {
    std::uint32_t bank, row, column;  ///< column counts lines inside the row
  };
  /// Preconditions: the machine keeps check_dram's rules.
  explicit AddressMap(const AddressMapSpec& spec)
      : chunk_lines_(spec.dram.interleave_bytes / spec.l2.line_bytes),
        unit_lines_(unit_lines(spec)),
        units_of_row_(spec.dram.row_bytes / spec.l2.line_bytes / unit_lines(spec)),
        near_banks_(spec.dram.interleave_banks),
        far_banks_(spec.dram.banks / spec.dram.interleave_banks),
        slices_per_channel_(spec.l2.slices / spec.dram.channels),
        banks_(spec.dram.banks),
        endpoints_(spec.endpoints),
        bank_hash_(spec.dram.bank_hash),
        channels_(spec.dram.channels, 0, spec.dram.channel_hash),
        slices_(slices_per_channel_, 0x9e3779b9u, turn_of(spec.l2.slice_index)),
        sets_(spec.l2.sets(), 0xf39cc060u, turn_of(spec.l2.index)) {
    RADDLE_ASSERT(spec.l2.slices % spec.dram.channels == 0);
  }
  unsigned slices_per_channel() const { return slices_per_channel_; }
  /// Slice of the whole machine; slice / slices_per_channel() is its channel.
  unsigned slice(std::uint32_t line) const {
    Interleave::Place at = in_channel(line);
    return at.part * slices_per_channel_ + slices_(at.index).part;
  }
  /// That slice as an endpoint of the networks.
  NodeId home(std::uint32_t line) const { return endpoints_.slice(slice(line)); }
  unsigned channel(std::uint32_t line) const { return in_channel(line).part; }
  /// Set inside the line's slice.
  unsigned set(std::uint32_t line) const {
    return sets_(slices_(in_channel(line).index).index).part;
  }
  /// Place inside the line's channel. Consecutive interleaves of a channel go round
  /// `interleave_banks` banks (1: they fill a row), then along the row, then to the next banks.
  DramPlace dram(std::uint32_t line) const {
    std::uint32_t local = in_channel(line).index;
    std::uint32_t unit = unit_lines_.quotient(local), inside = local - unit * unit_lines_.value();
    std::uint32_t round = near_banks_.quotient(unit), near = unit - round * near_banks_.value();
    std::uint32_t page = units_of_row_.quotient(round), part = round - page * units_of_row_.value();
    std::uint32_t row = far_banks_.quotient(page), far = page - row * far_banks_.value();
    return {turned(far * near_banks_.value() + near, banks_, bank_hash_, row, 0x7f4a7c15u), row,
            part * unit_lines_.value() + inside};
  }

 private:
  static AddressHash turn_of(L2Index index) {
    return index == L2Index::Modulo ? AddressHash::None : AddressHash::Mix;
  }
  static std::uint32_t unit_lines(const AddressMapSpec& m) {
    return (m.dram.interleave_banks == 1 ? m.dram.row_bytes : m.dram.interleave_bytes) /
           m.l2.line_bytes;
  }
  /// Channel, and the line's number among the lines of that channel.
  Interleave::Place in_channel(std::uint32_t line) const {
    std::uint32_t chunk = chunk_lines_.quotient(line), d = chunk_lines_.value();
    Interleave::Place at = channels_(chunk);
    return {at.part, at.index * d + (line - chunk * d)};
  }
  Divisor chunk_lines_, unit_lines_, units_of_row_, near_banks_, far_banks_;
  std::uint32_t slices_per_channel_, banks_;
  Endpoints endpoints_;
  AddressHash bank_hash_;
  Interleave channels_, slices_, sets_;
};

}  // namespace raddle::timing
