// Launches of kernels.
#include "raddle/cudart/launch.h"

#include <fmt/format.h>

#include <cstring>
#include <span>

#include "raddle/base/demangle.h"
#include "raddle/base/error.h"
#include "raddle/cudart/capture.h"
#include "raddle/cudart/functions.h"
#include "raddle/cudart/host_memory.h"
#include "raddle/exec/run/launch_check.h"

using namespace raddle;
using namespace raddle::cudart;

namespace {

struct Shape {
  Dim3 grid, block;
  std::size_t shared_bytes;
  bool cooperative = false;
  Dim3 cluster{0, 0, 0};
  std::vector<Event*> events = {};  ///< to be recorded
};

/// Values of the arguments, laid out as the kernel's parameters.
std::vector<std::byte> packed(const exec::ParameterLayout& layout, void** arguments) {
  std::vector<std::byte> bytes(layout.bytes);
  for (std::size_t i = 0; i < layout.items.size(); ++i) {
    RADDLE_ASSERT(layout.items[i].offset + layout.items[i].size <= bytes.size());
    if (arguments[i] == nullptr) throw Failure{kInvalidValue, "a launch's argument is nowhere"};
    std::memcpy(bytes.data() + layout.items[i].offset, arguments[i], layout.items[i].size);
  }
  return bytes;
}

/// What is wrong with a cluster apart from its size the device says. Throws Failure.
void check_cluster(Context& c, Kernel& kernel, const Shape& s) {
  const Dim3 asked = s.cluster;
  if (asked.count() == 0 && asked != Dim3{0, 0, 0})  // (0, 0, 0) asks for none
    throw Failure{kInvalidClusterSize,
                  fmt::format("{}: clusters of ({}, {}, {}) blocks", short_name(kernel.name),
                              asked.x, asked.y, asked.z)};
  const std::uint64_t blocks =
      s.cluster.count() != 0 ? s.cluster.count() : required_cluster(c, kernel);
  if (blocks > 1) check_clusters(c, kInvalidClusterSize);
  if (blocks > allowed_cluster(kernel))
    throw Failure{kInvalidClusterSize,
                  fmt::format("{}: clusters of {} blocks, allowed are {} "
                              "(cudaFuncAttributeNonPortableClusterSizeAllowed)",
                              short_name(kernel.name), blocks, allowed_cluster(kernel))};
}

/// Each side is one that CUDA takes. Blocks have numbers of 32 bits here.
void check_grid(Context& c, const Kernel& kernel, Dim3 grid) {
  constexpr std::uint64_t kMaxX = 0x7fffffff, kMaxYZ = 0xffff, kMaxBlocks = 0xfffffffe;
  if (grid.x > kMaxX || grid.y > kMaxYZ || grid.z > kMaxYZ) return;  // the device says it
  if (grid.count() > kMaxBlocks)
    c.refuse_unsupported(fmt::format("{}: a launch of {} blocks, more than {},",
                                     short_name(kernel.name), grid.count(), kMaxBlocks));
}

/// What CUDA refuses before a launch. Throws Failure with its code.
void check(Context& c, Kernel& kernel, const Shape& s) {
  if (s.grid.count() == 0 || s.block.count() == 0)
    throw Failure{kInvalidConfiguration,
                  short_name(kernel.name) + ": grid and block must not be empty"};
  check_grid(c, kernel, s.grid);
  check_cluster(c, kernel, s);
  if (s.block.count() > c.seen().machine.sm.max_threads_per_block) return;  // the device says it
  const int dynamic = max_dynamic_shared(c, kernel);
  if (s.shared_bytes > static_cast<std::size_t>(dynamic))
    throw Failure{kInvalidValue,
                  fmt::format("{}: {} bytes of dynamic shared memory, allowed are {} "
                              "(cudaFuncAttributeMaxDynamicSharedMemorySize)",
                              short_name(kernel.name), s.shared_bytes, dynamic)};
  const timing::Residency fit = residency_of(c, kernel, s.block, s.shared_bytes);
  if (fit.blocks == 0)
    throw Failure{kLaunchOutOfResources, fit.reason + " (machine " + c.seen().machine.name + ")"};
  const std::uint64_t together = std::uint64_t{fit.blocks} * c.seen().machine.sm.count;
  if (s.cooperative && s.grid.count() > together)
    throw Failure{kCooperativeLaunchTooLarge,
                  fmt::format("{}: cooperative launch of {} blocks, {} fit on the machine at once",
                              short_name(kernel.name), s.grid.count(), together)};
}

KernelLaunch prepare(Context& c, const void* function, const Shape& shape, void** arguments) {
  Kernel& kernel = c.kernel(function);
  const runtime::KernelId id = c.loaded(kernel);
  const exec::ParameterLayout& layout = exec::parameters_of(c.device().code(id));
  if (arguments == nullptr && !layout.items.empty()) throw Failure{kInvalidValue};
  check(c, kernel, shape);
  return {.kernel = &kernel,
          .function = function,
          .grid = shape.grid,
          .block = shape.block,
          .shared_bytes = shape.shared_bytes,
          .cooperative = shape.cooperative,
          .cluster = shape.cluster,
          .parameters = packed(layout, arguments)};
}

/// An event that a launch records. Throws Failure.
Event& event_of(Context& c, const LaunchAttribute& attribute) {
  Event& event = c.events.get(attribute.value.event.event);
  if (attribute.value.event.flags != 0 || (event.flags & kEventDisableTiming) == 0)
    throw Failure{kInvalidValue,
                  "an event in a launch's attributes needs cudaEventDisableTiming and no flags"};
  return event;
}

/// Takes a launch's attribute; those that do nothing here are hints. Throws Failure.
void apply(Context& context, const LaunchAttribute& attribute, const Stream& on, Shape& shape) {
  switch (attribute.id) {
    case kAttributeIgnore:
    case kAttributeAccessPolicy:
    case kAttributeClusterScheduling:
    case kAttributeStreamSerialization:
    case kAttributePriority:
    case kAttributeMemSyncDomainMap:
    case kAttributeMemSyncDomain:
    case kAttributePreferredCluster:
    case kAttributeCarveout:
    case kAttributeNvlink:
      return;
    case kAttributeCooperative:
      shape.cooperative = attribute.value.cooperative != 0;
      return;
    case kAttributeCluster: {
      const auto& cluster = attribute.value.cluster;
      shape.cluster = {cluster.x, cluster.y, cluster.z};
      return;
    }
    case kAttributeProgrammaticEvent:
    case kAttributeCompletionEvent:
      shape.events.push_back(&event_of(context, attribute));
      return;
    case kAttributeDeviceUpdatable:
      if (on.capture == nullptr) throw Failure{kInvalidValue, "only nodes of graphs are updatable"};
      if (attribute.value.device_updatable == 0) return;
      context.refuse_unsupported("cudaLaunchAttributeDeviceUpdatableKernelNode");
    default:
      throw Failure{kInvalidValue, fmt::format("launches have no attribute {}", attribute.id)};
  }
}

/// Events are recorded behind the kernel: later than CUDA may, never earlier.
Error launch(Context& c, const void* function, Shape shape, void** arguments, Stream* stream,
             std::span<const LaunchAttribute> attributes = {}) {
  Stream& on = usable(c, stream);
  try {
    for (const LaunchAttribute& attribute : attributes) apply(c, attribute, on, shape);
    launch_packed(c, on, prepare(c, function, shape, arguments));
  } catch (const Failure& refused) {
    c.launch_refused(refused.code);
    throw;
  }
  for (Event* event : shape.events) record(c, *event, on);
  return kSuccess;
}

}  // namespace

