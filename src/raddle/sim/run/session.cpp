#include "raddle/sim/run/session.h"

#include <optional>
#include <utility>

#include "raddle/sim/run/parts.h"
#include "raddle/sim/run/recorder.h"
#include "raddle/sim/run/timed_gpu.h"

namespace raddle::sim {

struct Session::Impl {
  WorkloadInfo info;
  Setup setup;
  SeenByProgram seen = seen_by_program(setup);
  SessionOptions options;
  Clock::time_point start = Clock::now();
  std::unique_ptr<TimedGpu> gpu;  // null without timing
  std::optional<trace::FileWriter> file;
  std::unique_ptr<Recorder> recorder;
  std::optional<exec::AccessChecks> checks;
  std::unique_ptr<runtime::SimulatedDevice> device;

  Impl(WorkloadInfo i, Setup s, SessionOptions o)
      : info(std::move(i)), setup(std::move(s)), options(std::move(o)) {
    runtime::SimulatedDeviceOptions settings = device_options(seen_by_workload(setup), options.run);
    settings.unified_addresses = options.unified_addresses;
    settings.short_turns = true;
    checks = checks_of(options.run.checks);
    settings.checks = checks ? &*checks : nullptr;
    if (!options.record.empty()) {
      if (setup.run.live)
        throw InputError("a live run cannot be recorded: what it does depends on the timing");
      file.emplace(options.record, nlohmann::ordered_json{{"workload", info.name},
                                                          {"parameters", info.parameters},
                                                          {"seed", setup.run.seed}});
      recorder = std::make_unique<Recorder>(*file, options.run);
      settings.sink = recorder.get();
    } else if (!options.run.functional) {
      gpu = std::make_unique<TimedGpu>(setup, options.run);
      settings.sink = gpu.get();
    }
    device = std::make_unique<runtime::SimulatedDevice>(settings);
  }
};

Session::Session(WorkloadInfo info, Setup setup, SessionOptions options)
    : impl_(std::make_unique<Impl>(std::move(info), std::move(setup), std::move(options))) {}
Session::~Session() = default;

runtime::SimulatedDevice& Session::device() { return *impl_->device; }
const SeenByProgram& Session::seen() const { return impl_->seen; }

std::string Session::found() const { return found_before_a_fault(impl_->checks); }

Result Session::finish() {
  Impl& s = *impl_;
  s.device->synchronize();
  Result result = blank(s.info, s.setup, s.options.run);
  result.host.functional_seconds = s.device->functional_seconds();
  result.input_hash = s.options.input_hash;
  fill_launches(result, *s.device);
  if (s.file) s.file->finish(trailer_of(result, s.recorder->take_operations()));
  if (s.gpu != nullptr) s.gpu->fill(result);
  else fill_functional(result, s.device->launches());
  if (s.checks) result.checks.emplace(*s.checks);
  sim::finish(result, s.start);
  return result;
}

}  // namespace raddle::sim
