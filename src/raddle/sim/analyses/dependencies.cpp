// dependencies: which block, launch or host has written what threads load
// (analysis/dependencies.h).
#include "raddle/analysis/dependencies.h"

#include "raddle/sim/profile/analysis.h"

namespace raddle::sim {

namespace {

/// What happens at a device, handed on.
class WordObserver final : public runtime::DeviceObserver {
 public:
  void allocated(Address at, std::uint64_t bytes) override { all_.allocated(at, bytes); }
  void freed(Address at) override { all_.freed(at); }
  void host_wrote(Address word) override { all_.host_wrote(word); }
  void begin(const runtime::LaunchRecord& r) override { all_.begin(r.name, r.grid); }
  void end() override { all_.end(); }
  Tag load(const Thread& t, Address word) override { return all_.load(t.block, t.number, word); }
  void use(const Thread& t, Tag tag) override { all_.use(t.block, t.number, tag); }
  void store(const Thread& t, Address at, unsigned bytes) override {
    all_.store(t.block, t.number, at, bytes);
  }
  void unseen() override { all_.unseen(); }
  void ended(std::uint32_t block) override { all_.ended(block); }
  void visit(FieldVisitor& v) const { all_.visit(v); }

 private:
  analysis::Dependencies all_;
};

class DependenciesAnalysis final : public Analysis {
 public:
  using Params = NoAnalysisParams;
  static constexpr Observed kObserves = Observed::Words;

  explicit DependenciesAnalysis(const std::vector<Asked<Params>>& asked)
      : requests_(asked.size()) {}
  runtime::DeviceObserver* of_words() override { return &words_; }
  std::vector<nlohmann::ordered_json> figures(const RunTotals&) const override {
    return std::vector(requests_, figures_of([&](FieldVisitor& v) { words_.visit(v); }));
  }
  static void describe(FieldVisitor& v) { analysis::Dependencies().visit(v); }

 private:
  std::size_t requests_;
  WordObserver words_;
};

}  // namespace

void add_analysis_dependencies(AnalysisRegistry& r) {
  r.add<DependenciesAnalysis>("dependencies",
                              "which block, launch or host has written what threads load");
}

}  // namespace raddle::sim
