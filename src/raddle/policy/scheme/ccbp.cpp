// CCBP: which blocks of which tenant an SM holds, and how much of the interconnect's and of the
// memory's bandwidth each tenant has, decided together (Lin, Dai, Mantor, Zhou, "Coordinated CTA
// Combination and Bandwidth Partitioning for GPU Concurrent Kernel Execution", TACO 2019). Tenants
// are watched with even shares, told apart by what limits them, and given shares of that by
// dominant resource fairness; then those that are latency sensitive get more until the speedup
// falls. docs/mechanisms/ccbp.md tells the phases, and what is a reading.
#include <algorithm>
#include <array>
#include <deque>
#include <limits>

#include "raddle/policy/registry.h"
#include "raddle/policy/scheme/bandwidth_shares.h"
#include "raddle/policy/scheme/ccbp_params.h"
#include "raddle/policy/scheme/ccbp_record.h"
#include "raddle/policy/scheme/hill_climb.h"
#include "raddle/policy/scheme/present_tenants.h"

namespace raddle::policy {
namespace {

constexpr double kNoQuota = std::numeric_limits<double>::infinity();
/// Requests of an SM in a time unit that nobody is denied.
constexpr double kMinQuota = 1;

enum class Stage : std::uint8_t { WarmUp, Sample, Decide, Skip, Measure, Settle, Try, Hold };
constexpr std::array<std::string_view, 8> kStages = {"warm_up", "sample", "decide", "skip",
                                                     "measure", "settle", "try",    "hold"};

class Ccbp final : public SchemePolicy {
 public:
  using Params = CcbpParams;
  Ccbp(const Params& params, const Context& context)
      : params_(params), context_(context), climb_(params.prior, params.step, params.step) {
    const BandwidthFacts& facts = context.bandwidth;
    rates_.sms = context.sms;
    rates_.reply_bytes = facts.read_reply_bytes;
    rates_.dram_bytes = facts.dram_access_bytes;
    rates_.noc = params.noc_percent / 100 * facts.reply_bytes * params.interval;
    rates_.dram = params.dram_percent / 100 * facts.dram_bytes * params.interval;
  }
  bool wants_ipc_alone() const override { return params_.adjusts(); }
  Cycle decides_after() const override {
    return params_.detection(params_.warmup) + params_.detection(params_.sample) +
           params_.detection(params_.decide);
  }

  Cycle look(const SchemeView& view, Knobs& knobs) override {
    const PresentTenants present = present_tenants(view);
    count(view);
    if (present.count() < 2) {
      close(view);
      present_ = present;
      tenants_.clear();
      until_ = kNever;
      knobs = {};
      return kNever;
    }
    if (present.number != present_.number) begin_anew(view, present);
    else if (present.blocks != present_.blocks) blocks_have_grown(present);
    if (view.now >= until_) go_on(view);
    set(knobs);
    return until_;
  }
  void visit_statistics(FieldVisitor& v) override {
    v.field("begun", begun_, {}, "", "times that it began to watch tenants anew");
    v.field("assignments", assignments_, {}, "", "times that it shared out blocks and bandwidth");
    v.field("prior", prior_, {}, "", "priority of latency-sensitive tenants, of the last of them");
    for (std::size_t i = 0; i < tenants_.size(); ++i) {
      const Tenant& tenant = tenants_[i];
      CcbpStanding standing{kind_of(tenant), blocks_of(i), tenant.share.noc, tenant.share.dram};
      v.nested("tenant_" + std::to_string(present_.number[i]), standing, "as it is at the end");
    }
    record_.visit(v);
  }

 private:
  struct Tenant {
    bool intensive = false;
    std::uint32_t even = 1;  ///< blocks
    double rf = 0, df = 0, even_rate = kNoQuota;
    BandwidthTenant is;
    BandwidthShare share;
    // in this phase
    RequestMix seen;
    std::uint64_t starved = 0, thread_instructions = 0;
  };
  struct Point {
    std::size_t tenant = 0;
    std::uint32_t blocks = 0;
  };

