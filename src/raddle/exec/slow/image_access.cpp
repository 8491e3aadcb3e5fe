// Texture fetches and surface accesses, lane after lane (PTX ISA 9.7.11; CUDA C++ Programming
// Guide, "Texture Fetching"). To the timing model they are loads and stores of the texels' lines;
// the filter itself costs nothing more.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "raddle/base/error.h"
#include "raddle/exec/run/runner.h"
#define RADDLE_ISA scalar
#include "raddle/exec/lanes/arithmetic.h"

namespace raddle::exec {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s64 = std::int64_t;
using Resource = TextureDescription::Resource;

constexpr unsigned kMaxTexels = 8;     // of one lane: the corners of a cube
constexpr unsigned kFractionBits = 8;  // of an interpolation weight

/// One instruction of one warp: where it stands, and its op-stream records, which are cut where
/// there are more lines than a record holds.
class LaneAccess {
 public:
  LaneAccess(Context* c, const Record* ip) : c_(c), ip_(ip) {}
  const Runner& runner() const { return *static_cast<const Runner*>(c_->owner); }

  void lane(unsigned lane) {
    if (transactions_ + kMaxTexels > trace::kMaxTransactions) flush();
    lane_ = lane;
    lanes_ |= 1u << lane;
  }
  /// Element in device memory, checked and noted.
  char* touch(Address address, unsigned bytes) {
    const u64 x = address - DeviceMemory::kBase;
    if (x >= c_->extent || (x & 127) + bytes > c_->valid[x >> 7])
      fail(fmt::format("an image's memory has been freed: {:#x} ({})", address,
                       runner().memory().describe(address)));
    const u32 line = static_cast<u32>(address >> 7);
    const u32 words = ((1u << (bytes + 3) / 4) - 1) << (x >> 2 & 31);
    unsigned k = 0;
    while (k < transactions_ && transaction_[k].line != line) ++k;
    if (k == transactions_) transaction_[transactions_++] = {line, 0, 0};
    transaction_[k].words |= words;
    transaction_[k].lanes |= 1u << lane_;
    return c_->global + x;
  }
  void flush() {
    if (lanes_ == 0) return;
    const auto head = trace::Record::make(ip_->inst, 1, transactions_, lanes_);
    c_->out[0] = head.head;
    c_->out[1] = head.mask;
    std::memcpy(c_->out + 2, transaction_.data(), transactions_ * sizeof(trace::Transaction));
    c_->out += trace::kRecordWords + transactions_ * trace::kTransactionWords;
    ++c_->warp_instructions;
    c_->thread_instructions += static_cast<u32>(std::popcount(lanes_));
    transactions_ = 0;
    lanes_ = 0;
  }
  [[noreturn]] void fail(const std::string& why) const {
    throw RunError(fmt::format("kernel {}: {}, at {}, {}", runner().kernel().title, why,
                               runner().location(ip_->inst),
                               runner().thread_text(*c_->warp, lane_)));
  }

