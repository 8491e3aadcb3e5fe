#include "raddle/cli/shared/warps_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <vector>

#include "raddle/base/types.h"
#include "raddle/stats/instruction_counters.h"

namespace raddle::cli {

namespace {
using Json = nlohmann::ordered_json;

/// Letters of the states of warps (stats::warp_state_name).
constexpr std::array<char, stats::kWarpStates> kLetters = {'-', 'B', 'M', 'd', 'u', 'L',
                                                           'F', 's', 'f', 'T', '-', '.'};
constexpr char kIssues = '*', kNobody = ' ';

unsigned state_number(std::string_view name) {
  unsigned state = 0;
  while (stats::warp_state_name(state) != name) ++state;
  return state;
}

/// The cycles of a lane's letters.
class LaneColumns {
 public:
  LaneColumns(Cycle begin, Cycle end, unsigned maximum)
      : begin_(begin), width_((end - begin + maximum - 1) / maximum) {
    count_ = static_cast<std::size_t>((end - begin + width_ - 1) / width_);
  }
  std::size_t count() const { return count_; }
  Cycle width() const { return width_; }
  std::size_t of(Cycle at) const { return static_cast<std::size_t>((at - begin_) / width_); }
  /// Cycles of [from, to) that are in the column.
  Cycle shared(std::size_t column, Cycle from, Cycle to) const {
    const Cycle first = begin_ + column * width_;
    return std::min(to, first + width_) - std::max(from, first);
  }

 private:
  Cycle begin_, width_;
  std::size_t count_ = 0;
};

struct Lane {
  explicit Lane(std::size_t columns) : cycles(columns), issues(columns) {}
  std::vector<std::array<Cycle, stats::kWarpStates>> cycles;
  std::vector<bool> issues;
  char letter(std::size_t column) const {
    if (issues[column]) return kIssues;
    const auto& of = cycles[column];
    const auto longest = std::ranges::max_element(of);
    return *longest == 0 ? kNobody : kLetters[static_cast<std::size_t>(longest - of.begin())];
  }
};

/// By slot.
using Lanes = std::map<unsigned, Lane>;
/// In warp cycles, by state.
using Sums = std::array<Cycle, stats::kWarpStates>;

Sums enter_states(const Json& states, const LaneColumns& split, Lanes& lanes) {
  Sums sums{};
  for (const Json& run : states) {
    Lane& lane = lanes.try_emplace(run[0].get<unsigned>(), split.count()).first->second;
    const auto from = run[1].get<Cycle>(), to = run[2].get<Cycle>();
    const unsigned state = state_number(run[3].get<std::string>());
    sums[state] += to - from;
    for (std::size_t at = split.of(from); at <= split.of(to - 1); ++at)
      lane.cycles[at][state] += split.shared(at, from, to);
  }
  return sums;
}

std::string key(std::size_t issues, const Sums& sums) {
  std::string out = fmt::format("  {} {:<12} {:>9}\n", kIssues, "issues", issues);
  for (unsigned state = 0; state < stats::kWarpStates; ++state)
    if (sums[state] != 0)
      out += fmt::format("  {} {:<12} {:>9} warp cycles\n", kLetters[state],
                         stats::warp_state_name(state), sums[state]);
  return out;
}
}  // namespace

std::string warps_table(const Json& warps, unsigned columns) {
  const auto begin = warps["begin"].get<Cycle>(), end = warps["end"].get<Cycle>();
  const LaneColumns split(begin, end, columns);
  Lanes lanes;
  const Sums sums = enter_states(warps["states"], split, lanes);
  for (const Json& issue : warps["issues"])
    lanes.try_emplace(issue[0].get<unsigned>(), split.count())
        .first->second.issues[split.of(issue[1].get<Cycle>())] = true;
  std::string out = fmt::format("  warps of SM {}, cycles {} to {}, {} a letter\n",
                                warps["sm"].get<unsigned>(), begin, end, split.width());
  if (lanes.empty()) return out + "  no warp was there\n";
  for (const auto& [slot, lane] : lanes) {
    out += fmt::format("  {:>4}  ", slot);
    for (std::size_t at = 0; at < split.count(); ++at) out += lane.letter(at);
    out.erase(out.find_last_not_of(kNobody) + 1);
    out += '\n';
  }
  return out + key(warps["issues"].size(), sums);
}

}  // namespace raddle::cli
