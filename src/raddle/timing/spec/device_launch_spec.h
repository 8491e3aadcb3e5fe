// Machine file, table [device_launch]: launches by kernels (CUDA dynamic parallelism), and what
// they cost the warp that makes them. Costs are those of the three calls of the device runtime that
// a launch is made of; a call keeps its warp busy, lane after lane where lanes count.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>

#include "raddle/base/fields.h"
#include "raddle/base/types.h"

namespace raddle::timing {

enum class LaunchModel : std::uint8_t {
  Cdp,   ///< each launch is a kernel, which wants an entry of the kernel distributor
  Dtbl,  ///< it joins a kernel under way as a group of blocks where it can, at once: of the costs
  ///< only that of the parameter buffer is left (Wang, Rubin, Sidelnik, Yalamanchili, ISCA 2015)
};
inline constexpr std::array<std::string_view, 2> kLaunchModelNames = {"cdp", "dtbl"};

struct DeviceLaunchSpec {
  LaunchModel model = LaunchModel::Cdp;
  std::uint32_t stream_cycles = 0;       ///< cudaStreamCreateWithFlags
  std::uint32_t buffer_cycles = 0;       ///< cudaGetParameterBuffer ...
  std::uint32_t buffer_lane_cycles = 0;  ///< ... and for each lane that calls it
  std::uint32_t launch_cycles = 0;       ///< cudaLaunchDevice ...
  std::uint32_t launch_lane_cycles = 0;  ///< ... and for each lane
  std::uint32_t percent = 100;           ///< of these costs that are charged
  std::uint32_t per_cycle = 0;  ///< launches that come to the management unit in a cycle; 0: any
  void visit(FieldVisitor& v);

  /// Of one call by so many lanes of a warp, under the model in force.
  Cycle stream_time() const { return model == LaunchModel::Cdp ? charged(stream_cycles) : 0; }
  Cycle buffer_time(unsigned lanes) const {
    return charged(buffer_cycles + Cycle{buffer_lane_cycles} * lanes);
  }
  Cycle launch_time(unsigned lanes) const {
    if (model == LaunchModel::Dtbl) return 0;
    return charged(launch_cycles + Cycle{launch_lane_cycles} * lanes);
  }

 private:
  Cycle charged(Cycle cycles) const { return cycles * percent / 100; }
};

}  // namespace raddle::timing
