#include "raddle/runtime/simulated_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <ctime>
#include <utility>

#include "raddle/base/demangle.h"
#include "raddle/base/error.h"
#include "raddle/exec/memory/tensor_map.h"
#include "raddle/runtime/launch_tree.h"

namespace raddle::runtime {

namespace {
exec::MachineOptions machine_options(const SimulatedDeviceOptions& options) {
  exec::MachineOptions out;
  out.max_warp_instructions = options.max_warp_instructions;
  out.max_stream_bytes = options.max_stream_bytes;
  out.sms = options.sms;
  out.warps_per_sm = options.warps_per_sm;
  out.print = options.print;
  out.short_turns = options.short_turns;
  out.progress = options.progress;
  out.max_instructions_of_warp = options.max_instructions_of_warp;
  out.shared_unit_bytes = options.shared_unit_bytes;
  out.independent_lanes = options.independent_lanes;
  out.out_of_bounds = options.out_of_bounds;
  out.warn = options.note;
  out.observer = options.observer;
  out.checks = options.checks;
  return out;
}

/// Of this thread: what other users of the host do does not count.
double processor_seconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

std::string text(Dim3 d) { return fmt::format("({}, {}, {})", d.x, d.y, d.z); }
}  // namespace

SimulatedDevice::SimulatedDevice(SimulatedDeviceOptions options)
    : options_(std::move(options)),
      memory_(options_.memory_bytes, options_.unified_addresses
                                         ? exec::DeviceMemory::HostView::SameAddress
                                         : exec::DeviceMemory::HostView::Anywhere),
      machine_(memory_, machine_options(options_)) {
  RADDLE_ASSERT(!options_.live || options_.sink != nullptr);
  RADDLE_ASSERT(!options_.live || (options_.observer == nullptr && options_.checks == nullptr));
}

SimulatedDevice::~SimulatedDevice() = default;

// --- memory -------------------------------------------------------------------------------------

Address SimulatedDevice::allocate(std::uint64_t bytes) {
  if (auto at = memory_.allocate(bytes)) {
    if (options_.observer != nullptr) options_.observer->allocated(*at, bytes);
    if (options_.checks != nullptr) options_.checks->memory().allocated(*at, bytes);
    return *at;
  }
  std::string why = fmt::format("out of device memory: {} bytes asked for, {} of {} in use", bytes,
                                memory_.used(), options_.memory_bytes);
  if (memory_.used() + bytes <= memory_.capacity())
    why += fmt::format(", the largest gap has {}", memory_.largest_free());
  if (memory_.capacity() < options_.memory_bytes)
    why += fmt::format("; of these the system gives this process address space for {} (ulimit -v?)",
                       memory_.capacity());
  throw RunError(why);
}

void SimulatedDevice::free(Address address) {
  synchronize();
  release(address);
}

void SimulatedDevice::release(Address address) {
  if (options_.live) synchronize();
  if (address != 0 && !memory_.free(address))
    throw RunError(fmt::format("free of {:#x}, which is not the start of an allocation ({})",
                               address, memory_.describe(address)));
  if (options_.observer != nullptr && address != 0) options_.observer->freed(address);
  if (options_.checks != nullptr) options_.checks->memory().freed(address);
}

void SimulatedDevice::settle(StreamId stream) {
  if (options_.live) synchronize(stream);
}

std::byte* SimulatedDevice::checked(Address address, std::uint64_t bytes, std::string_view what) {
  if (bytes != 0 && !memory_.valid(address, bytes))
    throw RunError(fmt::format("{} of {} bytes at {:#x} leaves its allocation ({})", what, bytes,
                               address, memory_.describe(address)));
  return memory_.host(address);
}

void SimulatedDevice::notify(Address to, const std::byte* from, std::uint64_t bytes) const {
  if (options_.observer != nullptr)
    notify_changed_words(*options_.observer, memory_, to, from, bytes);
  if (options_.sink != nullptr && std::memcmp(memory_.host(to), from, bytes) != 0)
    options_.sink->host_wrote(to, bytes);
}

void SimulatedDevice::copy_to_device(Address to, const void* from, std::uint64_t bytes) {
  synchronize();
  std::byte* target = checked(to, bytes, "copy to the device");
  if (bytes == 0) return;
  notify(to, static_cast<const std::byte*>(from), bytes);
  host_may_write(to, bytes);
  std::memcpy(target, from, bytes);
}

void SimulatedDevice::copy_to_host(void* to, Address from, std::uint64_t bytes) {
  inspect(to, from, bytes);
  if (bytes != 0 && options_.sink != nullptr) options_.sink->host_read(from, bytes);
}

void SimulatedDevice::inspect(void* to, Address from, std::uint64_t bytes) {
  synchronize();
  if (const std::byte* source = checked(from, bytes, "copy to the host"); bytes != 0)
    std::memcpy(to, source, bytes);
}

void SimulatedDevice::copy_on_device(Address to, Address from, std::uint64_t bytes) {
  synchronize();
  const std::byte* source = checked(from, bytes, "copy on the device (source)");
  std::byte* target = checked(to, bytes, "copy on the device (target)");
  if (bytes == 0) return;
  notify(to, source, bytes);
  host_copied(to, from, bytes);
  std::memmove(target, source, bytes);
}

void SimulatedDevice::set(Address to, std::uint8_t value, std::uint64_t bytes) {
  synchronize();
  std::byte* target = checked(to, bytes, "memset");
  if (bytes == 0) return;
  if (options_.observer != nullptr || options_.sink != nullptr)
    notify(to, std::vector<std::byte>(bytes, std::byte{value}).data(), bytes);
  host_may_write(to, bytes);
  std::memset(target, value, bytes);
}

// --- code ---------------------------------------------------------------------------------------

ModuleId SimulatedDevice::load(std::string ptx, std::string file) {
  return load_known(std::move(ptx), std::move(file), {});
}

ModuleId SimulatedDevice::load_known(std::string ptx, std::string file,
                                     const ptx::KernelRegisters& registers) {
  std::vector<ptx::SourceText> one;
  one.push_back({std::move(ptx), std::move(file)});
  return load(std::move(one), registers);
}

ModuleId SimulatedDevice::load(std::vector<ptx::SourceText> sources,
                               const ptx::KernelRegisters& registers) {
  ptx::Module module = ptx::parse_and_link(std::move(sources));
  for (ptx::Function& function : module.functions)
    if (const auto known = registers.find(function.name);
        function.is_entry && known != registers.end())
      function.compiled_registers = known->second;
  modules_.push_back(std::make_unique<exec::Program>(std::move(module), memory_));
  return static_cast<ModuleId>(modules_.size() - 1);
}

KernelId SimulatedDevice::kernel(ModuleId module, std::string_view name) {
  for (std::size_t i = 0; i < kernels_.size(); ++i)
    if (kernels_[i].module == module && kernels_[i].name == name) return static_cast<KernelId>(i);
  kernels_.push_back({module, std::string(name), &modules_.at(module)->kernel(name)});
  return static_cast<KernelId>(kernels_.size() - 1);
}

Address SimulatedDevice::symbol(ModuleId module, std::string_view name) {
  if (auto found = modules_.at(module)->symbol(name)) return found->address;
  throw InputError({modules_.at(module)->module().file},
                   "no variable is called '" + std::string(name) + "'");
}

// --- work ---------------------------------------------------------------------------------------

void SimulatedDevice::check_shape(const KernelEntry& entry, Dim3 grid, Dim3 block) const {
  auto refuse = [&](const std::string& why) {
    throw InputError("kernel '" + short_name(entry.name) + "' cannot be launched: " + why);
  };
  if (grid.count() == 0 || block.count() == 0)
    refuse(fmt::format("grid {} and block {} must not be empty", text(grid), text(block)));
  if (grid.x > 0x7fffffffu || grid.y > 65535 || grid.z > 65535 || grid.count() > 0xffffffffull)
    refuse(fmt::format(
        "grid {}: expected at most (2147483647, 65535, 65535), and 2^32 - 1 blocks in all",
        text(grid)));
  if (block.count() > options_.max_threads_per_block || block.z > 64)
    refuse(fmt::format("a block of {} threads {}; the machine allows {} (and 64 in z)",
                       block.count(), text(block), options_.max_threads_per_block));
  for (const ptx::Function& f : modules_[entry.module]->module().functions) {
    if (f.name != entry.name) continue;
    if (f.required_threads && *f.required_threads != block)
      refuse(fmt::format("its .reqntid asks for blocks of {}, not {}", text(*f.required_threads),
                         text(block)));
    if (f.max_threads && f.max_threads->count() < block.count())
      refuse(fmt::format("its .maxntid allows {} threads per block, not {}", f.max_threads->count(),
                         block.count()));
  }
}

std::vector<std::byte> SimulatedDevice::pack(const KernelEntry& entry,
                                             const Arguments& arguments) const {
  const exec::ParameterLayout& layout = exec::parameters_of(*entry.kernel);
  const auto& items = arguments.items();
  if (items.size() != layout.items.size())
    throw InputError(fmt::format("kernel '{}' takes {} arguments, not {}", short_name(entry.name),
                                 layout.items.size(), items.size()));
  std::vector<std::byte> bytes(layout.bytes);
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (items[i].size() != layout.items[i].size)
      throw InputError(fmt::format("argument {} of kernel '{}' has {} bytes, not {}", i + 1,
                                   entry.name, layout.items[i].size, items[i].size()));
    std::ranges::copy(items[i], bytes.begin() + layout.items[i].offset);
  }
  return bytes;
}

