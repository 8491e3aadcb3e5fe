// Checks of what kernels do with memory, in the manner of compute-sanitizer: made while launches
// are executed, and told when the run is over. docs/cuda.md, "Checks", tells users of them.
//
//   races          two warps of a block access a byte of shared memory, one of them writes it, and
//                  nothing puts them in order; or two threads of a warp store different values to
//                  one place in one instruction. Strong accesses do not race with each other.
//   uninitialised  a thread loads a byte of global memory that nobody has written since it was
//                  allocated, or of shared memory that nobody has written since the block began.
//
// What is in order is decided by vector clocks (warp_clocks.h), which barriers and words written
// with release pass on, so that it does not matter in which order the warps happened to run. Warps
// are taken to run in step: accesses of one warp are in the order of its instructions.
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "raddle/exec/memory/written_bytes.h"

namespace raddle::exec {

enum class Check : std::uint8_t { Races, Uninitialised };
inline constexpr std::array<std::string_view, 2> kCheckNames = {"races", "uninitialised"};

struct CheckOptions {
  bool races = false, uninitialised = false;
  bool any() const { return races || uninitialised; }
  bool operator==(const CheckOptions&) const = default;
};

/// By name. Throws InputError for one that is none.
CheckOptions check_options(const std::vector<std::string>& names);

/// What one instruction of a kernel does, or a pair of them.
struct Finding {
  Check check;
  std::string kernel;       ///< for people
  std::string text;         ///< the first time
  std::uint64_t times = 0;  ///< accesses of a thread
};

/// Of a device, over all its launches.
class AccessChecks {
 public:
  explicit AccessChecks(CheckOptions options) : options_(options) {}
  const CheckOptions& options() const { return options_; }

  /// Global memory, as the host and kernels use it.
  WrittenBytes& memory() { return memory_; }

  /// `kind`, `first` and `second` tell findings of a kernel apart; `text` is asked for a new one.
  void found(Check check, std::string_view kernel, unsigned kind, std::uint32_t first,
             std::uint32_t second, const std::function<std::string()>& text);
  /// Shared memory of the kernel is not looked at.
  void leave_out(std::string_view kernel, std::string_view why) {
    left_out_.try_emplace(std::string(kernel), why);
  }

  const std::vector<Finding>& findings() const { return findings_; }
  /// Why, by kernel.
  const std::map<std::string, std::string>& left_out() const { return left_out_; }
  /// Findings beyond the most that are told.
  std::uint64_t more() const { return more_; }
  static constexpr std::size_t kMaxFindings = 200;

 private:
  using Key = std::tuple<Check, std::string, unsigned, std::uint32_t, std::uint32_t>;
  CheckOptions options_;
  WrittenBytes memory_;
  std::vector<Finding> findings_;
  std::map<Key, std::size_t> known_;
  std::map<std::string, std::string> left_out_;
  std::uint64_t more_ = 0;
};

}  // namespace raddle::exec
