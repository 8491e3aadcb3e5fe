// An analysis of a run, and how it is found by name. An analysis file (sim/analyses/NAME.cpp)
// defines its class, with its parameters, what it observes and its figures, and ends with
//     void add_analysis_NAME(AnalysisRegistry& r) { r.add<TheClass>("NAME", "what it tells"); }
// CMake lists the folder, so dropping the file in and building is enough: `raddle analyze`,
// `raddle list analyses` and experiment files know it. The registry is an object, not a static:
// tests make their own. Analyses observe and decide nothing, so a run with them is the run without.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "raddle/base/error.h"
#include "raddle/base/fields.h"
#include "raddle/config/writer.h"
#include "raddle/policy/observer.h"
#include "raddle/runtime/device_observer.h"
#include "raddle/timing/gpu/gpu.h"

namespace raddle::sim {

/// What an analysis looks at. In a result, figures stand in this order, then as asked for.
enum class Observed : std::uint8_t {
  L1,            ///< the events of each SM's L1D, in a timing run
  Memory,        ///< accesses on their way through L1, L2 and DRAM, in a timing run
  Instructions,  ///< what each instruction does and where warps wait, in a timing run
  Warps,         ///< what the warps of an SM do, cycle by cycle, in a timing run
  Words,         ///< each word that a thread loads or stores, while it is executed
  Streams,       ///< op streams, launch by launch, as executed
};
inline constexpr auto kObservedNames = std::to_array<std::string_view>(
    {"events of the L1Ds in a timing run", "traffic of L1, L2 and DRAM in a timing run",
     "instructions in a timing run", "warps of an SM in a timing run",
     "words that threads load and store", "op streams of launches"});
/// Each GPU that times has an analysis of its own; else there is one of what is executed.
constexpr bool is_timed(Observed what) { return what <= Observed::Warps; }

/// Cycles [begin, end) of an SM.
struct Window {
  unsigned sm = 0;
  Cycle begin = 0, end = 0;
};

/// What the timing of a run knows at its end.
struct RunTotals {
  std::uint64_t thread_instructions = 0, warp_instructions = 0;
  const timing::Profile* profile = nullptr;    ///< of Observed::Instructions
  const timing::WarpWindow* window = nullptr;  ///< of Observed::Warps
};

/// All requests of one kind, at work. It overrides what it observes.
class Analysis {
 public:
  virtual ~Analysis() = default;
  /// Of Observed::L1 and Memory, for each of the GPU's SMs and slices of the L2; null: none.
  virtual policy::L1Observer* of_sm(unsigned) { return nullptr; }
  virtual policy::L2Observer* of_slice(unsigned) { return nullptr; }
  /// Of Memory: what launches from the next submitted() on find otherwise; in the order in which
  /// the GPU numbers launches, while it does not run.
  virtual void allocated(const trace::AllocationChanges&) {}
  virtual void submitted(const runtime::LaunchRecord&) {}
  /// Of Instructions: cycles between looks at where warps stand.
  virtual Cycle sample_interval() const { return 0; }
  /// Of Warps.
  virtual Window window() const { return {}; }
  /// Of Words.
  virtual runtime::DeviceObserver* of_words() { return nullptr; }
  /// Of Streams: a launch of the host with all that descend from it. The streams can be read
  /// several times.
  virtual void tree(const std::vector<runtime::LaunchedStream>&) {}

