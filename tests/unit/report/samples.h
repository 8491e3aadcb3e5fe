// A made-up result for tests of the report: two kernels on two SMs.
#pragma once
#include "raddle/sim/result/result.h"

namespace raddle::report {

inline sim::KernelResult kernel(const std::string& name, Cycle start, Cycle end,
                                std::uint32_t stream = 0) {
  sim::KernelResult k;
  k.name = name;
  k.grid = {4, 1, 1};
  k.block = {64, 1, 1};
  k.stream = stream;
  k.start = start;
  k.end = end;
  k.counters.sm.issued = 100;
  return k;
}

inline sim::Result small_result() {
  sim::Result r;
  r.workload = "bfs";
  r.parameters = {{"nodes", 1024}};
  r.config = {{"name", "two_sms"}};
  r.policies = {{"warp", {{"name", "gto"}, {"parameters", nullptr}, {"statistics", nullptr}}}};
  r.cycles = 300;
  r.schedulers = 2;
  r.core_clock_mhz = 1000;
  r.kernels = {kernel("first", 0, 150), kernel("second", 150, 300)};
  // SM 0 holds two blocks of the first kernel at once, SM 1 one after the other.
  r.blocks = {{0, 0, 0, 10, 100},
              {0, 1, 0, 10, 140},
              {0, 2, 1, 12, 60},
              {0, 3, 1, 60, 140},
              {1, 0, 0, 160, 290}};
  r.samples = {{0, 40, 1000, 10, 5, 640}, {100, 50, 1500, 20, 20, 0}, {200, 10, 300, 0, 0, 64}};
  r.sample_interval = 100;
  return r;
}

}  // namespace raddle::report
