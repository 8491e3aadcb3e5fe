// cache: the run's L1D accesses replayed SM by SM in caches of other kinds and sizes
// (analysis/replay.h). All requests share one recording.
#include <algorithm>
#include <array>
#include <memory>

#include "raddle/analysis/figures.h"
#include "raddle/analysis/l1_figures.h"
#include "raddle/analysis/recorder.h"
#include "raddle/analysis/replay.h"
#include "raddle/sim/profile/analysis.h"
#include "raddle/sim/profile/l1_machine.h"

namespace raddle::sim {

namespace {

using analysis::figure;
using analysis::Replacement;

class CacheAnalysis final : public Analysis {
 public:
  struct Params {
    std::string replacement = "lru+belady+unbounded";
    std::uint32_t size_kib = 0, ways = 0;

    void visit(FieldVisitor& v) {
      v.field("replacement", replacement, "any of lru, belady and unbounded, joined by +");
      v.field("size_kib", size_kib, {0, 65536}, "KiB", "capacity; 0 = as the L1D of the run");
      v.field("ways", ways, {0, 65536}, "", "lines of a set; 0 = as the L1D of the run");
    }
    void check() const { replacements(); }
    /// Throws InputError on a name that is unknown or there twice.
    std::vector<Replacement> replacements() const;
  };
  static constexpr Observed kObserves = Observed::L1;

  CacheAnalysis(std::vector<Asked<Params>> asked, const timing::MachineSpec& machine)
      : asked_(std::move(asked)), l1_(observed_l1(machine)) {
    for (const Asked<Params>& one : asked_) {
      if (l1_.size_kib == 0)
        refuse_analysis(one.label, "the machine has no L1D (sm.l1d.size_kib = 0)");
      geometry(one);
    }
    for (unsigned sm = 0; sm < l1_.sms; ++sm)
      recorders_.push_back(std::make_unique<analysis::Recorder>(spill_));
  }
  policy::L1Observer* of_sm(unsigned sm) override { return recorders_.at(sm).get(); }

  std::vector<nlohmann::ordered_json> figures(const RunTotals& totals) const override {
    const analysis::Instructions instructions{totals.thread_instructions, totals.warp_instructions};
    std::vector<nlohmann::ordered_json> out;
    for (const std::vector<Replay>& of_request : replays())
      out.push_back(figures_of([&](FieldVisitor& v) {
        visit_geometry(v, of_request.front().geometry, l1_.rules.line_bytes);
        for (const Replay& one : of_request) visit_one(v, one, instructions);
      }));
    return out;
  }
  static void describe(FieldVisitor& v) {
    visit_geometry(v, {}, analysis::L1Rules{}.line_bytes);
    for (unsigned i = 0; i < analysis::kReplacementNames.size(); ++i)
      visit_one(v, {.replacement = static_cast<Replacement>(i)}, {});
  }

 private:
  struct Replay {
    Replacement replacement = Replacement::Lru;
    analysis::Geometry geometry = {};
    analysis::ReplayCounts counts = {};
  };

  static void visit_geometry(FieldVisitor& v, const analysis::Geometry& g,
                             std::uint32_t line_bytes) {
    figure(v, "size_kib", std::uint64_t{g.sets} * g.ways * line_bytes / 1024,
           "capacity of one SM's cache; the largest, where it follows the kernels' shared memory");
    figure(v, "ways", g.ways, "lines of a set");
    figure(v, "line_bytes", line_bytes, "");
  }
  static void visit_one(FieldVisitor& v, const Replay& one,
                        const analysis::Instructions& instructions) {
    v.enter(analysis::kReplacementNames[static_cast<unsigned>(one.replacement)], "");
    analysis::visit_replay(v, one.counts, instructions);
    v.leave();
  }

  analysis::Geometry geometry(const Asked<Params>& asked) const {
    const std::uint64_t size = asked.params.size_kib == 0 ? l1_.size_kib : asked.params.size_kib;
    const std::uint32_t ways = asked.params.ways == 0 ? l1_.ways : asked.params.ways;
    const std::uint64_t set = std::uint64_t{ways} * l1_.rules.line_bytes;
    RADDLE_ASSERT(set != 0);
    if (size * 1024 % set != 0)
      refuse_analysis(asked.label, "size_kib = " + std::to_string(size) +
                                       " is not a whole number of sets of " + std::to_string(ways) +
                                       " ways x " + std::to_string(l1_.rules.line_bytes) +
                                       " bytes");
    return {static_cast<std::uint32_t>(size * 1024 / set), ways,
            asked.params.size_kib == 0 && asked.params.ways == 0};
  }

  /// By request.
  std::vector<std::vector<Replay>> replays() const {
    std::vector<std::vector<Replay>> out(asked_.size());
    for (std::size_t i = 0; i < asked_.size(); ++i)
      for (const Replacement replacement : asked_[i].params.replacements())
        out[i].push_back({replacement, geometry(asked_[i]), {}});
    for (const auto& recorder : recorders_) {
      analysis::Accesses accesses(recorder->stream(), l1_.rules);
      for (std::size_t i = 0; i < out.size(); ++i)
        for (Replay& one : out[i]) {
          const analysis::Geometry first = geometry(asked_[i]);
          one.counts += analysis::replay(accesses, one.replacement, first);
          if (first.follows) one.geometry = accesses.largest(one.geometry);
        }
    }
    return out;
  }

  std::vector<Asked<Params>> asked_;
  L1Machine l1_;
  SpillFile spill_;
  std::vector<std::unique_ptr<analysis::Recorder>> recorders_;  // by SM
};

std::vector<Replacement> CacheAnalysis::Params::replacements() const {
  std::vector<Replacement> out;
  for (std::size_t at = 0; at <= replacement.size();) {
    const std::size_t end = std::min(replacement.find('+', at), replacement.size());
    const std::string name = replacement.substr(at, end - at);
    const auto known = std::ranges::find(analysis::kReplacementNames, name);
    if (known == analysis::kReplacementNames.end())
      throw InputError("replacement: expected lru, belady or unbounded, found '" + name + "'");
    const auto one = static_cast<Replacement>(known - analysis::kReplacementNames.begin());
    if (std::ranges::find(out, one) != out.end())
      throw InputError("replacement: '" + name + "' is there twice");
    out.push_back(one);
    at = end + 1;
  }
  return out;
}

}  // namespace

void add_analysis_cache(AnalysisRegistry& r) {
  r.add<CacheAnalysis>("cache", "the L1D's accesses replayed in caches of other kinds and sizes");
}

}  // namespace raddle::sim
