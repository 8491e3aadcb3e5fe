// From the stream's pieces (128-byte lines, mask of 4-byte words) to the machine's lines and
// sectors. Sectors are those of the L2 everywhere on the wires; an L1 with coarser sectors widens
// its fetches.
#pragma once
#include <bit>
#include <cstdint>

#include "raddle/timing/gpu/machine.h"
#include "raddle/trace/stream.h"

namespace raddle::timing {

struct LineAccess {
  std::uint32_t line = 0;
  std::uint8_t sectors = 0, lanes = 0;
};

class LineMap {
 public:
  explicit LineMap(const MachineSpec& machine)
      : half_lines_(machine.l2.line_bytes == 64),
        words_per_sector_(machine.l2.sector_bytes / 4),
        sectors_(machine.l2.line_bytes / machine.l2.sector_bytes),
        grain_(machine.sm.l1d.sector_bytes / machine.l2.sector_bytes) {}

  /// Writes the one or two accesses a piece becomes; returns how many. `base` is added to the
  /// (machine) line.
  unsigned convert(const trace::Piece& p, std::uint32_t base, LineAccess* out) const {
    auto lanes = static_cast<std::uint8_t>(std::popcount(p.lanes));
    if (!half_lines_) {
      *out = {base + p.line, sectors(p.words), lanes};
      return 1;
    }
    std::uint32_t low = p.words & 0xffff, high = p.words >> 16;
    unsigned n = 0;
    if (low != 0) out[n++] = {base + 2 * p.line, sectors(low), share(lanes, low, p.words)};
    if (high != 0) out[n++] = {base + 2 * p.line + 1, sectors(high), share(lanes, high, p.words)};
    return n;
  }
  /// Sectors touched by a mask of words, counted from the start of the line.
  std::uint8_t sectors(std::uint32_t words) const {
    if (words_per_sector_ == 8) {  // fold each byte to its lowest bit, then gather the four bits
      words |= words >> 4, words |= words >> 2, words |= words >> 1;
      return static_cast<std::uint8_t>(std::uint64_t{words & 0x01010101u} * 0x01020408u >> 24 & 15);
    }
    std::uint8_t out = 0;
    for (unsigned i = 0; i < sectors_; ++i)
      if ((words >> (i * words_per_sector_) & low_words()) != 0)
        out |= static_cast<std::uint8_t>(1u << i);
    return out;
  }
  /// Sectors an L1 fetch brings when these are wanted.
  std::uint8_t widened(std::uint8_t sectors) const {
    if (grain_ == 1) return sectors;
    unsigned out = 0, whole = (1u << grain_) - 1;
    for (unsigned at = 0; at < sectors_; at += grain_)
      if ((sectors >> at & whole) != 0) out |= whole << at;
    return static_cast<std::uint8_t>(out);
  }

 private:
  std::uint32_t low_words() const {
    return words_per_sector_ == 32 ? ~0u : (1u << words_per_sector_) - 1;
  }
  /// The stream does not say which lane touches which half: lanes are split like the words, at
  /// least one each.
  static std::uint8_t share(unsigned lanes, std::uint32_t words, std::uint32_t of) {
    auto part = static_cast<unsigned>(std::popcount(words)),
         all = static_cast<unsigned>(std::popcount(of));
    unsigned out = (lanes * part + all / 2) / all;
    return static_cast<std::uint8_t>(out == 0 ? 1 : out);
  }
  bool half_lines_;
  unsigned words_per_sector_, sectors_, grain_;
};

}  // namespace raddle::timing