void SimulatedDevice::launch(KernelId kernel, Dim3 grid, Dim3 block, const Arguments& arguments,
                             const LaunchOptions& options) {
  launch(kernel, grid, block, pack(kernels_.at(kernel), arguments), options);
}

TensorMap SimulatedDevice::tensor_map(const BoxedMatrix& matrix) {
  constexpr auto kF16 = static_cast<std::uint32_t>(exec::TensorElement::F16);
  constexpr std::uint32_t kSwizzle128 = 3;
  const BoxedMatrix::Shape shape = matrix.shape();
  const auto [map, refusal] = exec::encode_tensor_map({.element = kF16,
                                                       .rank = shape.rank,
                                                       .address = matrix.at,
                                                       .sizes = shape.sizes.data(),
                                                       .strides = shape.strides.data(),
                                                       .steps = shape.steps.data(),
                                                       .swizzle = kSwizzle128,
                                                       .box = shape.box.data()});
  if (!map) throw InputError(std::string("tensor map of a matrix: ") + refusal);
  return std::bit_cast<TensorMap>(*map);
}

void SimulatedDevice::launch(KernelId kernel, Dim3 grid, Dim3 block,
                             std::span<const std::byte> parameters, const LaunchOptions& options) {
  const KernelEntry& entry = kernels_.at(kernel);
  check_stream(options.stream);
  check_shape(entry, grid, block);
  RADDLE_ASSERT(parameters.size() == exec::parameters_of(*entry.kernel).bytes);
  const exec::Launch launch{.kernel = entry.kernel,
                            .shape = {grid, block, options.dynamic_shared_bytes},
                            .parameters = parameters,
                            .cooperative = options.cooperative,
                            .cluster = options.cluster};
  // Before anything of it is in a recording.
  if (options_.sink != nullptr) options_.sink->admit(*exec::code_of(*entry.kernel), launch.shape);
  machine_.check(launch);
  LaunchSink* sink = sink_of_next();
  LaunchRecord record{launches_.size(), entry.name, grid, block, options.stream, 0, 0};
  if (sink != nullptr) {
    record.pointers = pointers(*entry.kernel, parameters);
    if (const auto changes = memory_.take_changes(); !changes.empty()) sink->allocated(changes);
  }
  if (sink == nullptr) {
    run(launch, std::move(record), nullptr);
  } else if (options_.live) {
    options_.sink->submit(machine_.live(launch), record);
    launches_.push_back(std::move(record));
  } else if (waiting_.contains(launch.kernel)) {
    follow(launch, std::move(record));
  } else {
    run(launch, std::move(record), sink);
  }
}

