// footprint: which lines parents, children and siblings share, where kernels launch kernels
// (analysis/footprint.h).
#include "raddle/analysis/footprint.h"

#include "raddle/sim/profile/analysis.h"

namespace raddle::sim {

namespace {

class FootprintAnalysis final : public Analysis {
 public:
  struct Params {
    std::uint32_t line_bytes = 128;
    void visit(FieldVisitor& v) {
      v.field("line_bytes", line_bytes, {}, "bytes", "of a line: a power of two from 4 to 4096");
    }
    void check() const {
      if (!analysis::SharedFootprint::valid_line(line_bytes))
        throw InputError("line_bytes: expected a power of two from 4 to 4096, found " +
                         std::to_string(line_bytes));
    }
  };
  static constexpr Observed kObserves = Observed::Streams;

  explicit FootprintAnalysis(const std::vector<Asked<Params>>& asked) {
    for (const Asked<Params>& one : asked) footprints_.emplace_back(one.params.line_bytes);
  }
  void tree(const std::vector<runtime::LaunchedStream>& launches) override {
    std::vector<analysis::SharedFootprint::Launch> tree;
    tree.reserve(launches.size());
    for (const auto& [stream, record] : launches)
      tree.push_back({stream.get(), record.origin ? &*record.origin : nullptr});
    for (analysis::SharedFootprint& one : footprints_) one.tree(tree);
  }

  std::vector<nlohmann::ordered_json> figures(const RunTotals&) const override {
    std::vector<nlohmann::ordered_json> out;
    for (const analysis::SharedFootprint& one : footprints_)
      out.push_back(figures_of([&](FieldVisitor& v) { one.visit(v); }));
    return out;
  }
  static void describe(FieldVisitor& v) { analysis::SharedFootprint(Params().line_bytes).visit(v); }

 private:
  std::vector<analysis::SharedFootprint> footprints_;  // by request
};

}  // namespace

void add_analysis_footprint(AnalysisRegistry& r) {
  r.add<FootprintAnalysis>("footprint", "which lines parents, children and siblings share");
}

}  // namespace raddle::sim
