// Texture and surface objects: what a handle that a kernel holds stands for.
// Sources: CUDA C++ Programming Guide, "Texture and Surface Memory" and the appendix "Texture
// Fetching"; PTX ISA 9.7.11. Deviates from hardware in the layout of arrays, which is plain rows
// (no space-filling curve), and in the interpolation, which is rounded once, at its end.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "raddle/exec/memory/memory.h"

namespace raddle::exec {

enum class ChannelKind : std::uint8_t { Signed, Unsigned, Float };
/// As cudaChannelFormatDesc: bits of x, y, z, w; 0 where there is no such channel.
struct ChannelFormat {
  std::array<std::uint8_t, 4> bits{};
  ChannelKind kind = ChannelKind::Float;
  unsigned channels() const;
  unsigned element_bytes() const;
};

/// Elements. `height` and `depth` of dimensions that are not there are 1. Layers of a layered image
/// come after depth; a cube map has 6 layers, a layered cube map 6 for each.
struct ImageShape {
  unsigned dimensions = 1;  ///< 1, 2, 3; layers do not count
  std::uint32_t width = 1, height = 1, depth = 1, layers = 1;
  bool layered = false, cube = false;
};

/// Elements in device memory: rows `pitch_bytes` apart, slices (of depth, then of layers)
/// `slice_bytes` apart.
struct Image {
  Address address = 0;
  ChannelFormat format;
  ImageShape shape;
  std::uint64_t pitch_bytes = 0, slice_bytes = 0;
};
/// The image of a new array, without its address.
Image lay_out_array(const ImageShape& shape, const ChannelFormat& format);
/// What to allocate for it.
std::uint64_t image_bytes(const Image& image);

// Numbered as CUDA numbers them.
enum class AddressMode : std::uint8_t { Wrap, Clamp, Mirror, Border };
enum class FilterMode : std::uint8_t { Point, Linear };
enum class ReadMode : std::uint8_t { Element, NormalizedFloat };

struct TextureDescription {
  /// Linear memory is read by index only, without filter, and is zero outside.
  enum class Resource : std::uint8_t { Linear, Pitch2D, Array };
  Resource resource = Resource::Array;
  Image image;
  std::array<AddressMode, 3> address{AddressMode::Clamp, AddressMode::Clamp, AddressMode::Clamp};
  FilterMode filter = FilterMode::Point;
  ReadMode read = ReadMode::Element;
  bool normalized = false;        ///< coordinates in [0, 1)
  std::array<float, 4> border{};  ///< of AddressMode::Border; integers where the texture has them
};
struct SurfaceDescription {
  Image image;
};

/// The objects of one device. Handles are never used again, so a stale one is told.
class ImageTable {
 public:
  /// Throws InputError: what the description asks for does not exist in CUDA, or its elements do
  /// not lie in `memory`.
  std::uint64_t create(const TextureDescription& description, const DeviceMemory& memory);
  std::uint64_t create(const SurfaceDescription& description, const DeviceMemory& memory);
  /// False when it is no live handle of that kind.
  bool destroy_texture(std::uint64_t handle);
  bool destroy_surface(std::uint64_t handle);
  /// nullptr when it is no live handle of that kind.
  const TextureDescription* texture(std::uint64_t handle) const;
  const SurfaceDescription* surface(std::uint64_t handle) const;

 private:
  template <class Description>
  struct Slot {
    Description description;
    bool live = false;
  };
  std::vector<Slot<TextureDescription>> textures_;
  std::vector<Slot<SurfaceDescription>> surfaces_;
};

}  // namespace raddle::exec
