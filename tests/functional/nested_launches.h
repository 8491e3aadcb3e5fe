// Launches of a program whose kernels launch kernels, functionally.
#pragma once
#include <array>
#include <string_view>
#include <vector>

#include "functional/workload_support.h"

namespace raddle::runtime {

/// The graph programs of LaPerm.
inline constexpr std::array<std::string_view, 3> kNestedPrograms = {"nested_bfs", "nested_sssp",
                                                                    "nested_coloring"};

/// All launches of a run, whose result is right.
inline std::vector<LaunchRecord> launches_of(std::string_view name, const Parameters& parameters,
                                             Size size, std::uint64_t seed) {
  auto workload = make_workload(name, parameters, size);
  EXPECT_THAT(workload->violations(), ::testing::IsEmpty());
  SimulatedDevice device({});
  workload->run(device, seed);
  EXPECT_EQ(workload->check(), "");
  return device.launches();
}

}  // namespace raddle::runtime
