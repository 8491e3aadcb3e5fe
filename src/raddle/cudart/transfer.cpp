#include "raddle/cudart/transfer.h"

#include <cstring>

#include "raddle/base/error.h"
#include "raddle/cudart/capture.h"
#include "raddle/cudart/host_memory.h"
#include "raddle/cudart/properties.h"
#include "raddle/cudart/sizes.h"

namespace raddle::cudart {

namespace {

bool on_device(Context& c, const void* pointer) {
  const auto address = reinterpret_cast<Address>(pointer);
  return address >= exec::DeviceMemory::kBase &&
         address - exec::DeviceMemory::kBase < c.device().memory_bytes();
}

/// Every byte from the first to the last of the block is one allocation's, where the region is
/// ours.
void check(Context& c, const Region& region, const Block& b, const char* what) {
  const std::size_t bytes = span_of(region, b);
  if (!on_device(c, region.start)) {
    if (region.start == nullptr) throw Failure{kInvalidValue};
    sum(reinterpret_cast<Address>(region.start), bytes);
    return;
  }
  if (!c.device().memory().valid(reinterpret_cast<Address>(region.start), bytes))
    throw Failure{kInvalidValue,
                  std::string(what) + " of " + std::to_string(bytes) +
                      " bytes leaves its allocation: " +
                      c.device().memory().describe(reinterpret_cast<Address>(region.start))};
}

template <class F>
void each_row(const Block& b, F f) {
  for (std::size_t z = 0; z < b.depth; ++z)
    for (std::size_t y = 0; y < b.height; ++y) f(z, y);
}

std::byte* row(const Region& r, std::size_t z, std::size_t y) {
  return static_cast<std::byte*>(r.start) + (z * r.rows + y) * r.pitch;
}

bool empty(const Block& b) { return b.width == 0 || b.height == 0 || b.depth == 0; }

/// Rows that lie behind one another do not overlap.
void check_apart(const Region& region, const Block& b) {
  if (b.width > region.pitch && (b.height > 1 || b.depth > 1)) throw Failure{kInvalidPitchValue};
}

}  // namespace

std::size_t span_of(const Region& region, const Block& b) {
  RADDLE_ASSERT(b.width >= 1 && b.height >= 1 && b.depth >= 1);
  const std::size_t rows = sum(product(b.depth - 1, region.rows), b.height);
  return sum(product(rows - 1, region.pitch, kInvalidPitchValue), b.width);
}

void check_pitch(Context& c, std::size_t pitch) {
  constexpr int kMaxPitch = 11;
  if (pitch > static_cast<std::size_t>(attribute(c.seen(), kMaxPitch).value()))
    throw Failure{kInvalidPitchValue, "rows are further apart than memPitch allows"};
}

void check_direction(Context& c, CopyKind kind, const void* to, const void* from) {
  using enum CopyKind;
  const auto host_memory = [&](const void* pointer) {
    const auto* found = c.allocation(reinterpret_cast<Address>(pointer));
    return !on_device(c, pointer) ||
           (found != nullptr && (found->second.kind == Allocation::Kind::Host ||
                                 found->second.kind == Allocation::Kind::Managed));
  };
  const bool to_host = kind == HostToHost || kind == DeviceToHost,
             from_host = kind == HostToHost || kind == HostToDevice;
  if (static_cast<int>(kind) < 0 || kind > Default) throw Failure{kInvalidMemcpyDirection};
  if (kind == Default) return;
  const bool right = (to_host ? host_memory(to) : on_device(c, to)) &&
                     (from_host ? host_memory(from) : on_device(c, from));
  if (!right) throw Failure{kInvalidValue, "the pointers do not fit the direction of the copy"};
}

void copy(Context& c, const Region& to, const Region& from, const Block& b) {
  if (empty(b)) return;
  check_apart(to, b);
  check_apart(from, b);
  check(c, to, b, "copy (target)");
  check(c, from, b, "copy (source)");
  show_registered(c);
  each_row(b, [&](std::size_t z, std::size_t y) {
    std::memmove(row(to, z, y), row(from, z, y), b.width);
    c.device().host_copied(reinterpret_cast<Address>(row(to, z, y)),
                           reinterpret_cast<Address>(row(from, z, y)), b.width);
  });
  if (on_device(c, to.start)) take_registered(c);
}

void fill(Context& c, const Region& to, std::uint32_t value, unsigned value_bytes, const Block& b) {
  RADDLE_ASSERT(value_bytes == 1 || value_bytes == 2 || value_bytes == 4);
  RADDLE_ASSERT(b.width % value_bytes == 0);
  if (empty(b)) return;
  check_apart(to, b);
  if (!on_device(c, to.start)) throw Failure{kInvalidValue};
  check(c, to, b, "memset");
  show_registered(c);
  each_row(b, [&](std::size_t z, std::size_t y) {
    std::byte* const at = row(to, z, y);
    c.device().host_may_write(reinterpret_cast<Address>(at), b.width);
    if (value_bytes == 1) std::memset(at, static_cast<int>(value & 0xff), b.width);
    else
      for (std::size_t i = 0; i < b.width; i += value_bytes)
        std::memcpy(at + i, &value, value_bytes);
  });
  take_registered(c);
}

void transfer(Context& c, bool wait, Stream* stream, const std::function<void(Context&)>& work,
              NodeType type) {
  RADDLE_ASSERT(work != nullptr);
  if (wait) {
    awaited(c, stream);
    c.device().synchronize();
    work(c);
    return;
  }
  c.enqueue(usable(c, stream), type, [work](Context& context, StreamId on) {
    context.device().settle(on);
    work(context);
  });
}

}  // namespace raddle::cudart
