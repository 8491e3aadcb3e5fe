// The simulated GPU as a runtime::Device. Launches are executed functionally in the order of the
// calls, each to its end, and then queued for the sink to time; in live mode they are executed
// while they are timed. Running streams one after another is a legal order of every program whose
// streams are ordered by events and synchronisation only.
#pragma once
#include <functional>
#include <memory>
#include <set>
#include <string_view>
#include <vector>

#include "raddle/exec/decode/program.h"
#include "raddle/exec/device/device_runtime.h"
#include "raddle/exec/run/machine.h"
#include "raddle/ptx/link.h"
#include "raddle/runtime/device.h"
#include "raddle/runtime/device_observer.h"
#include "raddle/runtime/launch_sink.h"
#include "raddle/trace/memory_trace.h"

namespace raddle::runtime {

struct SimulatedDeviceOptions {
  LaunchSink* sink = nullptr;  ///< not owned; nullptr = functional only
  bool live = false;           ///< execute just ahead of timing; needs a sink
  std::uint64_t memory_bytes = std::uint64_t{16} << 30;
  std::uint64_t max_warp_instructions = 0;  ///< of one launch; 0 = no limit
  std::uint32_t max_threads_per_block = 1024;
  std::uint32_t sms = 1, warps_per_sm = 64;
  /// Device addresses are addresses of this process too (see exec::DeviceMemory::HostView).
  bool unified_addresses = false;
  std::function<void(std::string_view)> print;  ///< device printf
  /// What the user should know of the run and may not expect, a sentence each.
  std::function<void(const std::string&)> note;
  /// Warp instructions that the machine issues in a millisecond at most: what time is where there
  /// is no timing. 0: no time passes.
  double max_per_ms = 0;
  bool short_turns = false;                                   ///< see exec::MachineOptions
  std::function<void(const exec::LaunchProgress&)> progress;  ///< see exec::MachineOptions
  std::uint64_t max_instructions_of_warp = 0;                 ///< the same
  std::uint32_t shared_unit_bytes = 1;                        ///< the same
  bool independent_lanes = true;                              ///< see exec::MachineOptions
  exec::OutOfBounds out_of_bounds = exec::OutOfBounds::Fault;
  DeviceObserver* observer = nullptr;    ///< not owned; not of live runs
  exec::AccessChecks* checks = nullptr;  ///< the same, and not together with an observer
  std::uint64_t max_stream_bytes = 0;    ///< of one launch, in memory at once; 0 = no limit
  /// The first so many launches of the host, with all that they launch, go to the sink; those
  /// behind them are executed only. 0 = all.
  std::uint64_t first_launches = 0;
};

class SimulatedDevice final : public Device {
 public:
  explicit SimulatedDevice(SimulatedDeviceOptions options);
  ~SimulatedDevice() override;

  Address allocate(std::uint64_t bytes) override;
  void free(Address address) override;
  void copy_to_device(Address to, const void* from, std::uint64_t bytes) override;
  void copy_to_host(void* to, Address from, std::uint64_t bytes) override;
  void inspect(void* to, Address from, std::uint64_t bytes) override;
  void copy_on_device(Address to, Address from, std::uint64_t bytes) override;
  void set(Address to, std::uint8_t value, std::uint64_t bytes) override;
  ModuleId load(std::string ptx, std::string file) override;
  ModuleId load_known(std::string ptx, std::string file,
                      const ptx::KernelRegisters& registers) override;
  /// Several PTX texts linked into one module, as nvcc -rdc=true needs (ptx/link.h).
  ModuleId load(std::vector<ptx::SourceText> sources, const ptx::KernelRegisters& registers = {});
  KernelId kernel(ModuleId module, std::string_view name) override;
  Address symbol(ModuleId module, std::string_view name) override;
  using Device::launch;
  void launch(KernelId kernel, Dim3 grid, Dim3 block, const Arguments& arguments,
              const LaunchOptions& options) override;
  TensorMap tensor_map(const BoxedMatrix& matrix) override;
  void limit_pending_launches(std::uint64_t launches) override {
    device_runtime_.limit_pending(launches);
  }
  StreamId create_stream() override;
  EventId create_event() override;
  void record(EventId event, StreamId stream) override;
  void wait(StreamId stream, EventId event) override;
  void synchronize() override;
  void synchronize(StreamId stream) override;
  void synchronize(EventId event) override;
  double elapsed_ms(EventId from, EventId to) override;

