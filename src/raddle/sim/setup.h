// What is simulated: a machine, its policies and the run's own settings, read from one
// configuration document.
#pragma once
#include <memory>
#include <nlohmann/json.hpp>

#include "raddle/config/tree.h"
#include "raddle/energy/energy_spec.h"
#include "raddle/lowering/lowering_spec.h"
#include "raddle/policy/all.h"
#include "raddle/timing/gpu/gpu.h"

namespace raddle::sim {

struct RunSettings {
  std::uint64_t seed = 1;  ///< of inputs and of every random choice
  bool live = false;       ///< execute just ahead of timing instead of before it
  void visit(FieldVisitor& v);
};

/// What host code is told of the device and nothing else depends on: table [device].
struct DeviceSpec {
  std::uint32_t compute_capability = 70;  ///< 10 x major + minor
  std::uint32_t memory_gib = 16;
  void visit(FieldVisitor& v);
};

struct Setup {
  timing::MachineSpec machine;
  lowering::LoweringSpec isa;
  energy::EnergySpec energy;
  std::unique_ptr<policy::Choice<policy::KernelPolicy>> kernel;
  std::unique_ptr<policy::Choice<policy::WarpPolicy>> warp;
  std::unique_ptr<policy::Choice<policy::ThrottlePolicy>> throttle;
  std::unique_ptr<policy::Choice<policy::BlockPolicy>> block;
  std::unique_ptr<policy::Choice<policy::CoherencePolicy>> coherence;
  std::unique_ptr<policy::Choice<policy::DramPolicy>> dram;
  DeviceSpec device;
  RunSettings run;

  /// Defaults everywhere: an unnamed machine, kernel=fcfs, warp=gto, throttle=none, block=rr,
  /// coherence=gpu, dram=frfcfs.
  explicit Setup(const policy::Registries& policies);
  timing::PolicyChoices choices() const {
    return {kernel.get(), warp.get(), block.get(), dram.get(), throttle.get(), coherence.get()};
  }
  /// The resolved configuration; read back it gives the same setup.
  nlohmann::ordered_json config();
};

/// Throws InputError with everything that is wrong with the document.
Setup read_setup(const config::Tree& tree, const policy::Registries& policies);

/// Calls f(level name, choice) for each policy level of the setup, in a fixed order.
template <class F>
void each_level(Setup& setup, F f) {
  f("kernel", setup.kernel);
  f("warp", setup.warp);
  f("throttle", setup.throttle);
  f("block", setup.block);
  f("coherence", setup.coherence);
  f("dram", setup.dram);
}

}  // namespace raddle::sim
