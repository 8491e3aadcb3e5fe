#include "raddle/exec/device/device_runtime.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "raddle/base/error.h"

namespace raddle::exec {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;
using F = DeviceFunction;

constexpr std::array kFunctions = {
    DeviceFunctionInfo{F::GetParameterBufferV2, "GetParameterBufferV2", {8, 12, 12, 4}, 8},
    DeviceFunctionInfo{F::LaunchDeviceV2, "LaunchDeviceV2", {8, 8}, 4},
    DeviceFunctionInfo{F::GetParameterBuffer, "GetParameterBuffer", {8, 8}, 8},
    DeviceFunctionInfo{F::LaunchDevice, "LaunchDevice", {8, 8, 12, 12, 4, 8}, 4},
    DeviceFunctionInfo{F::StreamCreateWithFlags, "StreamCreateWithFlags", {8, 4}, 4},
    DeviceFunctionInfo{F::StreamDestroy, "StreamDestroy", {8}, 4},
    DeviceFunctionInfo{F::StreamWaitEvent, "StreamWaitEvent", {8, 8, 4}, 4},
    DeviceFunctionInfo{F::EventCreateWithFlags, "EventCreateWithFlags", {8, 4}, 4},
    DeviceFunctionInfo{F::EventRecord, "EventRecord", {8, 8}, 4},
    DeviceFunctionInfo{F::EventRecord, "EventRecordWithFlags", {8, 8, 4}, 4},
    DeviceFunctionInfo{F::EventDestroy, "EventDestroy", {8}, 4},
    DeviceFunctionInfo{F::Malloc, "Malloc", {8, 8}, 4},
    DeviceFunctionInfo{F::Free, "Free", {8}, 4},
    DeviceFunctionInfo{F::MemcpyAsync, "MemcpyAsync", {8, 8, 8, 4, 8}, 4},
    DeviceFunctionInfo{F::MemsetAsync, "MemsetAsync", {8, 4, 8, 8}, 4},
    DeviceFunctionInfo{F::GetLastError, "GetLastError", {}, 4},
    DeviceFunctionInfo{F::PeekAtLastError, "PeekAtLastError", {}, 4},
    DeviceFunctionInfo{F::GetErrorString, "GetErrorString", {4}, 8},
    DeviceFunctionInfo{F::GetErrorName, "GetErrorName", {4}, 8},
    DeviceFunctionInfo{F::GetDevice, "GetDevice", {8}, 4},
    DeviceFunctionInfo{F::GetDeviceCount, "GetDeviceCount", {8}, 4},
    DeviceFunctionInfo{F::DeviceGetAttribute, "DeviceGetAttribute", {8, 4, 4}, 4},
    DeviceFunctionInfo{F::RuntimeGetVersion, "RuntimeGetVersion", {8}, 4},
};

// Handles look like nothing else, so that a wrong one is found out.
constexpr u64 kHandles = u64{0x7d} << 56;

/// Streams that every grid has: NULL, legacy and per-thread default are the block's; then named
/// ones.
constexpr u64 kTailStream = 3, kFireAndForget = 4;

void add(std::vector<u32>& to, const std::vector<u32>& launches) {
  for (const u32 launch : launches)
    if (std::ranges::find(to, launch) == to.end()) to.push_back(launch);
}

}  // namespace

bool is_device_function(std::string_view symbol) {
  return symbol.starts_with("__cudaCDP2") || symbol == "cudaDeviceSynchronize" ||
         device_function(symbol) != nullptr;
}

const DeviceFunctionInfo* device_function(std::string_view symbol) {
  if (symbol.starts_with("__cudaCDP2")) symbol.remove_prefix(10);
  else if (symbol.starts_with("cuda")) symbol.remove_prefix(4);
  else return nullptr;
  if (symbol.ends_with("_ptsz")) symbol.remove_suffix(5);
  for (const DeviceFunctionInfo& info : kFunctions)
    if (info.name == symbol) return &info;
  return nullptr;
}

// --- what outlives a grid ------------------------------------------------------------------------

std::optional<Address> DeviceRuntime::take_buffer(u64 bytes) {
  const u64 size = std::bit_ceil(std::max<u64>(bytes, DeviceMemory::kAlignment));
  std::vector<Address>& free = free_buffers_[size];
  if (!free.empty()) {
    const Address buffer = free.back();
    free.pop_back();
    return buffer;
  }
  const auto buffer = memory_.allocate(size, {DeviceMemory::Owner::Kind::Internal});
  if (buffer) buffers_[*buffer] = size;
  return buffer;
}
void DeviceRuntime::give_buffer(Address buffer) {
  RADDLE_ASSERT(buffers_.contains(buffer));
  free_buffers_[buffers_.at(buffer)].push_back(buffer);
}