  // --- what is seen ------------------------------------------------------------------------------
  void count(const SchemeView& view) {
    for (std::size_t i = 0; i < tenants_.size(); ++i) {
      const TenantCounts& counts = view.tenant[present_.number[i]].counts;
      Tenant& tenant = tenants_[i];
      tenant.seen.requests += counts.request_packets;
      tenant.seen.reads += counts.read_packets;
      tenant.seen.dram_accesses += counts.dram_accesses;
      tenant.starved += counts.starved_intervals;
      tenant.thread_instructions += counts.thread_instructions;
    }
  }
  /// Time units of this phase.
  double time_units(Cycle now) const {
    return static_cast<double>(now - since_) * context_.bandwidth.cycles / params_.interval;
  }
  /// Of a sum over SMs, what one had in a time unit.
  double rate(std::uint64_t sum, Cycle now) const {
    return static_cast<double>(sum) / (time_units(now) * context_.sms);
  }
  double noc_units(const Tenant& tenant, Cycle now) const {
    return params_.units * rates_.noc_of(1, rate(tenant.seen.reads, now)) / rates_.noc;
  }
  double dram_units(const Tenant& tenant, Cycle now) const {
    return params_.units * rates_.dram_of(1, rate(tenant.seen.dram_accesses, now)) / rates_.dram;
  }
  double speedup(Cycle now) const {
    double slowdowns = 0, sum = 0;
    for (std::size_t i = 0; i < tenants_.size(); ++i) {
      const double ipc =
          static_cast<double>(tenants_[i].thread_instructions) / static_cast<double>(now - since_);
      const double alone = context_.ipc_alone[present_.number[i]];
      if (ipc == 0) return 0;
      slowdowns += alone / ipc;
      sum += ipc / alone;
    }
    return params_.goal == SharingGoal::Weighted ? sum
                                                 : static_cast<double>(tenants_.size()) / slowdowns;
  }

  // --- phases ------------------------------------------------------------------------------------
  void begin_anew(const SchemeView& view, const PresentTenants& present) {
    close(view);
    expect_one_of_each(context_.sm, present.blocks, "ccbp");
    ++begun_;
    present_ = present;
    tenants_.assign(present.count(), {});
    known_ = false;
    points_.clear();
    divide_evenly();
    begin(Stage::WarmUp, view.now, params_.detection(params_.warmup));
  }
  void blocks_have_grown(const PresentTenants& present) {
    expect_one_of_each(context_.sm, present.blocks, "ccbp");
    present_ = present;
    divide_evenly();
    if (stage_ >= Stage::Settle) share_out(climb_.value());
  }
  void divide_evenly() {
    for (std::size_t i = 0; i < tenants_.size(); ++i) {
      const auto part = static_cast<std::uint32_t>(present_.blocks[i].maximum / tenants_.size());
      tenants_[i].even = std::max(1u, part);
      tenants_[i].is.blocks = present_.blocks[i];
    }
  }
  void begin(Stage stage, Cycle now, Cycle length) {
    stage_ = stage;
    since_ = now;
    until_ = length == kNever ? kNever : now + length;
    for (Tenant& tenant : tenants_) {
      tenant.seen = {};
      tenant.starved = tenant.thread_instructions = 0;
    }
    note_begin();
  }
  /// This phase is over.
  void go_on(const SchemeView& view) {
    const Cycle now = view.now;
    if (stage_ == Stage::Try) goal_ = speedup(now);
    close(view);
    switch (stage_) {
      case Stage::WarmUp:
        return begin(Stage::Sample, now, params_.detection(params_.sample));
      case Stage::Sample:
        look_at_requests();
        return begin(Stage::Decide, now, params_.detection(params_.decide));
      case Stage::Decide:
        decide_kinds(now);
        return next_point(now);
      case Stage::Skip:
        return begin(Stage::Measure, now, params_.detection(params_.measure));
      case Stage::Measure: {
        Tenant& tenant = tenants_[points_.front().tenant];
        tenant.is.noc.add(points_.front().blocks, noc_units(tenant, now));
        tenant.is.dram.add(points_.front().blocks, dram_units(tenant, now));
        if (params_.point_factors) {
          tenant.rf = tenant.seen.rf();
          tenant.df = tenant.seen.df();
        }
        points_.pop_front();
        return next_point(now);
      }
      case Stage::Settle:
        return begin(Stage::Try, now, trial() - settling());
      case Stage::Try:
        climb_.measured(goal_);
        return next_prior(now);
      case Stage::Hold:
        break;
    }
  }
  void look_at_requests() {
    const double part = 1.0 / static_cast<double>(tenants_.size());
    for (Tenant& tenant : tenants_) {
      tenant.rf = tenant.seen.rf();
      tenant.df = tenant.seen.df();
      tenant.even_rate = quota(rates_.rate_within(tenant.rf, tenant.df, part, part));
    }
  }
  /// Points that are to be measured, too.
  void decide_kinds(Cycle now) {
    known_ = true;
    for (std::size_t i = 0; i < tenants_.size(); ++i) {
      Tenant& tenant = tenants_[i];
      const double issued = rate(tenant.seen.requests, now), waited = rate(tenant.starved, now);
      tenant.intensive = tenant.even_rate != kNoQuota &&
                         (100 * issued >= params_.intensive_percent * tenant.even_rate ||
                          100 * waited >= params_.waiting_percent);
      tenant.is.kind = BandwidthKind::LatencySensitive;
      tenant.is.noc = tenant.is.dram = {};
      if (tenant.intensive) {
        tenant.is.kind = rates_.kind_of(tenant.rf, tenant.df);
        for (const std::uint32_t blocks : counts_of_interest(tenant.even))
          points_.push_back({i, blocks});
      } else {
        tenant.is.noc = BandwidthCurve::linear(noc_units(tenant, now) / tenant.even);
        tenant.is.dram = BandwidthCurve::linear(dram_units(tenant, now) / tenant.even);
      }
    }
  }
  void next_point(Cycle now) {
    if (!points_.empty()) return begin(Stage::Skip, now, params_.detection(params_.skip));
    climb_ = HillClimb(params_.prior, params_.step, params_.step);
    share_out(params_.prior);
    if (can_adjust()) begin(Stage::Settle, now, settling());
    else begin(Stage::Hold, now, kNever);
  }
  /// A priority that gives what the one before gave would show nothing new.
  void next_prior(Cycle now) {
    const std::vector<BandwidthShare> tried = given();
    while (!climb_.done()) {
      share_out(climb_.value());
      if (given() != tried) return begin(Stage::Settle, now, settling());
      climb_.pass();
    }
    share_out(climb_.best());
    begin(Stage::Hold, now, kNever);
  }
  Cycle trial() const { return std::max<Cycle>(2, params_.scaled(params_.window)); }
  Cycle settling() const { return std::max<Cycle>(1, trial() * params_.settle_percent / 100); }
  bool any(bool intensive) const {
    return std::ranges::any_of(tenants_,
                               [&](const Tenant& tenant) { return tenant.intensive == intensive; });
  }
  bool can_adjust() const {
    const auto known = [&](unsigned t) { return context_.ipc_alone[t] > 0; };
    return params_.adjusts() && any(true) && any(false) &&
           std::ranges::all_of(present_.number, known);
  }

