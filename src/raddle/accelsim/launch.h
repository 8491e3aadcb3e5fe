// One imported launch: its blocks packed, in memory or in a temporary file, and read again in any
// order.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "raddle/accelsim/rehearsal.h"
#include "raddle/base/spill_file.h"
#include "raddle/trace/stream.h"

namespace raddle::accelsim {

/// Streams of consecutive blocks of a file; while the file is read, records name instructions in
/// order of appearance, and each has one instruction.
struct Batch {
  std::vector<std::uint32_t> words;
  std::vector<std::uint32_t> start{0};  ///< by warp, and the end
};

class BatchStore {
 public:
  /// Returns its number. Throws RunError when there is no room for temporary data.
  std::uint32_t put(const Batch& batch);
  Batch get(std::uint32_t number) const;
  std::uint64_t packed_bytes() const { return packed_bytes_; }

 private:
  struct Entry {
    std::string packed;  // when small enough in all
    SpillFile::Place place;
    std::uint64_t words = 0, starts = 0;
  };
  std::vector<Entry> entries_;
  SpillFile spill_;
  std::uint64_t packed_bytes_ = 0;
};

/// Where a block is.
struct BlockPlace {
  std::uint32_t block, batch, index;
};

struct Launch {
  std::shared_ptr<const trace::KernelCode> code;
  trace::LaunchShape shape;
  std::vector<BlockPlace> blocks;        ///< by number
  std::vector<std::uint32_t> blocks_in;  ///< by batch
  BatchStore store;
  std::vector<std::uint32_t> final_index;  ///< of an instruction, by order of appearance
  /// Local memory begins at this line: what the trace has is an offset in the window of 16 MiB.
  std::uint32_t local_first_line = 0;
  /// By number, which is what the streams have as a wait's value.
  std::vector<BarrierWait> waits;
  std::uint64_t warp_instructions = 0, thread_instructions = 0;
};

/// Each timing run reads the launch for itself. Batches are unpacked when the first of their
/// blocks starts and dropped when the last has ended.
class LaunchStream final : public trace::KernelStream {
 public:
  explicit LaunchStream(std::shared_ptr<const Launch> launch) : launch_(std::move(launch)) {}
  const trace::KernelCode& code() const override { return *launch_->code; }
  const trace::LaunchShape& shape() const override { return launch_->shape; }
  bool concurrent() const override { return true; }
  trace::WarpCursor open(std::uint32_t block, unsigned warp) override;
  bool refill(trace::WarpCursor&) override { return false; }
  void close(std::uint32_t block) override;

 private:
  struct Loaded {
    Batch batch;
    std::uint32_t left = 0;  // blocks that have not ended
  };
  const Loaded& load(std::uint32_t number);
  Batch finished(Batch raw) const;

  std::shared_ptr<const Launch> launch_;
  std::mutex mutex_;
  std::map<std::uint32_t, Loaded> loaded_;
};

}  // namespace raddle::accelsim
