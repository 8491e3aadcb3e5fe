// Which launches of a run are timed when the others may be estimated. Programs that launch the same
// kernels hundreds of times spend most of a simulation on what has been seen already; the idea is
// that of kernel-level sampling (Sieve, ISPASS 2023; Photon, MICRO 2023), the rules are these:
//
// Launches are of one class when they are of the same kernel, grid and block and execute about as
// many warp instructions (within a quarter). In periods, every launch is timed; a period may end
// after 8 launches (then after 16, 32 ...), and does when the classes of the last 7 are known and
// the next launch's is. Known is a class whose cycles per warp instruction are known within the
// wanted error, with 95 % confidence by Student's t over its launches that count. A class's first
// launch does not count (it finds nothing of its data in the caches), nor does a launch that does
// not follow one that was timed (it finds what launches long ago have left); kernels so rare that
// each of their launches begins a period are told by those after all. Between periods,
// launches of known classes are estimated: 16 at most, twice as many after each further period
// that confirms what was known. A launch of another class begins a period.
//
// Strata. What launches take changes slowly as a program runs (caches fill, data grow), so the
// launches between two periods are told by the counted ones of these two, half by each, and not by
// all there are: what has happened once, at the start, does not weigh on thousands of launches.
//
// The error printed has two parts: what the scatter within periods says of those that were
// estimated, and how far two neighbouring periods differ, between which the truth may be anywhere.
// It knows nothing of what changes only in launches that are not timed.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "raddle/base/types.h"

namespace raddle::sim {

/// What the sampler is told of a launch of the host, with all that it launches.
struct SampledLaunch {
  std::string name;
  std::uint32_t code = 0;  ///< tells kernels of one name apart
  Dim3 grid, block;
  std::uint64_t launches = 1;  ///< itself and its descendants
  std::uint64_t warp_instructions = 0;
};

/// Launches that are taken for alike.
struct LaunchClass {
  SampledLaunch first;
  std::uint64_t timed = 0, estimated = 0;  ///< launches
  std::uint64_t estimated_instructions = 0;
  double timed_cycles = 0;  ///< of all that were timed

  /// Sums over launches: x warp instructions, y cycles.
  struct Sums {
    std::uint64_t launches = 0;
    double x = 0, y = 0, xx = 0, xy = 0, yy = 0;
    void add(double instructions, double cycles);
    double rate() const { return y / x; }
    /// Sum of the squares of what launches took beside that rate * their instructions, cycles^2.
    double squares(double rate) const;
  };
  /// Launches behind one that was timed, and those behind one that was estimated; not the first.
  using ByPlace = std::array<Sums, 2>;
  /// Launches of one period that count.
  struct Period {
    std::uint64_t number;
    ByPlace by_place;
  };
  /// Launches estimated between a period and the next.
  struct Stretch {
    std::uint64_t behind;  ///< number of the period
    std::uint64_t launches = 0, instructions = 0;
  };
  ByPlace by_place;  ///< of all periods
  std::vector<Period> periods;
  std::vector<Stretch> stretches;

  /// A launch of a period counts. Precondition: periods come in order.
  void add(std::uint64_t period, bool follows, double instructions, double cycles);
  /// A launch behind the period is estimated. Precondition: likewise.
  void estimate(std::uint64_t period, std::uint64_t instructions);

  /// Which of the two places count: the former, unless only the latter tell anything.
  bool behind_estimated() const;
  const Sums& counted() const { return by_place[behind_estimated() ? 1 : 0]; }

  /// Cycles per warp instruction. Precondition: a launch counts.
  double rate() const { return counted().rate(); }
  /// Standard deviation of a launch's cycles around rate() * its instructions, cycles.
  double scatter() const;
  /// Half of the 95 % interval of rate(), as a share of it; infinite for less than 3 launches.
  double error() const;

  /// What the counted launches of a period tell of estimated ones.
  struct Stratum {
    std::uint64_t period = 0;  ///< its number
    Sums by;                   ///< the counted launches
    double launches = 0;       ///< estimated ones ...
    double instructions = 0;   ///< ... and theirs
  };
  /// For each period that has counted launches.
  std::vector<Stratum> strata() const;
  double estimated_cycles() const;
  /// Half of the 95 % interval of estimated_cycles(), cycles.
  double half_width() const;

 private:
  double half_range(std::size_t stretch, const std::vector<Stratum>& periods) const;
};

class LaunchSampler {
 public:
  /// `error`: wanted of every class, as a share.
  explicit LaunchSampler(double error) : error_(error) {}

  /// Before next(): must the times of all launches so far have been told?
  bool wants_times() const { return !estimating() && in_period_ >= next_try_; }
  /// Decides about the next launch of the host: true = it is timed.
  bool next(const SampledLaunch& launch);
  /// The next launch is timed whatever is known, and is of no class.
  void next_aside();
  /// By how many cycles the run got longer through the oldest timed launch not told of so far.
  void measured(double cycles);

  struct Timed {
    std::size_t launch_class;  ///< kAside: of none
    bool first = true;         ///< of its class
    bool follows = false;      ///< one that was timed
    std::uint64_t warp_instructions = 0;
    std::uint64_t period = 0;  ///< number
  };
  static constexpr std::size_t kAside = ~std::size_t{0};
  /// Is the launch in its class's rate?
  bool counts(const Timed& launch) const {
    return launch.launch_class != kAside && !launch.first &&
           launch.follows != classes_[launch.launch_class].behind_estimated();
  }
  /// In order of next().
  const std::vector<Timed>& timed() const { return timed_; }
  const std::vector<LaunchClass>& classes() const { return classes_; }
  std::uint64_t estimated() const { return estimated_; }  ///< launches
  double estimated_cycles() const;
  /// Half of the 95 % interval of estimated_cycles(), cycles; classes scatter independently.
  double half_width() const;

 private:
  static constexpr std::uint64_t kPeriod = 8, kEstimates = 16;
  using Key =
      std::tuple<std::string, std::uint32_t, std::uint64_t, std::uint64_t, std::uint64_t, int>;

  bool estimating() const { return left_ > 0; }
  std::size_t class_of(const SampledLaunch& launch);
  bool known(std::size_t launch_class) const { return classes_[launch_class].error() <= error_; }
  bool all_known() const;
  void begin_period();

  double error_;
  std::vector<LaunchClass> classes_;
  std::map<Key, std::size_t> places_;
  std::vector<Timed> timed_;
  std::size_t notified_ = 0;  // of timed_
  std::uint64_t in_period_ = 0, next_try_ = kPeriod;
  std::uint64_t period_ = 0;   // number of the present one, or the last
  std::uint64_t left_ = 0;     // launches that may be estimated before the next period
  std::uint64_t stretch_ = 0;  // ... and how many that were at first
  bool follows_ = false;
  std::uint64_t estimated_ = 0;
};

}  // namespace raddle::sim