void raddle::cudart::launch_packed(Context& c, Stream& stream, const KernelLaunch& launch) {
  if (stream.capture != nullptr) captured(stream, NodeType::Kernel).launch = launch;
  else launch_now(c, stream.id, launch);
}

void raddle::cudart::launch_now(Context& c, StreamId stream, const KernelLaunch& launch) {
  RADDLE_ASSERT(launch.kernel != nullptr);
  show_registered(c);
  try {
    c.device().launch(c.loaded(*launch.kernel), launch.grid, launch.block, launch.parameters,
                      {static_cast<std::uint32_t>(launch.shared_bytes), stream, launch.cooperative,
                       launch.cluster});
  } catch (const exec::CannotRunLive&) {  // a GPU would do it
    c.refuse_unsupported(short_name(launch.kernel->name) +
                         ": a launch of clusters that is executed while it is timed (--live)");
  } catch (const InputError& error) {
    throw Failure{kInvalidConfiguration, error.what()};
  }
  c.launched();
  take_registered(c);
}

KernelLaunch raddle::cudart::prepared(Context& c, const void* function, Dim3 grid, Dim3 block,
                                      std::size_t shared_bytes, void** arguments) {
  return prepare(c, function, {grid, block, shared_bytes}, arguments);
}

extern "C" {

int raddle_cudaLaunchKernel(const void* function, Dim3 grid, Dim3 block, void** arguments,
                            std::size_t shared_bytes, Stream* stream) {
  return call("cudaLaunchKernel", [&](Context& c) {
    return launch(c, function, {grid, block, shared_bytes}, arguments, stream);
  });
}

int raddle_cudaLaunchCooperativeKernel(const void* function, Dim3 grid, Dim3 block,
                                       void** arguments, std::size_t shared_bytes, Stream* stream) {
  return call("cudaLaunchCooperativeKernel", [&](Context& c) {
    return launch(c, function, {grid, block, shared_bytes, true}, arguments, stream);
  });
}

int raddle_cudaLaunchKernelExC(const HostLaunchConfiguration* configuration, const void* function,
                               void** arguments) {
  return call("cudaLaunchKernelExC", [&](Context& c) {
    if (configuration == nullptr) throw Failure{kInvalidValue};
    const HostLaunchConfiguration& k = *configuration;
    if (k.attributes == nullptr && k.attribute_count != 0) throw Failure{kInvalidValue};
    return launch(c, function, {k.grid, k.block, k.dynamic_shared_bytes}, arguments, k.stream,
                  {k.attributes, k.attribute_count});
  });
}

int raddle_cudaPushCallConfiguration(Dim3 grid, Dim3 block, std::size_t shared_bytes,
                                     Stream* stream) {
  thread_state().configurations.push_back({grid, block, shared_bytes, stream});
  return kSuccess;
}

int raddle_cudaPopCallConfiguration(Dim3* grid, Dim3* block, std::size_t* shared_bytes,
                                    void* stream) {
  auto& all = thread_state().configurations;
  if (all.empty()) return kMissingConfiguration;
  *grid = all.back().grid;
  *block = all.back().block;
  *shared_bytes = all.back().shared_bytes;
  std::memcpy(stream, &all.back().stream, sizeof(Stream*));
  all.pop_back();
  return kSuccess;
}

}  // extern "C"
