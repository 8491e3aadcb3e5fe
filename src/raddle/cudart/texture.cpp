// Texture and surface objects.
#include <fmt/format.h>

#include <algorithm>

#include "raddle/cudart/array.h"
#include "raddle/cudart/properties.h"
#include "raddle/exec/memory/texture.h"

using namespace raddle;
using namespace raddle::cudart;

namespace {

using exec::AddressMode;
using exec::TextureDescription;

exec::ChannelFormat format_of(Context& c, const ChannelFormat& f) {
  check_format(c, f);
  const auto bits = [](int n) { return static_cast<std::uint8_t>(n); };
  return {{bits(f.x), bits(f.y), bits(f.z), bits(f.w)}, static_cast<exec::ChannelKind>(f.kind)};
}

std::uint32_t texels(std::size_t n) { return static_cast<std::uint32_t>(n); }

exec::Image image_of(Context& c, const Array& a) {
  exec::Image image;
  image.address = a.address;
  image.format = format_of(c, a.format);
  image.pitch_bytes = a.pitch;
  image.slice_bytes = a.pitch * a.rows();
  exec::ImageShape& shape = image.shape;
  shape.cube = (a.flags & kArrayCubemap) != 0;
  shape.layered = (a.flags & kArrayLayered) != 0;
  shape.width = texels(a.extent.width);
  shape.height = texels(a.rows());
  const bool layers = shape.cube || shape.layered;
  (layers ? shape.layers : shape.depth) = texels(a.slices());
  shape.dimensions = a.extent.height == 0 ? 1 : layers || a.extent.depth == 0 ? 2 : 3;
  return image;
}

std::size_t limit(Context& c, int number) {
  return static_cast<std::size_t>(attribute(c.seen(), number).value());
}

/// On a GPU allocations begin at a multiple of what textures ask for; here some do not, so it
/// counts how far into one the texture begins.
void check_aligned(Context& c, const void* start) {
  constexpr int kTextureAlignment = 14;
  const auto at = reinterpret_cast<Address>(start);
  const auto* const allocation = c.allocation(at);
  if (start == nullptr ||
      (allocation != nullptr && (at - allocation->first) % limit(c, kTextureAlignment) != 0))
    throw Failure{kInvalidValue, fmt::format("texture at {:#x}: it must begin at a multiple of {} "
                                             "bytes (textureAlignment)",
                                             at, limit(c, kTextureAlignment))};
}

exec::Image image_of(Context& c, const ResourceDescription::Linear& linear) {
  constexpr int kMaxWidth = 69;
  check_aligned(c, linear.start);
  exec::Image image;
  image.address = reinterpret_cast<Address>(linear.start);
  image.format = format_of(c, linear.format);
  const unsigned bytes = image.format.element_bytes();
  RADDLE_ASSERT(bytes != 0);
  if (linear.bytes / bytes > limit(c, kMaxWidth))
    throw Failure{kInvalidValue, fmt::format("texture of {} texels, allowed are {} "
                                             "(maxTexture1DLinear)",
                                             linear.bytes / bytes, limit(c, kMaxWidth))};
  image.shape.width = texels(linear.bytes / bytes);
  image.pitch_bytes = image.slice_bytes = linear.bytes;
  return image;
}

exec::Image image_of(Context& c, const ResourceDescription::Pitch2D& plane) {
  constexpr int kPitchAlignment = 51, kMaxWidth = 70, kMaxHeight = 71, kMaxPitch = 72;
  check_aligned(c, plane.start);
  exec::Image image;
  image.address = reinterpret_cast<Address>(plane.start);
  image.format = format_of(c, plane.format);
  if (plane.pitch % limit(c, kPitchAlignment) != 0)
    throw Failure{kInvalidValue,
                  fmt::format("texture with rows {} bytes apart: it must be a multiple of {} "
                              "(texturePitchAlignment)",
                              plane.pitch, limit(c, kPitchAlignment))};
  if (plane.width == 0 || plane.height == 0 || plane.width > limit(c, kMaxWidth) ||
      plane.height > limit(c, kMaxHeight) || plane.pitch > limit(c, kMaxPitch) ||
      plane.pitch < plane.width * image.format.element_bytes())
    throw Failure{kInvalidValue,
                  fmt::format("texture of {} x {} texels, rows {} bytes apart (maxTexture2DLinear)",
                              plane.width, plane.height, plane.pitch)};
  image.shape.dimensions = 2;
  image.shape.width = texels(plane.width);
  image.shape.height = texels(plane.height);
  image.pitch_bytes = plane.pitch;
  image.slice_bytes = plane.pitch * plane.height;
  return image;
}

TextureDescription description_of(Context& context, const ResourceDescription& resource,
                                  const TextureFetch& fetch) {
  TextureDescription out;
  switch (resource.type) {
    case ResourceDescription::kArray:
      out.image = image_of(context, context.arrays.get(resource.array));
      break;
    case ResourceDescription::kLinear:
      out.resource = TextureDescription::Resource::Linear;
      out.image = image_of(context, resource.linear);
      break;
    case ResourceDescription::kPitch2D:
      out.resource = TextureDescription::Resource::Pitch2D;
      out.image = image_of(context, resource.pitch);
      break;
    default:
      context.refuse_unsupported("cudaCreateTextureObject: mipmapped arrays");
  }
  if (fetch.srgb != 0) context.refuse_unsupported("cudaCreateTextureObject: sRGB");
  for (unsigned i = 0; i < 3; ++i) {
    if (fetch.address_mode[i] < 0 || fetch.address_mode[i] > 3) throw Failure{kInvalidValue};
    out.address[i] = static_cast<AddressMode>(fetch.address_mode[i]);
  }
  if (fetch.filter_mode < 0 || fetch.filter_mode > 1 || fetch.read_mode < 0 || fetch.read_mode > 1)
    throw Failure{kInvalidValue};
  out.filter = static_cast<exec::FilterMode>(fetch.filter_mode);
  out.read = static_cast<exec::ReadMode>(fetch.read_mode);
  out.normalized = fetch.normalized != 0;
  std::copy_n(fetch.border, 4, out.border.begin());
  return out;
}

}  // namespace

