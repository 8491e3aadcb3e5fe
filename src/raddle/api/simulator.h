// Raddle as a library. One object knows all that there is, policies of the caller's own among them;
// everything it runs comes back as a value. Python's module (python/) is made of this.
//
//     raddle::api::Simulator simulator;
//     raddle::api::Settings settings;
//     settings.gpu = "v100";
//     settings.policy = {"warp=gto"};
//     const raddle::api::Result result = simulator.run({"bfs", "size=small"}, settings);
//     std::uint64_t cycles = result.value()["totals"]["cycles"];
//
// Whatever is wrong with the input is an InputError, a run that fails a RunError (base/error.h),
// with the words that the program has for it. Nothing is printed and no signal is caught. Several
// simulators may be used at once, each from one thread at a time.
#pragma once
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "raddle/api/settings.h"
#include "raddle/api/variants.h"
#include "raddle/sim/corun/corun.h"
#include "raddle/sim/run/session.h"

namespace raddle::api {

/// What came of one run. A value: copies share what is in it.
class Result {
 public:
  /// What it was run or compared as.
  struct Place {
    std::string label, of_any_seed;  ///< of its variant; of a single run ""
    std::string work;                ///< with its parameters as given: "bfs size=tiny"
  };
  explicit Result(sim::Result of, Place place = {});
  /// The result JSON, schema version 1, `state_hash` included (docs/metrics.md).
  nlohmann::ordered_json value(std::size_t single_launches = sim::kMaxSingleLaunches) const;
  /// One number by its name in `raddle list metrics`: "ipc", "details.loads", "stalls.memory".
  /// Throws InputError when there is none of that name in the result.
  double metric(std::string_view name) const;
  /// What the program prints of a run.
  std::string summary() const;
  /// "16 launches timed, 44 estimated"; "" when all were timed.
  std::string timed_launches() const;
  /// How sure the cycles are then: " +- 0.44 %".
  std::string cycles_interval() const;
  /// Under which policies or settings, where several were compared.
  const std::string& label() const { return place_.label; }
  const Place& place() const { return place_; }
  /// Everything, as the simulator has it.
  const sim::Result& whole() const { return *of_; }

 private:
  std::shared_ptr<const sim::Result> of_;
  Place place_;
};

/// The page that `--report` writes; ratios are to the first result of each workload. `command` and
/// `date` are shown as they are.
std::string page(const std::vector<Result>& results, const std::string& command = "",
                 const std::string& date = "");
/// The timeline that `--timeline` writes.
std::string timeline(const std::vector<Result>& results);
/// What the program prints of a comparison of one work.
std::string comparison(const std::vector<Result>& results);
/// How much sooner it ends than `base`, in time.
double speedup(const Result& result, const Result& base);

/// What a caller wants to see of a run. Each of the functions may be empty, and may throw: that
/// ends the run.
struct Watch {
  std::function<void(const sim::Progress&)> progress = {};
  std::function<void(std::string_view)> print = {};   ///< what kernels print
  std::function<void(const std::string&)> note = {};  ///< what one should know and may not expect
  /// In cycles: series over time are kept. 0: none.
  Cycle sample_interval = 0;
  /// As `raddle analyze` has them: "cache:size_kib=8" (sim/profile/analysis.h).
  std::vector<std::string> analyses = {};
  bool for_page = false;  ///< everything that a page shows is kept
};

class Simulator {
 public:
  /// With all policies of the source tree, and those of the plug-ins that RADDLE_PLUGINS names.
  Simulator();

  /// To add policies of one's own.
  policy::Registries& policies() { return policies_; }
  const policy::Registries& policies() const { return policies_; }

  /// `words`: a workload or PTX file with its parameters as KEY=VALUE, a recording, or an Accel-Sim
  /// trace; of a recording the seed is that of its inputs.
  Result run(const std::vector<std::string>& words, const Settings& settings,
             const Watch& watch = {}) const;
  /// Each work under each variant, work by work; a work is executed once for all variants that see
  /// the same of the machine. Nothing is looked for by settings.checks.
  std::vector<Result> compare(const std::vector<std::vector<std::string>>& works,
                              const Comparison& comparison, const Settings& settings,
                              const Watch& watch = {}) const;
  /// Tenants that share the GPU.
  Result corun(const std::vector<std::vector<std::string>>& tenants, const Settings& settings,
               const sim::CorunOptions& corun, const Watch& watch = {}) const;
  /// Executes the work and keeps its op streams in `file`, which run() takes. Nothing is timed.
  Result record(const std::vector<std::string>& words, const Settings& settings,
                const std::string& file, const Watch& watch = {}) const;
  /// A GPU for host code of the caller's own: load PTX, allocate, copy, launch (runtime/device.h),
  /// then finish(). `name` and `parameters` are what its result says of it. The watch must outlive
  /// it.
  std::unique_ptr<sim::Session> session(const std::string& name,
                                        const nlohmann::ordered_json& parameters,
                                        const Settings& settings, const Watch& watch = {},
                                        std::uint64_t input_hash = 0) const;
  /// The machine that the settings describe. Throws InputError with all that is wrong with it.
  sim::Setup setup(const Settings& settings) const;

 private:
  policy::Registries policies_;
};

/// What a tenant does: executed now, or read from a recording.
sim::TenantProgram tenant_of(const std::vector<std::string>& words, const sim::Setup& setup,
                             const sim::Options& options);

}  // namespace raddle::api
