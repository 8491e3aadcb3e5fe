// warps: what each warp of an SM does in a window of cycles: what it issues, what keeps it from
// issuing, and which access or which other warp it waits for. All of it is exact.

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "raddle/analysis/figures.h"
#include "raddle/base/limits.h"
#include "raddle/sim/profile/analysis.h"
#include "raddle/timing/sm/warp_window.h"

namespace raddle::sim {

namespace {

using Json = nlohmann::ordered_json;
using timing::WarpWindow;

constexpr auto kOutcomes =
    std::to_array<std::string_view>({"hit", "pending_hit", "miss", "refused", "forwarded"});

/// Numbers of the instructions that were issued, in order of their first issue.
class Instructions {
 public:
  std::size_t number(const WarpWindow::Issue& issue) {
    const auto [at, fresh] =
        numbers_.try_emplace(std::pair(issue.code, issue.inst), numbers_.size());
    if (fresh) described_.push_back(described(issue.code->code(), issue.inst));
    return at->second;
  }
  Json take() { return std::move(described_); }

 private:
  static Json described(const trace::KernelCode& code, std::uint32_t number) {
    const trace::StaticInst& inst = code.instructions.at(number);
    Json out = {{"kernel", code.name}, {"line", inst.line}};
    if (inst.opcode < code.opcode_names.size()) out["instruction"] = code.opcode_names[inst.opcode];
    if (const trace::SourcePlace& at = inst.source; at.line != 0)
      out["source"] = {{"file", code.source_files.at(at.file)}, {"line", at.line}};
    return out;
  }
  std::map<std::pair<const timing::DecodedKernel*, std::uint32_t>, std::size_t> numbers_;
  Json described_ = Json::array();
};

/// Arrivals at barriers, by block.
class Arrivals {
 public:
  explicit Arrivals(const WarpWindow& window) : window_(window) {
    const auto& issues = window.issues();
    for (std::uint32_t i = 0; i < issues.size(); ++i) {
      if (issues[i].route != timing::Route::Barrier) continue;
      of_slot_[issues[i].slot].push_back(i);
      of_block_[issues[i].block].push_back(i);
    }
  }
  /// The last of the warp's block to arrive at a barrier before it went on.
  std::optional<std::uint32_t> last(const WarpWindow::Run& run) const {
    const std::uint32_t own = last_before(of_slot_[run.slot], run.from + 1);
    if (own == WarpWindow::kNone || run.to == window_.end()) return {};
    return last_before(of_block_[window_.issues()[own].block], run.to);
  }

 private:
  using Numbers = std::vector<std::uint32_t>;
  std::uint32_t last_before(const Numbers& numbers, Cycle end) const {
    const auto behind = std::ranges::lower_bound(
        numbers, end, {}, [&](std::uint32_t number) { return window_.issues()[number].at; });
    return behind == numbers.begin() ? WarpWindow::kNone : *std::prev(behind);
  }
  const WarpWindow& window_;
  std::array<Numbers, timing::SmSpec::kMaxWarps> of_slot_;
  std::array<Numbers, 256> of_block_;
};

Json described_run(const WarpWindow::Run& run, const Arrivals& arrivals) {
  Json out = {run.slot, run.from, run.to, stats::warp_state_name(run.state)};
  if (run.access != WarpWindow::kNone) {
    out.push_back(run.access);
  } else if (run.state == static_cast<unsigned>(stats::Stall::Barrier)) {
    if (const auto last = arrivals.last(run)) out.push_back(*last);
  }
  return out;
}

Json described_access(const WarpWindow::Access& access) {
  Json out = {{"issue", access.issue}, {"lines", Json::array()}};
  for (const WarpWindow::Line& line : access.lines) {
    Json one = {line.line, line.at, kOutcomes[static_cast<unsigned>(line.outcome)]};
    if (line.filled != kNever) one.push_back(line.filled);
    out["lines"].push_back(std::move(one));
  }
  return out;
}

void describe_states(FieldVisitor& v) {
  using analysis::figure;
  v.enter("warps", "a list of those that had a slot");
  figure(v, "slot", 0, "of the SM");
  figure(v, "scheduler", 0, "that issues for it");
  figure(v, "from", 0, "cycle in which it came");
  figure(v, "launch", 0, "in order of submission");
  figure(v, "block", 0, "of the launch");
  figure(v, "warp", 0, "of the block");
  v.leave();
  v.enter("states", "a list of lists: what the warp in a slot was in, numbers in this order");
  figure(v, "slot", 0, "of the SM");
  figure(v, "from", 0, "first cycle");
  figure(v, "to", 0, "cycle behind the last one");
  figure(v, "state", 0, "a stall reason, or ready: another warp goes");
  figure(v, "cause", 0,
         "where known: of memory the number of the access whose data it needs, of a barrier the "
         "number of the issue that came last");
  v.leave();
}

void describe_issues(FieldVisitor& v) {
  using analysis::figure;
  v.enter("issues", "a list of lists, numbers in this order");
  figure(v, "slot", 0, "of the SM");
  figure(v, "cycle", 0, "of the issue");
  figure(v, "instruction", 0, "number in the list of instructions");
  figure(v, "access", 0, "number in the list of accesses, of those that have one");
  v.leave();
  v.enter("accesses", "a list of what goes to the load/store unit");
  figure(v, "issue", 0, "number in the list of issues");
  v.enter("lines", "a list of lists, in this order");
  figure(v, "line", 0, "address over the size of a line");
  figure(v, "at", 0, "cycle in which the L1D answers");
  figure(v, "outcome", 0, "hit, pending_hit, miss or forwarded");
  figure(v, "filled", 0, "cycle in which the data came, unless they were there");
  v.leave();
  v.leave();
}

class WarpsAnalysis final : public Analysis {
 public:
  struct Params {
    static constexpr std::uint32_t kLongest = 20'000, kLast = 4'000'000'000;
    std::uint32_t sm = 0, begin = 0, end = 1000;
    void visit(FieldVisitor& v) {
      v.field("sm", sm, {0, kMaxSms - 1}, "", "the SM whose warps are followed");
      v.field("begin", begin, {0, kLast}, "cycles", "first cycle of the window");
      v.field("end", end, {1, kLast}, "cycles", "cycle behind the last one");
    }
    void check() const {
      if (end <= begin || end - begin > kLongest)
        throw InputError("end must be 1 to " + std::to_string(kLongest) +
                         " cycles behind begin, is " + std::to_string(end) + " with begin " +
                         std::to_string(begin));
    }
  };
  static constexpr Observed kObserves = Observed::Warps;

