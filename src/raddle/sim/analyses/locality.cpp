// locality: who hits on whose line in the L1D (analysis/locality.h).
#include <memory>

#include "raddle/analysis/l1_figures.h"
#include "raddle/analysis/locality.h"
#include "raddle/sim/profile/analysis.h"

namespace raddle::sim {

namespace {

class LocalityAnalysis final : public Analysis {
 public:
  using Params = NoAnalysisParams;
  static constexpr Observed kObserves = Observed::L1;

  LocalityAnalysis(const std::vector<Asked<Params>>& asked, const timing::MachineSpec& machine)
      : requests_(asked.size()) {
    if (machine.sm.l1d.size_kib == 0)
      refuse_analysis(asked.front().label, "the machine has no L1D (sm.l1d.size_kib = 0)");
    for (unsigned sm = 0; sm < machine.sm.count; ++sm)
      observers_.push_back(std::make_unique<analysis::LocalityObserver>());
  }
  policy::L1Observer* of_sm(unsigned sm) override { return observers_.at(sm).get(); }

  std::vector<nlohmann::ordered_json> figures(const RunTotals& totals) const override {
    analysis::LocalityCounts counts;
    for (const auto& observer : observers_) counts += observer->counts();
    const nlohmann::ordered_json table = figures_of([&](FieldVisitor& v) {
      analysis::visit_locality(v, counts, {totals.thread_instructions, totals.warp_instructions});
    });
    return std::vector(requests_, table);
  }
  static void describe(FieldVisitor& v) { analysis::visit_locality(v, {}, {}); }

 private:
  std::size_t requests_;
  std::vector<std::unique_ptr<analysis::LocalityObserver>> observers_;  // by SM
};

}  // namespace

void add_analysis_locality(AnalysisRegistry& r) {
  r.add<LocalityAnalysis>("locality", "who hits on whose line in the L1D");
}

}  // namespace raddle::sim
