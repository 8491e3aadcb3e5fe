// What a simulation is asked for, in the words of the command line.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "raddle/config/said_once.h"
#include "raddle/config/tree.h"
#include "raddle/policy/all.h"
#include "raddle/sim/run/named_workload.h"
#include "raddle/sim/run/simulation.h"

namespace raddle::api {

inline constexpr unsigned kMaxThreads = 256;
inline constexpr double kMinStreamGib = 0.001, kMaxStreamGib = 1e6;

struct Settings {
  std::string gpu = "v100";              ///< a name, or a file of TOML or JSON
  std::vector<std::string> set;          ///< PATH=VALUE or PATH=xFACTOR
  std::vector<std::string> policy;       ///< LEVEL=NAME[:key=value,...]
  std::uint64_t max_cycles = 0;          ///< 0 = not given
  std::uint64_t seed = 0;                ///< 0 = not given
  std::vector<std::string> checks = {};  ///< of exec::kCheckNames
  unsigned threads = 1;
  bool functional = false, live = false, no_skip = false;
  std::uint64_t first_launches = 0;  ///< 0 = all
  double max_stream_gib = 2;         ///< memory of one launch's op stream
  bool cold_l2 = false;
  std::string sampling_error = {};  ///< as written; empty = every launch is timed

  /// Throws InputError when one is out of range or two of them exclude each other.
  void check() const;
  /// Throws InputError that names one of these options, where it or its setting was given:
  /// "--check does not hold for a recording or trace: leave it out".
  void refuse(std::initializer_list<std::string_view> options, std::string_view of) const;
  /// Refuses --live and --functional. `why`: what is done instead.
  void check_always_timed(const std::string& why) const;
  /// What is recorded is not timed; of a recording, nothing is executed either.
  void check_record(bool of_recording) const;
  /// Whether a seed was given, by its own option or by --set.
  bool says_seed() const;
  /// A setting that has a member of its own.
  struct OptionSetting {
    std::string path, value;
    std::string option;  ///< "--seed"
  };
  /// Those that were given.
  std::vector<OptionSetting> option_settings() const;
  /// Everything that is said here of the machine. Throws InputError where something says the same
  /// as another.
  config::SaidOnce said(const policy::Registries& policies) const;
  /// The machine with that applied, and with `alternative` in place of policies of the same levels.
  /// Throws InputError, also where something is said twice.
  config::Tree tree(const policy::Registries& policies,
                    std::span<const std::string> alternative = {}) const;
  /// How `setup` is to be run; says nothing of what is printed and observed. Throws InputError.
  sim::Options options(const sim::Setup& setup) const;
};

/// Of the series over time that pages and timelines show.
inline constexpr Cycle kSampleInterval = 256;

/// A workload by name, or a PTX file; `parameters` are key=value, "size" among them.
sim::NamedWorkload make_workload(const std::string& name,
                                 const std::vector<std::string>& parameters);

/// One entry of a list of policies: "gto", "block=chunk", "two_level:group_size=4", several joined
/// by '+'.
struct PolicySet {
  std::string label;
  std::vector<std::string> settings;  ///< for Tree::set_policy: LEVEL=NAME[:key=value,...]
};
/// Splits and resolves names to levels. Throws InputError on unknown or ambiguous names.
std::vector<PolicySet> parse_policies(const std::string& list, const policy::Registries& policies);

}  // namespace raddle::api
