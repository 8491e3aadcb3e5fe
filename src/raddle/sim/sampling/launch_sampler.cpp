#include "raddle/sim/sampling/launch_sampler.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "raddle/base/error.h"
#include "raddle/base/student.h"

namespace raddle::sim {

namespace {

constexpr std::uint64_t kFewest = 3;  // launches that tell anything of a scatter
/// Of what may be anywhere in a range: its standard deviation in half ranges, times 1.96.
constexpr double kOfRange = 1.96 / 1.7320508;

}  // namespace

void LaunchClass::Sums::add(double instructions, double cycles) {
  ++launches;
  x += instructions;
  y += cycles;
  xx += instructions * instructions;
  xy += instructions * cycles;
  yy += cycles * cycles;
}

double LaunchClass::Sums::squares(double rate) const {
  return std::max(yy - 2 * rate * xy + rate * rate * xx, 0.0);
}

void LaunchClass::add(std::uint64_t period, bool follows, double instructions, double cycles) {
  const unsigned place = follows ? 0 : 1;
  by_place[place].add(instructions, cycles);
  RADDLE_ASSERT(periods.empty() || periods.back().number <= period);
  if (periods.empty() || periods.back().number != period) periods.push_back({period, {}});
  periods.back().by_place[place].add(instructions, cycles);
}

void LaunchClass::estimate(std::uint64_t period, std::uint64_t instructions) {
  ++estimated;
  estimated_instructions += instructions;
  RADDLE_ASSERT(stretches.empty() || stretches.back().behind <= period);
  if (stretches.empty() || stretches.back().behind != period) stretches.push_back({period});
  ++stretches.back().launches;
  stretches.back().instructions += instructions;
}

bool LaunchClass::behind_estimated() const {
  return by_place[0].launches < kFewest && by_place[1].launches >= kFewest;
}

double LaunchClass::scatter() const {
  const Sums& s = counted();
  if (s.launches < 2) return 0;
  return std::sqrt(s.squares(rate()) / static_cast<double>(s.launches - 1));
}

double LaunchClass::error() const {
  const Sums& s = counted();
  if (s.launches < kFewest) return std::numeric_limits<double>::infinity();
  if (s.y == 0) return 0;
  const auto n = static_cast<double>(s.launches);
  return student_t(s.launches - 1) * scatter() * std::sqrt(n) / s.y;
}

namespace {

/// The first period behind a stretch, of those that tell something.
std::size_t place_behind(std::uint64_t period, const std::vector<LaunchClass::Stratum>& periods) {
  return static_cast<std::size_t>(
      std::ranges::upper_bound(periods, period, {}, &LaunchClass::Stratum::period) -
      periods.begin());
}

}  // namespace

std::vector<LaunchClass::Stratum> LaunchClass::strata() const {
  const unsigned place = behind_estimated() ? 1 : 0;
  std::vector<Stratum> out;
  for (const Period& period : periods)
    if (const Sums& s = period.by_place[place]; s.launches != 0)
      out.push_back({period.number, s, 0, 0});
  if (out.empty()) return out;
  for (const Stretch& stretch : stretches) {
    const std::size_t behind = place_behind(stretch.behind, out);
    // Before the first period or behind the last both are the same one.
    Stratum& one = out[behind == 0 ? 0 : behind - 1];
    Stratum& other = out[std::min(behind, out.size() - 1)];
    for (Stratum* by : {&one, &other}) {
      by->launches += 0.5 * static_cast<double>(stretch.launches);
      by->instructions += 0.5 * static_cast<double>(stretch.instructions);
    }
  }
  return out;
}

double LaunchClass::estimated_cycles() const {
  double sum = 0;
  for (const Stratum& period : strata()) sum += period.by.rate() * period.instructions;
  return sum;
}

/// How far the cycles of a stretch may be from what its two periods tell. Behind the last period:
/// if they drift on as before, by twice the last change at most.
double LaunchClass::half_range(std::size_t stretch, const std::vector<Stratum>& periods) const {
  if (periods.size() < 2) return 0;
  const Stretch& of = stretches[stretch];
  const std::size_t behind =
      std::clamp<std::size_t>(place_behind(of.behind, periods), 1, periods.size() - 1);
  double change = 0.5 * std::abs(periods[behind].by.rate() - periods[behind - 1].by.rate());
  if (stretch != 0 && of.behind >= periods.back().period)
    change *= std::min(2.0, static_cast<double>(of.launches) /
                                static_cast<double>(stretches[stretch - 1].launches));
  return change * static_cast<double>(of.instructions);
}

double LaunchClass::half_width() const {
  const Sums& all = counted();
  if (estimated == 0 || all.launches < kFewest) return 0;
  const std::vector<Stratum> all_strata = strata();
  double squares = 0;
  for (const Stratum& period : all_strata) squares += period.by.squares(period.by.rate());
  std::uint64_t degrees = all.launches - all_strata.size();
  // Periods of one launch or two say nothing of the scatter within them.
  const bool within = degrees >= 2 && 2 * degrees >= all.launches;
  if (!within) {
    squares = all.squares(rate());
    degrees = all.launches - 1;
  }
  const double variance = squares / static_cast<double>(degrees);
  // Each estimated launch scatters as those that count do, and their period's rate is not exact.
  double launches = 0;
  for (const Stratum& period : all_strata) {
    const double share = period.instructions / period.by.x;  // launches / n of equal ones
    launches += period.launches + share * share * static_cast<double>(period.by.launches);
  }
  // What drifts one way does so everywhere, so ranges add up.
  double ranges = 0;
  for (std::size_t i = 0; i < stretches.size(); ++i) ranges += half_range(i, all_strata);
  const double t = student_t(degrees);
  return std::hypot(t * std::sqrt(variance * launches), kOfRange * ranges);
}

std::size_t LaunchSampler::class_of(const SampledLaunch& launch) {
  const auto size = static_cast<int>(
      std::floor(std::log(static_cast<double>(launch.warp_instructions)) / std::log(1.25)));
  auto packed = [](Dim3 d) {
    return (std::uint64_t{d.x} << 32) ^ (std::uint64_t{d.y} << 16) ^ d.z;
  };
  const Key key{launch.name,          launch.code,     packed(launch.grid),
                packed(launch.block), launch.launches, size};
  const auto [place, is_new] = places_.try_emplace(key, classes_.size());
  if (is_new) classes_.emplace_back().first = launch;
  return place->second;
}

bool LaunchSampler::all_known() const {
  RADDLE_ASSERT(notified_ == timed_.size());
  const std::size_t last = std::min<std::size_t>(kPeriod - 1, in_period_);
  return std::all_of(
      timed_.end() - static_cast<std::ptrdiff_t>(last), timed_.end(),
      [&](const Timed& t) { return t.launch_class != kAside && known(t.launch_class); });
}

void LaunchSampler::begin_period() {
  ++period_;
  left_ = 0;
  in_period_ = 0;
  next_try_ = kPeriod;
}

bool LaunchSampler::next(const SampledLaunch& launch) {
  RADDLE_ASSERT(launch.warp_instructions > 0);
  const std::size_t place = class_of(launch);
  if (estimating() && !known(place)) begin_period();
  if (!estimating() && in_period_ >= next_try_) {
    if (all_known() && known(place)) {
      stretch_ = stretch_ == 0 ? kEstimates : 2 * stretch_;
      left_ = stretch_;
    } else {
      next_try_ = 2 * in_period_;
      stretch_ = 0;
    }
  }
  LaunchClass& of = classes_[place];
  if (estimating()) {
    ++estimated_;
    of.estimate(period_, launch.warp_instructions);
    follows_ = false;
    if (--left_ == 0) begin_period();
    return false;
  }
  timed_.push_back({place, of.timed == 0, follows_, launch.warp_instructions, period_});
  ++of.timed;
  ++in_period_;
  follows_ = true;
  return true;
}

void LaunchSampler::next_aside() {
  begin_period();
  timed_.push_back({kAside});
  follows_ = true;
}

void LaunchSampler::measured(double cycles) {
  const Timed& launch = timed_.at(notified_++);
  if (launch.launch_class == kAside) return;
  LaunchClass& of = classes_[launch.launch_class];
  of.timed_cycles += cycles;
  if (!launch.first)
    of.add(launch.period, launch.follows, static_cast<double>(launch.warp_instructions), cycles);
}

double LaunchSampler::estimated_cycles() const {
  double sum = 0;
  for (const LaunchClass& c : classes_) sum += c.estimated_cycles();
  return sum;
}

double LaunchSampler::half_width() const {
  double squares = 0;
  for (const LaunchClass& c : classes_) squares += c.half_width() * c.half_width();
  return std::sqrt(squares);
}

}  // namespace raddle::sim
