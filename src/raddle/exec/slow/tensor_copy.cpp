#include "raddle/exec/slow/tensor_copy.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "raddle/base/error.h"
#include "raddle/exec/run/runner.h"
#include "raddle/exec/slow/bulk_traffic.h"
#include "raddle/exec/slow/vector_atomic.h"

namespace raddle::exec {

using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s64 = std::int64_t;

namespace {

constexpr u64 kPart = 16, kAlignment = 128;
constexpr unsigned kMaxRowBytes = 256 * 8;

/// What 16 bytes at `offset` of shared memory are swizzled to.
u64 swizzled(u64 offset, unsigned swizzle) {
  return offset ^ (offset >> 7 & ((u64{1} << swizzle) - 1)) << 4;
}

/// One element of what is outside. NVIDIA does not say which NaN; this one has all bits set but
/// the sign.
u64 filling(const TensorMap& map) {
  if (map.fill_nan == 0) return 0;
  return (u64{1} << (8 * map.element_bytes() - 1)) - 1;
}

AtomType type_of(TensorElement element) {
  switch (element) {
    case TensorElement::S32:
      return AtomType::S32;
    case TensorElement::U64:
      return AtomType::U64;
    case TensorElement::S64:
      return AtomType::S64;
    case TensorElement::F16:
      return AtomType::F16;
    case TensorElement::BF16:
      return AtomType::BF16;
    case TensorElement::F32:
    case TensorElement::F32Ftz:
      return AtomType::F32;
    case TensorElement::F64:
      return AtomType::F64;
    default:
      return AtomType::U32;
  }
}
/// PTX numbers the elements of tensormap.replace another way than the driver.
TensorElement element_of_ptx(u64 number) {
  using enum TensorElement;
  constexpr TensorElement kElements[kTensorElements] = {U8,  U16,    U32, S32,  U64,  S64,    F16,
                                                        F32, F32Ftz, F64, BF16, TF32, TF32Ftz};
  return number < kTensorElements ? kElements[number] : U8;
}
/// Whether PTX has the reduction.
bool reduces(AtomOp op, TensorElement element) {
  const bool small = element == TensorElement::U8 || element == TensorElement::U16 ||
                     element >= TensorElement::TF32;
  if (small) return false;
  if (element < TensorElement::F16) return true;
  const bool half = element == TensorElement::F16 || element == TensorElement::BF16;
  return op == AtomOp::Add || (half && (op == AtomOp::Min || op == AtomOp::Max));
}

}  // namespace

/// A row of the box: elements that are neighbours in global memory, of which some are outside.
struct TensorCopy::Row {
  u64 address = 0;             ///< of the first element that is inside
  u64 before = 0, inside = 0;  ///< bytes of the row that are outside before it; that are inside
};

TensorMap TensorCopy::map_of(const SlowRun& run, unsigned lane, const BulkTraffic& traffic) const {
  const Context& c = *run.context;
  const u64 address = map.of(run.frame, lane);
  TensorMap found;
  const char* from = nullptr;
  const u64 parameter = address - kParamWindow;
  const auto& runner = *static_cast<const Runner*>(c.owner);
  if (parameter < kWindowBytes) {
    if (parameter + sizeof found <= c.parameter_bytes) from = c.parameters + parameter;
  } else if (address - kSharedWindow < kWindowBytes) {
    from = shared_place(&c, address - kSharedWindow, sizeof found);
  } else if (address >= DeviceMemory::kBase && runner.memory().valid(address, sizeof found)) {
    from = c.global + (address - DeviceMemory::kBase);
  }
  found.magic = 0;
  if (from != nullptr) std::memcpy(&found, from, sizeof found);
  const bool known = found.magic == TensorMap::kMagic && found.rank >= 1 &&
                     found.rank <= TensorMap::kMaxRank &&
                     static_cast<unsigned>(found.element) < kTensorElements;
  if (!known || address % 64 != 0)
    traffic.fail(lane, fmt::format("no tensor map at generic address {:#x}", address));
  if (found.interleave != 0) traffic.fail(lane, "interleaved tensors cannot be copied yet");
  if (found.rank != coordinates.size() || (found.im2col != 0) != im2col)
    traffic.fail(lane, fmt::format("copy of {} dimensions, {}, with a tensor map of {}, {}",
                                   coordinates.size(), im2col ? "im2col" : "tiled", found.rank,
                                   found.im2col != 0 ? "im2col" : "tiled"));
  return found;
}

/// visit(row) for each combination of the outer dimensions, in order.
template <class F>
void TensorCopy::each_tile_row(const SlowRun& run, unsigned lane, const TensorMap& tensor,
                               F visit) const {
  constexpr unsigned kRank = TensorMap::kMaxRank;
  std::array<s64, kRank> at{}, count{};
  count.fill(1);
  for (unsigned i = 0; i < tensor.rank; ++i) {
    at[i] = static_cast<std::int32_t>(lane_value<u32>(run.frame, coordinates[i], lane));
    count[i] = (tensor.box[i] + tensor.step[i] - 1) / tensor.step[i];
  }
  const s64 width = tensor.element_bytes();
  const s64 first = std::clamp<s64>(-at[0], 0, count[0]);
  const s64 end = std::clamp<s64>(tensor.size(0) - at[0], first, count[0]);
  std::array<s64, kRank> n{};
  for (;;) {
    bool inside = end > first;
    u64 address = tensor.address + static_cast<u64>((at[0] + first) * width);
    for (unsigned i = 1; i < tensor.rank; ++i) {
      const s64 coordinate = at[i] + n[i] * tensor.step[i];
      inside = inside && coordinate >= 0 && coordinate < tensor.size(i);
      address += static_cast<u64>(coordinate) * tensor.stride[i - 1];
    }
    visit(inside ? Row{address, static_cast<u64>(first * width),
                       static_cast<u64>((end - first) * width)}
                 : Row{});
    unsigned i = 1;
    while (i < tensor.rank && ++n[i] == count[i]) n[i++] = 0;
    if (i >= tensor.rank) return;
  }
}

/// visit(row) for each pixel: from the coordinates on along W, H, D and N, within the box that the
/// corners leave of the tensor, each moved by the offsets.
template <class F>
void TensorCopy::each_pixel(const SlowRun& run, unsigned lane, const TensorMap& tensor,
                            F visit) const {
  constexpr unsigned kRank = TensorMap::kMaxRank;
  const unsigned last = tensor.rank - 1u;  // N
  std::array<s64, kRank> at{}, moved{};
  for (unsigned i = 0; i < tensor.rank; ++i)
    at[i] = static_cast<std::int32_t>(lane_value<u32>(run.frame, coordinates[i], lane));
  for (unsigned i = 0; i < offsets.size(); ++i)
    moved[i + 1] = lane_value<std::uint16_t>(run.frame, offsets[i], lane);
  const s64 width = tensor.element_bytes();
  const s64 first = std::clamp<s64>(-at[0], 0, tensor.channels);
  const s64 end = std::clamp<s64>(tensor.size(0) - at[0], first, tensor.channels);
  for (unsigned pixel = 0; pixel < tensor.pixels; ++pixel) {
    bool inside = end > first;
    u64 address = tensor.address + static_cast<u64>((at[0] + first) * width);
    for (unsigned i = 1; i <= last; ++i) {
      const s64 coordinate = at[i] + moved[i];
      inside = inside && coordinate >= 0 && coordinate < tensor.size(i);
      address += static_cast<u64>(coordinate) * tensor.stride[i - 1];
    }
    visit(inside ? Row{address, static_cast<u64>(first * width),
                       static_cast<u64>((end - first) * width)}
                 : Row{});
    unsigned i = 1;
    for (; i < last; ++i) {
      at[i] += tensor.step[i];
      if (at[i] <= s64{tensor.last[i]} + tensor.upper[i - 1]) break;
      at[i] = tensor.lower[i - 1];
    }
    if (i == last) at[last] += tensor.step[last];
  }
}

template <class F>
void TensorCopy::each_row(const SlowRun& run, unsigned lane, const TensorMap& tensor,
                          F visit) const {
  if (im2col) each_pixel(run, lane, tensor, visit);
  else each_tile_row(run, lane, tensor, visit);
}

namespace {
struct BoxBytes {
  u64 row, all;
};
BoxBytes bytes_of(const TensorMap& map) {
  const u64 width = map.element_bytes();
  if (map.im2col != 0) return {map.channels * width, map.channels * width * map.pixels};
  const u64 row = (map.box[0] + map.step[0] - 1u) / map.step[0] * width;
  u64 rows = 1;
  for (unsigned i = 1; i < map.rank; ++i) rows *= (map.box[i] + map.step[i] - 1u) / map.step[i];
  return {row, row * rows};
}
/// A swizzled box may end within a row of the pattern.
u64 room_of(const TensorMap& map, u64 bytes) {
  return map.swizzle == 0 ? bytes : (bytes + kAlignment - 1) / kAlignment * kAlignment;
}
}  // namespace

void TensorCopy::load(const SlowRun& run, unsigned lane, BulkTraffic& traffic) const {
  RADDLE_ASSERT(barrier.has_value());
  const TensorMap tensor = map_of(run, lane, traffic);
  const auto [row_bytes, all] = bytes_of(tensor);
  const u64 target = shared.of(run.frame, lane);
  traffic.align(lane, "shared address", target, kAlignment);
  traffic.align(lane, "row", row_bytes, kPart);
  if (row_bytes > kMaxRowBytes) traffic.fail(lane, "tensor map whose box is too large");
  std::array<char, kMaxRowBytes> row, outside;
  const u64 fill = filling(tensor);
  for (u64 at = 0; at < row_bytes; at += tensor.element_bytes())
    std::memcpy(&outside[at], &fill, tensor.element_bytes());
  struct Target {
    char* place;
    u64 offset;
  };
  std::vector<Target> targets;
  std::optional<u32> mask;
  if (blocks) mask = lane_value<std::uint16_t>(run.frame, *blocks, lane);
  each_block(mask, target, barrier->of(run.frame, lane), [&](u64 offset, u64) {
    targets.push_back({traffic.shared(lane, offset, room_of(tensor, all)), offset});
  });
  u64 done = 0;
  each_row(run, lane, tensor, [&](const Row& from) {
    row = outside;
    if (from.inside != 0)
      std::memcpy(&row[from.before], traffic.global(lane, from.address, from.inside), from.inside);
    for (const Target& to : targets)
      for (u64 at = 0; at < row_bytes; at += kPart) {
        const u64 offset = swizzled(to.offset + done + at, tensor.swizzle);
        std::memcpy(to.place + (offset - to.offset), &row[at], kPart);
      }
    done += row_bytes;
  });
  RADDLE_ASSERT(done == all);
  each_block(mask, target, barrier->of(run.frame, lane),
             [&](u64, u64 object) { traffic.complete(lane, object, all); });
}

void TensorCopy::combine(const TensorMap& tensor, char* to, const char* from, u64 bytes) const {
  if (action == Action::Store) {
    std::memcpy(to, from, bytes);
    return;
  }
  const u32 what = static_cast<u32>(op) | static_cast<u32>(type_of(tensor.element)) << 8;
  reduce_in_memory(what, tensor.element_bytes(), to, from, bytes);
}

void TensorCopy::store(const SlowRun& run, unsigned lane, BulkTraffic& traffic) const {
  const TensorMap tensor = map_of(run, lane, traffic);
  if (action == Action::Reduce && !reduces(op, tensor.element))
    traffic.fail(lane, "reduction that tensors of this element type do not have");
  const auto [row_bytes, all] = bytes_of(tensor);
  const u64 source = shared.of(run.frame, lane);
  traffic.align(lane, "shared address", source, kAlignment);
  traffic.align(lane, "row", row_bytes, kPart);
  if (row_bytes > kMaxRowBytes) traffic.fail(lane, "tensor map whose box is too large");
  const char* const place = traffic.shared(lane, source, room_of(tensor, all));
  std::array<char, kMaxRowBytes> row;
  u64 done = 0;
  each_row(run, lane, tensor, [&](const Row& to) {
    for (u64 at = 0; at < row_bytes; at += kPart)
      std::memcpy(&row[at], place + (swizzled(source + done + at, tensor.swizzle) - source), kPart);
    if (to.inside != 0)
      combine(tensor, traffic.global(lane, to.address, to.inside), &row[to.before], to.inside);
    done += row_bytes;
  });
}

void TensorCopy::run(const SlowRun& run) const {
  const bool loads = action == Action::Load;
  BulkTraffic traffic(run, loads ? BulkTraffic::Access::Load : BulkTraffic::Access::Store);
  each_lane(run.mask,
            [&](unsigned lane) { loads ? load(run, lane, traffic) : store(run, lane, traffic); });
  traffic.write();
}

// --- changes of maps -----------------------------------------------------------------------------
void TensorMapChange::run(const SlowRun& run) const {
  SlowAccess access(run, map.space, true);
  each_lane(run.mask, [&](unsigned lane) {
    const u64 address = map.of(run.frame, lane);
    // Of its parts the first stands for all in the op stream.
    char* const place = access.at(lane, address, 16);
    for (u64 at = 16; at < sizeof(TensorMap); at += 16) access.at(lane, address + at, 16);
    TensorMap changed;
    std::memcpy(&changed, place, sizeof changed);
    if (changed.magic != TensorMap::kMagic)
      throw RunError(
          fmt::format("kernel {}: no tensor map at {:#x}, {}",
                      static_cast<const Runner*>(run.context->owner)->kernel().title, address,
                      static_cast<const Runner*>(run.context->owner)->location(run.record->inst)));
    const bool wide = field == Field::Address || field == Field::Stride;
    const u64 next = wide ? lane_value<u64>(run.frame, value, lane)
                          : u64{lane_value<u32>(run.frame, value, lane)};
    switch (field) {
      case Field::Address:
        changed.address = next;
        break;
      case Field::Rank:  // PTX counts from zero here
        changed.rank = static_cast<std::uint8_t>(next + 1);
        break;
      case Field::Box:
        changed.box[dimension] = static_cast<std::uint16_t>(next);
        break;
      case Field::Size:
        changed.last[dimension] = static_cast<u32>(next) - 1;
        break;
      case Field::Stride:
        changed.stride[dimension] = next;
        break;
      case Field::Step:
        changed.step[dimension] = static_cast<std::uint8_t>(next);
        break;
      case Field::Element:
        changed.element = element_of_ptx(next);
        break;
      case Field::Interleave:
        changed.interleave = static_cast<std::uint8_t>(next);
        break;
      case Field::Swizzle:
        changed.swizzle = static_cast<std::uint8_t>(next);
        break;
      case Field::Fill:
        changed.fill_nan = static_cast<std::uint8_t>(next);
        break;
    }
    std::memcpy(place, &changed, sizeof changed);
  });
  access.write(run.mask);
}

void TensorMapCopy::run(const SlowRun& run) const {
  BulkTraffic traffic(run, BulkTraffic::Access::Store);
  const auto lane = static_cast<unsigned>(__builtin_ctz(run.mask));
  const u64 source = from.of(run.frame, lane), target = to.of(run.frame, lane);
  traffic.align(lane, "source", source, kAlignment);
  traffic.align(lane, "destination", target, kAlignment);
  const char* const data = traffic.shared(lane, source, sizeof(TensorMap));
  std::memcpy(traffic.global(lane, target, sizeof(TensorMap)), data, sizeof(TensorMap));
  traffic.write();
}

}  // namespace raddle::exec