  /// A table of figures for each request, in order.
  virtual std::vector<nlohmann::ordered_json> figures(const RunTotals& totals) const = 0;
};

struct AnalysisRequest;

/// An analysis chosen by name, its parameters at their defaults until a reader visits them.
class AnalysisChoice {
 public:
  virtual ~AnalysisChoice() = default;
  virtual std::string_view name() const = 0;
  virtual std::string_view doc() const = 0;
  virtual Observed observes() const = 0;
  virtual void visit(FieldVisitor& v) = 0;
  virtual nlohmann::ordered_json parameters() const = 0;
  /// Throws InputError on parameters that cannot be.
  virtual void check() const = 0;
  /// The figures of a request, with units and what they mean.
  virtual void describe(FieldVisitor& v) const = 0;
  /// One for all the requests, which are of this kind. `machine`: that is timed; of analyses that
  /// do not look at timing, null. Throws InputError naming the label of what cannot be had.
  virtual std::unique_ptr<Analysis> make(std::span<const AnalysisRequest> requests,
                                         const timing::MachineSpec* machine) const = 0;
};

struct AnalysisRequest {
  std::string label;  ///< of its table in the result
  std::shared_ptr<const AnalysisChoice> choice;
};

/// A request as the analysis itself gets it.
template <class Params>
struct Asked {
  std::string label;
  Params params;
};
[[noreturn]] void refuse_analysis(const std::string& label, const std::string& why);

class AnalysisRegistry {
 public:
  /// A: derives from Analysis and has
  ///   struct Params { void visit(FieldVisitor&); }, with void check() const where some cannot be
  ///   static constexpr Observed kObserves
  ///   static void describe(FieldVisitor&)
  ///   A(std::vector<Asked<Params>>, const timing::MachineSpec&); not timed: without the machine
  template <class A>
  void add(std::string_view name, std::string_view doc) {
    const bool fresh =
        makers_
            .emplace(name, Maker{doc,
                                 [](std::string_view n, std::string_view d) {
                                   return std::unique_ptr<AnalysisChoice>(new ChoiceOf<A>(n, d));
                                 }})
            .second;
    if (!fresh) throw InputError("two analyses are called '" + std::string(name) + "'");
  }
  /// Throws InputError with the known names and a near one when there is no such analysis.
  std::unique_ptr<AnalysisChoice> choose(std::string_view name) const;
  std::vector<std::string> names() const;

 private:
  template <class A>
  class ChoiceOf final : public AnalysisChoice {
   public:
    ChoiceOf(std::string_view name, std::string_view doc) : name_(name), doc_(doc) {}
    std::string_view name() const override { return name_; }
    std::string_view doc() const override { return doc_; }
    Observed observes() const override { return A::kObserves; }
    void visit(FieldVisitor& v) override { params_.visit(v); }
    nlohmann::ordered_json parameters() const override {
      typename A::Params copy = params_;
      return config::to_json(copy);
    }
    void check() const override {
      if constexpr (requires { params_.check(); }) params_.check();
    }
    void describe(FieldVisitor& v) const override { A::describe(v); }
    std::unique_ptr<Analysis> make(std::span<const AnalysisRequest> requests,
                                   const timing::MachineSpec* machine) const override {
      std::vector<Asked<typename A::Params>> asked;
      for (const AnalysisRequest& request : requests) {
        RADDLE_ASSERT(request.choice->name() == name_);
        asked.push_back({request.label, static_cast<const ChoiceOf<A>&>(*request.choice).params_});
      }
      if constexpr (is_timed(A::kObserves)) {
        RADDLE_ASSERT(machine != nullptr);
        return std::make_unique<A>(std::move(asked), *machine);
      } else {
        return std::make_unique<A>(std::move(asked));
      }
    }

   private:
    std::string name_, doc_;
    typename A::Params params_;
  };
  struct Maker {
    std::string_view doc;
    std::unique_ptr<AnalysisChoice> (*make)(std::string_view, std::string_view);
  };
  std::map<std::string, Maker, std::less<>> makers_;
};

/// A fresh registry with every analysis of sim/analyses. CMake writes it from the folder.
AnalysisRegistry all_analyses();

/// For analyses without parameters.
struct NoAnalysisParams {
  void visit(FieldVisitor&) {}
};

/// The fields of what `visit(FieldVisitor&)` visits, as figures.
template <class F>
nlohmann::ordered_json figures_of(F visit) {
  config::JsonWriter writer;
  visit(writer);
  return writer.take();
}

// --- requests -----------------------------------------------------------------------------------

/// "cache", "cache:size_kib=8,replacement=lru+belady", or with a label of its own
/// "small=cache:size_kib=8"; without one the label is the name. `origin` stands for the file in
/// errors. Throws InputError with everything that is wrong with it.
AnalysisRequest read_analysis(std::string_view text, const std::string& origin,
                              const AnalysisRegistry& registry = all_analyses());
/// The same with label, name and settings KEY=VALUE apart.
AnalysisRequest request_analysis(const std::string& label, std::string_view name,
                                 const std::vector<std::string>& settings,
                                 const std::string& origin,
                                 const AnalysisRegistry& registry = all_analyses());

/// What a report shows: source lines, with fewer looks than who asks for them alone, and traffic by
/// allocation, except of a co-run.
std::vector<AnalysisRequest> analyses_for_report(bool corun);

}  // namespace raddle::sim
