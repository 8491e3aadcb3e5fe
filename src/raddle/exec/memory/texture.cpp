// What may be a texture or a surface, and how arrays lie in memory.
#include "raddle/exec/memory/texture.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "raddle/base/error.h"

namespace raddle::exec {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

// Far from small numbers and from each other, so that an integer or a handle of the other kind is
// not taken for one.
constexpr u64 kTextures = u64{0x7e} << 40, kSurfaces = u64{0x5f} << 40;
constexpr u64 kRowAlignment = 32;  // bytes: a sector

[[noreturn]] void refuse(const std::string& what, const std::string& why) {
  throw InputError(what + " cannot be created: " + why);
}

void check_format(const ChannelFormat& format, const std::string& what) {
  const unsigned n = format.channels(), bits = format.bits[0];
  const bool size = bits == 8 || bits == 16 || bits == 32;
  bool equal = n == 1 || n == 2 || n == 4;
  for (unsigned i = 0; i < 4; ++i) equal = equal && format.bits[i] == (i < n ? bits : 0);
  if (!size || !equal || (bits == 8 && format.kind == ChannelKind::Float))
    refuse(what, fmt::format("channels of {}, {}, {}, {} bits; 1, 2 or 4 equal ones of 8, 16 or "
                             "32 are expected (floats of 16 or 32)",
                             format.bits[0], format.bits[1], format.bits[2], format.bits[3]));
}

void check_image(const Image& image, const DeviceMemory& memory, const std::string& what) {
  check_format(image.format, what);
  const ImageShape& s = image.shape;
  const u64 element = image.format.element_bytes();
  if (s.dimensions < 1 || s.dimensions > 3 || s.width == 0 || s.height == 0 || s.depth == 0 ||
      s.layers == 0)
    refuse(what, fmt::format("{} dimensions of {} x {} x {} elements, {} layers", s.dimensions,
                             s.width, s.height, s.depth, s.layers));
  if (s.cube && (s.layers % 6 != 0 || s.width != s.height))
    refuse(what,
           fmt::format("a cube map of {} x {} elements and {} faces", s.width, s.height, s.layers));
  if (image.address % element != 0 || (s.height > 1 && image.pitch_bytes % element != 0))
    refuse(what, fmt::format("address {:#x} and pitch {} are not multiples of the element's {} "
                             "bytes",
                             image.address, image.pitch_bytes, element));
  if (s.height > 1 && image.pitch_bytes < s.width * element)
    refuse(what,
           fmt::format("rows of {} bytes {} bytes apart", s.width * element, image.pitch_bytes));
  if (!memory.valid(image.address, image_bytes(image)))
    refuse(what, fmt::format("its {} bytes at {:#x} do not lie in one allocation ({})",
                             image_bytes(image), image.address, memory.describe(image.address)));
}

template <class Slots>
bool destroy(Slots& slots, u64 handle, u64 base) {
  if (handle - base >= slots.size() || !slots[handle - base].live) return false;
  slots[handle - base].live = false;
  return true;
}

}  // namespace

unsigned ChannelFormat::channels() const {
  return static_cast<unsigned>(std::count_if(bits.begin(), bits.end(), [](auto b) { return b; }));
}
unsigned ChannelFormat::element_bytes() const {
  return (bits[0] + bits[1] + bits[2] + bits[3]) / 8u;
}

Image lay_out_array(const ImageShape& shape, const ChannelFormat& format) {
  Image image{0, format, shape, 0, 0};
  const u64 row = u64{shape.width} * format.element_bytes();
  image.pitch_bytes = (row + kRowAlignment - 1) / kRowAlignment * kRowAlignment;
  image.slice_bytes = image.pitch_bytes * shape.height;
  return image;
}

u64 image_bytes(const Image& image) {
  RADDLE_ASSERT(image.shape.height != 0 && image.shape.depth != 0 && image.shape.layers != 0);
  const ImageShape& s = image.shape;
  const u64 slices = u64{s.depth} * s.layers;
  return (slices - 1) * image.slice_bytes + (s.height - 1) * image.pitch_bytes +
         u64{s.width} * image.format.element_bytes();
}

u64 ImageTable::create(const TextureDescription& t, const DeviceMemory& memory) {
  const std::string what = "texture object";
  check_image(t.image, memory, what);
  const bool integers = t.image.format.kind != ChannelKind::Float;
  const bool as_float = !integers || t.read == ReadMode::NormalizedFloat;
  if (integers && t.read == ReadMode::NormalizedFloat && t.image.format.bits[0] == 32)
    refuse(what, "32-bit integers cannot be read as normalised floats");
  using Resource = TextureDescription::Resource;
  if (t.filter == FilterMode::Linear && !as_float && t.resource != Resource::Linear)
    refuse(what, "linear filtering of a texture that is read as integers");
  if (t.resource != Resource::Array &&
      (t.image.shape.layered || t.image.shape.cube || t.image.shape.depth != 1 ||
       t.image.shape.dimensions != (t.resource == Resource::Linear ? 1u : 2u)))
    refuse(what, "linear memory has one dimension, pitched memory two, neither has layers");
  textures_.push_back({t, true});
  return kTextures + textures_.size() - 1;
}
u64 ImageTable::create(const SurfaceDescription& s, const DeviceMemory& memory) {
  check_image(s.image, memory, "surface object");
  surfaces_.push_back({s, true});
  return kSurfaces + surfaces_.size() - 1;
}

bool ImageTable::destroy_texture(u64 handle) { return destroy(textures_, handle, kTextures); }
bool ImageTable::destroy_surface(u64 handle) { return destroy(surfaces_, handle, kSurfaces); }

const TextureDescription* ImageTable::texture(u64 handle) const {
  const u64 i = handle - kTextures;
  return i < textures_.size() && textures_[i].live ? &textures_[i].description : nullptr;
}
const SurfaceDescription* ImageTable::surface(u64 handle) const {
  const u64 i = handle - kSurfaces;
  return i < surfaces_.size() && surfaces_[i].live ? &surfaces_[i].description : nullptr;
}

}  // namespace raddle::exec
