#include "raddle/sim/sampling/launch_sampler.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "raddle/base/error.h"

namespace raddle::sim {

namespace {

/// Two-sided 95 % quantile of Student's t. Beyond 10 degrees of freedom 1.96 + 2.5 / n is within
/// 0.1 % of it.
double student_t(std::uint64_t degrees) {
  constexpr std::array kFrom2 = {4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228};
  RADDLE_ASSERT(degrees >= 2);
  return degrees < 2 + kFrom2.size() ? kFrom2[degrees - 2]
                                     : 1.96 + 2.5 / static_cast<double>(degrees);
}

constexpr std::uint64_t kFewest = 3;  // launches that tell anything of a scatter

}  // namespace

void LaunchClass::Sums::add(double instructions, double cycles) {
  ++launches;
  x += instructions;
  y += cycles;
  xx += instructions * instructions;
  xy += instructions * cycles;
  yy += cycles * cycles;
}

bool LaunchClass::behind_estimated() const {
  return by_place[0].launches < kFewest && by_place[1].launches >= kFewest;
}

double LaunchClass::scatter() const {
  const Sums& s = counted();
  if (s.launches < 2) return 0;
  const double r = rate();
  const double squares = s.yy - 2 * r * s.xy + r * r * s.xx;
  return std::sqrt(std::max(squares, 0.0) / static_cast<double>(s.launches - 1));
}

double LaunchClass::error() const {
  const Sums& s = counted();
  if (s.launches < kFewest) return std::numeric_limits<double>::infinity();
  if (s.y == 0) return 0;
  const auto n = static_cast<double>(s.launches);
  return student_t(s.launches - 1) * scatter() * std::sqrt(n) / s.y;
}

double LaunchClass::half_width() const {
  if (estimated == 0) return 0;
  // Each estimated launch scatters as those that count do, and the rate itself is not exact.
  const Sums& s = counted();
  const auto n = static_cast<double>(s.launches), m = static_cast<double>(estimated);
  const double share = static_cast<double>(estimated_instructions) / s.x;  // m / n of equal ones
  return student_t(s.launches - 1) * scatter() * std::sqrt(m + share * share * n);
}

std::size_t LaunchSampler::class_of(const SampledLaunch& launch) {
  const auto size = static_cast<int>(
      std::floor(std::log(static_cast<double>(launch.warp_instructions)) / std::log(1.25)));
  auto packed = [](Dim3 d) {
    return (std::uint64_t{d.x} << 32) ^ (std::uint64_t{d.y} << 16) ^ d.z;
  };
  const Key key{launch.name, packed(launch.grid), packed(launch.block), launch.launches, size};
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
    ++of.estimated;
    ++estimated_;
    of.estimated_instructions += launch.warp_instructions;
    follows_ = false;
    if (--left_ == 0) begin_period();
    return false;
  }
  timed_.push_back({place, of.timed == 0, follows_, launch.warp_instructions});
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
    of.by_place[launch.follows ? 0 : 1].add(static_cast<double>(launch.warp_instructions), cycles);
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
