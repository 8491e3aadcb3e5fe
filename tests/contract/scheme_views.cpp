// The scheme suite: tenants come and go, what they have done is random, and now and then nothing
// has happened. The same history that starts later must get the same answers.
#include <array>
#include <vector>

#include "contract/seeded_views.h"
#include "raddle/base/mask.h"
#include "raddle/base/rng.h"

namespace raddle::contract {

namespace {

using policy::Knobs;
using policy::SchemePolicy;
using policy::SchemeView;
using policy::TenantView;

constexpr unsigned kSms = 12;

class RandomTenants {
 public:
  RandomTenants(const SchemePolicy::Context& context, std::unique_ptr<SchemePolicy> scheme,
                Cycle start)
      : rng_(context.seed, "tenants"),
        context_(context),
        scheme_(std::move(scheme)),
        start_(start),
        now_(start) {
    for (auto& resident : resident_) resident.assign(kSms, 0);
    for (auto& warps : warps_) warps.assign(kSms, 0);
    // Eight of the largest fit an SM.
    for (policy::BlockResources& block : block_) {
      const std::uint32_t warps = 1 + rng_.below(8);
      block = {32 * warps, warps, 512 * warps, 256 * rng_.below(40)};
    }
  }

  /// Returns the rule that was broken. Knobs and the time to the next look are added to the logs.
  std::string run(unsigned samplings, std::vector<Knobs>& knobs, std::vector<Cycle>& next) {
    if (!scheme_->shares()) return "";
    for (unsigned i = 0; i < samplings; ++i) {
      happen();
      const Cycle answer = scheme_->look({now_, since_, present_, tenants_}, knobs_);
      if (answer <= now_) return "looks again before time has gone by";
      if (std::string broken = wrong(); !broken.empty()) return broken;
      knobs.push_back(knobs_);
      next.push_back(answer == kNever ? kNever : answer - now_);
      since_ = now_;
      now_ += answer == kNever ? 1 + rng_.below(100'000) : answer - now_;
    }
    return "";
  }

 private:
  void happen() {
    if (now_ == start_ || rng_.below(3) == 0)
      present_ = static_cast<std::uint8_t>(1 + rng_.below(255));
    for (unsigned t = 0; t < kMaxTenants; ++t) {
      TenantView& tenant = tenants_[t];
      tenant = {};
      for (std::uint32_t& blocks : resident_[t]) blocks = rng_.below(9);
      for (unsigned sm = 0; sm < kSms; ++sm) warps_[t][sm] = 4 * resident_[t][sm];
      tenant.resident_blocks = resident_[t];
      tenant.resident_warps = warps_[t];
      tenant.block = block_[t];
      tenant.max_blocks = policy::blocks_that_fit(context_.sm, block_[t]);
      if ((present_ >> t & 1) == 0 || now_ == start_ || rng_.below(4) == 0) continue;
      tenant.counts.instructions = rng_.below(1'000'000);
      tenant.counts.thread_instructions = 32 * tenant.counts.instructions;
      tenant.counts.l1d_accesses = rng_.below(100'000);
      tenant.counts.requests = tenant.counts.l1d_accesses / 2;
      tenant.counts.request_packets = tenant.counts.requests;
      tenant.counts.read_packets =
          rng_.below(static_cast<std::uint32_t>(tenant.counts.requests + 1));
      tenant.counts.token_wait_cycles = rng_.below(10'000);
      tenant.counts.starved_intervals = rng_.below(1'000);
      tenant.counts.dram_reads = rng_.below(50'000);
      tenant.counts.dram_accesses = tenant.counts.dram_reads;
    }
  }
  /// A tenant that is present must be able to go on somewhere.
  std::string wrong() const {
    if (knobs_.token_interval == 0) return "gives tokens in no time";
    for (unsigned t = 0; t < kMaxTenants; ++t) {
      const policy::TenantKnobs& of = knobs_.tenant[t];
      if (!of.block_cap.empty() && of.block_cap.size() != kSms) return "caps other SMs";
      if (of.active_blocks == 0) return "lets no block issue";
      if (!(of.request_tokens > 0)) return "grants no request";
      if (of.miss_queue == 0) return "leaves no place in the miss queues";
      if (of.lsu_queue == 0) return "leaves no place in the load/store units";
      if (of.issue_quota == 0) return "lets no warp issue";
      if ((of.l1d_ways & low_bits(context_.l1d_ways)) == 0) return "leaves no way of the L1D";
      if ((of.l2_ways & low_bits(context_.l2_ways)) == 0) return "leaves no way of the L2";
      bool somewhere = false;
      for (unsigned sm = 0; sm < kSms; ++sm) somewhere = somewhere || of.cap(sm) != 0;
      if ((present_ >> t & 1) != 0 && !somewhere)
        return "leaves no SM to tenant " + std::to_string(t);
    }
    return "";
  }

  Rng rng_;
  SchemePolicy::Context context_;
  std::unique_ptr<SchemePolicy> scheme_;
  Cycle start_, now_, since_ = start_;
  std::uint8_t present_ = 0;
  std::array<TenantView, kMaxTenants> tenants_{};
  std::array<std::vector<std::uint32_t>, kMaxTenants> resident_, warps_;
  std::array<policy::BlockResources, kMaxTenants> block_{};
  Knobs knobs_;
};

}  // namespace

std::string check_scheme(const Make<SchemePolicy>& make, std::uint64_t seed) {
  constexpr unsigned kSamplings = 200;
  std::array<std::vector<Knobs>, 3> knobs;
  std::array<std::vector<Cycle>, 3> next;
  const std::array<Cycle, 3> start = {0, 0, 123'457};
  for (unsigned i = 0; i < 3; ++i) {
    SchemePolicy::Context context;
    context.sms = kSms;
    context.seed = seed;
    context.ipc_alone.fill(100);
    RandomTenants tenants(context, make(context), start[i]);
    if (std::string broken = tenants.run(kSamplings, knobs[i], next[i]); !broken.empty())
      return broken;
  }
  if (knobs[1] != knobs[0] || next[1] != next[0]) return "the same history, other knobs";
  if (knobs[2] != knobs[0] || next[2] != next[0]) return "depends on when the run starts";
  return "";
}

}  // namespace raddle::contract
