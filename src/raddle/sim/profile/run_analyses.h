// The analyses of one run at work: of one GPU that times, or of what is executed.
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "raddle/sim/profile/analysis.h"

namespace raddle::sim {

/// How the analysed run is made, as far as analyses care.
struct AnalysedRun {
  bool timed = true;
  bool sampled = false;  ///< some launches are estimated
  bool live = false;
  bool replayed = false;
  bool some_launches = false;  ///< --first-launches
  bool corun = false;
};
/// Throws InputError on a label that is there twice, and on requests that such a run cannot have.
void check_analyses(std::span<const AnalysisRequest> requests, const AnalysedRun& run);

class RunAnalyses {
 public:
  /// Those of the requests that look at timing, on that machine.
  static RunAnalyses of_gpu(std::span<const AnalysisRequest> requests,
                            const timing::MachineSpec& machine);
  /// The others.
  static RunAnalyses of_execution(std::span<const AnalysisRequest> requests);

  bool empty() const { return kinds_.empty(); }
  /// Gives the GPU its observers, which are of this object's analyses.
  void attach(timing::Gpu& gpu, const timing::MachineSpec& machine);
  void allocated(const trace::AllocationChanges& changes);
  void submitted(const runtime::LaunchRecord& record);
  /// The one that observes words; null: none.
  runtime::DeviceObserver* of_words();
  /// Does any look at op streams?
  bool of_streams() const;
  void tree(const std::vector<runtime::LaunchedStream>& launches);

  /// Adds a table for each request to `result`, by label.
  void fill(nlohmann::ordered_json& result, const RunTotals& totals) const;
  /// The same of a GPU that has ended.
  void fill(nlohmann::ordered_json& result, timing::Gpu& gpu) const;

 private:
  /// All requests for one analysis.
  struct Kind {
    Observed observes = Observed::L1;
    std::vector<AnalysisRequest> requests = {};
    std::vector<std::size_t> positions = {};  ///< of the requests among all
    std::unique_ptr<Analysis> analysis = {};
  };
  RunAnalyses(std::span<const AnalysisRequest> requests, const timing::MachineSpec* machine);
  const Kind* first_of(Observed what) const;

  std::vector<Kind> kinds_;
};

}  // namespace raddle::sim
