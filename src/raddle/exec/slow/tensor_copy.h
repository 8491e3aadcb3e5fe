// Copies between shared memory and a box of a tensor that a tensor map describes (PTX ISA 9.0,
// 9.7.9.27: cp.async.bulk.tensor, cp.reduce.async.bulk.tensor), and changes of tensor maps
// (tensormap.replace, tensormap.cp_fenceproxy).
//
// Done when issued, as other bulk copies. In shared memory the box is dense, its first dimension
// first, and then swizzled by the address's own bits. Outside of the tensor loads read zeros or
// NaNs, which count as bytes for the barrier object, and stores do nothing.
#pragma once
#include <optional>
#include <vector>

#include "raddle/exec/memory/tensor_map.h"
#include "raddle/exec/slow/bulk_copy.h"
#include "raddle/exec/slow/slow_access.h"

namespace raddle::exec {

class BulkTraffic;

class TensorCopy final : public SlowInstruction {
 public:
  enum class Action : std::uint8_t { Load, Store, Reduce };
  Action action = Action::Load;
  bool im2col = false;
  SlowAddress map, shared;
  std::vector<std::uint32_t> coordinates;  ///< registers, 32 bits
  std::vector<std::uint32_t> offsets;      ///< registers, 16 bits; of im2col
  std::optional<SlowAddress> barrier;
  std::optional<std::uint32_t> blocks;  ///< register: multicast
  AtomOp op = AtomOp::Add;              ///< of a reduction; the type is the map's
  void run(const SlowRun& run) const override;

 private:
  struct Row;
  TensorMap map_of(const SlowRun& run, unsigned lane, const BulkTraffic& traffic) const;
  template <class F>
  void each_row(const SlowRun& run, unsigned lane, const TensorMap& tensor, F f) const;
  template <class F>
  void each_tile_row(const SlowRun& run, unsigned lane, const TensorMap& tensor, F f) const;
  template <class F>
  void each_pixel(const SlowRun& run, unsigned lane, const TensorMap& tensor, F f) const;
  void load(const SlowRun& run, unsigned lane, BulkTraffic& traffic) const;
  void store(const SlowRun& run, unsigned lane, BulkTraffic& traffic) const;
  void combine(const TensorMap& tensor, char* to, const char* from, std::uint64_t bytes) const;
};

/// tensormap.replace: one field of a map in global or shared memory.
class TensorMapChange final : public SlowInstruction {
 public:
  enum class Field : std::uint8_t {
    Address,
    Rank,
    Box,
    Size,
    Stride,
    Step,
    Element,
    Interleave,
    Swizzle,
    Fill,
  };
  Field field = Field::Address;
  SlowAddress map;
  unsigned dimension = 0;
  std::uint32_t value = 0;  ///< register, 64 bits for addresses and strides, else 32
  void run(const SlowRun& run) const override;
};

/// tensormap.cp_fenceproxy: 128 bytes, by the warp.
class TensorMapCopy final : public SlowInstruction {
 public:
  SlowAddress to, from;
  void run(const SlowRun& run) const override;
};

}  // namespace raddle::exec