  // --- what programs that handle pointers themselves need beyond Device (cudart) ----------------
  /// The bytes at `address` as this process sees them. Throws RunError when they are not all of one
  /// allocation; `what` says for the message who wants them. Waits for nothing.
  std::byte* host(Address address, std::uint64_t bytes, std::string_view what) {
    return checked(address, bytes, what);
  }
  /// For checks: the host has written the bytes, or can without calling anybody.
  void host_may_write(Address at, std::uint64_t bytes) {
    if (options_.checks != nullptr) options_.checks->memory().write(at, bytes);
  }
  /// For checks: the host has copied the bytes, of device memory or its own.
  void host_copied(Address to, Address from, std::uint64_t bytes) {
    if (options_.checks != nullptr) options_.checks->memory().copy(to, from, bytes);
  }
  const exec::DeviceMemory& memory() const { return memory_; }
  std::uint64_t memory_bytes() const { return options_.memory_bytes; }
  /// Frees at once: what was launched before has been executed (but in live mode waits).
  void release(Address address);
  /// What the stream was given so far has been executed. Only live mode has to wait for that.
  void settle(StreamId stream);
  exec::Machine& machine() { return machine_; }
  const exec::Kernel& code(KernelId kernel) const { return *kernels_.at(kernel).kernel; }
  const ptx::Module& module(ModuleId module) const { return modules_.at(module)->module(); }
  /// As the other launch, with the arguments laid out as exec::parameters_of() says.
  void launch(KernelId kernel, Dim3 grid, Dim3 block, std::span<const std::byte> parameters,
              const LaunchOptions& options);

  /// Every launch so far.
  const std::vector<LaunchRecord>& launches() const { return launches_; }
  /// Launches of the host that were executed only, though there is a sink.
  std::uint64_t launches_left_out() const { return left_out_; }
  /// Launches by kernels that were refused because too many were pending, and how many may be.
  std::uint64_t launches_refused() const { return device_runtime_.refused(); }
  std::uint64_t pending_limit() const { return device_runtime_.pending_limit(); }
  /// Processor time spent in functional execution, seconds; live runs count as timing.
  double functional_seconds() const { return functional_seconds_; }

 private:
  /// Where the next launch of the host goes: nullptr when it is executed only.
  LaunchSink* sink_of_next();
  struct KernelEntry {
    ModuleId module;
    std::string name;
    const exec::Kernel* kernel;
  };
  /// Of parameters as parameters_of() lays them out.
  std::vector<trace::PointerArgument> pointers(const exec::Kernel& kernel,
                                               std::span<const std::byte> parameters) const;
  /// To its end, with all that it launches; notes them and hands their streams to the sink.
  void run(const exec::Launch& launch, LaunchRecord record, LaunchSink* sink);
  /// Executed while it is timed, to its end.
  void follow(const exec::Launch& launch, LaunchRecord record);
  Milestone recorded(EventId event, std::string_view what) const;
  void check_stream(StreamId stream) const;
  std::byte* checked(Address address, std::uint64_t bytes, std::string_view what);
  /// Before bytes at `to` become those at `from`: tells the observer of words that change.
  void notify(Address to, const std::byte* from, std::uint64_t bytes) const;
  std::vector<std::byte> pack(const KernelEntry& entry, const Arguments& arguments) const;
  void check_shape(const KernelEntry& entry, Dim3 grid, Dim3 block) const;

  SimulatedDeviceOptions options_;
  exec::DeviceMemory memory_;
  exec::Machine machine_;
  exec::DeviceRuntime device_runtime_{memory_};
  std::shared_ptr<trace::SlabPool> slabs_ = std::make_shared<trace::SlabPool>();
  std::vector<std::unique_ptr<exec::Program>> modules_;
  std::vector<KernelEntry> kernels_;
  std::vector<LaunchRecord> launches_;
  std::set<const exec::Kernel*> waiting_;   // kernels whose blocks wait for one another
  std::set<const exec::Kernel*> notified_;  // of those whose streams hold that waiting
  bool reported_times_ = false;
  static constexpr Milestone kNotRecorded = ~Milestone{0};
  std::vector<Milestone> events_;             // of the last record()
  std::vector<std::uint64_t> executed_then_;  // by event: executed_ at that record()
  std::uint64_t executed_ = 0;                // warp instructions
  std::uint64_t to_sink_ = 0, left_out_ = 0;  // launches of the host
  std::uint32_t streams_ = 1;
  double functional_seconds_ = 0;
};

}  // namespace raddle::runtime
