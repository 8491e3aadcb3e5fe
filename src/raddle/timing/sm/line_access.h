// The coalescer: from the stream's pieces (128-byte lines, mask of 4-byte words) to the machine's
// lines and sectors. Sectors are those of the L2 everywhere on the wires; an L1 with coarser
// sectors widens its fetches.
#pragma once
#include <array>
#include <bit>
#include <cstdint>

#include "raddle/timing/spec/parts.h"
#include "raddle/trace/stream.h"

namespace raddle::timing {

/// What the L1 looks up at once.
struct LineAccess {
  std::uint32_t line = 0;
  std::uint32_t words = 0;  ///< touched, counted from the start of the line
  std::uint8_t sectors = 0, lanes = 0;

  /// Lanes in the word that most of them touch, at least: the stream does not say which lane
  /// touches which word. Precondition: words != 0.
  std::uint8_t meeting() const {
    const auto n = static_cast<unsigned>(std::popcount(words));
    return static_cast<std::uint8_t>((lanes + n - 1) / n);
  }
};

class LineMap {
 public:
  /// Of one piece.
  static constexpr unsigned kMaximum = 8;
  using Accesses = std::array<LineAccess, kMaximum>;

  explicit LineMap(const LineSpec& lines)
      : half_lines_(lines.line_bytes == 64),
        by_sector_(lines.by_sector),
        words_per_sector_(lines.sector_bytes / 4),
        sectors_(lines.line_bytes / lines.sector_bytes),
        grain_(lines.l1_sector_bytes / lines.sector_bytes),
        one_for_one_(!half_lines_ && !by_sector_) {
    RADDLE_ASSERT(lines.line_bytes == 64 || lines.line_bytes == trace::kLineBytes);
  }

  /// An L1 fetch brings a line.
  bool whole_lines() const { return grain_ == sectors_; }
  /// Every piece is one access.
  bool one_for_one() const { return one_for_one_; }
  /// Writes the accesses a piece becomes; returns how many. `base` is added to the (machine) line.
  [[gnu::always_inline]] unsigned convert(const trace::Transaction& p, std::uint32_t base,
                                          Accesses& out) const {
    if (!one_for_one_) return divide(p, base, out);
    const auto lanes = static_cast<std::uint8_t>(std::popcount(p.lanes));
    out[0] = {base + p.line, p.words, sectors(p.words), lanes};
    return 1;
  }
  /// The words of an access as the piece it comes from counts them. `base` as in convert().
  std::uint32_t words_of_transaction(const LineAccess& access, std::uint32_t base) const {
    return half_lines_ && ((access.line - base) & 1) != 0 ? access.words << 16 : access.words;
  }
  /// Sectors touched by a mask of words, counted from the start of the line.
  [[gnu::always_inline]] std::uint8_t sectors(std::uint32_t words) const {
    if (words_per_sector_ == 8) {  // fold each byte to its lowest bit, then gather the four bits
      words |= words >> 4;
      words |= words >> 2;
      words |= words >> 1;
      return static_cast<std::uint8_t>(std::uint64_t{words & 0x01010101u} * 0x01020408u >> 24 & 15);
    }
    return sectors_with(words, [](std::uint32_t part, std::uint32_t) { return part != 0; });
  }
  /// Sectors touched in every word.
  std::uint8_t whole(std::uint32_t words) const {
    return sectors_with(words, [](std::uint32_t part, std::uint32_t all) { return part == all; });
  }
  /// Sectors an L1 fetch brings when these are wanted.
  std::uint8_t widened(std::uint8_t sectors) const {
    if (grain_ == 1) return sectors;
    if (whole_lines()) return sectors != 0 ? static_cast<std::uint8_t>(own_sectors(0)) : sectors;
    unsigned out = 0;
    for (unsigned at = 0; at < sectors_; at += grain_)
      if ((sectors & own_sectors(at)) != 0) out |= own_sectors(at);
    return static_cast<std::uint8_t>(out);
  }
  /// Of sectors of an L1 with coarser ones, those of which all parts are in `sectors`.
  std::uint8_t narrowed(std::uint8_t sectors) const {
    if (grain_ == 1) return sectors;
    unsigned out = 0;
    for (unsigned at = 0; at < sectors_; at += grain_)
      if ((sectors & own_sectors(at)) == own_sectors(at)) out |= own_sectors(at);
    return static_cast<std::uint8_t>(out);
  }

 private:
  /// convert() where a piece may become several accesses.
  [[gnu::noinline]] unsigned divide(const trace::Transaction& p, std::uint32_t base,
                                    Accesses& out) const {
    const auto lanes = static_cast<std::uint8_t>(std::popcount(p.lanes));
    unsigned n = 0;
    if (!half_lines_) return add({base + p.line, p.words, 0, lanes}, out, n);
    const std::uint32_t low = p.words & 0xffff, high = p.words >> 16;
    if (low != 0) n = add({base + 2 * p.line, low, 0, share(lanes, low, p.words)}, out, n);
    if (high != 0) n = add({base + 2 * p.line + 1, high, 0, share(lanes, high, p.words)}, out, n);
    return n;
  }
  /// Adds a line, or each of its sectors.
  unsigned add(LineAccess a, Accesses& out, unsigned n) const {
    const std::uint8_t all = sectors(a.words);
    if (!by_sector_) {
      a.sectors = all;
      out[n] = a;
      return n + 1;
    }
    for (unsigned at = 0; at < sectors_; at += grain_) {
      a.sectors = static_cast<std::uint8_t>(all & own_sectors(at));
      if (a.sectors == 0) continue;
      out[n] = a;
      out[n].words = a.words & words_of(grain_) << at * words_per_sector_;
      out[n].lanes = share(a.lanes, out[n].words, a.words);
      ++n;
    }
    return n;
  }
  template <class Test>
  std::uint8_t sectors_with(std::uint32_t words, Test test) const {
    unsigned out = 0;
    for (unsigned i = 0; i < sectors_; ++i)
      if (test(words >> (i * words_per_sector_) & words_of(1), words_of(1))) out |= 1u << i;
    return static_cast<std::uint8_t>(out);
  }
  /// The sectors that one of the L1's stands for.
  unsigned own_sectors(unsigned at) const { return ((1u << grain_) - 1) << at; }
  std::uint32_t words_of(unsigned sectors) const {
    const unsigned n = sectors * words_per_sector_;
    return n >= 32 ? ~0u : (1u << n) - 1;
  }
  /// The stream does not say which lane touches which part: lanes are split like the words, at
  /// least one each.
  static std::uint8_t share(unsigned lanes, std::uint32_t words, std::uint32_t of) {
    auto part = static_cast<unsigned>(std::popcount(words)),
         all = static_cast<unsigned>(std::popcount(of));
    unsigned out = (lanes * part + all / 2) / all;
    return static_cast<std::uint8_t>(out == 0 ? 1 : out);
  }
  bool half_lines_, by_sector_;
  unsigned words_per_sector_, sectors_, grain_;
  bool one_for_one_;
};

}  // namespace raddle::timing
