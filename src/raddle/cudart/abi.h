// The public interface of the CUDA runtime as binaries see it: codes, handles and the structures
// that calls take. Values and layouts are NVIDIA's (CUDA Runtime API reference, toolkits 11 to 13);
// tests/cudart checks them against the toolkit's headers where one is installed. Names are ours.
#pragma once
#include <cstddef>
#include <cstdint>

#include "raddle/base/types.h"

namespace raddle::cudart {

/// cudaError_t: the ones we return. Every code's name and text: errors.h.
enum Error : int {
  kSuccess = 0,
  kInvalidValue = 1,
  kMemoryAllocation = 2,
  kInitializationError = 3,
  kCudartUnloading = 4,
  kInvalidConfiguration = 9,
  kInvalidPitchValue = 12,
  kInvalidSymbol = 13,
  kInvalidDevicePointer = 17,
  kInvalidTexture = 18,
  kInvalidChannelDescriptor = 20,
  kInvalidMemcpyDirection = 21,
  kMissingConfiguration = 52,
  kInvalidDeviceFunction = 98,
  kNoDevice = 100,
  kInvalidDevice = 101,
  kNoKernelImageForDevice = 209,
  kUnsupportedLimit = 215,
  kPeerAccessUnsupported = 217,
  kInvalidPtx = 218,
  kUnsupportedPtxVersion = 222,
  kInvalidResourceHandle = 400,
  kIllegalState = 401,
  kSymbolNotFound = 500,
  kNotReady = 600,
  kIllegalAddress = 700,
  kLaunchOutOfResources = 701,
  kLaunchTimeout = 702,
  kPeerAccessAlreadyEnabled = 704,
  kPeerAccessNotEnabled = 705,
  kAssert = 710,
  kHostMemoryAlreadyRegistered = 712,
  kHostMemoryNotRegistered = 713,
  kMisalignedAddress = 716,
  kLaunchFailure = 719,
  kCooperativeLaunchTooLarge = 720,
  kNotSupported = 801,
  kStreamCaptureUnsupported = 900,
  kStreamCaptureInvalidated = 901,
  kStreamCaptureMerge = 902,
  kStreamCaptureUnmatched = 903,
  kStreamCaptureUnjoined = 904,
  kStreamCaptureIsolation = 905,
  kStreamCaptureImplicit = 906,
  kCapturedEvent = 907,
  kStreamCaptureWrongThread = 908,
  kInvalidClusterSize = 912,
  kUnknown = 999,
};

enum class CopyKind : int { HostToHost, HostToDevice, DeviceToHost, DeviceToDevice, Default };
enum class MemoryType : int { Unregistered, Host, Device, Managed };

/// Opaque to programs. A stream may also be one of the three numbers below.
struct Stream;
struct Event;
struct Array;
struct Kernel;
struct Graph;
struct GraphExec;
struct GraphNode;
struct Pool;

inline constexpr std::uintptr_t kLegacyStream = 1, kPerThreadStream = 2;

struct PitchedPointer {
  void* pointer;
  std::size_t pitch, width, height;  ///< width and height of the allocation: bytes, rows
};
struct Extent {
  std::size_t width, height, depth;
};
struct Position {
  std::size_t x, y, z;
};
struct Copy3d {
  Array* source_array;
  Position source_position;
  PitchedPointer source;
  Array* target_array;
  Position target_position;
  PitchedPointer target;
  Extent extent;
  CopyKind kind;
};
struct ChannelFormat {
  int x, y, z, w;  ///< bits
  int kind;        ///< 0 signed, 1 unsigned, 2 float
};

struct ResourceDescription {  // cudaResourceDesc
  enum Type : int { kArray, kMipmappedArray, kLinear, kPitch2D };
  Type type;
  struct Linear {
    void* start;
    ChannelFormat format;
    std::size_t bytes;
  };
  struct Pitch2D {
    void* start;
    ChannelFormat format;
    std::size_t width, height, pitch;  ///< texels, rows, bytes
  };
  union {
    Array* array;
    Linear linear;
    Pitch2D pitch;
  };
};
struct TextureFetch {  // cudaTextureDesc: what we read of it
  int address_mode[3];
  int filter_mode, read_mode, srgb;
  float border[4];
  int normalized;
  unsigned max_anisotropy;
  int mipmap_filter;
  float mipmap_bias, mipmap_least, mipmap_most;
  int no_trilinear_optimization, seamless_cubemap;
};

struct PointerAttributes {  // cudart 11 and 12 end before `reserved`
  MemoryType type;
  int device;
  void *device_pointer, *host_pointer;
};

struct FunctionAttributes {  // cudart 11 ends after preferred_carveout
  std::size_t shared_bytes, constant_bytes, local_bytes;
  int max_threads_per_block, registers, ptx_version, binary_version, cache_mode;
  int max_dynamic_shared_bytes, preferred_carveout;
};

struct HostLaunchConfiguration {  // cudaLaunchConfig_t
  Dim3 grid, block;
  std::size_t dynamic_shared_bytes;
  Stream* stream;
  struct LaunchAttribute* attributes;
  unsigned attribute_count;
};
/// cudaLaunchAttribute: what we read of its value.
struct LaunchAttribute {
  int id;
  char padding[4];
  union {
    char bytes[64];
    int cooperative;
    struct {
      unsigned x, y, z;
    } cluster;
    int priority;
    struct {
      Event* event;
      int flags;
    } event;  ///< to be recorded
    int device_updatable;
  } value;
};
/// cudaLaunchAttributeID. 15 is nothing, and the last is the last.
enum AttributeId : int {
  kAttributeIgnore = 0,
  kAttributeAccessPolicy = 1,
  kAttributeCooperative = 2,
  kAttributeSynchronization = 3,
  kAttributeCluster = 4,
  kAttributeClusterScheduling = 5,
  kAttributeStreamSerialization = 6,
  kAttributeProgrammaticEvent = 7,
  kAttributePriority = 8,
  kAttributeMemSyncDomainMap = 9,
  kAttributeMemSyncDomain = 10,
  kAttributePreferredCluster = 11,
  kAttributeCompletionEvent = 12,
  kAttributeDeviceUpdatable = 13,
  kAttributeCarveout = 14,
  kAttributeNvlink = 16,
};

struct MemoryLocation {
  int type, id;  ///< type 1: device
};
struct PoolProperties {
  int allocation_type, handle_types;
  MemoryLocation location;
  void* security;
  std::size_t max_size;
  unsigned short usage;
  unsigned char reserved[54];
};
struct AccessDescription {
  MemoryLocation location;
  int flags;
};

using HostFunction = void (*)(void* data);
using StreamCallback = void (*)(Stream* stream, int status, void* data);

}  // namespace raddle::cudart