std::vector<trace::PointerArgument> SimulatedDevice::pointers(
    const exec::Kernel& kernel, std::span<const std::byte> parameters) const {
  std::vector<trace::PointerArgument> out;
  const auto& items = exec::parameters_of(kernel).items;
  for (std::uint32_t i = 0; i < items.size(); ++i) {
    // Structures have pointers inside.
    for (std::size_t offset = 0; offset + sizeof(Address) <= items[i].size;
         offset += sizeof(Address)) {
      Address at = 0;
      std::memcpy(&at, parameters.data() + items[i].offset + offset, sizeof at);
      if (memory_.valid(at, 1)) out.push_back({i, at});
    }
  }
  return out;
}

LaunchSink* SimulatedDevice::sink_of_next() {
  if (options_.sink == nullptr) return nullptr;
  if (options_.first_launches != 0 && to_sink_ == options_.first_launches) {
    // What is executed live must have run before what is executed now.
    if (left_out_++ == 0 && options_.live) options_.sink->synchronize();
    return nullptr;
  }
  ++to_sink_;
  return options_.sink;
}

void SimulatedDevice::follow(const exec::Launch& launch, LaunchRecord record) {
  options_.sink->submit(machine_.live(launch), record);
  launches_.push_back(std::move(record));
  options_.sink->synchronize();  // what comes next may read what it writes
}

