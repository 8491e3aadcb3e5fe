// The simulated GPU as a runtime::Device. Launches are executed functionally in the order of the
// calls, each to its end, and then queued for the sink to time; in live mode they are executed
// while they are timed. Running streams one after another is a legal order of every program whose
// streams are ordered by events and synchronisation only.
#pragma once
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "raddle/exec/machine.h"
#include "raddle/runtime/device.h"
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
  std::function<void(std::string_view)> print;  ///< device printf
};

class SimulatedDevice final : public Device {
 public:
  explicit SimulatedDevice(SimulatedDeviceOptions options);
  ~SimulatedDevice() override;

  Address allocate(std::uint64_t bytes) override;
  void free(Address address) override;
  void copy_to_device(Address to, const void* from, std::uint64_t bytes) override;
  void copy_to_host(void* to, Address from, std::uint64_t bytes) override;
  void copy_on_device(Address to, Address from, std::uint64_t bytes) override;
  void set(Address to, std::uint8_t value, std::uint64_t bytes) override;
  ModuleId load(std::string ptx, std::string file) override;
  KernelId kernel(ModuleId module, std::string_view name) override;
  Address symbol(ModuleId module, std::string_view name) override;
  void launch(KernelId kernel, Dim3 grid, Dim3 block, const Arguments& arguments,
              std::uint32_t dynamic_shared_bytes, StreamId stream) override;
  StreamId create_stream() override;
  EventId create_event() override;
  void record(EventId event, StreamId stream) override;
  void wait(StreamId stream, EventId event) override;
  void synchronize() override;
  void synchronize(StreamId stream) override;
  void synchronize(EventId event) override;
  double elapsed_ms(EventId from, EventId to) override;

  /// Every launch so far.
  const std::vector<LaunchRecord>& launches() const { return launches_; }
  /// Processor time spent in functional execution, seconds; live runs count as timing.
  double functional_seconds() const { return functional_seconds_; }

 private:
  struct KernelEntry {
    ModuleId module;
    std::string name;
    const exec::Kernel* kernel;
  };
  Mark recorded(EventId event, std::string_view what) const;
  void check_stream(StreamId stream) const;
  std::byte* checked(Address address, std::uint64_t bytes, std::string_view what);
  std::vector<std::byte> pack(const KernelEntry& entry, const Arguments& arguments) const;
  void check_shape(const KernelEntry& entry, Dim3 grid, Dim3 block) const;

  SimulatedDeviceOptions options_;
  exec::DeviceMemory memory_;
  exec::Machine machine_;
  std::shared_ptr<trace::SlabPool> slabs_ = std::make_shared<trace::SlabPool>();
  std::vector<std::unique_ptr<exec::Program>> modules_;
  std::vector<KernelEntry> kernels_;
  std::vector<LaunchRecord> launches_;
  static constexpr Mark kNotRecorded = ~Mark{0};
  std::vector<Mark> events_;  // of the last record()
  std::uint32_t streams_ = 1;
  double functional_seconds_ = 0;
};

}  // namespace raddle::runtime