extern "C" {

int raddle_cudaCreateTextureObject(std::uint64_t* to, const ResourceDescription* resource,
                                   const TextureFetch* fetch, const void* view) {
  return call("cudaCreateTextureObject", [&](Context& c) {
    if (to == nullptr || resource == nullptr || fetch == nullptr) throw Failure{kInvalidValue};
    if (view != nullptr) c.refuse_unsupported("cudaCreateTextureObject: resource views");
    *to = c.device().machine().create_texture(description_of(c, *resource, *fetch));
    c.textures[*to] = {*resource, *fetch};
    return kSuccess;
  });
}

int raddle_cudaDestroyTextureObject(std::uint64_t texture) {
  return call("cudaDestroyTextureObject", [&](Context& c) {
    c.device().synchronize();  // launches that use it may still be on their way
    if (texture != 0 && !c.device().machine().destroy_texture(texture))
      throw Failure{kInvalidResourceHandle};
    c.textures.erase(texture);
    return kSuccess;
  });
}

int raddle_cudaGetTextureObjectResourceDesc(ResourceDescription* to, std::uint64_t texture) {
  return call("cudaGetTextureObjectResourceDesc", [&](Context& c) {
    const auto found = c.textures.find(texture);
    if (to == nullptr || found == c.textures.end()) throw Failure{kInvalidValue};
    *to = found->second.first;
    return kSuccess;
  });
}

int raddle_cudaGetTextureObjectTextureDesc(TextureFetch* to, std::uint64_t texture) {
  return call("cudaGetTextureObjectTextureDesc", [&](Context& c) {
    const auto found = c.textures.find(texture);
    if (to == nullptr || found == c.textures.end()) throw Failure{kInvalidValue};
    *to = found->second.second;
    return kSuccess;
  });
}

int raddle_cudaCreateSurfaceObject(std::uint64_t* to, const ResourceDescription* resource) {
  return call("cudaCreateSurfaceObject", [&](Context& c) {
    if (to == nullptr || resource == nullptr || resource->type != ResourceDescription::kArray)
      throw Failure{kInvalidValue};
    const Array& array = c.arrays.get(resource->array);
    if ((array.flags & kArraySurface) == 0)
      throw Failure{kInvalidValue, "the array was made without cudaArraySurfaceLoadStore"};
    *to = c.device().machine().create_surface({image_of(c, array)});
    c.surfaces[*to] = *resource;
    return kSuccess;
  });
}

int raddle_cudaDestroySurfaceObject(std::uint64_t surface) {
  return call("cudaDestroySurfaceObject", [&](Context& c) {
    c.device().synchronize();
    if (surface != 0 && !c.device().machine().destroy_surface(surface))
      throw Failure{kInvalidResourceHandle};
    c.surfaces.erase(surface);
    return kSuccess;
  });
}

int raddle_cudaGetSurfaceObjectResourceDesc(ResourceDescription* to, std::uint64_t surface) {
  return call("cudaGetSurfaceObjectResourceDesc", [&](Context& c) {
    const auto found = c.surfaces.find(surface);
    if (to == nullptr || found == c.surfaces.end()) throw Failure{kInvalidValue};
    *to = found->second;
    return kSuccess;
  });
}
}
