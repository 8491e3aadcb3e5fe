#include "raddle/sim/setup/seen.h"

#include "raddle/config/writer.h"

namespace raddle::sim {

SeenByWorkload seen_by_workload(const Setup& setup) {
  const timing::SmSpec& sm = setup.machine.sm;
  return {.seed = setup.run.seed,
          .live = setup.run.live,
          .sms = sm.count,
          .schedulers = sm.schedulers,
          .warps_per_sm = sm.warps,
          .max_threads_per_block = sm.max_threads_per_block,
          .shared_unit_bytes = sm.shared_unit_bytes,
          .memory_gib = setup.device.memory_gib,
          .core_clock_mhz = setup.machine.core_clock_mhz,
          .independent_lanes = setup.device.compute_capability >= 70};
}

nlohmann::ordered_json SeenByWorkload::json() const {
  return {{"seed", seed},
          {"live", live},
          {"sms", sms},
          {"schedulers", schedulers},
          {"warps_per_sm", warps_per_sm},
          {"max_threads_per_block", max_threads_per_block},
          {"shared_unit_bytes", shared_unit_bytes},
          {"memory_gib", memory_gib},
          {"core_clock_mhz", core_clock_mhz},
          {"independent_lanes", independent_lanes}};
}

SeenByProgram seen_by_program(const Setup& setup) {
  const timing::MachineSpec& all = setup.machine;
  SeenByProgram out;
  timing::MachineSpec& machine = out.machine;
  machine.name = all.name;
  machine.core_clock_mhz = all.core_clock_mhz;
  machine.sm.count = all.sm.count;
  machine.sm.schedulers = all.sm.schedulers;
  machine.sm.warps = all.sm.warps;
  machine.sm.blocks = all.sm.blocks;
  machine.sm.threads = all.sm.threads;
  machine.sm.max_threads_per_block = all.sm.max_threads_per_block;
  machine.sm.registers = all.sm.registers;
  machine.sm.register_unit = all.sm.register_unit;
  machine.sm.register_partitions = all.sm.register_partitions;
  machine.sm.shared_kib = all.sm.shared_kib;
  machine.sm.shared_unit_bytes = all.sm.shared_unit_bytes;
  machine.sm.shared_reserved_bytes = all.sm.shared_reserved_bytes;
  if (!all.sm.l1d.present()) machine.sm.l1d.size_kib = 0;  // is there one? is all it can ask
  machine.l2.slices = 1;                                   // it knows the whole
  machine.l2.size_kib = all.l2.slices * all.l2.size_kib;
  machine.dram.channels = all.dram.channels;
  machine.dram.bus_bytes_per_cycle = all.dram.bus_bytes_per_cycle;
  machine.dram.clock_mhz = all.dram.clock_mhz;
  out.isa = setup.isa;
  out.device = setup.device;
  out.live = setup.run.live;
  return out;
}

nlohmann::ordered_json SeenByProgram::json() const {
  SeenByProgram copy = *this;  // visit() is for readers as well
  config::JsonWriter writer;
  copy.machine.visit(writer);
  writer.nested("device", copy.device, "");
  writer.nested("isa", copy.isa, "");
  nlohmann::ordered_json out = writer.take();
  out["live"] = live;
  return out;
}

}  // namespace raddle::sim
