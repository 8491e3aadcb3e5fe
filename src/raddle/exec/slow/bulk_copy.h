// Copies of many bytes by one thread (PTX ISA 9.0, 9.7.9.25.5: cp.async.bulk,
// cp.reduce.async.bulk), and the remote stores and reductions that tell a barrier object of
// themselves (st.async, red.async).
//
// A copy is done when it is issued, which PTX allows: reads of its source, writes of its
// destination, and the bytes that it reports to barrier objects.
#pragma once
#include <optional>

#include "raddle/exec/slow/slow_access.h"

namespace raddle::exec {

class BulkTraffic;

class BulkCopy final : public SlowInstruction {
 public:
  SlowAddress to, from;                 ///< the space of each is Global or Shared
  std::uint32_t bytes = 0;              ///< register, 32 bits
  std::optional<SlowAddress> barrier;   ///< that learns of the bytes; else groups count them
  std::optional<std::uint32_t> blocks;  ///< register, 16 bits: multicast to these of the cluster
  std::optional<std::uint32_t> what;    ///< a reduction: AtomOp and AtomType as in O_atom's aux
  unsigned element_bytes = 0;           ///< of a reduction
  void run(const SlowRun& run) const override;

 private:
  struct Ends {
    std::uint64_t size, source, target;
  };
  /// Of a lane's copy. Throws RunError where one is no multiple of 16.
  Ends ends_of(const SlowRun& run, unsigned lane, const BulkTraffic& traffic) const;
  void load(const SlowRun& run) const;
  void store(const SlowRun& run) const;
  void distribute(const SlowRun& run) const;
  void combine(char* to, const char* from, std::uint64_t bytes) const;
};

/// st.bulk: zeros.
class BulkClear final : public SlowInstruction {
 public:
  SlowAddress to;
  std::uint32_t bytes = 0;  ///< register, 64 bits
  void run(const SlowRun& run) const override;
};

/// st.async and red.async: a few elements to shared memory of the cluster.
class RemoteStore final : public SlowInstruction {
 public:
  SlowAddress to, barrier;
  std::vector<std::uint32_t> values;  ///< registers
  unsigned size = 0;                  ///< bytes of each
  std::optional<std::uint32_t> what;  ///< as above
  void run(const SlowRun& run) const override;
};

/// The same offset in the shared memory of the block of that rank.
std::uint64_t in_block(std::uint64_t offset, unsigned rank);
/// f(destination offset, barrier offset) for each block that a multicast mask names, or once
/// without a mask.
template <class F>
void each_block(std::optional<std::uint32_t> mask, std::uint64_t to, std::uint64_t barrier, F f) {
  if (!mask) return f(to, barrier);
  each_lane(*mask & 0xffffu,
            [&](unsigned rank) { f(in_block(to, rank), in_block(barrier, rank)); });
}

}  // namespace raddle::exec