  // --- shares ------------------------------------------------------------------------------------
  std::vector<BandwidthShare> given() const {
    std::vector<BandwidthShare> out;
    for (const Tenant& tenant : tenants_) out.push_back(tenant.share);
    return out;
  }
  void share_out(double prior) {
    ++assignments_;
    prior_ = prior;
    std::vector<BandwidthTenant> all;
    for (const Tenant& tenant : tenants_) all.push_back(tenant.is);
    BandwidthShares shares(context_.sm, std::move(all),
                           {static_cast<double>(params_.units), prior, params_.clip_ls});
    shares.all();
    if (params_.fill) shares.fill();
    for (std::size_t i = 0; i < tenants_.size(); ++i) {
      tenants_[i].share = shares.shares()[i];
      tenants_[i].share.blocks = std::max(1u, tenants_[i].share.blocks);  // nobody has to go
    }
  }
  static double quota(double rate) {
    constexpr double kMaxRate = 1e6;  // of the knob
    return rate > kMaxRate ? kNoQuota : std::max(kMinQuota, rate);
  }
  bool detecting() const { return stage_ < Stage::Settle; }
  bool measuring(std::size_t i) const {
    return (stage_ == Stage::Skip || stage_ == Stage::Measure) && points_.front().tenant == i;
  }
  std::uint32_t blocks_of(std::size_t i) const {
    return detecting() ? tenants_[i].even : tenants_[i].share.blocks;
  }
  std::uint32_t active_of(std::size_t i) const {
    return measuring(i) ? points_.front().blocks : kNoLimit;
  }
  double quota_of(std::size_t i) const {
    const Tenant& tenant = tenants_[i];
    if (stage_ < Stage::Decide || measuring(i)) return kNoQuota;
    if (detecting()) return tenant.even_rate;
    if (!any(true) || (!tenant.intensive && !params_.limit_ls)) return kNoQuota;
    const double noc = tenant.share.noc / params_.units, dram = tenant.share.dram / params_.units;
    return quota(params_.quota == QuotaBandwidth::Both
                     ? rates_.rate_within(tenant.rf, tenant.df, noc, dram)
                     : rates_.rate_of_dominant(tenant.is.kind, tenant.rf, tenant.df, noc, dram));
  }
  /// Entries of the miss queue; what does not divide is for latency-sensitive tenants first.
  std::vector<std::uint32_t> queues() const {
    const auto tenants = static_cast<std::uint32_t>(tenants_.size());
    const std::uint32_t of_each = std::max(1u, context_.miss_queue / params_.queues);
    std::vector<std::uint32_t> out(tenants, params_.queues / tenants);
    std::uint32_t rest = params_.queues % tenants;
    for (const bool intensive : {false, true})
      for (std::uint32_t i = 0; i < tenants; ++i)
        if (tenants_[i].intensive == intensive && rest != 0) {
          ++out[i];
          --rest;
        }
    for (std::uint32_t& queue : out) queue = std::max(1u, queue) * of_each;
    return out;
  }
  void set(Knobs& knobs) const {
    knobs = {};
    knobs.token_interval = params_.interval;
    knobs.arbiter_cycles = params_.arbiter;
    const std::vector<std::uint32_t> queue = queues();
    for (std::size_t i = 0; i < tenants_.size(); ++i) {
      TenantKnobs& of = knobs.tenant[present_.number[i]];
      of.block_cap.assign(context_.sms, blocks_of(i));
      of.active_blocks = active_of(i);
      of.request_tokens = quota_of(i);
      of.miss_queue = queue[i];
      if (params_.own_lsu)
        of.lsu_queue =
            std::max(1u, context_.lsu_queue / static_cast<std::uint32_t>(tenants_.size()));
      of.priority = known_ && !tenants_[i].intensive ? 1 : 0;
    }
  }

