// The functional machine: runs launches, 32 lanes at a time, and writes or yields the op stream of
// each warp.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "raddle/exec/access_observer.h"
#include "raddle/exec/program.h"
#include "raddle/exec/texture.h"
#include "raddle/trace/stream.h"

namespace raddle::exec {

class DeviceGrid;

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

struct MachineOptions {
  /// RunError after that many warp instructions of one launch; the message says which warp stands
  /// at which PTX line. 0 = no limit.
  std::uint64_t max_warp_instructions = 0;
  std::uint32_t max_shared_bytes = 232448;            ///< per block
  std::uint32_t sms = 1, warps_per_sm = 64;           ///< %nsmid, %nwarpid
  std::uint64_t heap_bytes = std::uint64_t{8} << 20;  ///< that malloc in kernels may give out
  std::uint32_t stack_bytes = 64 * 1024;  ///< per thread of recursive kernels, at least that much
  std::function<void(std::string_view)>
      print;  ///< device printf; text as formatted; without it nothing is printed
  /// Told every thread's accesses of every launch; execution is some ten times slower then. Not
  /// owned.
  AccessObserver* observer = nullptr;
  /// Of what a launch's stream takes in memory at once; 0: no limit.
  std::uint64_t max_stream_bytes = 0;
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

  /// "avx512", "avx2" or "portable": what runs, chosen by the CPU or by environment variable
  /// RADDLE_LANES.
  static std::string_view lanes();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace raddle::exec
