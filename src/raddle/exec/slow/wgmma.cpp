#include "raddle/exec/slow/wgmma.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "raddle/base/error.h"
#include "raddle/exec/run/runner.h"

namespace raddle::exec {

using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s32 = std::int32_t;
using s64 = std::int64_t;

namespace {

constexpr unsigned kWarps = 4, kRead = 16;  // of a warpgroup; bytes read at once

[[noreturn]] void fail(const SlowRun& run, const std::string& what) {
  const Runner& runner = *static_cast<const Runner*>(run.context->owner);
  const Warp& warp = *run.context->warp;
  throw RunError(fmt::format("kernel {}: {} at {}, block {} warp {}", runner.kernel().title, what,
                             runner.location(run.record->inst), runner.block_text(warp.block),
                             warp.index));
}

/// Where a lane's element e of D lies: elements of 8 columns after one another, two rows of two.
struct TileCell {
  unsigned row, column;
};
TileCell cell_of(unsigned lane, unsigned e) {
  return {lane / 4 + 8 * (e / 2 % 2), 8 * (e / 4) + 2 * (lane % 4) + e % 2};
}

}  // namespace

/// Rows of A and of B transposed, along K; which element of B's row meets each of A's.
struct WarpgroupProduct::Bytes {
  alignas(64) std::array<std::array<char, kRowBytes>, kRows> a;
  alignas(64) std::array<std::array<char, 2 * kRowBytes>, kMaxColumns> b;
  std::array<std::array<std::uint8_t, kRowBytes>, kRows> place;
};

void WarpgroupProduct::find_places(const SlowRun& run, Bytes& out) const {
  const unsigned bits = bits_of(a_element);
  const unsigned deep = std::min(depth(), kRowBytes);  // bits meet as they stand
  for (unsigned i = 0; i < kRows; ++i)
    for (unsigned k = 0; k < deep; ++k) {
      out.place[i][k] = static_cast<std::uint8_t>(k);
      if (!metadata) continue;
      const unsigned low = i % 8, high = i / 8, chunk = bits == 32 ? k : k / 2;
      const unsigned lane =
          bits == 8 ? 4 * low + high + 2 * (chunk / 8) : 4 * low + 2 * selector + chunk / 4;
      const unsigned at = bits == 8 ? 4 * (chunk % 8) : 16 * high + 4 * (chunk % 4);
      const u32 both = lane_value<u32>(run.frame, *metadata, lane) >> at;
      out.place[i][k] = static_cast<std::uint8_t>(
          bits == 32 ? 2 * chunk + (both >> 1 & 1) : 4 * chunk + (both >> 2 * (k % 2) & 3));
    }
}

void WarpgroupProduct::read_shared(const SlowRun& run, bool is_a, char* to) const {
  const Context& context = *run.context;
  const u64 descriptor = lane_value<u64>(run.frame, is_a ? a_descriptor : b_descriptor, 0);
  const SharedMatrix matrix = SharedMatrix::of(descriptor);
  if (!SharedMatrix::well_formed(descriptor))
    fail(run, fmt::format("matrix descriptor {:#x} has bits that must be zero", descriptor));
  const unsigned row = is_a ? kRowBytes : b_row_bytes(), pitch = is_a ? kRowBytes : 2 * kRowBytes;
  const bool across = is_a ? a_along_m : b_along_n;
  if (!across && matrix.swizzle != 0 && row > 16u << matrix.swizzle)
    fail(run, fmt::format("matrix descriptor {:#x} swizzles rows shorter than the {} bytes of B's",
                          descriptor, row));
  const unsigned first = is_a ? kRows * (context.warp->index % kWarps) : 0;  // row or column
  const unsigned count = is_a ? kRows : columns;
  const auto part = [&](u32 at) {
    if (at > context.shared_bytes || context.shared_bytes - at < kRead)
      fail(run, fmt::format("matrix descriptor {:#x} of {} leads to shared address {:#x}, and the "
                            "block has {} bytes",
                            descriptor, is_a ? "A" : "B", at, context.shared_bytes));
    return context.shared + at;
  };
  if (!across) {
    for (unsigned i = 0; i < count; ++i)
      for (unsigned chunk = 0; chunk < row / kRead; ++chunk)
        std::memcpy(to + i * pitch + chunk * kRead, part(matrix.along_k(first + i, chunk)), kRead);
    return;
  }
  constexpr unsigned kElements = kRead / 2;  // of 16 bits
  for (unsigned k = 0; k < row / 2; ++k)
    for (unsigned i = 0; i < count; i += kElements) {
      const char* const from = part(matrix.along_mn((first + i) / kElements, k));
      for (unsigned element = 0; element < kElements; ++element)
        std::memcpy(to + (i + element) * pitch + 2 * k, from + 2 * element, 2);
    }
}

namespace {
float* lanes_of(const SlowRun& run, u32 reg) { return reinterpret_cast<float*>(run.frame + reg); }
}  // namespace

/// The sums before, of the registers of D.
void WarpgroupProduct::read_sums(const SlowRun& run, Sums& sums) const {
  if (d_element != Element::F16) {
    for (unsigned at = 0; at < d.size(); at += 2)
      run.context->engine->take_sums(lanes_of(run, d[at]), lanes_of(run, d[at + 1]),
                                     &sums[cell_of(0, at).row][cell_of(0, at).column], kMaxColumns);
    return;
  }
  for (unsigned lane = 0; lane < kLanes; ++lane)
    for (unsigned at = 0; at < 2 * d.size(); ++at) {
      const u32 word = lane_value<u32>(run.frame, d[at / 2], lane) >> 16 * (at % 2) & 0xffff;
      const TileCell cell = cell_of(lane, at);
      element_values(d_element, &word, 1, &sums[cell.row][cell.column]);
    }
}

void WarpgroupProduct::write_sums(const SlowRun& run, const Sums& sums) const {
  if (d_element != Element::F16) {
    for (unsigned at = 0; at < d.size(); at += 2)
      run.context->engine->give_sums(&sums[cell_of(0, at).row][cell_of(0, at).column], kMaxColumns,
                                     lanes_of(run, d[at]), lanes_of(run, d[at + 1]));
    return;
  }
  for (unsigned lane = 0; lane < kLanes; ++lane)
    for (unsigned reg = 0; reg < d.size(); ++reg) {
      const TileCell cell = cell_of(lane, 2 * reg);
      u32 halves[2];
      element_bits(d_element, &sums[cell.row][cell.column], 2, halves);
      set_lane(run.frame, d[reg], lane, halves[0] | halves[1] << 16);
    }
}

/// `count` elements, bytes apart, as numbers. Nearly all that is multiplied is in half precision.
void WarpgroupProduct::read_values(const SlowRun& run, Element element, const char* from,
                                   unsigned apart, unsigned count, bool negated, double* to) const {
  const unsigned size = bits_of(element) / 8;
  if (element == Element::F16) {
    std::array<u16, kMaxColumns> halves;
    for (unsigned i = 0; i < count; ++i) std::memcpy(&halves[i], from + i * apart, 2);
    run.context->engine->widen_halves(halves.data(), count, to);
  } else {
    std::array<u32, kMaxColumns> bits{};
    for (unsigned i = 0; i < count; ++i) std::memcpy(&bits[i], from + i * apart, size);
    element_values(element, bits.data(), count, to);
  }
  for (unsigned i = 0; negated && i < count; ++i) to[i] = -to[i];
}

void WarpgroupProduct::real(const SlowRun& run, const Bytes& from, bool accumulates) const {
  const unsigned deep = depth(), size = kRowBytes / deep, met_deep = b_row_bytes() / size;
  RADDLE_ASSERT(met_deep <= kMaxDepth && size <= 4 && columns % 8 == 0);
  alignas(64) Sums right, sums;
  alignas(64) std::array<double, kRows * kMaxDepth> left;
  for (unsigned k = 0; k < met_deep; ++k)
    read_values(run, b_element, &from.b[0][k * size], sizeof from.b[0], columns, b_negated,
                right[k].data());
  for (unsigned i = 0; i < kRows; ++i)
    read_values(run, a_element, from.a[i].data(), size, deep, a_negated, &left[i * deep]);
  if (accumulates) read_sums(run, sums);
  else
    for (unsigned i = 0; i < kRows; ++i) std::fill_n(sums[i].begin(), columns, 0.0);
  if (!metadata) {
    run.context->engine->add_products({.left = left.data(),
                                       .right = right[0].data(),
                                       .sums = sums[0].data(),
                                       .rows = kRows,
                                       .depth = deep,
                                       .columns = columns,
                                       .pitch = kMaxColumns});
  } else {  // each row of A meets rows of B of its own
    for (unsigned i = 0; i < kRows; ++i)
      for (unsigned k = 0; k < deep; ++k) {
        const double* const met = right[from.place[i][k]].data();
        for (unsigned j = 0; j < columns; ++j) sums[i][j] += left[i * deep + k] * met[j];
      }
  }
  write_sums(run, sums);
}

void WarpgroupProduct::whole(const SlowRun& run, const Bytes& from, bool accumulates) const {
  const auto bit_product = [&](const char* x, const char* y) {
    s64 sum = 0;
    for (unsigned at = 0; at < kRowBytes; at += 8) {
      u64 left = 0, right = 0;
      std::memcpy(&left, x + at, 8);
      std::memcpy(&right, y + at, 8);
      sum += std::popcount(bits == MatrixProduct::Bits::And ? left & right : left ^ right);
    }
    return sum;
  };
  const auto byte = [](Element element, char c) {
    return element == Element::S8 ? s32{static_cast<std::int8_t>(c)}
                                  : s32{static_cast<std::uint8_t>(c)};
  };
  each_lane(run.mask, [&](unsigned lane) {
    for (unsigned at = 0; at < d.size(); ++at) {
      const TileCell cell = cell_of(lane, at);
      const auto& x = from.a[cell.row];
      const auto& y = from.b[cell.column];
      s64 sum = accumulates ? s64{static_cast<s32>(lane_value<u32>(run.frame, d[at], lane))} : 0;
      if (bits != MatrixProduct::Bits::None) {
        sum += bit_product(x.data(), y.data());
      } else {
        s32 products = 0;
        for (unsigned k = 0; k < kRowBytes; ++k)
          products += byte(a_element, x[k]) * byte(b_element, y[from.place[cell.row][k]]);
        sum += products;
      }
      if (satfinite) sum = std::clamp<s64>(sum, INT32_MIN, INT32_MAX);
      set_lane(run.frame, d[at], lane, static_cast<u32>(sum));
    }
  });
}

/// The operands of a group have been read when all four warps have issued it. A warp that is ahead
/// asks again at its next turn; live, each time is an instruction.
void Runner::arrive_at_warpgroup(Block& block, WarpState& warp) {
  const Record& reg = *warp.ip;
  bool goes_on = true;
  if (static_cast<BarOp>(reg.imm) == BarOp::WarpgroupCommit) {
    ++warp.product_groups;
  } else {
    const std::size_t first = warp.index - warp.index % kWarps;
    for (std::size_t w = first; w < std::min(first + kWarps, block.warps.size()); ++w) {
      const WarpState& other = block.warps[w];
      const bool there = other.product_groups + reg.aux >= warp.product_groups;
      goes_on = goes_on && (there || other.status == WarpState::Status::Done);
    }
  }
  if (!goes_on) yield();
  if (!goes_on && context_.live == 0) {  // not an instruction of the stream, so it does not count
    --context_.warp_instructions;
    context_.thread_instructions -= static_cast<u32>(std::popcount(warp.effective));
    return;
  }
  context_.out[0] = trace::Record::make(reg.inst, 1, 0, 0).head;
  context_.out[1] = static_cast<u32>(trace::BarrierKind::Warp) << 4;
  context_.out += trace::kRecordWords;
  if (goes_on) ++warp.ip;
}

void WarpgroupProduct::run(const SlowRun& run) const {
  const Runner& runner = *static_cast<const Runner*>(run.context->owner);
  const Warp& warp = *run.context->warp;
  if (run.mask != ~0u) fail(run, "wgmma without all lanes of the warp");
  if (warp.index - warp.index % kWarps + kWarps > runner.running_block()->warps.size())
    fail(run, "wgmma without all four warps of a warpgroup");
  Bytes from;
  if (a.empty()) {
    read_shared(run, true, from.a[0].data());
  } else {
    for (unsigned lane = 0; lane < kLanes; ++lane)
      for (unsigned r = 0; r < a.size(); ++r) {
        const u32 word = lane_value<u32>(run.frame, a[r], lane);
        std::memcpy(&from.a[lane / 4 + 8 * (r % 2)][4 * (lane % 4) + kRead * (r / 2)], &word, 4);
      }
  }
  read_shared(run, false, from.b[0].data());
  find_places(run, from);
  const u32 scale = lane_value<u32>(run.frame, scale_d, 0);
  const bool accumulates = (scale & 1) != (scale_d_negated ? 1u : 0u);
  if (is_integer(d_element)) whole(run, from, accumulates);
  else real(run, from, accumulates);
}

}  // namespace raddle::exec
