#include "raddle/exec/memory/tensor_map.h"

namespace raddle::exec {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

namespace {

constexpr std::array<unsigned, kTensorElements> kBytes = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
constexpr u64 kStrideEnd = u64{1} << 40, kMaxSize = u64{1} << 32;
constexpr u32 kMaxBox = 256, kMaxStep = 8, kMaxChannels = 256, kMaxPixels = 1024;

bool is_real(TensorElement element) { return element >= TensorElement::F16; }

/// What both kinds of maps ask for; "" when it is met.
const char* common_refusal(const TensorMapRequest& r) {
  if (r.element >= kTensorElements) return "element type";
  if (r.rank == 0 || r.rank > TensorMap::kMaxRank) return "rank";
  if (r.interleave > 2) return "interleave";
  if (r.interleave != 0 && r.rank < 3) return "rank of an interleaved tensor";
  if (r.swizzle > 3) return "swizzle";
  if (r.interleave == 2 && r.swizzle != 1) return "swizzle of a tensor interleaved by 32 bytes";
  if (r.promotion > 3) return "L2 promotion";
  if (r.fill > 1) return "fill";
  if (r.fill == 1 && !is_real(static_cast<TensorElement>(r.element)))
    return "fill with NaN of integers";
  if (r.sizes == nullptr || r.steps == nullptr || (r.rank > 1 && r.strides == nullptr))
    return "null pointer";
  const u64 unit = r.interleave == 2 ? 32 : 16;
  if (r.address == 0 || r.address % unit != 0) return "global address";
  for (u32 i = 0; i < r.rank; ++i) {
    if (r.sizes[i] == 0 || r.sizes[i] > kMaxSize) return "size of a dimension";
    if (r.steps[i] == 0 || r.steps[i] > kMaxStep) return "element stride";
  }
  for (u32 i = 0; i + 1 < r.rank; ++i)
    if (r.strides[i] % unit != 0 || r.strides[i] >= kStrideEnd) return "stride of a dimension";
  return "";
}

/// A row of the box.
const char* row_refusal(const TensorMapRequest& r, u64 bytes) {
  if (r.interleave != 0) return "";
  if (bytes % 16 != 0) return "inner dimension of the box: no multiple of 16 bytes";
  if (r.swizzle != 0 && bytes > u64{16} << r.swizzle)
    return "inner dimension of the box: larger than the swizzle";
  return "";
}
const char* tiled_refusal(const TensorMapRequest& r) {
  if (r.box == nullptr) return "null pointer";
  for (u32 i = 0; i < r.rank; ++i)
    if (r.box[i] == 0 || r.box[i] > kMaxBox) return "size of the box";
  return row_refusal(r, u64{r.box[0]} * kBytes[r.element]);
}
const char* im2col_refusal(const TensorMapRequest& r) {
  if (r.rank < 3) return "rank";
  if (r.lower == nullptr || r.upper == nullptr) return "null pointer";
  if (r.channels == 0 || r.channels > kMaxChannels) return "channels of a pixel";
  if (r.pixels == 0 || r.pixels > kMaxPixels) return "pixels of a column";
  constexpr int kEnds[] = {32768, 128, 16};
  const int end = kEnds[r.rank - 3];
  for (u32 i = 0; i + 2 < r.rank; ++i) {
    for (const int corner : {r.lower[i], r.upper[i]})
      if (corner < -end || corner >= end) return "corner of the pixels' box";
    const auto size = static_cast<std::int64_t>(r.sizes[i + 1]);
    if (size + r.upper[i] - r.lower[i] <= 0) return "empty box of pixels";
  }
  return row_refusal(r, u64{r.channels} * kBytes[r.element]);
}

}  // namespace

unsigned TensorMap::element_bytes() const { return kBytes[static_cast<unsigned>(element)]; }

EncodedTensorMap encode_tensor_map(const TensorMapRequest& r) {
  const bool im2col = r.is_im2col;
  const char* refusal = common_refusal(r);
  if (*refusal == 0) refusal = im2col ? im2col_refusal(r) : tiled_refusal(r);
  if (*refusal != 0) return {std::nullopt, refusal};
  TensorMap map;
  map.element = static_cast<TensorElement>(r.element);
  map.rank = static_cast<u8>(r.rank);
  map.interleave = static_cast<u8>(r.interleave);
  map.swizzle = static_cast<u8>(r.swizzle);
  map.fill_nan = static_cast<u8>(r.fill);
  map.im2col = im2col ? 1 : 0;
  map.address = r.address;
  for (u32 i = 0; i < r.rank; ++i) {
    map.last[i] = static_cast<u32>(r.sizes[i] - 1);
    map.step[i] = static_cast<u8>(r.steps[i]);
    if (!im2col) map.box[i] = static_cast<u16>(r.box[i]);
    if (i + 1 < r.rank) map.stride[i] = r.strides[i];
  }
  if (r.interleave == 0) map.step[0] = 1;  // ignored, says the reference
  for (u32 i = 0; im2col && i + 2 < r.rank; ++i) {
    map.lower[i] = static_cast<std::int16_t>(r.lower[i]);
    map.upper[i] = static_cast<std::int16_t>(r.upper[i]);
  }
  map.channels = static_cast<u16>(r.channels);
  map.pixels = static_cast<u16>(r.pixels);
  return {map, ""};
}

}  // namespace raddle::exec