  // --- the record --------------------------------------------------------------------------------
  unsigned kind_of(const Tenant& tenant) const {
    return known_ ? 1 + static_cast<unsigned>(tenant.is.kind) : 0;
  }
  void note_begin() {
    CcbpPhase phase;
    phase.name = kStages[static_cast<unsigned>(stage_)];
    phase.start = since_;
    phase.prior = detecting() ? 0 : prior_;
    for (std::size_t i = 0; i < tenants_.size(); ++i) {
      CcbpPhase::Tenant& of = phase.tenant[present_.number[i]];
      of.present = true;
      of.blocks = blocks_of(i);
      of.active = measuring(i) ? active_of(i) : 0;
      of.kind = kind_of(tenants_[i]);
      if (quota_of(i) == kNoQuota) continue;
      of.quota = quota_of(i);
      const double even = static_cast<double>(params_.units) / static_cast<double>(tenants_.size());
      of.noc_share = detecting() ? even : tenants_[i].share.noc;
      of.dram_share = detecting() ? even : tenants_[i].share.dram;
    }
    record_.open(phase);
  }
  void close(const SchemeView& view) {
    CcbpPhase* phase = record_.current();
    if (phase == nullptr || phase->end != 0 || view.now == since_) return;
    phase->end = view.now;
    phase->goal = stage_ == Stage::Try ? speedup(view.now) : 0;
    for (std::size_t i = 0; i < tenants_.size(); ++i) {
      CcbpPhase::Tenant& of = phase->tenant[present_.number[i]];
      std::uint64_t resident = 0;
      for (const std::uint32_t blocks : view.tenant[present_.number[i]].resident_blocks)
        resident += blocks;
      of.resident = static_cast<double>(resident) / context_.sms;
      of.noc = noc_units(tenants_[i], view.now);
      of.dram = dram_units(tenants_[i], view.now);
    }
  }

  Params params_;
  Context context_;
  BandwidthRates rates_;
  PresentTenants present_;
  std::vector<Tenant> tenants_;  // as present_
  Stage stage_ = Stage::WarmUp;
  Cycle since_ = 0, until_ = kNever;
  bool known_ = false;        // the tenants' kinds
  std::deque<Point> points_;  // to be measured, the first in this phase
  HillClimb climb_;
  double prior_ = 1, goal_ = 0;
  std::uint64_t begun_ = 0, assignments_ = 0;
  CcbpRecord record_;
};

}  // namespace

void add_scheme_ccbp(Registry<SchemePolicy>& r) {
  r.add<Ccbp>("ccbp",
              "blocks and bandwidth together, by what limits each tenant and by dominant resource "
              "fairness");
}

}  // namespace raddle::policy