Address DeviceRuntime::text(const std::string& text) {
  const auto [known, fresh] = texts_.try_emplace(text, 0);
  if (!fresh && known->second != 0) return known->second;
  const auto at = memory_.allocate(text.size() + 1, {DeviceMemory::Owner::Kind::Internal});
  if (!at) return 0;
  std::memcpy(memory_.host(*at), text.c_str(), text.size() + 1);
  return known->second = *at;
}

std::optional<Address> DeviceRuntime::allocate(u64 bytes) {
  const auto at = memory_.allocate(bytes, {DeviceMemory::Owner::Kind::Heap});
  if (at) allocated_.insert(*at);
  return at;
}
bool DeviceRuntime::free(Address address) {
  return allocated_.erase(address) != 0 && memory_.free(address);
}

// --- one grid ------------------------------------------------------------------------------------

DeviceGrid::~DeviceGrid() {
  for (const auto& [buffer, configuration] : open_) runtime_.give_buffer(buffer);
}

std::optional<Address> DeviceGrid::open_buffer(u64 bytes, const Configuration& configuration) {
  const auto buffer = runtime_.take_buffer(bytes);
  if (buffer) open_[*buffer] = configuration;
  return buffer;
}
std::optional<DeviceGrid::Configuration> DeviceGrid::close_buffer(Address buffer) {
  const auto found = open_.find(buffer);
  if (found == open_.end()) return std::nullopt;
  const Configuration configuration = found->second;
  open_.erase(found);
  runtime_.give_buffer(buffer);
  return configuration;
}

bool DeviceGrid::known_stream(u64 stream) const {
  return stream <= kFireAndForget || streams_.contains(stream);
}

DeviceGrid::After& DeviceGrid::last_of(u64 stream, u32 block) {
  RADDLE_ASSERT(known_stream(stream) && stream != kFireAndForget);
  if (stream == kTailStream) return tail_;
  return stream < kTailStream ? block_stream_[block] : streams_.at(stream);
}

void DeviceGrid::launch(DeviceLaunch launch, u64 stream) {
  runtime_.pends();
  const auto number = static_cast<u32>(launches_.size());
  launch.tail = stream == kTailStream;
  if (stream != kFireAndForget) {
    After& last = last_of(stream, launch.block);
    launch.after = std::exchange(last, {number});
  }
  DeviceOperation operation;
  operation.launch = number;
  operation.tail = launch.tail;
  operations_.push_back(std::move(operation));
  launches_.push_back(std::move(launch));
}

void DeviceGrid::operate(DeviceOperation operation, u64 stream) {
  RADDLE_ASSERT(known_stream(stream));
  operation.tail = stream == kTailStream;
  operations_.push_back(std::move(operation));
}

u64 DeviceGrid::create_stream() {
  const u64 handle = kHandles | runtime_.next_handle();
  streams_[handle];
  return handle;
}
bool DeviceGrid::destroy_stream(u64 stream) { return streams_.erase(stream) != 0; }
u64 DeviceGrid::create_event() {
  const u64 handle = kHandles | runtime_.next_handle();
  events_[handle];
  return handle;
}
bool DeviceGrid::destroy_event(u64 event) { return events_.erase(event) != 0; }

bool DeviceGrid::record(u64 event, u64 stream, u32 block) {
  const auto found = events_.find(event);
  if (found == events_.end() || !known_stream(stream) || stream == kTailStream) return false;
  found->second = stream == kFireAndForget ? After{} : last_of(stream, block);
  return true;
}
bool DeviceGrid::wait(u64 stream, u64 event, u32 block) {
  const auto found = events_.find(event);
  const bool ordered = stream != kTailStream && stream != kFireAndForget;
  if (found == events_.end() || !known_stream(stream) || !ordered) return false;
  add(last_of(stream, block), found->second);
  return true;
}

namespace {
u64 key(const DeviceGrid::Thread& thread) { return u64{thread.block} << 16 | thread.thread; }
}  // namespace

void DeviceGrid::set_error(const Thread& thread, u32 error) {
  if (error != 0) errors_[key(thread)] = error;
}
u32 DeviceGrid::error(const Thread& thread, bool clear) {
  const auto found = errors_.find(key(thread));
  if (found == errors_.end()) return 0;
  const u32 error = found->second;
  if (clear) errors_.erase(found);
  return error;
}

}  // namespace raddle::exec
