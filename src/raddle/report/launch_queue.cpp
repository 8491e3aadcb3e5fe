#include "raddle/report/launch_queue.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "raddle/base/error.h"

namespace raddle::report {

namespace {

/// How many spans of time cover each interval, summed over its cycles. A span costs the same
/// however long it is.
class Cover {
 public:
  Cover(Cycle interval, std::size_t intervals)
      : interval_(interval), open_(intervals + 1), partly_(intervals + 1) {}
  /// From `from` on, up to `to`. Precondition: from <= to <= intervals * interval.
  void add(Cycle from, Cycle to) {
    from_now_on(from, 1);
    from_now_on(to, -1);
  }
  std::vector<double> cycles() const {
    std::vector<double> out;
    std::int64_t open = 0;
    for (std::size_t i = 0; i + 1 < open_.size(); ++i) {
      open += open_[i];
      out.push_back(static_cast<double>(open * static_cast<std::int64_t>(interval_) + partly_[i]));
    }
    return out;
  }

 private:
  void from_now_on(Cycle at, std::int64_t n) {
    const std::size_t in = at / interval_;
    RADDLE_ASSERT(in < open_.size());
    open_[in] += n;
    partly_[in] -= n * static_cast<std::int64_t>(at % interval_);  // the part before `at`
  }
  Cycle interval_;
  std::vector<std::int64_t> open_, partly_;
};

}  // namespace

LaunchQueue launch_queue(std::span<const DeviceLaunch> launches, Cycle cycles,
                         std::size_t intervals) {
  RADDLE_ASSERT(intervals > 0);
  LaunchQueue out;
  out.interval = std::max<Cycle>(1, (cycles + intervals - 1) / intervals);
  const std::size_t used = (cycles + out.interval - 1) / out.interval;
  Cover all(out.interval, used);
  std::map<std::uint32_t, Cover> by_sm;
  for (const DeviceLaunch& launch : launches) {
    RADDLE_ASSERT(launch.first <= cycles);
    all.add(launch.start, launch.first);
    by_sm.try_emplace(launch.parent_sm, out.interval, used)
        .first->second.add(launch.start, launch.first);
  }
  out.waiting = all.cycles();
  out.longest_of_an_sm.resize(used);
  for (const auto& [sm, cover] : by_sm) {
    const std::vector<double> of = cover.cycles();
    std::ranges::transform(out.longest_of_an_sm, of, out.longest_of_an_sm.begin(),
                           [](double a, double b) { return std::max(a, b); });
  }
  for (std::size_t i = 0; i < used; ++i) {
    const auto length = static_cast<double>(std::min(out.interval, cycles - i * out.interval));
    out.waiting[i] /= length;
    out.longest_of_an_sm[i] /= length;
  }
  return out;
}

nlohmann::ordered_json to_json(const LaunchQueue& queue) {
  const auto rounded = [](const std::vector<double>& values) {
    nlohmann::ordered_json out = nlohmann::ordered_json::array();
    for (const double value : values) out.push_back(std::round(100 * value) / 100);
    return out;
  };
  return {{"interval", queue.interval},
          {"waiting", rounded(queue.waiting)},
          {"longest_of_an_sm", rounded(queue.longest_of_an_sm)}};
}

}  // namespace raddle::report
