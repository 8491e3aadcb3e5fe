// UCP: utility-based cache partitioning. Qureshi and Patt, MICRO 2006 (utility.h). A monitor for
// each tenant counts in one of `sample` sets how many hits each further way would bring it; every
// `interval` cycles the ways are divided by that, at least one for each tenant that has used the
// cache, and what was counted is halved. A tenant with fewer lines in a set than it has ways takes
// the least recently used way of the others, else its own least recently used. Until the first
// division the order of use decides alone.
//
// Each SM divides its own L1D. Left out: the limit of eight bits on counters, stores that do not
// bring their line (they are told and counted only where they find it), and lines that a store or
// an atomic removes, which stay in the shadow tags.
#include <array>
#include <bit>

#include "raddle/policy/registry.h"
#include "raddle/policy/replacement/policy.h"
#include "raddle/policy/replacement/utility.h"

namespace raddle::policy {
namespace {

class Ucp final : public ReplacementPolicy {
 public:
  struct Params {
    std::uint32_t interval = 50'000, sample = 4;
    void visit(FieldVisitor& v) {
      v.field("interval", interval, {100, 1'000'000'000}, "cycles", "ways are divided this often");
      v.field("sample", sample, {1, 1024}, "sets", "one of so many is monitored");
    }
  };
  Ucp(const Params& params, const Context& context)
      : params_(params),
        ways_(context.ways),
        monitor_(kMaxTenants,
                 UtilityMonitor((context.sets + params.sample - 1) / params.sample, ways_)) {}

  unsigned victim(const SetView& view) const override {
    const std::uint64_t own = view.owned_by(view.tenant);
    const auto lines = static_cast<unsigned>(std::popcount(own));
    if (!divided_) return view.oldest(view.candidates);
    const bool takes = lines < std::max(1u, quota_[index(view.tenant)]);
    const std::uint64_t from = view.candidates & (takes ? ~own : own);
    return view.oldest(from != 0 ? from : view.candidates);
  }
  void accessed(const CacheAccess& a) override {
    for (; a.now >= next_; next_ += params_.interval) divide();
    if (a.set % params_.sample == 0)
      monitor_[index(a.tenant)].access(a.set / params_.sample, a.line);
  }
  void placed(const CachePlace& p) override { ++stats_.lines[index(p.tenant)]; }
  void flushed() override {
    for (UtilityMonitor& m : monitor_) m.flush();
  }
  void visit_statistics(FieldVisitor& v) override { stats_.visit(v); }

 private:
  struct Stats {
    std::uint64_t divisions = 0;
    std::array<std::uint64_t, kMaxTenants> ways{}, lines{};
    void visit(FieldVisitor& v) {
      v.field("divisions", divisions, {}, "", "times the ways were divided, by SM");
      for (unsigned t = 0; t < kMaxTenants; ++t)
        v.field("ways_" + std::to_string(t), ways[t], {}, "ways",
                "that tenant's at these times, summed");
      for (unsigned t = 0; t < kMaxTenants; ++t)
        v.field("lines_" + std::to_string(t), lines[t], {}, "lines", "that tenant's, brought");
    }
  };

  /// Among the tenants that have used the cache; those of many that find no way left get none.
  void divide() {
    std::array<WayUser, kMaxTenants> users;
    std::array<unsigned, kMaxTenants> who{};
    unsigned n = 0;
    for (unsigned t = 0; t < kMaxTenants && n < ways_; ++t)
      if (monitor_[t].accesses() != 0) {
        users[n] = {monitor_[t].hits()};
        who[n++] = t;
      }
    if (n == 0) return;
    divide_ways(std::span(users).first(n), ways_);
    quota_ = {};
    for (unsigned i = 0; i < n; ++i) stats_.ways[who[i]] += quota_[who[i]] = users[i].ways;
    for (UtilityMonitor& m : monitor_) m.halve();
    divided_ = true;
    ++stats_.divisions;
  }

  Params params_;
  unsigned ways_;
  std::vector<UtilityMonitor> monitor_;        // by tenant
  std::array<unsigned, kMaxTenants> quota_{};  // by tenant
  bool divided_ = false;
  Cycle next_ = params_.interval;
  Stats stats_;
};

}  // namespace

void add_replacement_ucp(Registry<ReplacementPolicy>& r) {
  r.add<Ucp>("ucp", "ways are divided among tenants by the hits that they would bring (UCP)");
}

}  // namespace raddle::policy