 private:
  Context* c_;
  const Record* ip_;
  unsigned lane_ = 0, transactions_ = 0;
  u32 lanes_ = 0;
  std::array<trace::Transaction, trace::kMaxTransactions> transaction_;
};

template <class T>
T value_at(const char* frame, u32 offset, unsigned lane) {
  T v;
  std::memcpy(&v, frame + offset + sizeof(T) * lane, sizeof(T));
  return v;
}

// --- texels --------------------------------------------------------------------------------------
/// One element, channel by channel: floats as floats, integers as integers.
struct Texel {
  std::array<float, 4> real{};
  std::array<u32, 4> bits{};
};

bool reads_floats(const TextureDescription& t) {
  return t.image.format.kind == ChannelKind::Float || t.read == ReadMode::NormalizedFloat;
}

/// The channel as the texture returns it; channels that are not there are 0, 0, 1.
Texel texel_of(const TextureDescription& t, const char* from) {
  const ChannelFormat& f = t.image.format;
  const unsigned bits = f.bits[0], channels = f.channels();
  Texel out;
  out.real[3] = 1;
  out.bits[3] = 1;
  for (unsigned i = 0; i < channels; ++i) {
    u32 raw = 0;
    std::memcpy(&raw, from + i * bits / 8, bits / 8);
    if (f.kind == ChannelKind::Float) {
      out.real[i] = bits == 32 ? std::bit_cast<float>(raw) : scalar::from_f16(raw);
      continue;
    }
    const u32 gap = 32 - bits;
    const bool is_signed = f.kind == ChannelKind::Signed;
    if (is_signed) raw = static_cast<u32>(static_cast<std::int32_t>(raw << gap) >> gap);
    out.bits[i] = raw;
    if (bits == 32) continue;
    const double maximum = (1u << (is_signed ? bits - 1 : bits)) - 1;  // at most 16 bits
    const double v = is_signed ? static_cast<double>(static_cast<std::int32_t>(raw)) : raw;
    out.real[i] = static_cast<float>(std::max(v / maximum, -1.0));
  }
  return out;
}

Texel border_of(const TextureDescription& t) {
  Texel out;
  for (unsigned i = 0; i < 4; ++i) {
    out.real[i] = t.border[i];
    out.bits[i] = t.image.format.kind == ChannelKind::Signed
                      ? static_cast<u32>(static_cast<std::int32_t>(t.border[i]))
                      : static_cast<u32>(std::max(t.border[i], 0.0f));
  }
  return out;
}

/// Index of an element along one axis; false: outside, where the border is.
bool settle(AddressMode mode, s64* i, u32 size) {
  const s64 n = size;
  if (*i >= 0 && *i < n) return true;
  switch (mode) {
    case AddressMode::Border:
      return false;
    case AddressMode::Wrap:
      *i = (*i % n + n) % n;
      return true;
    default:  // mirrored coordinates are in range but for the filter's neighbours
      *i = *i < 0 ? 0 : n - 1;
      return true;
  }
}

struct Place {
  std::array<s64, 3> at{};
  u32 layer = 0;
};

class Sampler {
 public:
  Sampler(const TextureDescription& t, LaneAccess* access) : t_(t), access_(access) {
    for (unsigned d = 0; d < 3; ++d) {
      modes_[d] = t.address[d];
      const bool periodic = modes_[d] == AddressMode::Wrap || modes_[d] == AddressMode::Mirror;
      if (periodic && !t.normalized) modes_[d] = AddressMode::Clamp;  // as CUDA defines it
      if (t.image.shape.cube) modes_[d] = AddressMode::Clamp;
    }
  }

  /// Elements by index, unfiltered.
  Texel at(Place p) const {
    const ImageShape& s = t_.image.shape;
    const std::array<u32, 3> sizes{s.width, s.height, s.depth};
    if (t_.resource == Resource::Linear) {
      if (p.at[0] < 0 || p.at[0] >= s.width) return {};  // zero, also in the last channel
    } else {
      for (unsigned d = 0; d < s.dimensions; ++d)
        if (!settle(modes_[d], &p.at[d], sizes[d])) return border_of(t_);
    }
    const unsigned bytes = t_.image.format.element_bytes();
    const u64 slice = p.layer * u64{s.depth} + static_cast<u64>(p.at[2]);
    const u64 offset = slice * t_.image.slice_bytes +
                       static_cast<u64>(p.at[1]) * t_.image.pitch_bytes +
                       static_cast<u64>(p.at[0]) * bytes;
    return texel_of(t_, access_->touch(t_.image.address + offset, bytes));
  }

  /// A coordinate in elements.
  double scaled(float x, unsigned axis, u32 size) const {
    double u = std::isnan(x) ? 0.0 : double{x};
    if (!t_.normalized) return u;
    const double whole = std::floor(u);
    if (modes_[axis] == AddressMode::Wrap && std::isfinite(u)) u -= whole;
    if (modes_[axis] == AddressMode::Mirror && std::isfinite(u))
      u = std::fmod(whole, 2) == 0 ? u - whole : 1 - (u - whole);
    return u * size;
  }

  Texel point(const std::array<double, 3>& u, u32 layer) const {
    const ImageShape& s = t_.image.shape;
    const std::array<u32, 3> sizes{s.width, s.height, s.depth};
    Place p{{}, layer};
    for (unsigned d = 0; d < s.dimensions; ++d) {
      p.at[d] = bounded(std::floor(u[d]));
      // The end of the range belongs to the last element there: 1 - 0 of a mirrored coordinate.
      if (modes_[d] == AddressMode::Mirror && p.at[d] == sizes[d]) --p.at[d];
      if (modes_[d] == AddressMode::Wrap && p.at[d] == sizes[d]) p.at[d] = 0;
    }
    return at(p);
  }

