// Cache-conscious wavefront scheduling: warps that lose locality in the L1D get it more to
// themselves, because the others may not issue loads of global and local memory. Rogers, O'Connor,
// Aamodt, "Cache-Conscious Wavefront Scheduling", MICRO 2012, section 3.3; docs/mechanisms/ccws.md.
//
// Here the L1D's events become hits in the victim tags (victim_tags.h), and these become scores
// (locality_scores.h). A load that misses looks into the victim tags of its warp before the line
// that it pushes out goes into its owner's: the tags are read with the cache's, and written later.
// Lines that leave the cache for another reason than that a way was needed are not lost locality
// and stay out of the victim tags; whatever writes a line of global memory takes it out of them.
//
// `eval_period`: the set of warps that may load is computed at its multiples only, from the state
// at the start of that cycle's issue; a warp that starts in between may load until then.
#include <array>
#include <optional>
#include <string>

#include "raddle/policy/registry.h"
#include "raddle/policy/throttle/locality_scores.h"
#include "raddle/policy/throttle/policy.h"
#include "raddle/policy/throttle/victim_tags.h"

namespace raddle::policy {
namespace {

constexpr std::array<std::string_view, 3> kTotalsNames = {"resident", "kernel", "run"};
constexpr std::array<std::string_view, LocalityScores::kBuckets> kBucketNames = {
    "at_base", "up_to_2x", "up_to_4x", "up_to_8x", "up_to_16x", "up_to_32x", "above_32x"};

class Ccws final : public ThrottlePolicy, private L1Observer {
 public:
  struct Params {
    std::uint32_t k = 8, base = 100;
    std::uint32_t vta_entries = 16, vta_ways = 8;
    std::uint32_t eval_period = 1, lls_bits = 0;
    ScoreTotals totals = ScoreTotals::Resident;
    bool flush_at_kernel = false;

