// Parts of the machine that are better than any that could be built: what a policy could at most
// win there. Nothing else of the machine changes.
#pragma once
#include <string>
#include <vector>

#include "raddle/base/fields.h"
#include "raddle/timing/spec/spec_rules.h"

namespace raddle::timing {

struct IdealSpec {
  bool l1d = false;   ///< loads that may use the L1D hit
  bool mshr = false;  ///< MSHRs of the L1D, their merges and the miss queue never run out
  bool noc = false;   ///< packets meet nobody: a flit each, wires are all that takes time
  bool l2 = false;    ///< every request hits, nothing goes to DRAM
  bool dram = false;  ///< DRAM has the data at once, any number of them
  bool any() const { return l1d || mshr || noc || l2 || dram; }
  void visit(FieldVisitor& v);
};

/// Names of the parts of IdealSpec that the machine can have. `owns`: its caches own lines
/// (CoherenceRules::ownership).
std::vector<std::string> ideal_parts(const MachineSpec& m, bool owns);
void check_ideal(const MachineSpec& m, SpecRules& r);

}  // namespace raddle::timing
