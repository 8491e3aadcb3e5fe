// Machines for tests: typical numbers, small enough to reason about.
#pragma once
#include "raddle/timing/spec/machine.h"

namespace raddle::support {

inline void set_typical_costs(timing::SmSpec& sm) {
  using timing::Unit;
  using trace::OpClass;
  auto set = [&](OpClass c, Unit unit, std::uint32_t latency, std::uint32_t interval) {
    sm.cost[static_cast<unsigned>(c)] = {unit, latency, interval};
  };
  for (OpClass c : {OpClass::Move, OpClass::Int, OpClass::Convert}) set(c, Unit::Int, 4, 2);
  set(OpClass::IntMul, Unit::Int, 6, 2);
  set(OpClass::IntDiv, Unit::Int, 40, 16);
  for (OpClass c : {OpClass::Fp16, OpClass::Fp32}) set(c, Unit::Fp32, 4, 2);
  set(OpClass::Fp32Div, Unit::Sfu, 30, 8);
  set(OpClass::Sfu, Unit::Sfu, 21, 8);
  set(OpClass::Fp64, Unit::Fp64, 8, 4);
  set(OpClass::Fp64Div, Unit::Fp64, 60, 16);
  set(OpClass::Tensor, Unit::Tensor, 16, 4);
  for (OpClass c : {OpClass::Control, OpClass::Barrier, OpClass::Converge})
    set(c, Unit::Control, 8, 1);
  set(OpClass::Memory, Unit::Lsu, 1, 1);
  set(OpClass::Shuffle, Unit::Sfu, 21, 8);
}

/// One SM of two schedulers with 8 warps each, two slices, one channel.
inline timing::MachineSpec small_machine() {
  timing::MachineSpec m;
  m.name = "small";
  set_typical_costs(m.sm);
  m.sm.count = 1;
  m.sm.schedulers = 2;
  m.sm.warps = 16;
  m.sm.threads = 512;

  m.sm.max_threads_per_block = 512;
  m.sm.l1d.size_kib = 8;
  m.l2.slices = 2;
  m.l2.size_kib = 64;
  m.dram.channels = 1;
  return m;
}

/// Shaped like a V100 (80 SMs of 4 schedulers, 64 slices, 32 channels): the prototype's machine.
inline timing::MachineSpec large_machine() {
  timing::MachineSpec m;
  m.name = "large";
  m.core_clock_mhz = 1380;
  set_typical_costs(m.sm);
  m.sm.cost[static_cast<unsigned>(trace::OpClass::Memory)].interval = 4;
  m.sm.count = 80;
  m.sm.schedulers = 4;
  m.sm.warps = 64;
  m.sm.threads = 2048;
  m.sm.blocks = 32;
  m.sm.registers = 65536;
  m.sm.shared_kib = 96;
  m.sm.l1d.mshr_entries = 128;
  m.sm.l1d.miss_queue = 16;
  m.l2.slices = 64;
  m.l2.size_kib = 96;
  m.l2.ways = 24;
  m.l2.mshr_entries = 64;

  m.l2.mshr_merges = 8;
  m.dram.channels = 32;
  m.dram.clock_mhz = 877;
  m.dram.bus_bytes_per_cycle = 32;
  m.dram.tCCDS = m.dram.tCCDL = 1;
  return m;
}

}  // namespace raddle::support
