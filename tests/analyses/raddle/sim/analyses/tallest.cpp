// tallest: of each launch of the host the most blocks; an analysis for the test.
#include <algorithm>

#include "raddle/analysis/figures.h"
#include "raddle/sim/profile/analysis.h"

namespace raddle::sim {

namespace {

class Tallest final : public Analysis {
 public:
  struct Params {
    std::uint64_t at_least = 0;
    void visit(FieldVisitor& v) {
      v.field("at_least", at_least, {0, 1000}, "blocks", "launches with fewer are not looked at");
    }
    void check() const {
      if (at_least % 2 != 0) throw InputError("at_least: expected an even number");
    }
  };
  static constexpr Observed kObserves = Observed::Streams;

  explicit Tallest(std::vector<Asked<Params>> asked)
      : asked_(std::move(asked)), maximum_(asked_.size()) {}
  void tree(const std::vector<runtime::LaunchedStream>& launches) override {
    const std::uint64_t blocks = launches.front().record.grid.count();
    for (std::size_t i = 0; i < asked_.size(); ++i)
      if (blocks >= asked_[i].params.at_least) maximum_[i] = std::max(maximum_[i], blocks);
  }
  std::vector<nlohmann::ordered_json> figures(const RunTotals&) const override {
    std::vector<nlohmann::ordered_json> out;
    for (const std::uint64_t maximum : maximum_)
      out.push_back(figures_of([&](FieldVisitor& v) { visit_most(v, maximum); }));
    return out;
  }
  static void describe(FieldVisitor& v) { visit_most(v, 0); }

 private:
  static void visit_most(FieldVisitor& v, std::uint64_t maximum) {
    v.field("most_blocks", maximum, {}, "blocks", "of a launch of the host");
  }
  std::vector<Asked<Params>> asked_;
  std::vector<std::uint64_t> maximum_;  // by request
};

}  // namespace

void add_analysis_tallest(AnalysisRegistry& r) { r.add<Tallest>("tallest", "the largest launch"); }

}  // namespace raddle::sim
