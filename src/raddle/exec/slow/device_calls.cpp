// What the functions of the device runtime do, lane after lane.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "raddle/base/error.h"
#include "raddle/exec/device/device_runtime.h"
#include "raddle/exec/run/launch_check.h"
#include "raddle/exec/run/runner.h"

namespace raddle::exec {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;
using F = DeviceFunction;

/// cudaError_t.
enum Error : u32 {
  kSuccess = 0,
  kInvalidValue = 1,
  kMemoryAllocation = 2,
  kInvalidConfiguration = 9,
  kLaunchMaxDepthExceeded = 65,
  kLaunchPendingCountExceeded = 69,
  kInvalidDeviceFunction = 98,
  kInvalidDevice = 101,
  kInvalidResourceHandle = 400,
  kNotSupported = 801,
};
struct ErrorText {
  Error error;
  const char *name, *text;
};
constexpr ErrorText kErrors[] = {
    {kSuccess, "cudaSuccess", "no error"},
    {kInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
    {kMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
    {kInvalidConfiguration, "cudaErrorInvalidConfiguration", "invalid configuration argument"},
    {kLaunchMaxDepthExceeded, "cudaErrorLaunchMaxDepthExceeded",
     "launch would exceed maximum depth of nested launches"},
    {kLaunchPendingCountExceeded, "cudaErrorLaunchPendingCountExceeded",
     "launch would exceed maximum pending launch count"},
    {kInvalidDeviceFunction, "cudaErrorInvalidDeviceFunction", "invalid device function"},
    {kInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {kInvalidResourceHandle, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {kNotSupported, "cudaErrorNotSupported", "operation not supported"},
};

constexpr u32 kNonBlocking = 1, kDisableTiming = 2;
constexpr u32 kRuntimeVersion = 13000;
constexpr u32 kMaxParameterBytes = 32764;

/// One call by one lane.
class Call {
 public:
  Call(Context* c, const Runner& runner, const DeviceCall& call, char* frame, u32 inst,
       unsigned lane)
      : c_(c),
        runner_(runner),
        grid_(*runner.device()),
        call_(call),
        frame_(frame),
        inst_(inst),
        lane_(lane) {
    const Warp& warp = *c->warp;
    thread_ = {warp.block, warp.index, warp.index * kLanes + lane};
  }

  /// True when a kernel was launched.
  bool perform() {
    switch (call_.function) {
      case F::GetParameterBufferV2:
        give(buffer_for(kernel_of(number(0)), shape(1, 2, 3)));
        return false;
      case F::GetParameterBuffer:
        give(plain_buffer(number(1)));
        return false;
      case F::LaunchDeviceV2:
        return done(launch_v2());
      case F::LaunchDevice:
        return done(launch_v1());
      case F::GetLastError:
        give(grid_.error(thread_, true));
        return false;
      case F::PeekAtLastError:
        give(grid_.error(thread_, false));
        return false;
      case F::GetErrorString:
        give(text(false));
        return false;
      case F::GetErrorName:
        give(text(true));
        return false;
      default:
        give(finish(other()));
        return false;
    }
  }

 private:
  // --- values of the lane ------------------------------------------------------------------------
  u32 word(const ParameterPlace& place, u32 index) const {
    u32 value = 0;
    std::memcpy(&value, frame_ + place.offset + 128 * index + 4 * lane_, 4);
    return value;
  }
  u64 number(std::size_t i) const {
    RADDLE_ASSERT(i < call_.arguments.size());
    const ParameterPlace& place = call_.arguments[i];
    u64 value = 0;
    if (place.is_register)
      std::memcpy(&value, frame_ + place.offset + place.bytes * lane_, place.bytes);
    else value = word(place, 0) | (place.bytes == 8 ? u64{word(place, 1)} << 32 : 0);
    return value;
  }
  Dim3 extents(std::size_t i) const {
    RADDLE_ASSERT(i < call_.arguments.size() && call_.arguments[i].bytes == 12);
    const ParameterPlace& place = call_.arguments[i];
    return {word(place, 0), word(place, 1), word(place, 2)};
  }
  trace::LaunchShape shape(std::size_t grid, std::size_t block, std::size_t shared) const {
    return {extents(grid), extents(block), static_cast<u32>(number(shared))};
  }
  void give(u64 value) {
    RADDLE_ASSERT(call_.returns.size() == 1);
    const ParameterPlace& place = call_.returns[0];
    if (place.is_register) {
      std::memcpy(frame_ + place.offset + place.bytes * lane_, &value, place.bytes);
      return;
    }
    const u32 low = static_cast<u32>(value), high = static_cast<u32>(value >> 32);
    std::memcpy(frame_ + place.offset + 4 * lane_, &low, 4);
    if (place.bytes == 8) std::memcpy(frame_ + place.offset + 128 + 4 * lane_, &high, 4);
  }
  u32 finish(u32 error) {
    grid_.set_error(thread_, error);
    return error;
  }
  bool done(u32 error) {
    give(finish(error));
    return error == kSuccess;
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw RunError(fmt::format("kernel {}: {} at {}, {}", runner_.kernel().title, what,
                               runner_.location(inst_), runner_.thread_text(*c_->warp, lane_)));
  }
  /// To a generic address; the whole value must lie in memory of one kind.
  template <class T>
  void store(u64 address, T value) const {
    const auto* bytes = reinterpret_cast<const char*>(&value);
    if (address % sizeof value == 0 && address >= DeviceMemory::kBase &&
        runner_.memory().valid(address, sizeof value)) {
      std::memcpy(c_->global + (address - DeviceMemory::kBase), bytes, sizeof value);
      if (RecordWatcher* w = runner_.watcher(); w != nullptr)
        w->slow_store(*c_, lane_, address, sizeof value);
    } else if (address % 4 == 0 && address - kLocalWindow + sizeof value <= c_->local_bytes) {
      const u64 at = address - kLocalWindow;
      for (u64 i = 0; i < sizeof value; i += 4)
        std::memcpy(c_->warp->local + (at + i) / 4 * 128 + 4 * lane_, bytes + i, 4);
    } else if (address % sizeof value == 0 &&
               address - kSharedWindow + sizeof value <= c_->shared_bytes) {
      std::memcpy(c_->shared + (address - kSharedWindow), bytes, sizeof value);
    } else {
      fail(fmt::format("the device runtime is to write {} bytes to {:#x}", sizeof value, address));
    }
  }

  // --- launches ----------------------------------------------------------------------------------
  const Kernel* kernel_of(u64 address) const {
    const Kernel& running = runner_.kernel();
    const u64 index = (address - kCodeWindow) / 16;
    if (address < kCodeWindow || address % 16 != 0 || index >= running.module->functions.size())
      return nullptr;
    const ptx::Function& f = running.module->functions[index];
    return f.is_entry && !f.is_extern ? &running.program->kernel(f.name) : nullptr;
  }
  u32 check(const Kernel* kernel, const trace::LaunchShape& shape) const {
    if (kernel == nullptr) return kInvalidDeviceFunction;
    const Dim3 &grid = shape.grid, &block = shape.block;
    const ptx::Function& f = *kernel->functions[0].source;
    const u64 shared = u64{kernel->static_shared_bytes} + shape.dynamic_shared_bytes;
    Launch launched;
    launched.kernel = kernel;
    launched.shape = shape;
    const bool sound = grid.count() != 0 && block.count() != 0 && grid.x <= 0x7fffffffu &&
                       grid.y <= 65535 && grid.z <= 65535 && grid.count() <= 0xffffffffull &&
                       block.count() <= 1024 && block.z <= 64 &&
                       shared <= runner_.options().max_shared_bytes &&
                       (!f.required_threads || *f.required_threads == block) &&
                       (!f.max_threads || f.max_threads->count() >= block.count()) &&
                       cluster_error(launched).empty();
    return sound ? kSuccess : kInvalidConfiguration;
  }
  u64 opened(u64 bytes, const DeviceGrid::Configuration& configuration) {
    const auto buffer = grid_.open_buffer(bytes, configuration);
    c_->extent = runner_.memory().extent();
    if (!buffer) finish(kMemoryAllocation);
    return buffer.value_or(0);
  }
  u64 buffer_for(const Kernel* kernel, const trace::LaunchShape& shape) {
    if (const u32 error = check(kernel, shape); error != kSuccess) {
      finish(error);
      return 0;
    }
    return opened(kernel->parameters.bytes, {kernel, shape});
  }
  u64 plain_buffer(u64 bytes) {
    if (bytes > kMaxParameterBytes) {
      finish(kInvalidValue);
      return 0;
    }
    return opened(kMaxParameterBytes, {});
  }
  u32 launch_v2() {
    const u64 buffer = number(0), stream = number(1);
    const auto configuration = grid_.close_buffer(buffer);
    if (!configuration || configuration->kernel == nullptr) return kInvalidValue;
    return launch(*configuration, buffer, stream);
  }
  u32 launch_v1() {
    const DeviceGrid::Configuration configuration{kernel_of(number(0)), shape(2, 3, 4)};
    const u64 buffer = number(1), stream = number(5);
    const bool open = grid_.close_buffer(buffer).has_value();
    if (const u32 error = check(configuration.kernel, configuration.shape); error != kSuccess)
      return error;
    if (!open && configuration.kernel->parameters.bytes != 0) return kInvalidValue;
    return launch(configuration, buffer, stream);
  }
  u32 launch(const DeviceGrid::Configuration& configuration, u64 buffer, u64 stream) {
    if (!grid_.known_stream(stream)) return kInvalidResourceHandle;
    if (stream != 3 && grid_.depth() >= kDeepestLaunch) return kLaunchMaxDepthExceeded;
    if (!grid_.runtime().may_pend()) {
      grid_.runtime().refuse();
      return kLaunchPendingCountExceeded;
    }
    DeviceLaunch made;
    made.kernel = configuration.kernel;
    made.shape = configuration.shape;
    if (const u32 bytes = configuration.kernel->parameters.bytes; bytes != 0) {
      const auto* from =
          reinterpret_cast<const std::byte*>(c_->global + (buffer - DeviceMemory::kBase));
      made.parameters.assign(from, from + bytes);
      made.buffer = buffer;
    }
    made.block = thread_.block;
    made.warp = thread_.warp;
    grid_.launch(std::move(made), stream);
    return kSuccess;
  }

  // --- everything else ---------------------------------------------------------------------------
  u32 other() {
    switch (call_.function) {
      case F::StreamCreateWithFlags:
        if (number(1) != kNonBlocking) return kInvalidValue;
        store(number(0), grid_.create_stream());
        return kSuccess;
      case F::StreamDestroy:
        return handle(grid_.destroy_stream(number(0)));
      case F::StreamWaitEvent:
        return handle(grid_.wait(number(0), number(1), thread_.block));
      case F::EventCreateWithFlags:
        if (number(1) != kDisableTiming) return kInvalidValue;
        store(number(0), grid_.create_event());
        return kSuccess;
      case F::EventRecord:
        return handle(grid_.record(number(0), number(1), thread_.block));
      case F::EventDestroy:
        return handle(grid_.destroy_event(number(0)));
      case F::Malloc:
        return allocate();
      case F::Free:
        return number(0) == 0 || grid_.runtime().free(number(0)) ? kSuccess : kInvalidValue;
      case F::MemcpyAsync: {
        DeviceOperation copy = operation(DeviceOperation::Kind::Copy, number(2));
        copy.from = number(1);
        return operate(std::move(copy), number(4));
      }
      case F::MemsetAsync: {
        DeviceOperation set = operation(DeviceOperation::Kind::Set, number(2));
        set.value = static_cast<std::uint8_t>(number(1));
        return operate(std::move(set), number(3));
      }
      case F::GetDevice:
        store(number(0), u32{0});
        return kSuccess;
      case F::GetDeviceCount:
        store(number(0), u32{1});
        return kSuccess;
      case F::RuntimeGetVersion:
        store(number(0), kRuntimeVersion);
        return kSuccess;
      case F::DeviceGetAttribute:
        return attribute();
      default:
        return kNotSupported;
    }
  }
  static u32 handle(bool known) { return known ? kSuccess : kInvalidResourceHandle; }
  u32 allocate() {
    const auto at = grid_.runtime().allocate(number(1));
    c_->extent = runner_.memory().extent();
    if (!at) return kMemoryAllocation;
    store(number(0), *at);
    return kSuccess;
  }
  DeviceOperation operation(DeviceOperation::Kind kind, u64 bytes) const {
    DeviceOperation made;
    made.kind = kind;
    made.to = number(0);
    made.bytes = bytes;
    made.caller = fmt::format("kernel {}: {}", runner_.kernel().title, runner_.location(inst_));
    return made;
  }
  u32 operate(DeviceOperation made, u64 stream) {
    if (!grid_.known_stream(stream)) return kInvalidResourceHandle;
    grid_.operate(std::move(made), stream);
    return kSuccess;
  }
  u32 attribute() {
    if (number(2) != 0) return kInvalidDevice;
    const auto value = [&]() -> std::optional<u32> {
      switch (number(1)) {  // cudaDeviceAttr
        case 1:
        case 2:
        case 3:
          return 1024;  // threads per block, its x and y
        case 4:
          return 64;
        case 5:
          return 0x7fffffff;
        case 6:
        case 7:
          return 65535;
        case 8:
          return std::min(48u * 1024, runner_.options().max_shared_bytes);
        case 9:
          return 64 * 1024;
        case 10:
          return kLanes;
        case 16:
          return runner_.options().sms;
        case 39:
          return runner_.options().warps_per_sm * kLanes;
        default:
          return std::nullopt;
      }
    }();
    if (!value) return kNotSupported;
    store(number(0), *value);
    return kSuccess;
  }
  u64 text(bool name) {
    for (const ErrorText& e : kErrors)
      if (e.error == number(0)) return device_text(name ? e.name : e.text);
    return device_text("unrecognized error code");
  }
  u64 device_text(const char* text) {
    const Address at = grid_.runtime().text(text);
    c_->extent = runner_.memory().extent();
    return at;
  }

  Context* c_;
  const Runner& runner_;
  DeviceGrid& grid_;
  const DeviceCall& call_;
  char* frame_;
  u32 inst_;
  unsigned lane_;
  DeviceGrid::Thread thread_;
};

}  // namespace

u32 device_call(Context* c, const Record* ip, char* frame, u32 mask) {
  const Runner& runner = *static_cast<const Runner*>(c->owner);
  const Code& code = runner.running_code(static_cast<WarpState&>(*c->warp));
  RADDLE_ASSERT(static_cast<std::size_t>(ip->imm) < code.device_calls.size());
  const DeviceCall& call = code.device_calls[static_cast<std::size_t>(ip->imm)];
  if (runner.device() == nullptr)
    throw RunError(fmt::format(
        "kernel {}: live execution knows no device-side launches (at {}, {}): run it without",
        runner.kernel().title, runner.location(ip->inst),
        runner.thread_text(*c->warp, static_cast<unsigned>(__builtin_ctz(mask | 1u << 31)))));
  u32 launched = 0;
  for (u32 m = mask; m != 0; m &= m - 1) {
    const auto lane = static_cast<unsigned>(__builtin_ctz(m));
    if (Call(c, runner, call, frame, ip->inst, lane).perform()) launched |= 1u << lane;
  }
  return launched;
}

}  // namespace raddle::exec
