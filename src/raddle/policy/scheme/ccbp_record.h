// What CCBP did when: a record of its phases, as statistics from which its path over combinations
// of blocks can be drawn.
#pragma once
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "raddle/base/fields.h"
#include "raddle/base/types.h"

namespace raddle::policy {

struct CcbpPhase {
  struct Tenant {
    bool present = false;
    std::uint64_t blocks = 0, active = 0, kind = 0;
    double quota = 0, resident = 0, noc = 0, dram = 0, noc_share = 0, dram_share = 0;
    void visit(FieldVisitor& v) {
      v.field("blocks", blocks, {}, "blocks", "on each SM at most");
      v.field("active", active, {}, "blocks", "of these, so many may issue; 0 = all");
      v.field("kind", kind, {}, "",
              "0 = not known yet, 1 = latency sensitive, 2 = NoC intensive, 3 = DRAM intensive");
      v.field("quota", quota, {}, "requests", "of each SM in a time unit; 0 = no limit");
      v.field("resident", resident, {}, "blocks", "on an SM at the end, mean");
      v.field("noc_units", noc, {}, "", "reply bandwidth used, 1/units of the sustainable");
      v.field("dram_units", dram, {}, "", "DRAM bandwidth used, 1/units of the sustainable");
      v.field("noc_share", noc_share, {}, "", "given of the reply bandwidth; 0 = no limit");
      v.field("dram_share", dram_share, {}, "", "given of DRAM bandwidth; 0 = no limit");
    }
  };
  std::string_view name;
  std::uint64_t start = 0, end = 0;
  double prior = 0, goal = 0;
  std::array<Tenant, kMaxTenants> tenant{};
  void visit(FieldVisitor& v) {
    v.field("start_cycle", start, {}, "cycles", "its begin");
    v.field("end_cycle", end, {}, "cycles", "its end; 0 = it lasts");
    v.field("prior", prior, {}, "", "priority of latency-sensitive tenants; 0 = none yet");
    v.field("goal", goal, {}, "", "speedup measured; 0 = not measured");
    for (unsigned t = 0; t < kMaxTenants; ++t)
      if (tenant[t].present) v.nested("tenant_" + std::to_string(t), tenant[t], "in this phase");
  }
};

/// What a tenant has at the end.
struct CcbpStanding {
  std::uint64_t kind = 0, blocks = 0;
  double noc_share = 0, dram_share = 0;
  void visit(FieldVisitor& v) {
    v.field("kind", kind, {}, "", "as of a phase");
    v.field("blocks", blocks, {}, "blocks", "on each SM at most");
    v.field("noc_share", noc_share, {}, "", "of the reply bandwidth, 1/units of the sustainable");
    v.field("dram_share", dram_share, {}, "", "of DRAM bandwidth, likewise");
  }
};

/// The first of them; later ones are counted.
class CcbpRecord {
 public:
  CcbpPhase& open(const CcbpPhase& phase) {
    if (phases_.size() < kMaxPhases) return phases_.emplace_back(phase);
    ++left_out_;
    return last_ = phase;
  }
  CcbpPhase* current() {
    if (left_out_ != 0) return &last_;
    return phases_.empty() ? nullptr : &phases_.back();
  }
  void visit(FieldVisitor& v) {
    v.field("phases_left_out", left_out_, {}, "phases", "that are not told");
    v.enter("phases", "in order");
    for (std::size_t i = 0; i < phases_.size(); ++i)
      v.nested((i < 10 ? "0" : "") + std::to_string(i) + "_" + std::string(phases_[i].name),
               phases_[i], "");
    v.leave();
  }

 private:
  static constexpr std::size_t kMaxPhases = 100;
  std::vector<CcbpPhase> phases_;
  CcbpPhase last_;
  std::uint64_t left_out_ = 0;
};

}  // namespace raddle::policy
