// Tensor maps: what a tensor in global memory looks like to copies of its boxes (CUDA driver API,
// 6.30; PTX ISA 9.0, 5.5). NVIDIA's 128 bytes are secret; programs hand them on without looking.
// Ours hold the fields below as they are.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace raddle::exec {

/// Numbers as the driver's interface has them.
enum class TensorElement : std::uint8_t {
  U8,
  U16,
  U32,
  S32,
  U64,
  S64,
  F16,
  F32,
  F64,
  BF16,
  F32Ftz,
  TF32,
  TF32Ftz,
};
inline constexpr unsigned kTensorElements = 13;

struct TensorMap {
  static constexpr std::uint32_t kMagic = 0x70616d54;  ///< "Tmap"
  static constexpr unsigned kMaxRank = 5;

  std::uint32_t magic = kMagic;
  TensorElement element = TensorElement::U8;
  std::uint8_t rank = 1;
  std::uint8_t interleave = 0;  ///< 0: none
  std::uint8_t swizzle = 0;     ///< binary logarithm of the 16 bytes in a swizzled row; 0: none
  std::uint8_t fill_nan = 0;    ///< what is outside reads as a NaN
  std::uint8_t im2col = 0;
  std::array<std::uint8_t, kMaxRank> step{1, 1, 1, 1, 1};  ///< elements
  std::array<std::uint8_t, 1> reserved{};
  std::uint64_t address = 0;
  std::array<std::uint64_t, kMaxRank - 1> stride{};  ///< bytes; of dimension 1 and up
  std::array<std::uint32_t, kMaxRank> last{};        ///< size less one
  std::array<std::uint16_t, kMaxRank> box{1, 1, 1, 1, 1};
  std::array<std::int16_t, kMaxRank - 2> lower{}, upper{};  ///< im2col; of dimensions 1, 2, 3
  std::uint16_t channels = 0, pixels = 0;                   ///< im2col
  std::array<std::uint8_t, 26> unused{};

  unsigned element_bytes() const;
  std::int64_t size(unsigned dimension) const { return std::int64_t{last[dimension]} + 1; }
};
static_assert(sizeof(TensorMap) == 128);

/// Arguments of cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col.
struct TensorMapRequest {
  std::uint32_t element = 0, rank = 0;
  std::uint64_t address = 0;
  const std::uint64_t* sizes = nullptr;    ///< rank of them
  const std::uint64_t* strides = nullptr;  ///< rank - 1
  const std::uint32_t* steps = nullptr;    ///< rank
  std::uint32_t interleave = 0, swizzle = 0, promotion = 0, fill = 0;
  const std::uint32_t* box = nullptr;  ///< tiled: rank
  bool is_im2col = false;
  const int *lower = nullptr, *upper = nullptr;  ///< im2col: rank - 2, of W, H, D
  std::uint32_t channels = 0, pixels = 0;        ///< im2col
};
/// The map, or why there is none.
struct EncodedTensorMap {
  std::optional<TensorMap> map;
  const char* refusal = "";
};
/// With the limits that the driver's reference names. Elements of four and six bits and swizzles of
/// larger atoms are Blackwell's, and refused.
EncodedTensorMap encode_tensor_map(const TensorMapRequest& request);

}  // namespace raddle::exec