void SimulatedDevice::run(const exec::Launch& launch, LaunchRecord record, LaunchSink* sink) {
  const double before = processor_seconds();
  LaunchTree tree(
      {machine_, device_runtime_, memory_, sink, slabs_, options_.observer, options_.checks});
  tree.run(launch, std::move(record));
  functional_seconds_ += processor_seconds() - before;
  for (const LaunchedStream& launched : tree.launched()) launches_.push_back(launched.record);
  for (const LaunchedStream& launched : tree.launched())
    executed_ += launched.record.warp_instructions;
  if (sink != nullptr) tree.submit();
  if (tree.keeps_waiting() != nullptr && options_.note && notified_.insert(launch.kernel).second)
    options_.note("blocks of kernel " + short_name(tree.keeps_waiting()->name) +
                  " wait for one another, and how long they ask is fixed when it is executed, not "
                  "by its timing; " +
                  (exec::Machine::can_follow(launch)
                       ? "raddle exec without recording or checks times such waiting"
                       : "so it is for clusters and for kernels that launch kernels"));
  if (!tree.follows()) return;
  const std::string name = short_name(launches_.back().name);
  if (tree.is_long()) {
    if (options_.note && notified_.insert(launch.kernel).second)
      options_.note("the op stream of kernel " + name +
                    " is long, and blocks have not ended: the rest of it is executed while it is "
                    "timed, as --live does for all kernels");
  } else {
    waiting_.insert(launch.kernel);
    if (options_.note)
      options_.note("blocks of kernel " + name +
                    " wait for one another: it is executed while it is timed, as --live does for "
                    "all kernels, and its launches do not overlap with others");
  }
  options_.sink->synchronize();  // what comes next may read what it writes
}

// --- streams and events -------------------------------------------------------------------------

StreamId SimulatedDevice::create_stream() { return StreamId{streams_++}; }

EventId SimulatedDevice::create_event() {
  events_.push_back(kNotRecorded);
  executed_then_.push_back(0);
  return static_cast<EventId>(events_.size() - 1);
}

void SimulatedDevice::check_stream(StreamId stream) const {
  if (index(stream) >= streams_)
    throw InputError(fmt::format("stream {} does not exist", index(stream)));
}

Milestone SimulatedDevice::recorded(EventId event, std::string_view what) const {
  if (event >= events_.size()) throw InputError(fmt::format("event {} does not exist", event));
  if (events_[event] == kNotRecorded)
    throw RunError(fmt::format("{} event {}, which was never recorded", what, event));
  return events_[event];
}

void SimulatedDevice::record(EventId event, StreamId stream) {
  check_stream(stream);
  if (event >= events_.size()) throw InputError(fmt::format("event {} does not exist", event));
  events_[event] = options_.sink != nullptr ? options_.sink->record(stream) : 0;
  executed_then_[event] = executed_;
}

void SimulatedDevice::wait(StreamId stream, EventId event) {
  check_stream(stream);
  const Milestone mark = recorded(event, "wait for");
  if (options_.sink != nullptr) options_.sink->wait(stream, mark);
}

void SimulatedDevice::synchronize() {
  if (options_.sink != nullptr) options_.sink->synchronize();
}

void SimulatedDevice::synchronize(StreamId stream) {
  check_stream(stream);
  if (options_.sink != nullptr) options_.sink->synchronize(options_.sink->record(stream));
}

void SimulatedDevice::synchronize(EventId event) {
  const Milestone mark = recorded(event, "synchronize with");
  if (options_.sink != nullptr) options_.sink->synchronize(mark);
}

double SimulatedDevice::elapsed_ms(EventId from, EventId to) {
  const Milestone begin = recorded(from, "elapsed time from"),
                  end = recorded(to, "elapsed time to");
  if (options_.sink == nullptr || !options_.sink->times()) {
    if (options_.note && !std::exchange(reported_times_, true))
      options_.note(
          "the program asks how long its kernels take: without timing, and while it is recorded, "
          "it is told how long their instructions take at the machine's highest rate; what it "
          "makes of that is not what it would do on the machine (raddle exec times it)");
    if (options_.max_per_ms == 0) return 0;
    return (static_cast<double>(executed_then_[to]) - static_cast<double>(executed_then_[from])) /
           options_.max_per_ms;
  }
  options_.sink->synchronize(begin);
  options_.sink->synchronize(end);
  const Cycle a = options_.sink->reached(begin), b = options_.sink->reached(end);
  return b >= a ? options_.sink->milliseconds(b - a) : -options_.sink->milliseconds(a - b);
}

}  // namespace raddle::runtime
