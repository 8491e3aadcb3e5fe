// Level "kernel": of the kernels in the distributor's entries, whose block goes out next. One
// instance per GPU. Which block that is and which SM gets it is then the block policy's business.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

#include "raddle/base/age.h"
#include "raddle/base/fields.h"
#include "raddle/base/limits.h"
#include "raddle/base/types.h"
#include "raddle/policy/device_parent.h"

namespace raddle::policy {

/// A kernel that has taken an entry.
struct KernelLaunch {
  std::uint64_t sequence = 0;  ///< counts launches since the start of the run
  std::string_view kernel;
  StreamId stream{};
  std::uint32_t blocks = 0;
  /// Its entry, below kKernelSlots, until on_end(); another launch may have it later.
  unsigned slot = 0;
  DeviceParent parent = {};
};

/// Sets of slots.
struct KernelView {
  KernelSet waiting;     ///< with blocks left, and the block policy has not declined in this
                         ///< cycle; never empty
  KernelSet fits;        ///< of these: a block fits an SM that was not served in this cycle;
                         ///< never empty
  const KernelAge& age;  ///< order in which they took their entries
  Cycle now;
};

/// A strategy. Asked for each block that can go out; it is the dispatcher's business whether one
/// can.
class KernelPolicy {
 public:
  static constexpr std::string_view kLevel = "kernel";
  struct Context {
    std::uint64_t seed = 0;
  };
  virtual ~KernelPolicy() = default;
  virtual void on_launch(const KernelLaunch&) {}
  /// A slot in view.fits, or nothing more in this cycle.
  virtual std::optional<unsigned> pick(const KernelView& view) = 0;
  /// The last block of the kernel in `slot` has ended.
  virtual void on_end(unsigned /*slot*/) {}
  /// Asked when nothing went out: the first cycle in which it may name a kernel although none comes
  /// or ends until then; kNever: not before one does.
  virtual Cycle waits_until(Cycle /*now*/) const { return kNever; }
  virtual void visit_statistics(FieldVisitor&) {}
};

}  // namespace raddle::policy
