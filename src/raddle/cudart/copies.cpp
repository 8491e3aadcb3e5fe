// cudaMemcpy and cudaMemset in their many forms.
#include "raddle/cudart/transfer.h"

#include "raddle/cudart/graph.h"

using namespace raddle;
using namespace raddle::cudart;

namespace {

Region flat(const void* pointer, std::size_t bytes) {
  return {const_cast<void*>(pointer), bytes, 1};
}

Error copy_flat(Context& c, void* to, const void* from, std::size_t bytes, CopyKind kind, bool wait,
                Stream* stream) {
  if (bytes == 0) return kSuccess;
  check_direction(c, kind, to, from);
  transfer(c, wait, stream, [=](Context& context) {
    copy(context, flat(to, bytes), flat(from, bytes), {bytes, 1, 1});
  });
  return kSuccess;
}

Error copy_rows(Context& c, Region to, Region from, std::size_t width, std::size_t height,
                CopyKind kind, bool wait, Stream* stream) {
  if (width > to.pitch || width > from.pitch) throw Failure{kInvalidPitchValue};
  check_pitch(c, to.pitch);
  check_pitch(c, from.pitch);
  if (width == 0 || height == 0) return kSuccess;
  check_direction(c, kind, to.start, from.start);
  transfer(c, wait, stream, [=](Context& context) { copy(context, to, from, {width, height, 1}); });
  return kSuccess;
}

Error fill_flat(Context& c, void* to, int value, std::size_t bytes, bool wait, Stream* stream) {
  if (bytes == 0) return kSuccess;
  transfer(
      c, wait, stream,
      [=](Context& context) {
        fill(context, flat(to, bytes), static_cast<std::uint32_t>(value), 1, {bytes, 1, 1});
      },
      NodeType::Memset);
  return kSuccess;
}

/// Of a copy between devices. There is one.
void check_devices(int to, int from) {
  if (to != 0 || from != 0) throw Failure{kInvalidDevice};
}

void* offset_by(Address address, std::size_t offset) {
  return reinterpret_cast<void*>(address + offset);
}

/// Address of a part of a variable, which must be inside.
void* part(Context& c, const void* variable, std::size_t offset, std::size_t bytes) {
  const Context::Symbol symbol = c.symbol(variable);
  if (offset > symbol.bytes || bytes > symbol.bytes - offset) throw Failure{kInvalidValue};
  return offset_by(symbol.address, offset);
}

}  // namespace

extern "C" {

int raddle_cudaMemcpy(void* to, const void* from, std::size_t bytes, CopyKind kind) {
  return call("cudaMemcpy",
              [&](Context& c) { return copy_flat(c, to, from, bytes, kind, true, nullptr); });
}

int raddle_cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, CopyKind kind,
                           Stream* stream) {
  return call("cudaMemcpyAsync",
              [&](Context& c) { return copy_flat(c, to, from, bytes, kind, false, stream); });
}

int raddle_cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device,
                          std::size_t bytes) {
  return call("cudaMemcpyPeer", [&](Context& c) {
    check_devices(to_device, from_device);
    return copy_flat(c, to, from, bytes, CopyKind::DeviceToDevice, true, nullptr);
  });
}

int raddle_cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device,
                               std::size_t bytes, Stream* stream) {
  return call("cudaMemcpyPeerAsync", [&](Context& c) {
    check_devices(to_device, from_device);
    return copy_flat(c, to, from, bytes, CopyKind::DeviceToDevice, false, stream);
  });
}

int raddle_cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                        std::size_t width, std::size_t height, CopyKind kind) {
  return call("cudaMemcpy2D", [&](Context& c) {
    return copy_rows(c, {to, to_pitch, height}, {const_cast<void*>(from), from_pitch, height},
                     width, height, kind, true, nullptr);
  });
}

int raddle_cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from,
                             std::size_t from_pitch, std::size_t width, std::size_t height,
                             CopyKind kind, Stream* stream) {
  return call("cudaMemcpy2DAsync", [&](Context& c) {
    return copy_rows(c, {to, to_pitch, height}, {const_cast<void*>(from), from_pitch, height},
                     width, height, kind, false, stream);
  });
}

