#include "raddle/energy/energy_spec.h"

namespace raddle::energy {

namespace {
// 10^6 pJ = 10^9 fJ; 64 bits hold 10^10 such events.
constexpr Range<double> kPicojoule{0, 1e6};

void visit_cost(FieldVisitor& v, std::string_view name, Cost& cost, std::string_view doc) {
  double picojoule = cost.picojoule();
  v.field(name, picojoule, kPicojoule, "pJ", doc);
  cost = Cost(picojoule);
}
}  // namespace

void EnergySpec::visit(FieldVisitor& visitor) {
  const auto cost = [&](std::string_view name, Cost& value, std::string_view doc) {
    visit_cost(visitor, name, value, doc);
  };
  visitor.field("table", table,
                "file of energy/ with the costs that are not given here; may be empty");
  cost("instruction_pj", instruction, "a warp instruction fetched, decoded and scheduled");
  cost("register_read_pj", register_read, "a 32-bit register read for a whole warp");
  cost("register_write_pj", register_write, "a 32-bit register written for a whole warp");
  visitor.enter("lane_pj", "one lane's operation by class");
  for (unsigned op = 0; op < trace::kOpClasses; ++op)
    cost(trace::kOpClassNames[op], lane[op], "one lane's operation of the class");
  visitor.leave();
  cost("constant_pj", constant, "an access of the constant cache");
  cost("shared_pass_pj", shared_pass, "one pass of a warp over the shared-memory banks");
  cost("l1d_probe_pj", l1d_probe, "a look at the L1D's tags");
  cost("l1d_read_pj", l1d_read, "a line access that reads L1D data");
  cost("l1d_write_pj", l1d_write, "a store that updates, or a fill that fills, an L1D line");
  cost("l2_read_pj", l2_read, "a read or atomic that an L2 slice serves");
  cost("l2_write_pj", l2_write, "a write or atomic that an L2 slice serves");
  cost("flit_hop_pj", flit_hop, "one flit through one router and link");
  cost("dram_read_byte_pj", dram_read_byte,
       "a byte read over a DRAM bus, everything but what follows included");
  cost("dram_write_byte_pj", dram_write_byte, "the same of a byte written");
  cost("dram_activate_pj", dram_activate, "a DRAM row opened and closed");
  cost("dram_refresh_pj", dram_refresh, "a refresh of all banks of a channel");
  cost("core_active_pj", core_active, "static: an SM's cycle in which it issues");
  cost("core_stalled_pj", core_stalled, "static: an SM's cycle with warps, none of which issues");
  cost("core_idle_pj", core_idle, "static: an SM's cycle without warps");
  cost("l2_slice_pj", l2_slice_cycle, "static: a cycle of an L2 slice");
  cost("chip_pj", chip_cycle, "static: a cycle of all the rest of the chip");
}

}  // namespace raddle::energy
