#include "raddle/timing/spec/ideal_spec.h"

#include "raddle/timing/spec/machine.h"

namespace raddle::timing {

void IdealSpec::visit(FieldVisitor& v) {
  v.field("l1d", l1d, "every load that may use the L1D hits there");
  v.field("mshr", mshr, "MSHRs of the L1D, their merges and the miss queue never run out");
  v.field("noc", noc, "packets between SMs and L2 never wait for one another");
  v.field("l2", l2, "every request hits in the L2, and nothing goes to DRAM");
  v.field("dram", dram, "DRAM has any number of data in the next cycle");
}

std::vector<std::string> ideal_parts(const MachineSpec& m, bool owns) {
  std::vector<std::string> out;
  if (m.sm.l1d.present() && !owns) out.emplace_back("l1d");
  out.emplace_back("mshr");
  out.emplace_back("noc");
  if (!owns) out.emplace_back("l2");
  out.emplace_back("dram");
  return out;
}

void check_ideal(const MachineSpec& m, SpecRules& r) {
  r.require(!m.ideal.l1d || m.sm.l1d.present(), "ideal.l1d needs an L1D",
            {{"sm.l1d.size_kib", m.sm.l1d.size_kib}});
}

}  // namespace raddle::timing