  /// The lower neighbours and, in 256ths, the weights of the upper ones.
  void footprint(const std::array<double, 3>& u, Place* low, std::array<u32, 3>* weight) const {
    for (unsigned d = 0; d < t_.image.shape.dimensions; ++d) {
      const s64 fixed = bounded(std::floor((u[d] - 0.5) * (1 << kFractionBits) + 0.5));
      low->at[d] = fixed >> kFractionBits;
      (*weight)[d] = static_cast<u32>(fixed & ((1 << kFractionBits) - 1));
    }
  }

  Texel linear(const std::array<double, 3>& u, u32 layer) const {
    const unsigned dimensions = t_.image.shape.dimensions;
    Place low{{}, layer};
    std::array<u32, 3> weight{};
    footprint(u, &low, &weight);
    std::array<double, 4> sum{};
    for (unsigned corner = 0; corner < 1u << dimensions; ++corner) {
      Place p = low;
      u64 share = 1;  // in 256ths to the power of the dimensions
      for (unsigned d = 0; d < dimensions; ++d) {
        const unsigned upper = corner >> d & 1;
        p.at[d] += upper;
        share *= upper != 0 ? weight[d] : (1u << kFractionBits) - weight[d];
      }
      const Texel texel = at(p);
      for (unsigned i = 0; i < 4 && share != 0; ++i)
        sum[i] += static_cast<double>(share) * double{texel.real[i]};
    }
    Texel out;
    for (unsigned i = 0; i < 4; ++i)
      out.real[i] =
          static_cast<float>(sum[i] / static_cast<double>(u64{1} << kFractionBits * dimensions));
    return out;
  }

  /// One channel of the four that a bilinear filter reads, counter-clockwise from the lower left.
  Texel gather(const std::array<double, 3>& u, u32 layer, unsigned channel) const {
    static constexpr std::array<std::array<int, 2>, 4> kCorners{{{0, 1}, {1, 1}, {1, 0}, {0, 0}}};
    Place low{{}, layer};
    std::array<u32, 3> weight{};
    footprint(u, &low, &weight);
    Texel out;
    for (unsigned k = 0; k < 4; ++k) {
      Place p = low;
      p.at[0] += kCorners[k][0];
      p.at[1] += kCorners[k][1];
      const Texel texel = at(p);
      out.real[k] = texel.real[channel];
      out.bits[k] = texel.bits[channel];
    }
    return out;
  }