int raddle_cudaMemset(void* to, int value, std::size_t bytes) {
  return call("cudaMemset",
              [&](Context& c) { return fill_flat(c, to, value, bytes, true, nullptr); });
}

int raddle_cudaMemsetAsync(void* to, int value, std::size_t bytes, Stream* stream) {
  return call("cudaMemsetAsync",
              [&](Context& c) { return fill_flat(c, to, value, bytes, false, stream); });
}

int raddle_cudaMemset2D(void* to, std::size_t pitch, int value, std::size_t width,
                        std::size_t height) {
  return call("cudaMemset2D", [&](Context& c) {
    transfer(
        c, true, nullptr,
        [=](Context& context) {
          fill(context, {to, pitch, height}, static_cast<std::uint32_t>(value), 1,
               {width, height, 1});
        },
        NodeType::Memset);
    return kSuccess;
  });
}

int raddle_cudaMemset2DAsync(void* to, std::size_t pitch, int value, std::size_t width,
                             std::size_t height, Stream* stream) {
  return call("cudaMemset2DAsync", [&](Context& c) {
    transfer(
        c, false, stream,
        [=](Context& context) {
          fill(context, {to, pitch, height}, static_cast<std::uint32_t>(value), 1,
               {width, height, 1});
        },
        NodeType::Memset);
    return kSuccess;
  });
}

int raddle_cudaMemset3D(PitchedPointer to, int value, Extent extent) {
  return call("cudaMemset3D", [&](Context& c) {
    transfer(
        c, true, nullptr,
        [=](Context& context) {
          fill(context, {to.pointer, to.pitch, to.height}, static_cast<std::uint32_t>(value), 1,
               {extent.width, extent.height, extent.depth});
        },
        NodeType::Memset);
    return kSuccess;
  });
}

int raddle_cudaMemset3DAsync(PitchedPointer to, int value, Extent extent, Stream* stream) {
  return call("cudaMemset3DAsync", [&](Context& c) {
    transfer(
        c, false, stream,
        [=](Context& context) {
          fill(context, {to.pointer, to.pitch, to.height}, static_cast<std::uint32_t>(value), 1,
               {extent.width, extent.height, extent.depth});
        },
        NodeType::Memset);
    return kSuccess;
  });
}

// --- variables ----------------------------------------------------------------------------------

int raddle_cudaMemcpyToSymbol(const void* variable, const void* from, std::size_t bytes,
                              std::size_t offset, CopyKind kind) {
  return call("cudaMemcpyToSymbol", [&](Context& c) {
    return copy_flat(c, part(c, variable, offset, bytes), from, bytes, kind, true, nullptr);
  });
}

int raddle_cudaMemcpyToSymbolAsync(const void* variable, const void* from, std::size_t bytes,
                                   std::size_t offset, CopyKind kind, Stream* stream) {
  return call("cudaMemcpyToSymbolAsync", [&](Context& c) {
    return copy_flat(c, part(c, variable, offset, bytes), from, bytes, kind, false, stream);
  });
}

int raddle_cudaMemcpyFromSymbol(void* to, const void* variable, std::size_t bytes,
                                std::size_t offset, CopyKind kind) {
  return call("cudaMemcpyFromSymbol", [&](Context& c) {
    return copy_flat(c, to, part(c, variable, offset, bytes), bytes, kind, true, nullptr);
  });
}

int raddle_cudaMemcpyFromSymbolAsync(void* to, const void* variable, std::size_t bytes,
                                     std::size_t offset, CopyKind kind, Stream* stream) {
  return call("cudaMemcpyFromSymbolAsync", [&](Context& c) {
    return copy_flat(c, to, part(c, variable, offset, bytes), bytes, kind, false, stream);
  });
}

int raddle_cudaGetSymbolAddress(void** address, const void* variable) {
  return call("cudaGetSymbolAddress", [&](Context& c) {
    if (address == nullptr) throw Failure{kInvalidValue};
    *address = offset_by(c.symbol(variable).address, 0);
    return kSuccess;
  });
}

int raddle_cudaGetSymbolSize(std::size_t* bytes, const void* variable) {
  return call("cudaGetSymbolSize", [&](Context& c) {
    if (bytes == nullptr) throw Failure{kInvalidValue};
    *bytes = c.symbol(variable).bytes;
    return kSuccess;
  });
}

}  // extern "C"
