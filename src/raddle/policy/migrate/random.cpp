// Warps move at random, now and then: to find out whether moving loses anything, and what moving
// without a reason costs.
#include "raddle/base/rng.h"
#include "raddle/policy/migrate/policy.h"
#include "raddle/policy/registry.h"

namespace raddle::policy {
namespace {

class Random final : public MigratePolicy {
 public:
  struct Params {
    std::uint32_t interval = 300;
    Passage passage;
    void visit(FieldVisitor& v) {
      v.field("interval", interval, {1, 1'000'000}, "cycles",
              "between two rounds, in each of which every SM moves one warp if it can");
      passage.visit(v);
    }
    std::vector<std::string> violations(const MachineFacts& machine) const {
      std::vector<std::string> out;
      if (!machine.mesh)
        out.emplace_back(
            "policy.migrate.name = \"random\" sends warps from SM to SM: noc.topology must be "
            "\"mesh\"");
      if (!machine.l1d)
        out.emplace_back(
            "policy.migrate.name = \"random\" moves loads that wait in MSHRs of the L1D: "
            "sm.l1d.size_kib must not be 0");
      return out;
    }
  };
  Random(const Params& params, const Context& context)
      : params_(params),
        rng_(context.seed, "migrate"),
        slots_(context.warps),
        next_(params.interval) {}

  Passage passage() const override { return params_.passage; }

  Cycle look(MigrateView& view) override {
    if (view.now() < next_) return next_;
    const auto sms = static_cast<std::uint32_t>(view.mshrs().size());
    for (std::uint32_t sm = 0; sm < sms; ++sm) {
      // As many numbers are drawn whatever is found, so that rounds do not hang on one another.
      const auto to = static_cast<std::uint32_t>(rng_.below(sms));
      const auto first = static_cast<unsigned>(rng_.below(slots_));
      for (unsigned i = 0; i < slots_; ++i) {
        const unsigned slot = (first + i) % slots_;
        if ((view.resident(sm) >> slot & 1) == 0) continue;
        if (!view.fits(sm, {&slot, 1}, to) || !view.may_leave(sm, slot)) continue;
        ++stats_.warps;
        stats_.again += view.warp(sm, slot).adopted ? 1 : 0;
        view.move({sm, slot, to});
        break;
      }
    }
    next_ = (view.now() / params_.interval + 1) * params_.interval;
    return next_;
  }

  void visit_statistics(FieldVisitor& v) override { stats_.visit(v); }

 private:
  struct Stats {
    std::uint64_t warps = 0, again = 0;
    void visit(FieldVisitor& v) {
      v.field("warps", warps, {}, "warps", "that left an SM");
      v.field("warps_again", again, {}, "warps", "of these: from an SM that had adopted them");
    }
  };
  Params params_;
  Rng rng_;
  unsigned slots_;
  Cycle next_;
  Stats stats_;
};

}  // namespace

void add_migrate_random(Registry<MigratePolicy>& r) {
  r.add<Random>("random", "every SM moves a warp now and then, to any other (a test)");
}

}  // namespace raddle::policy
