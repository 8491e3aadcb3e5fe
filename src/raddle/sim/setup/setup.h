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
  bool cold_l2 = false;    ///< the L2 is empty whenever a launch of the host starts, as with ncu
  /// Launches are estimated once their kernels' cycles are known within this share; 0 = all are
  /// timed (launch_sampler.h).
  double sampling_error = 0;
  void visit(FieldVisitor& v);
};

/// What host code is told of the device: table [device]. Nothing else depends on it, but which of
/// a program's machine codes says how many registers a thread takes (isa.registers).
struct DeviceSpec {
  std::uint32_t compute_capability = 70;  ///< 10 x major + minor
  std::uint32_t memory_gib = 16;
  void visit(FieldVisitor& v);
};

template <class Interface>
using ChosenPolicy = std::unique_ptr<policy::Choice<Interface>>;

/// The policies of each level are members of the base.
struct Setup : policy::ByLevel<ChosenPolicy> {
  timing::MachineSpec machine;
  lowering::LoweringSpec isa;
  energy::EnergySpec energy;
  DeviceSpec device;
  RunSettings run;

  /// Defaults everywhere: an unnamed machine, and of each level the policy named in
  /// policy/levels.def.
  explicit Setup(const policy::Registries& policies);
  /// Does another level decide what this one would? Then its policy does nothing and stands in no
  /// configuration or result: kernel and block, unless dispatch is two_step.
  bool replaced(std::string_view level) const;
  timing::PolicyChoices choices() const;
  /// The resolved configuration; read back it gives the same setup.
  nlohmann::ordered_json config();
};

/// InputError with what machine and policies break together. Whoever times it finds that, too; here
/// it is found before.
void check_together(const Setup& setup);
/// InputError when the scheme has a parameter set of a tenant that is not among so many.
void check_tenants(const Setup& setup, std::size_t tenants);

/// Throws InputError with everything that is wrong with the document.
Setup read_setup(const config::Tree& tree, const policy::Registries& policies);

}  // namespace raddle::sim