 private:
  static s64 bounded(double x) {
    constexpr double kFar = 1e15;  // the conversion must be defined
    return static_cast<s64>(std::min(std::max(x, -kFar), kFar));
  }
  const TextureDescription& t_;
  LaneAccess* access_;
  std::array<AddressMode, 3> modes_{};
};

/// The face a direction meets, and where (CUDA C++ Programming Guide, "Cubemap Textures").
u32 cube_face(std::array<float, 3>* r) {
  const auto [x, y, z] = *r;
  const float ax = std::fabs(x), ay = std::fabs(y), az = std::fabs(z);
  float m = az, s = z > 0 ? x : -x, t = -y;
  u32 face = z > 0 ? 4 : 5;
  if (ax >= ay && ax >= az) {
    m = ax;
    s = x > 0 ? -z : z;
    t = -y;
    face = x > 0 ? 0 : 1;
  } else if (ay >= az) {
    m = ay;
    s = x;
    t = y > 0 ? z : -z;
    face = y > 0 ? 2 : 3;
  }
  *r = {(s / m + 1) / 2, (t / m + 1) / 2, 0};
  return face;
}

// --- textures ------------------------------------------------------------------------------------
Texel fetch(const ImageSite& site, const TextureDescription& t, const char* frame, unsigned lane,
            LaneAccess* access) {
  const Sampler sampler(t, access);
  const ImageShape& shape = t.image.shape;
  unsigned next = 0;
  u32 layer = site.layered ? value_at<u32>(frame, site.coordinates[next++], lane) : 0;
  const unsigned given = site.cube ? 3 : site.dimensions;
  if (!site.float_coordinates) {
    Place p;
    for (unsigned d = 0; d < given; ++d)
      p.at[d] = value_at<std::int32_t>(frame, site.coordinates[next++], lane);
    p.layer = std::min(layer, shape.layers - 1);
    return sampler.at(p);
  }
  std::array<float, 3> x{};
  for (unsigned d = 0; d < given; ++d)
    x[d] = value_at<float>(frame, site.coordinates[next++], lane);
  if (site.cube) layer = std::min(layer, shape.layers / 6 - 1) * 6 + cube_face(&x);
  layer = std::min(layer, shape.layers - 1);
  const std::array<u32, 3> sizes{shape.width, shape.height, shape.depth};
  std::array<double, 3> u{};
  for (unsigned d = 0; d < shape.dimensions; ++d)
    u[d] = site.cube ? double{x[d]} * sizes[d] : sampler.scaled(x[d], d, sizes[d]);
  if (site.op == ImageOp::Gather) return sampler.gather(u, layer, site.component);
  if (t.filter == FilterMode::Linear && t.resource != Resource::Linear && reads_floats(t))
    return sampler.linear(u, layer);
  return sampler.point(u, layer);
}

u32 query(ImageQuery what, const Image& image, const TextureDescription* t) {
  switch (what) {
    case ImageQuery::Width:
      return image.shape.width;
    case ImageQuery::Height:
      return image.shape.height;
    case ImageQuery::Depth:
      return image.shape.depth;
    case ImageQuery::ArraySize:
      return image.shape.layers;
    case ImageQuery::Normalized:
      return t != nullptr && t->normalized ? 1 : 0;
    case ImageQuery::Levels:
    case ImageQuery::Samples:
      return 1;
  }
  return 0;
}

void check_geometry(const ImageSite& site, const Image& image, const LaneAccess& access) {
  const ImageShape& s = image.shape;
  if (site.op == ImageOp::Query) return;
  // A surface takes a cube map as layers.
  if (site.dimensions == s.dimensions && (site.layered || s.layers == 1 || site.cube) &&
      (site.cube == s.cube || site.surface))
    return;
  access.fail(fmt::format("the instruction is for {}D{}{}, the {} has {} dimensions and {} layers",
                          site.dimensions, site.layered ? " layered" : "", site.cube ? " cube" : "",
                          site.surface ? "surface" : "texture", s.dimensions, s.layers));
}

u64 handle_of(const ImageSite& site, const char* frame, unsigned lane, const Context& c,
              const LaneAccess& access) {
  u64 handle = value_at<u64>(frame, site.handle, lane);
  if (!site.reference) return handle;
  std::memcpy(&handle, c.global + (handle - DeviceMemory::kBase), sizeof handle);
  if (handle == 0) access.fail("a texture or surface reference that is not bound");
  return handle;
}

void texture(const ImageSite& site, Context* c, char* frame, unsigned lane, LaneAccess* access) {
  const u64 handle = handle_of(site, frame, lane, *c, *access);
  const TextureDescription* t = access->runner().images().texture(handle);
  if (t == nullptr) access->fail(fmt::format("{:#x} is no texture object", handle));
  check_geometry(site, t->image, *access);
  std::array<u32, 4> out{};
  if (site.op == ImageOp::Query) {
    out[0] = query(site.query, t->image, t);
  } else {
    const Texel texel = fetch(site, *t, frame, lane, access);
    for (unsigned i = 0; i < 4; ++i)
      out[i] = reads_floats(*t) ? std::bit_cast<u32>(texel.real[i]) : texel.bits[i];
  }
  for (unsigned i = 0; i < site.elements; ++i)
    std::memcpy(frame + site.data[i] + 4 * lane, &out[i], 4);
}

// --- surfaces ------------------------------------------------------------------------------------
/// Where a surface's access lies; nullptr: nowhere, by the clamp mode.
char* surface_place(const ImageSite& site, const SurfaceDescription& surface, const char* frame,
                    unsigned lane, LaneAccess* access) {
  const ImageShape& shape = surface.image.shape;
  unsigned next = 0;
  const auto take = [&] {
    return s64{value_at<std::int32_t>(frame, site.coordinates[next++], lane)};
  };
  s64 layer = site.layered ? take() : 0;
  const s64 bytes = s64{site.element_bytes} * site.elements;
  const s64 row = s64{shape.width} * surface.image.format.element_bytes();
  std::array<s64, 3> at{};
  for (unsigned axis = 0; axis < site.dimensions; ++axis) at[axis] = take();
  const std::array<s64, 3> maximum{row - bytes, s64{shape.height} - 1, s64{shape.depth} - 1};
  const auto outside = [&](s64 x, s64 last) { return x < 0 || x > last; };
  bool out = outside(layer, s64{shape.layers} - 1);
  for (unsigned axis = 0; axis < 3; ++axis) out = out || outside(at[axis], maximum[axis]);
  if (out && site.clamp == SurfaceClamp::Trap)
    access->fail(
        fmt::format("out-of-bounds surface access at byte {} of row {}, slice {}, layer "
                    "{}; there are {} bytes, {} rows, {} slices, {} layers",
                    at[0], at[1], at[2], layer, row, shape.height, shape.depth, shape.layers));
  if (out && site.clamp == SurfaceClamp::Zero) return nullptr;
  layer = std::min(std::max(layer, s64{0}), s64{shape.layers} - 1);
  for (unsigned axis = 0; axis < 3; ++axis)
    at[axis] = std::min(std::max(at[axis], s64{0}), maximum[axis]);
  if (at[0] % bytes != 0)
    access->fail(fmt::format("misaligned surface access of {} bytes at byte {}", bytes, at[0]));
  const u64 slice = static_cast<u64>(layer * shape.depth + at[2]);
  return access->touch(surface.image.address + slice * surface.image.slice_bytes +
                           static_cast<u64>(at[1]) * surface.image.pitch_bytes +
                           static_cast<u64>(at[0]),
                       static_cast<unsigned>(bytes));
}

void surface(const ImageSite& site, Context* c, char* frame, unsigned lane, LaneAccess* access) {
  const u64 handle = handle_of(site, frame, lane, *c, *access);
  const SurfaceDescription* s = access->runner().images().surface(handle);
  if (s == nullptr) access->fail(fmt::format("{:#x} is no surface object", handle));
  check_geometry(site, s->image, *access);
  if (site.op == ImageOp::Query) {
    const u32 value = query(site.query, s->image, nullptr);
    std::memcpy(frame + site.data[0] + 4 * lane, &value, 4);
    return;
  }
  char* const place = surface_place(site, *s, frame, lane, access);
  for (unsigned i = 0; i < site.elements; ++i) {
    char* const reg = frame + site.data[i] + site.register_bytes * lane;
    char* const element = place + i * site.element_bytes;
    if (site.op == ImageOp::Load) std::memset(reg, 0, site.register_bytes);
    if (place == nullptr) continue;
    if (site.op == ImageOp::Load) std::memcpy(reg, element, site.element_bytes);
    else std::memcpy(element, reg, site.element_bytes);
  }
  RecordWatcher* const watcher = access->runner().watcher();
  if (watcher != nullptr && site.op == ImageOp::Store && place != nullptr)
    watcher->surface_store(DeviceMemory::kBase + static_cast<u64>(place - c->global),
                           site.elements * site.element_bytes);
}

}  // namespace

void image_access(Context* c, const Record* ip, char* frame, u32 mask) {
  LaneAccess access(c, ip);
  const Code& code = access.runner().running_code(static_cast<WarpState&>(*c->warp));
  const ImageSite& site = code.images[static_cast<std::size_t>(ip->imm)];
  for (u32 m = mask; m != 0; m &= m - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(m));
    access.lane(lane);
    if (site.surface) surface(site, c, frame, lane, &access);
    else texture(site, c, frame, lane, &access);
  }
  access.flush();
  if (site.resident != 0) {
    u32 p = value_at<u32>(frame, site.resident, 0);
    p |= mask;
    std::memcpy(frame + site.resident, &p, 4);
  }
  if (site.op == ImageOp::Store && c->live != 0) c->out_limit = c->out;
}

}  // namespace raddle::exec
