// Who is told of every record of a launch that is about to be executed, and of what slow
// instructions access: the runner's side of observers (observation.h) and of checks
// (checked_launch.h).
#pragma once
#include <cstddef>
#include <cstdint>

#include "raddle/base/types.h"
#include "raddle/exec/isa/record.h"

namespace raddle::exec {

struct Block;
class Runner;
struct WarpState;

class RecordWatcher {
 public:
  virtual ~RecordWatcher() = default;
  /// The record at `ip` is going to be executed in the lanes of `mask`.
  virtual void about_to_run(Context& c, const Record& ip, char* frame, std::uint32_t mask) = 0;
  /// A slow instruction accesses global memory, or the block's shared memory.
  virtual void slow_load(const Context& c, unsigned lane, Address at, unsigned bytes) = 0;
  virtual void slow_store(const Context& c, unsigned lane, Address at, unsigned bytes) = 0;
  virtual void slow_shared_load(const Context& c, unsigned lane, std::uint32_t at,
                                unsigned bytes) = 0;
  virtual void slow_shared_store(const Context& c, unsigned lane, std::uint32_t at,
                                 unsigned bytes) = 0;
  /// What a surface instruction stores.
  virtual void surface_store(Address /*at*/, unsigned /*bytes*/) {}
  /// A block starts in memory that others have used before.
  virtual void started(const Block& block, std::size_t frame_bytes, std::size_t shared_bytes,
                       std::size_t local_bytes) = 0;
  virtual void ended(std::uint32_t block) = 0;
  /// The warp has come to a barrier of the block.
  virtual void arrived(const Block& block, const WarpState& warp, unsigned barrier) = 0;
  /// Those that wait at the barrier go on now.
  virtual void opens(const Block& block, unsigned barrier) = 0;
};

}  // namespace raddle::exec
