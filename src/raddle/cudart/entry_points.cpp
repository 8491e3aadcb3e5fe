// How a program gets functions of the driver through the runtime, and those that make tensor maps.
#include <cstring>
#include <string_view>

#include "raddle/cudart/driver.h"
#include "raddle/exec/memory/tensor_map.h"

using namespace raddle::cudart;
using raddle::exec::EncodedTensorMap;
using raddle::exec::TensorMap;
using raddle::exec::TensorMapRequest;

namespace {

constexpr unsigned kFirstCapability = 90;  // with tensor maps

/// Writes the map that `request` asks for, or tells why there is none. CUresult and cudaError_t
/// have the same numbers here.
int encode(const char* name, void* to, const TensorMapRequest& request) {
  Context& c = context();
  const std::lock_guard lock(c.mutex);
  const auto refuse = [&](Error code, std::string_view why) {
    c.note(name, why);
    return static_cast<int>(code);
  };
  try {
    if (c.seen().device.compute_capability < kFirstCapability)
      return refuse(kNotSupported, "tensor maps need compute capability 9.0");
  } catch (const Failure& failure) {
    return refuse(failure.code, failure.message);
  }
  if (to == nullptr || reinterpret_cast<std::uintptr_t>(to) % 64 != 0)
    return refuse(kInvalidValue, "address of the tensor map: no multiple of 64");
  const EncodedTensorMap made = raddle::exec::encode_tensor_map(request);
  if (!made.map) return refuse(kInvalidValue, made.refusal);
  std::memcpy(to, &*made.map, sizeof *made.map);
  return kSuccess;
}

}  // namespace

extern "C" {

int raddle_cuTensorMapEncodeTiled(void* map, unsigned element, unsigned rank, void* address,
                                  const std::uint64_t* sizes, const std::uint64_t* strides,
                                  const unsigned* box, const unsigned* steps, unsigned interleave,
                                  unsigned swizzle, unsigned promotion, unsigned fill) {
  return encode("cuTensorMapEncodeTiled", map,
                {.element = element,
                 .rank = rank,
                 .address = reinterpret_cast<std::uintptr_t>(address),
                 .sizes = sizes,
                 .strides = strides,
                 .steps = steps,
                 .interleave = interleave,
                 .swizzle = swizzle,
                 .promotion = promotion,
                 .fill = fill,
                 .box = box});
}

int raddle_cuTensorMapEncodeIm2col(void* map, unsigned element, unsigned rank, void* address,
                                   const std::uint64_t* sizes, const std::uint64_t* strides,
                                   const int* lower, const int* upper, unsigned channels,
                                   unsigned pixels, const unsigned* steps, unsigned interleave,
                                   unsigned swizzle, unsigned promotion, unsigned fill) {
  return encode("cuTensorMapEncodeIm2col", map,
                {.element = element,
                 .rank = rank,
                 .address = reinterpret_cast<std::uintptr_t>(address),
                 .sizes = sizes,
                 .strides = strides,
                 .steps = steps,
                 .interleave = interleave,
                 .swizzle = swizzle,
                 .promotion = promotion,
                 .fill = fill,
                 .is_im2col = true,
                 .lower = lower,
                 .upper = upper,
                 .channels = channels,
                 .pixels = pixels});
}

int raddle_cuTensorMapReplaceAddress(void* map, void* address) {
  TensorMap changed;
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  if (map == nullptr || at == 0 || at % 16 != 0) return kInvalidValue;
  std::memcpy(&changed, map, sizeof changed);
  if (changed.magic != TensorMap::kMagic || (changed.interleave == 2 && at % 32 != 0))
    return kInvalidValue;
  changed.address = at;
  std::memcpy(map, &changed, sizeof changed);
  return kSuccess;
}

}  // extern "C"

namespace {

int find_entry(const char* name, const char* symbol, void** function, unsigned version,
               unsigned long long flags, int* result) {
  return call(name, [&](Context&) -> Error {
    constexpr unsigned long long kPerThreadDefault = 2;
    if (symbol == nullptr || *symbol == 0 || function == nullptr) throw Failure{kInvalidValue};
    int status = kEntryNotFound;
    *function = driver_entry(symbol, static_cast<int>(version),
                             (flags & kPerThreadDefault) != 0 || thread_state().per_thread, status);
    if (result != nullptr) *result = status;
    return *function != nullptr || result != nullptr ? kSuccess : kSymbolNotFound;
  });
}

constexpr unsigned kNewestOf11 = 11080, kNewestOf12 = 12090;

}  // namespace

extern "C" {

int raddle_cudaGetDriverEntryPoint(const char* symbol, void** function, unsigned long long flags,
                                   int* result) {
  return find_entry("cudaGetDriverEntryPoint", symbol, function, kNewestOf12, flags, result);
}
/// CUDA 11's has no result.
int raddle_cudaGetDriverEntryPoint_11(const char* symbol, void** function,
                                      unsigned long long flags) {
  return find_entry("cudaGetDriverEntryPoint", symbol, function, kNewestOf11, flags, nullptr);
}
int raddle_cudaGetDriverEntryPointByVersion(const char* symbol, void** function, unsigned version,
                                            unsigned long long flags, int* result) {
  return find_entry("cudaGetDriverEntryPointByVersion", symbol, function, version, flags, result);
}

}  // extern "C"
