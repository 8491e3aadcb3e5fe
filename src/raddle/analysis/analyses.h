// The analyses of one simulation: asked for by name, attached to its SMs beside the policies,
// evaluated when the run is over. They observe and decide nothing, so a run with them is the run
// without them.
//
//   locality      who hits on whose line in the timing run (locality.h)
//   dependencies  which block, launch or host has written what threads load (dependencies.h)
//   footprint     which lines parents, children and siblings share (footprint.h)
//   allocations   which buffers accesses go to, and what the caches and DRAM do for each
//   source        what each line of the kernels has done and what warps waited for there
//   cache         the run's accesses replayed in a cache of another kind or size (replay.h); all
//                 requests for it share one recording
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "raddle/analysis/locality.h"
#include "raddle/analysis/recorder.h"
#include "raddle/analysis/replay.h"
#include "raddle/base/fields.h"

namespace raddle::analysis {

struct LocalityOptions {
  static constexpr std::string_view kName = "locality";
  void visit(FieldVisitor&) {}
};

struct CacheOptions {
  static constexpr std::string_view kName = "cache";
  std::string replacement = "lru+belady+unbounded";
  std::uint32_t size_kib = 0, ways = 0;  ///< 0: as the machine's L1D
  void visit(FieldVisitor& v);
  /// Throws InputError on a name that is unknown or there twice.
  std::vector<Replacement> replacements() const;
};

/// Of the functional run and not of an SM's L1D: sim attaches it to the device (dependencies.h).
struct DependenciesOptions {
  static constexpr std::string_view kName = "dependencies";
  void visit(FieldVisitor&) {}
};

/// Of the op streams and not of an SM's L1D: sim hands them over (footprint.h).
struct FootprintOptions {
  static constexpr std::string_view kName = "footprint";
  static constexpr std::uint32_t kWord = 4;  ///< bytes of the smallest line: what op streams know
  std::uint32_t line_bytes = 128;
  void visit(FieldVisitor& v);
  /// Throws InputError when there is no such line.
  void check() const;
};

/// Of the L2 and DRAM, too: sim attaches it (allocations.h).
struct AllocationsOptions {
  static constexpr std::string_view kName = "allocations";
  void visit(FieldVisitor&) {}
};

/// Of a timing run's instructions and not of an SM's L1D: sim asks the GPU for it.
struct SourceOptions {
  static constexpr std::string_view kName = "source";
  std::uint32_t interval_cycles = 64;
  void visit(FieldVisitor& v);
};

struct Request {
  std::string label;  ///< of its table in the result
  std::variant<LocalityOptions, CacheOptions, DependenciesOptions, FootprintOptions,
               AllocationsOptions, SourceOptions>
      what;
};

/// The L1Ds that are observed.
struct L1Machine {
  unsigned sms = 1;
  std::uint32_t size_kib = 32, ways = 8;
  L1Rules rules;
};

/// Of the run, for figures per thousand.
struct Instructions {
  std::uint64_t thread = 0, warp = 0;
};

class Analyses {
 public:
  /// Throws InputError on a label that is there twice and on caches that cannot be built.
  /// Precondition: requests for cache and locality only.
  Analyses(std::vector<Request> requests, const L1Machine& machine);
  /// Calls f(sm, observer); observers live as long as this.
  template <class F>
  void each_observer(F f) {
    for (unsigned sm = 0; sm < recorders_.size(); ++sm) f(sm, *recorders_[sm]);
    for (unsigned sm = 0; sm < localities_.size(); ++sm) f(sm, *localities_[sm]);
  }
  /// A table of figures for each request, by label. Replays happen here, one SM at a time.
  void visit(const Instructions& instructions, FieldVisitor& v) const;

 private:
  struct Replay {
    Replacement replacement;
    Geometry geometry;
    ReplayCounts counts;
  };
  Geometry geometry(const Request& request, const CacheOptions& options) const;
  std::vector<std::vector<Replay>> replays() const;

  std::vector<Request> requests_;
  L1Machine machine_;
  SpillFile spill_;
  std::vector<std::unique_ptr<Recorder>> recorders_;           // by SM; none without a replay
  std::vector<std::unique_ptr<LocalityObserver>> localities_;  // by SM; none unless asked for
};

}  // namespace raddle::analysis
