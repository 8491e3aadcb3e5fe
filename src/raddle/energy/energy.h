// Energy from counters: each counter times what one of its events costs. Nothing here knows time or
// machines; docs/energy.md says which counter stands for which event, and what is left out.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>

#include "raddle/energy/energy_spec.h"
#include "raddle/stats/counters.h"

namespace raddle::energy {

enum class Component : std::uint8_t {
  FrontEnd,  ///< fetch, decode, schedule
  RegisterFile,
  Lanes,  ///< execution units
  Constant,
  Shared,
  L1d,
  Noc,
  L2,
  Dram,
  StaticCores,
  StaticL2,
  StaticChip,
  Count
};
inline constexpr unsigned kComponents = static_cast<unsigned>(Component::Count);
/// The first ones: what one launch, or anything else that was counted, has cost.
inline constexpr unsigned kDynamicComponents = static_cast<unsigned>(Component::StaticCores);
inline constexpr auto kComponentTerms = std::to_array<stats::Term>({
    {"front_end", "front end", "instructions fetched, decoded and scheduled"},
    {"register_file", "register file", "operands read and written"},
    {"lanes", "lanes", "execution units, by class of operation"},
    {"constant", "constant cache", "accesses to the constant cache"},
    {"shared", "shared memory", "cycles of the banks of shared memory"},
    {"l1d", "L1D", "tags and data of the L1D"},
    {"noc", "network", "flits through routers and links"},
    {"l2", "L2", "reads, writes and atomics of the L2"},
    {"dram", "DRAM", "bytes over the bus, rows opened and refreshes"},
    {"static_cores", "SMs, static", "what SMs leak while they issue, stall or idle"},
    {"static_l2", "L2, static", "what the slices of the L2 leak"},
    {"static_chip", "chip, static", "what the rest of the chip leaks"},
});
static_assert(kComponentTerms.size() == kComponents);
inline constexpr auto kComponentNames = stats::names_of(kComponentTerms);

/// Exact, in femtojoule, by Component.
struct Energy {
  std::array<std::uint64_t, kComponents> femtojoule{};
  std::uint64_t of(Component c) const { return femtojoule[static_cast<unsigned>(c)]; }
  double picojoule(unsigned c) const { return static_cast<double>(femtojoule[c]) / 1000.0; }
  std::uint64_t total() const;
  std::uint64_t dynamic_total() const;
};

/// Dynamic components only: of one launch, or of anything else that was counted.
Energy dynamic_energy(const stats::GpuCounters& counters, const EnergySpec& spec);

/// What leaks whether something happens or not.
struct Time {
  std::uint64_t cycles = 0;
  std::uint32_t schedulers_per_sm = 1, l2_slices = 0;
};
/// Dynamic and static, of a whole run. Precondition: issued and stalls of `counters` add up to the
/// scheduler-cycles of the run. A core's static energy is shared equally by its schedulers, each of
/// which is active, stalled or idle by itself.
Energy energy(const stats::GpuCounters& counters, const EnergySpec& spec, const Time& time);

/// Of one launch as if it had the GPU for itself for so long: scheduler-cycles in which none of its
/// warps was there are idle. It may have more of its own than there are in that time: those of a
/// group of blocks that has joined it.
Energy energy_alone(const stats::GpuCounters& launch, const EnergySpec& spec, const Time& time,
                    std::uint64_t schedulers);

}  // namespace raddle::energy
