// The functional machine: runs launches, 32 lanes at a time, and writes or yields the op stream of
// each warp.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "raddle/exec/memory/memory.h"
#include "raddle/exec/memory/texture.h"
#include "raddle/exec/run/access_checks.h"
#include "raddle/exec/run/access_observer.h"
#include "raddle/trace/stream.h"

namespace raddle::trace {
class MemoryTrace;
}

namespace raddle::exec {

class DeviceGrid;
class Kernel;

/// What a kernel's access to global memory outside of its allocations does.
enum class OutOfBounds : std::uint8_t {
  Fault,   ///< ends the launch
  Page,    ///< as on a GPU: goes on within mapped pages, and is told and counted
  Ignore,  ///< the same without a word
};

struct Launch {
  const Kernel* kernel = nullptr;
  trace::LaunchShape shape;
  std::span<const std::byte> parameters;  ///< laid out as parameters_of(); copied
  /// All blocks run in turn, and the kernel gets the workspace that the grid barrier of cooperative
  /// groups needs. Precondition: the machine holds them all at once (the caller asks the timing
  /// model); timing should use live(), because only there does the barrier wait in simulated time.
  bool cooperative = false;
  /// Blocks of a cluster; {0, 0, 0}: as the kernel's .reqnctapercluster says, else 1.
  Dim3 cluster{0, 0, 0};
  /// Notes what the grid launches itself; without it such a launch is RunError.
  DeviceGrid* device = nullptr;
};

/// How far a launch that is being executed has come.
struct LaunchProgress {
  std::string kernel;  ///< for people
  std::uint32_t block = 0;
  std::uint64_t blocks = 0, warp_instructions = 0;
  /// Where the warp that runs stands, with its source line.
  std::function<std::string()> place;
};

struct MachineOptions {
  /// RunError after that many warp instructions of one launch; the message says which warp stands
  /// at which PTX line. 0 = no limit.
  std::uint64_t max_warp_instructions = 0;
  std::uint32_t max_shared_bytes = 232448;            ///< per block
  std::uint32_t sms = 1, warps_per_sm = 64;           ///< %nsmid, %nwarpid
  std::uint32_t shared_unit_bytes = 1;                ///< %total_smem_size is a multiple of it
  std::uint64_t heap_bytes = std::uint64_t{8} << 20;  ///< that malloc in kernels may give out
  std::uint32_t stack_bytes = 64 * 1024;  ///< per thread of recursive kernels, at least that much
  std::function<void(std::string_view)>
      print;  ///< device printf; text as formatted; without it nothing is printed
  /// Warps and blocks take turns after far fewer instructions: for programs whose warps race, or
  /// whose blocks wait for one another in ways that spin.cpp does not see.
  bool short_turns = false;
  /// Lanes of one warp may wait for one another (compute capability 7.0 and later).
  bool independent_lanes = true;
  OutOfBounds out_of_bounds = OutOfBounds::Fault;
  /// Told what a launch does that it should not and yet goes on with.
  std::function<void(const std::string&)> warn;
  /// Told every thread's accesses of every launch; execution is some ten times slower then. Not
  /// owned.
  AccessObserver* observer = nullptr;
  /// Of every launch; as slow, and not together with an observer. Not owned.
  AccessChecks* checks = nullptr;
  /// Told of a launch that is being executed, several times a second. It may end the process.
  std::function<void(const LaunchProgress&)> progress;
  /// Of what a launch's stream takes in memory at once; 0: no limit.
  std::uint64_t max_stream_bytes = 0;
  /// Of one warp while its stream is recorded; RunError beyond that. 0: no limit.
  std::uint64_t max_instructions_of_warp = 0;
};

struct RunCount {
  std::uint64_t warp_instructions = 0, thread_instructions = 0;
  bool is_long = false;  ///< see Machine::run_until_waiting
  bool waits = false;    ///< blocks have waited for one another by asking again and again
};

/// Faults of the simulated program (out of bounds, misaligned, trap, assert, barrier that cannot
/// complete, runaway) are RunError and name kernel, PTX line, block, thread and address.
class Machine {
 public:
  Machine(DeviceMemory& memory, MachineOptions options);
  ~Machine();
  /// InputError when the launch cannot be made (check_launch()). All that follows checks it, too,
  /// but a caller may have begun to write it down by then.
  void check(const Launch& launch) const;
  /// Runs every block to its end, in order, blocks one after another (several in turn where blocks
  /// wait for one another). With `streams` set, each warp's op stream goes there.
  RunCount run(const Launch& launch, trace::StreamWriter* streams);
  /// As run(), with the streams going to `before`, until blocks wait for one another or the streams
  /// of blocks that have not ended take much memory (`count` says which). Then what
  /// comes back begins with `before` and executes the rest as it is read, like live(); nullptr: all
  /// has run. Precondition: can_follow().
  std::unique_ptr<trace::KernelStream> run_until_waiting(const Launch& launch,
                                                         std::shared_ptr<trace::MemoryTrace> before,
                                                         RunCount& count);
  /// Whether the launch can be executed as its stream is read: not when its blocks form clusters,
  /// and not when it launches kernels itself.
  static bool can_follow(const Launch& launch);
  /// Executes as the stream is read: a warp runs on only when its reader asks for more, so what it
  /// sees of other warps depends on timing, as on a real GPU. Not concurrent(). Memory and kernel
  /// must outlive the stream.
  std::unique_ptr<trace::KernelStream> live(const Launch& launch);
  /// Handles for kernels, of texture and surface objects in this machine's memory. Throws
  /// InputError: see ImageTable.
  std::uint64_t create_texture(const TextureDescription& description);
  std::uint64_t create_surface(const SurfaceDescription& description);
  /// False when there is no such object. Precondition: no launch that uses it is still running.
  bool destroy_texture(std::uint64_t handle);
  bool destroy_surface(std::uint64_t handle);
  /// From now on (cudaLimitMallocHeapSize).
  void set_heap_bytes(std::uint64_t bytes);
  /// Of launches from now on (cudaLimitStackSize).
  void set_stack_bytes(std::uint32_t bytes);

  /// Accesses outside of allocations that went on, of each kernel that made any.
  const std::map<std::string, std::uint64_t>& stray_accesses() const;

  /// "avx512", "avx2" or "portable": what runs, chosen by the CPU or by environment variable
  /// RADDLE_LANES.
  static std::string_view lanes();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace raddle::exec
