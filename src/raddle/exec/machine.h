// The functional machine: runs launches, 32 lanes at a time, and writes or yields the op stream of
// each warp.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "raddle/exec/program.h"
#include "raddle/trace/stream.h"

namespace raddle::exec {

struct Launch {
  const Kernel* kernel = nullptr;
  trace::LaunchShape shape;
  std::span<const std::byte> parameters;  ///< laid out as parameters_of(); copied
};

struct MachineOptions {
  /// RunError after that many warp instructions of one launch; the message says which warp stands
  /// at which PTX line. 0 = no limit.
  std::uint64_t max_warp_instructions = 0;
  std::uint32_t max_shared_bytes = 232448;   ///< per block
  std::uint32_t sms = 1, warps_per_sm = 64;  ///< %nsmid, %nwarpid
  std::function<void(std::string_view)>
      print;  ///< device printf; text as formatted; without it nothing is printed
};

struct RunCount {
  std::uint64_t warp_instructions = 0, thread_instructions = 0;
};

/// Faults of the simulated program (out of bounds, misaligned, trap, assert, barrier that cannot
/// complete, runaway) are RunError and name kernel, PTX line, block, thread and address.
class Machine {
 public:
  Machine(DeviceMemory& memory, MachineOptions options);
  ~Machine();
  /// Runs every block to its end, in order, blocks one after another (several in turn where blocks
  /// wait for one another). With `streams` set, each warp's op stream goes there.
  RunCount run(const Launch& launch, trace::StreamWriter* streams);
  /// Executes as the stream is read: a warp runs on only when its reader asks for more, so what it
  /// sees of other warps depends on timing, as on a real GPU. Not concurrent(). Memory and kernel
  /// must outlive the stream.
  std::unique_ptr<trace::KernelStream> live(const Launch& launch);
  /// "avx512", "avx2" or "portable": what runs, chosen by the CPU or by environment variable
  /// RADDLE_LANES.
  static std::string_view lanes();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace raddle::exec
