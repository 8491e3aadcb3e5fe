// Parameters of the scheme ccbp. docs/mechanisms/ccbp.md says which are the paper's.
#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string_view>

#include "raddle/base/fields.h"
#include "raddle/base/types.h"
#include "raddle/policy/scheme/knobs.h"

namespace raddle::policy {

enum class SharingGoal : std::uint8_t { Harmonic, Weighted };
/// Which of a tenant's shares its quota of requests is made of.
enum class QuotaBandwidth : std::uint8_t { Dominant, Both };

struct CcbpParams {
  static constexpr std::array<std::string_view, 2> kGoals = {"harmonic", "weighted"};
  static constexpr std::array<std::string_view, 2> kQuotas = {"dominant", "both"};
  std::uint32_t warmup = 50000, sample = 20000, decide = 20000, skip = 10000, measure = 10000;
  std::uint32_t window = 100000, settle_percent = 10;
  double scale = 1;
  bool offline = false, adjust = true, clip_ls = true, limit_ls = true, own_lsu = true;
  bool point_factors = false, fill = false;
  QuotaBandwidth quota = QuotaBandwidth::Dominant;
  std::uint32_t units = 20, interval = 200, queues = 8, arbiter = 1;
  double prior = 1, step = 0.1, noc_percent = 60, dram_percent = 70;
  SharingGoal goal = SharingGoal::Harmonic;
  std::uint32_t intensive_percent = 95, waiting_percent = 50;

  void visit(FieldVisitor& v) {
    visit_times(v);
    v.field("units", units, {1, 1000}, "", "parts in which bandwidth is given away (M)");
    v.field("interval", interval, {1, 100'000}, "NoC cycles", "in which requests are counted");
    v.field("queues", queues, {1, 64}, "", "sub-queues of the miss queue, dealt out evenly");
    v.field("own_lsu", own_lsu, "tenants' memory instructions wait in queues of their own, too");
    v.field("arbiter", arbiter, {0, Knobs::kMaxArbiterCycles}, "cycles",
            "that the arbiter of the miss queue takes");
    v.field("noc_percent", noc_percent, {1, 100}, "%", "of reply bandwidth that is sustainable");
    v.field("dram_percent", dram_percent, {1, 100}, "%", "of DRAM bandwidth that is sustainable");
    v.field("intensive_percent", intensive_percent, {1, 100}, "%",
            "of its even quota: a tenant that issues as much is bandwidth intensive");
    v.field("waiting_percent", waiting_percent, {1, 100}, "%",
            "of the intervals: so is one whose requests wait for its quota in as many");
    v.field("clip_ls", clip_ls,
            "a latency-sensitive tenant's block may get less bandwidth than it would need");
    v.field("limit_ls", limit_ls, "latency-sensitive tenants have quotas too");
    v.choice("quota", quota, kQuotas,
             "bandwidth whose share a quota keeps: the one the tenant needs most, or both");
    v.field("fill", fill, "what the algorithm leaves of a bandwidth goes to all, in proportion");
    v.field("point_factors", point_factors,
            "quotas by rf and df of the last point measured, not of the sample");
    v.field("prior", prior, {0.01, 10}, "", "priority of latency-sensitive tenants at first");
    v.field("adjust", adjust, "prior goes down by a step a window until the goal falls");
    v.field("step", step, {0.01, 1}, "", "by which prior goes down, and the least it gets");
    v.choice("goal", goal, kGoals, "speedup that the adjustment goes by");
  }
  bool adjusts() const { return adjust && !offline; }
  /// Of a phase of detection.
  Cycle detection(std::uint32_t cycles) const { return scaled(offline ? 10.0 * cycles : cycles); }
  Cycle scaled(double cycles) const {
    return std::max<Cycle>(1, static_cast<Cycle>(std::llround(cycles * scale)));
  }

 private:
  void visit_times(FieldVisitor& v) {
    constexpr Range<std::uint32_t> kTime{1, 1'000'000'000};
    v.field("scale", scale, {0.001, 1000}, "", "of all the following times");
    v.field("offline", offline, "times but the window are 10 times as long, prior stays");
    v.field("warmup", warmup, kTime, "cycles", "first, with even blocks and no quotas");
    v.field("sample", sample, kTime, "cycles", "then, in which requests are looked at (rf, df)");
    v.field("decide", decide, kTime, "cycles", "then with even quotas, for the tenants' kinds");
    v.field("skip", skip, kTime, "cycles", "after each change of active blocks");
    v.field("measure", measure, kTime, "cycles", "then, for the bandwidth with so many");
    v.field("window", window, kTime, "cycles", "for which each prior is tried");
    v.field("settle_percent", settle_percent, {0, 90}, "%",
            "of the window at first that is not measured: blocks come and go");
  }
};

}  // namespace raddle::policy
