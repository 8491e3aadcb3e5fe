// Level "block": which thread block goes to which SM. One instance per GPU.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

#include "raddle/base/fields.h"
#include "raddle/base/limits.h"
#include "raddle/base/mask.h"
#include "raddle/base/types.h"
#include "raddle/policy/device_parent.h"

namespace raddle::policy {

/// A launch as block policies see it. Linear block id = x + X * (y + Y * z).
struct BlockLaunch {
  std::uint64_t sequence = 0;  ///< counts launches since the start of the run
  std::string_view kernel;
  Dim3 grid;
  std::uint32_t blocks = 0;
  /// Below kKernelSlots; names the launch until its end, another may have it later.
  unsigned slot = 0;
  DeviceParent parent = {};
  std::uint32_t max_on_sm = 0;  ///< blocks of it that an SM holds if it has nothing else
};

struct BlockView {
  /// SMs that can hold one more block now and were not served this cycle; never empty.
  const SmSet& free_sms;
  Cycle now;
  unsigned slot = 0;  ///< of the launch whose block goes out: the kernel policy's choice
};

struct BlockChoice {
  std::uint32_t sm, block;
  bool stolen = false;  ///< the policy had given it to another SM; for reports
};

/// What the SM of a block that has ended tells of it, if the policy wants that.
struct BlockProgress {
  std::uint64_t issued = 0;  ///< instructions of the block's warps
  std::uint64_t others = 0;  ///< of the other blocks of its launch that are on the SM, so far
};

/// A strategy. Several launches may be under way at once; it is asked for a block of one of them at
/// a time. The dispatcher asks until it gets nothing, or blocks_per_cycle() answers were taken,
/// each cycle in which blocks are left. It checks and applies the answer; residency (and what else
/// limits a kernel's blocks on an SM) is its business alone.
class BlockPolicy {
 public:
  static constexpr std::string_view kLevel = "block";
  struct Context {
    unsigned sms = 1;
    std::uint64_t seed = 0;
  };
  virtual ~BlockPolicy() = default;
  /// Central schedulers hand out one block a cycle, decentralised ones one per SM (IKRA, section
  /// 4).
  virtual unsigned blocks_per_cycle() const { return 1; }
  virtual void on_launch(const BlockLaunch& launch) = 0;
  /// A block of launch view.slot not handed out before and an SM in view.free_sms, or nothing this
  /// cycle.
  virtual std::optional<BlockChoice> pick(const BlockView& view) = 0;
  virtual void on_block_done(std::uint32_t /*sm*/, std::uint32_t /*block*/, unsigned /*slot*/) {}
  /// If true, on_progress() comes just before each on_block_done().
  virtual bool wants_progress() const { return false; }
  virtual void on_progress(std::uint32_t /*sm*/, unsigned /*slot*/, const BlockProgress&) {}
  virtual void on_kernel_end(unsigned /*slot*/) {}
  /// Asked when nothing went out: the first cycle in which it may give a block although no launch
  /// or block comes or ends until then; kNever: not before one does.
  virtual Cycle waits_until(Cycle /*now*/) const { return kNever; }
  virtual void visit_statistics(FieldVisitor&) {}
};

}  // namespace raddle::policy