    void visit(FieldVisitor& v) {
      v.field("k", k, {1, 1024}, "",
              "K_THROTTLE of equation 1: how strongly lost locality throttles");
      v.field("base", base, {1, 10'000}, "points", "score of a warp that has lost nothing");
      v.field("vta_entries", vta_entries, {1, 1024}, "tags", "victim tags of a warp");
      v.field("vta_ways", vta_ways, {1, 64}, "", "of their sets, at most vta_entries");
      v.field("eval_period", eval_period, {1, 4096}, "cycles",
              "how often it is computed who may load");
      v.field("lls_bits", lls_bits, {0, 32}, "bits", "of a score, which saturates; 0 = enough");
      v.choice("totals", totals, kTotalsNames,
               "whose victim tag hits and instructions equation 1 sums up");
      v.field("flush_at_kernel", flush_at_kernel, "empty the victim tags when a kernel starts");
    }
    std::vector<std::string> violations(const MachineFacts& machine) const {
      std::vector<std::string> out;
      auto is = [](std::string_view key, std::uint64_t value) {
        return "policy.throttle." + std::string(key) + " is " + std::to_string(value);
      };
      if (!machine.l1d)
        out.push_back(
            "policy.throttle.name = \"ccws\" learns from the L1D: sm.l1d.size_kib must not be 0");
      if (vta_entries % ways() != 0)
        out.push_back("policy.throttle.vta_ways must divide policy.throttle.vta_entries (" +
                      is("vta_entries", vta_entries) + ", " + is("vta_ways", vta_ways) + ")");
      if (base >= maximum())
        out.push_back("scores of policy.throttle.lls_bits must reach above policy.throttle.base (" +
                      is("lls_bits", lls_bits) + ", " + is("base", base) + ")");
      return out;
    }
    std::uint32_t ways() const { return std::min(vta_ways, vta_entries); }
    std::uint64_t maximum() const {
      return lls_bits == 0 ? ~std::uint64_t{0} : (std::uint64_t{1} << lls_bits) - 1;
    }
  };

  Ccws(const Params& params, const Context& context)
      : params_(params),
        tags_(context.warps, params.vta_entries, params.ways()),
        scores_({params.base, params.k, params.maximum(), params.totals}) {}

  void on_warp_start(Cycle now, unsigned slot) override {
    scores_.start(now, slot);
    running_ |= WarpMask{1} << slot;
  }
  void on_warp_end(Cycle now, unsigned slot) override {
    scores_.end(now, slot);
    running_ &= ~(WarpMask{1} << slot);
    denied_ &= running_;
  }
  void on_issue(unsigned slot) override { scores_.issue(slot); }
  void on_kernel_start(Cycle) override {
    scores_.kernel_start();
    if (params_.flush_at_kernel) {
      tags_.clear();
      evicted_.reset();
    }
  }
  L1Observer* l1_observer() override { return this; }
  void visit_statistics(FieldVisitor& v) override {
    stats_.visit(v);
    v.enter("scores", "warp-cycles by score");
    auto histogram = scores_.histogram();
    for (unsigned b = 0; b < LocalityScores::kBuckets; ++b)
      v.field(kBucketNames[b], histogram[b], {}, "warp-cycles", "score in multiples of the base");
    v.leave();
  }

 private:
  struct Stats {
    std::uint64_t vta_probes = 0, vta_hits = 0, vta_insertions = 0, score_sum = 0, changes = 0;
    void visit(FieldVisitor& v) {
      v.field("vta_probes", vta_probes, {}, "misses", "load misses looked up in the victim tags");
      v.field("vta_hits", vta_hits, {}, "misses", "of these: lines the warp had lost");
      v.field("vta_insertions", vta_insertions, {}, "lines", "that lost their way to another");
      v.field("score_sum", score_sum, {}, "points", "equation 1, summed over the hits");
      v.field("changes", changes, {}, "", "other warps than before were allowed to load");
    }
  };

  Admission admit(const ThrottleView& view) override {
    const Cycle period = params_.eval_period, next = (view.now / period + 1) * period;
    if (view.now % period != 0) return {~WarpMask{0}, ~denied_, next};
    const auto [may, until] = scores_.allowed(view.now);
    const WarpMask denied = running_ & ~may;
    stats_.changes += denied != denied_;
    denied_ = denied;
    if (until == kNever) return {~WarpMask{0}, ~denied_, kNever};
    return {~WarpMask{0}, ~denied_, (until + period - 1) / period * period};
  }

  // --- the L1D ---------------------------------------------------------------------------------
  void access(const L1Access& e) override {
    if (e.kind == L1Kind::Load && e.outcome == L1Outcome::Miss) probe(e);
    insert_evicted();
    if (e.kind != L1Kind::Load && e.outcome != L1Outcome::Refused && !e.local) tags_.remove(e.line);
  }
  void evicted(const L1Eviction& e) override {
    insert_evicted();
    if (e.why == L1Eviction::Why::Replaced) evicted_ = {e.line, e.brought_by};
  }
  void filled(const L1Fill&) override { insert_evicted(); }

  void probe(const L1Access& e) {
    ++stats_.vta_probes;
    if (!tags_.holds(e.warp, e.line)) return;
    ++stats_.vta_hits;
    scores_.hit(e.at, e.warp);
    stats_.score_sum += scores_.detected();
    ask_again();
  }
  /// The line pushed out last goes into the victim tags: after the access that it made room for.
  void insert_evicted() {
    if (!evicted_) return;
    ++stats_.vta_insertions;
    tags_.insert(evicted_->warp, evicted_->line);
    evicted_.reset();
  }

  struct Evicted {
    std::uint32_t line;
    unsigned warp;
  };
  Params params_;
  VictimTags tags_;
  LocalityScores scores_;
  std::optional<Evicted> evicted_;
  WarpMask running_ = 0, denied_ = 0;
  Stats stats_;
};

}  // namespace

void add_throttle_ccws(Registry<ThrottlePolicy>& r) {
  r.add<Ccws>("ccws", "cache-conscious: only warps that lose locality, and a few others, may load");
}

}  // namespace raddle::policy
