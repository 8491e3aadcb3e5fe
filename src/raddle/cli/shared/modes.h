// Which options hold in which ways of running a command. Each option is declared once, where it is
// added. Whoever runs says how, and every option that was given and does not hold then is refused
// by name. So no option is silently ignored.
#pragma once
#include <CLI/CLI.hpp>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace raddle::cli {

/// How a command goes about its work.
enum class Mode : std::uint8_t {
  Workload,     ///< is executed and timed; by record: executed
  Functional,   ///< is executed only
  Cuda,         ///< on a real GPU
  Corun,        ///< several that share the GPU
  Program,      ///< a CUDA program of the user's, as Workload
  Trace,        ///< a recording or a trace of others: nothing is executed
  Compared,     ///< the same work several times, or with a GPU's
  Kept,         ///< the same, and runs are kept
  Measured,     ///< with measurements of a file
  Suite,        ///< with those that come with the program
  OwnProfile,   ///< with a profile of the user's
  MeasureOnly,  ///< nothing is simulated
  Count
};
/// As messages name them.
inline constexpr std::array<std::string_view, static_cast<std::size_t>(Mode::Count)> kModeNames = {
    "a simulated workload",
    "an execution without timing (--functional)",
    "a run on a real GPU (--on cuda)",
    "a co-run (A + B with --horizon)",
    "a CUDA program (behind --)",
    "a recording or trace",
    "a comparison that is not kept",
    "runs that are kept (--results)",
    "measurements of a file (--measured)",
    "measurements that come with raddle (--suite)",
    "a profile of yours (--ncu, --nsys)",
    "a measurement alone (--measure-only)"};

class ModeSet {
 public:
  constexpr ModeSet() = default;
  constexpr ModeSet(std::initializer_list<Mode> modes) {
    for (const Mode mode : modes) bits_ |= bit(mode);
  }
  constexpr bool contains(Mode mode) const { return (bits_ & bit(mode)) != 0; }
  constexpr ModeSet with(ModeSet others) const { return ModeSet(bits_ | others.bits_); }
  constexpr ModeSet without(ModeSet others) const { return ModeSet(bits_ & ~others.bits_); }

 private:
  constexpr explicit ModeSet(std::uint32_t bits) : bits_(bits) {}
  static constexpr std::uint32_t bit(Mode mode) { return 1u << static_cast<unsigned>(mode); }
  std::uint32_t bits_ = 0;
};

/// Everything that simulates, timed or not.
inline constexpr ModeSet kSimulated = {
    Mode::Workload, Mode::Functional, Mode::Corun,    Mode::Program, Mode::Trace,
    Mode::Compared, Mode::Kept,       Mode::Measured, Mode::Suite,   Mode::OwnProfile};
inline constexpr ModeSet kAll = {Mode::Workload, Mode::Functional, Mode::Cuda,
                                 Mode::Corun,    Mode::Program,    Mode::Trace,
                                 Mode::Compared, Mode::Kept,       Mode::Measured,
                                 Mode::Suite,    Mode::OwnProfile, Mode::MeasureOnly};
inline constexpr ModeSet kTimed = kSimulated.without({Mode::Functional});
/// Timed in this process, with all launches one by one.
inline constexpr ModeSet kSingle = kTimed.without({Mode::Corun, Mode::Kept});

/// Of one command.
class OptionModes {
 public:
  OptionModes(std::string command, ModeSet of_command)
      : command_(std::move(command)), of_command_(of_command) {}
  /// Says in which modes a new option holds.
  CLI::Option* add(CLI::Option* option, ModeSet modes);
  /// Says so of an option that was added and has another meaning in this command.
  void change(const CLI::App& command, const std::string& name, ModeSet modes);
  /// Options of the command that nobody has added hold in every mode.
  void add_others(const CLI::App& command);
  /// Throws InputError that names an option that was given and does not hold in the mode.
  void check(Mode mode) const;

  ModeSet of_command() const { return of_command_; }
  /// Precondition: the option was added.
  ModeSet of(const CLI::Option* option) const { return modes_.at(option); }
  bool knows(const CLI::Option* option) const { return modes_.contains(option); }

 private:
  std::string command_;
  ModeSet of_command_;
  std::vector<const CLI::Option*> order_;
  std::map<const CLI::Option*, ModeSet> modes_;
};

}  // namespace raddle::cli
