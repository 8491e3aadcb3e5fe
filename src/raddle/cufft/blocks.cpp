#include "raddle/cufft/blocks.h"

#include <algorithm>
#include <bit>
#include <span>

#include "raddle/cufft/factors.h"
#include "raddle/cufft/status.h"

namespace raddle::cufft {

namespace {

/// Of neighbouring lines, that a block has at least where threads go by lines: two sectors.
constexpr int kLineBytes = 64;

/// A kernel's elements in shared memory and its threads: kernels/*.cu have them in their names.
struct Tile {
  int elements, threads;
};
constexpr Tile kGeneral[] = {{1024, 128}, {4096, 512}};
constexpr Tile kGeneralDouble[] = {{1024, 128}, {2048, 256}};
constexpr Tile kAny[] = {{640, 128}, {2560, 256}};
constexpr Tile kAnyDouble[] = {{512, 128}, {1200, 256}};

/// Elements between lines in shared memory, such that a warp's lanes share no bank: where they
/// go by lines, those of one element; otherwise those of a stage's first butterflies.
int pitch_of(int n, int lines, bool by_lines, bool in_double) {
  const int shift = in_double ? kPadShift<double> : kPadShift<float>;
  const int banks = in_double ? 8 : 16;  // of a complex number each
  const int smallest = n + (n >> shift);
  const int together = by_lines ? std::max(banks / std::max(lines, 1), 1) : std::max(n / 8, 1);
  if (lines == 1 || together >= banks) return smallest;
  const int group = static_cast<int>(std::bit_floor(static_cast<unsigned>(together)));
  int pitch = smallest;
  while (pitch % (2 * group) != group) ++pitch;
  return pitch;
}

/// Whole lines of complex numbers, or whole spectra, and nothing else to do on the way.
bool is_direct(const Step& step, int array) {
  const Pass& p = step.pass;
  const auto is_whole = [&](Kind kind, int count) {
    return (kind == kComplex || kind == kHalf) && count == array;
  };
  return is_power_of_two(p.n) && p.n >= kEach && is_whole(p.in_kind, p.in_count) &&
         is_whole(p.out_kind, p.out_count) && !step.convolves && !step.has_factors;
}

/// The smallest that has `wanted` lines, or the largest.
Tile tile_of(std::span<const Tile> tiles, int n, int wanted) {
  const auto found =
      std::ranges::find_if(tiles, [&](const Tile& one) { return one.elements >= n * wanted; });
  return found != tiles.end() ? *found : tiles.back();
}

/// Of the kernels that know how many lines they have: 1,024 elements if those are enough.
Tile direct_tile(int n, int wanted, bool in_double) {
  const int elements = std::clamp(n * wanted, 1024, std::max(in_double ? 2048 : 4096, n));
  return {elements, elements / kEach};
}

void set_stages(Pass& p, const std::vector<int>& radices) {
  require(radices.size() <= kMaxStages, kInternalError);
  const std::vector<int> offsets = twiddle_offsets(radices);
  p.stage_count = static_cast<int>(radices.size());
  unsigned done = 1;
  for (std::size_t i = 0; i < radices.size(); ++i) {
    const auto radix = static_cast<unsigned>(radices[i]);
    p.stages[i] = {.radix = radices[i],
                   .twiddles = offsets[i],
                   .done = divisor(done),
                   .span = divisor(static_cast<unsigned>(p.n) / radix)};
    done *= radix;
  }
}

}  // namespace

int largest_block(bool in_double, bool power_of_two) {
  if (power_of_two) return in_double ? kGeneralDouble[1].elements : kGeneral[1].elements;
  return in_double ? kAnyDouble[1].elements : kAny[1].elements;
}

void set_block(Step& step, const std::vector<int>& radices, int array, bool in_double) {
  Pass& pass = step.pass;
  const bool direct = is_direct(step, array), any = !is_power_of_two(pass.n);
  const bool by_lines = pass.in_by_lines != 0 || pass.out_by_lines != 0;
  const int wanted = by_lines ? kLineBytes / (in_double ? 16 : 8) : 1;
  const Tile tile = direct ? direct_tile(pass.n, wanted, in_double)
                           : tile_of(any ? (in_double ? kAnyDouble : kAny)
                                         : (in_double ? kGeneralDouble : kGeneral),
                                     pass.n, wanted);
  require(pass.n <= tile.elements, kInternalError);
  int lines = tile.elements / pass.n;
  pass.pitch = pitch_of(pass.n, lines, by_lines, in_double);
  const int memory =
      in_double ? shared_elements<double>(tile.elements) : shared_elements<float>(tile.elements);
  if (!direct)  // which has a number of lines of its own
    lines =
        std::min({lines, kMaxBlockLines, static_cast<int>(pass.line_count), memory / pass.pitch});
  require(lines > 0 && pass.pitch * lines <= memory, kInternalError);
  pass.block_lines = lines;
  pass.by_n = divisor(static_cast<unsigned>(pass.n));
  pass.by_lines = divisor(static_cast<unsigned>(lines));
  if (pass.in_kind == kHalf) pass.by_pairs = divisor(static_cast<unsigned>(pass.in_count) / 2 + 1);
  if (pass.out_kind == kHalf)
    pass.by_pairs = divisor(static_cast<unsigned>(pass.out_count) / 2 + 1);
  set_stages(pass, radices);

  const std::string type = in_double ? "d" : "s";
  step.module = (direct ? "direct_" : any ? "any_" : "general_") + type;
  step.kernel = "fft_" + type;
  if (direct) step.kernel += "_direct_" + std::to_string(pass.n) + "x" + std::to_string(lines);
  else step.kernel += (any ? "_any_" : "_general_") + std::to_string(tile.elements);
  step.threads = static_cast<unsigned>(tile.threads);
  step.blocks = (pass.line_count - 1) / static_cast<unsigned>(lines) + 1;
}

void set_pair_block(Step& step, bool in_double) {
  Pass& p = step.pass;
  p.block_lines = p.in_by_lines != 0 ? kPairLines : 1;
  const unsigned lines = static_cast<unsigned>(p.block_lines), each = kPairThreads / lines;
  const unsigned pairs = static_cast<unsigned>(p.n) / 2 + 1;
  step.module = "pairs";
  step.kernel = std::string(in_double ? "fft_d_" : "fft_s_") + step.kernel;
  step.threads = kPairThreads;
  step.blocks = ((p.line_count - 1) / lines + 1) * ((pairs - 1) / each + 1);
}

}  // namespace raddle::cufft