  WarpsAnalysis(const std::vector<Asked<Params>>& asked, const timing::MachineSpec& machine)
      : params_(asked.front().params), schedulers_(machine.sm) {
    if (asked.size() > 1) throw InputError("analysis warps: there can be one, of one SM");
    if (params_.sm >= machine.sm.count)
      refuse_analysis(asked.front().label, "sm must be below sm.count, " +
                                               std::to_string(machine.sm.count) + ", is " +
                                               std::to_string(params_.sm));
  }
  Window window() const override { return {params_.sm, params_.begin, params_.end}; }
  std::vector<Json> figures(const RunTotals& totals) const override {
    RADDLE_ASSERT(totals.window != nullptr);
    const WarpWindow& window = *totals.window;
    Json out = {{"sm", params_.sm}, {"begin", window.begin()}, {"end", window.end()}};
    Instructions instructions;
    Json issues = Json::array();
    for (const WarpWindow::Issue& issue : window.issues()) {
      Json one = {issue.slot, issue.at, instructions.number(issue)};
      if (issue.access != WarpWindow::kNone) one.push_back(issue.access);
      issues.push_back(std::move(one));
    }
    out["instructions"] = instructions.take();
    out["warps"] = Json::array();
    for (const WarpWindow::Life& life : window.lives())
      out["warps"].push_back({{"slot", life.slot},
                              {"scheduler", schedulers_.scheduler_of(life.slot)},
                              {"from", life.from},
                              {"launch", life.launch},
                              {"block", life.block},
                              {"warp", life.index}});
    out["states"] = Json::array();
    const Arrivals arrivals(window);
    for (const WarpWindow::Run& run : window.runs())
      out["states"].push_back(described_run(run, arrivals));
    out["issues"] = std::move(issues);
    out["accesses"] = Json::array();
    for (const WarpWindow::Access& access : window.accesses())
      out["accesses"].push_back(described_access(access));
    return {std::move(out)};
  }
  static void describe(FieldVisitor& v) {
    using analysis::figure;
    figure(v, "sm", 0, "whose warps they are");
    figure(v, "begin", 0, "first cycle of the window");
    figure(v, "end", 0, "cycle behind the last one");
    v.enter("instructions", "a list of those that were issued: kernel, name, source, and");
    figure(v, "line", 0, "of the PTX");
    v.leave();
    describe_states(v);
    describe_issues(v);
  }

 private:
  Params params_;
  timing::SchedulerSlots schedulers_;
};

}  // namespace

void add_analysis_warps(AnalysisRegistry& r) {
  r.add<WarpsAnalysis>("warps",
                       "what each warp of an SM does in a window of cycles, and what it waits for");
}

}  // namespace raddle::sim
