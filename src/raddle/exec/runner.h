// One launch being executed: blocks with their warps, frames and memories, and the plain half of
// the engine.
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "raddle/exec/kernel.h"
#include "raddle/exec/machine.h"
#include "raddle/trace/stream.h"

namespace raddle::exec {

const LaneEngine& lane_engine();

/// 64-byte aligned bytes that stay where they are.
class AlignedBytes {
 public:
  /// Contents are lost when it grows.
  char* reserve(std::size_t bytes);
  char* data() const { return data_; }

 private:
  std::unique_ptr<char[]> storage_;
  char* data_ = nullptr;
  std::size_t size_ = 0;
};

/// A called function's registers, kept for the next call at the same depth.
struct Activation {
  std::uint32_t function = ptx::kNoIndex;
  AlignedBytes frame;
  std::size_t bytes = 0;
  bool prepared = false;  ///< constants of `function` are in place
};

struct WarpState : Warp {
  enum class Status : std::uint8_t { Ready, Waiting, Done };
  Status status = Status::Ready;
  unsigned barrier = 0;
  std::vector<StackEntry> entries;
  std::vector<std::unique_ptr<Activation>>
      activations;                       ///< of calls; the kernel's own frame is the block's
  std::vector<std::uint32_t> functions;  ///< running function by depth
  trace::StreamWriter::Room room;
};

struct BarrierState {
  unsigned arrived = 0, expected = 0;  ///< warps; expected 0: all of the block
  unsigned population = 0;             ///< bar.red: lanes with a true predicate
  bool all = true, any = false;
};

struct Block {
  std::uint32_t number = 0;
  unsigned running = 0;  ///< warps not done
  std::vector<WarpState> warps;
  AlignedBytes frames, shared, local;
  std::array<BarrierState, 16> barriers;
};

class Runner {
 public:
  Runner(DeviceMemory& memory, const MachineOptions& options, const Launch& launch);
  /// All blocks to their end.
  RunCount run(trace::StreamWriter* streams);

  /// A block at its start. It goes back through release().
  std::unique_ptr<Block> start(std::uint32_t number);
  void release(std::unique_ptr<Block> block) { pool_.push_back(std::move(block)); }
  /// Runs one warp, writing to [out, end): until it waits, ends, has run `budget` instructions, or
  /// has written beyond `soft_end`. Returns where the records end.
  std::uint32_t* step(Block& block, WarpState& warp, std::uint32_t* out, std::uint32_t* soft_end,
                      std::uint64_t budget);
  /// Words a handler may write after the check against the end.
  static constexpr unsigned kSlackWords = 640;

  Context& context() { return context_; }
  const Kernel& kernel() const { return kernel_; }
  const trace::LaunchShape& shape() const { return shape_; }
  const MachineOptions& options() const { return options_; }
  const DeviceMemory& memory() const { return memory_; }
  /// "kernel K at FILE:LINE 'text', block (x,y,z)" of an instruction of the trace's code.
  std::string place(std::uint32_t inst) const;
  std::string block_text(std::uint32_t number) const;
  std::string thread_text(const Warp& warp, unsigned lane) const;
  const Code& running_code(const WarpState& warp) const;
  /// Registers of a frame that never change while the block runs.
  void fill(const Code& code, char* frame, const Warp& warp) const;
  void print(std::string_view text) const;

 private:
  void fill_special(const Fill& fill, char* frame, const Warp& warp) const;
  void fill_block(const Warp& warp, char* frame) const;
  std::uint64_t special_of(ptx::Special special, const Warp& warp, unsigned lane) const;
  void arrive(Block& block, WarpState& warp);
  void open_if_complete(Block& block, unsigned id);
  void release_warp(BarrierState& barrier, WarpState& warp);
  void finish(Block& block, WarpState& warp);
  bool run_block(Block& block, trace::StreamWriter* streams, std::uint64_t budget);
  void slice(Block& block, WarpState& warp, trace::StreamWriter* streams, std::uint64_t budget);
  void check_limit(const WarpState& warp) const;
  [[noreturn]] void deadlock(const Block& block) const;

  DeviceMemory& memory_;
  const MachineOptions& options_;
  const Kernel& kernel_;
  trace::LaunchShape shape_;
  std::vector<char> parameters_;
  std::uint32_t shared_bytes_, local_bytes_;
  std::size_t frame_stride_;
  unsigned warps_;
  Context context_{};
  const LaneEngine* engine_;
  std::vector<std::unique_ptr<Block>> pool_;
  std::vector<std::uint32_t> scratch_;
  bool arrived_ = false;  ///< the last step ended at a barrier
};

}  // namespace raddle::exec
