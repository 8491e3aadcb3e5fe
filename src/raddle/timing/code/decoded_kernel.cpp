#include "raddle/timing/code/decoded_kernel.h"

#include <algorithm>
#include <bit>
#include <string>

#include "raddle/base/demangle.h"
#include "raddle/base/error.h"
#include "raddle/trace/stream.h"

namespace raddle::timing {

namespace {
Route route_of(trace::OpKind kind) {
  using trace::OpKind;
  switch (kind) {
    case OpKind::Alu:
    case OpKind::Branch:
    case OpKind::Exit:
      return Route::Pipeline;
    case OpKind::Barrier:
      return Route::Barrier;
    case OpKind::Fence:
      return Route::Fence;
    case OpKind::Sleep:
      return Route::Sleep;
    case OpKind::Launch:
      return Route::Launch;
    case OpKind::LaunchStream:
      return Route::LaunchStream;
    case OpKind::LaunchBuffer:
      return Route::LaunchBuffer;
    case OpKind::BarrierObject:
      return Route::Object;
    case OpKind::LoadGlobal:
    case OpKind::LoadLocal:
      return Route::Load;
    case OpKind::StoreGlobal:
    case OpKind::StoreLocal:
      return Route::Store;
    case OpKind::AtomicGlobal:
      return Route::Atomic;
    case OpKind::ReduceGlobal:
      return Route::Reduce;
    case OpKind::LoadShared:
    case OpKind::StoreShared:
    case OpKind::AtomicShared:
      return Route::Shared;
    case OpKind::LoadConst:
      return Route::Const;
  }
  return Route::Pipeline;
}

std::uint8_t registers_in(RegisterSet set) {
  for (unsigned r = trace::kFirstPredicate; r < trace::kScoreboardRegisters; ++r) set.clear(r);
  unsigned n = 0;
  for (std::uint64_t word : set.word) n += static_cast<unsigned>(std::popcount(word));
  return static_cast<std::uint8_t>(n);
}

std::uint64_t bank_reads(const RegisterSet& reads, unsigned banks) {
  std::uint64_t out = 0;
  for (unsigned r = 0; r < trace::kFirstPredicate; ++r) {
    if (!reads.test(r)) continue;
    const unsigned at = r % banks * 4;
    if ((out >> at & 15) < OperandSpec::kMaxReads) out += std::uint64_t{1} << at;
  }
  return out;
}

DecodedInst decode(const trace::StaticInst& from, const SmSpec& sm,
                   std::vector<RegisterSet>& several) {
  DecodedInst in;
  in.route = route_of(from.kind);
  bool lsu = goes_to_lsu(in.route);
  const OpCost& cost = sm.cost[static_cast<unsigned>(lsu ? trace::OpClass::Memory : from.op_class)];
  in.unit = lsu ? Unit::Lsu : cost.unit;
  in.latency = static_cast<std::uint16_t>(cost.latency);
  in.interval = static_cast<std::uint8_t>(cost.interval);
  const bool tensor = from.op_class == trace::OpClass::Tensor && !lsu;
  const WarpgroupSpec& warpgroup = sm.warpgroup;
  in.product =
      tensor && (from.bytes & trace::kWarpgroupProduct) != 0 && warpgroup.interval_cycles != 0;
  if (const unsigned parts = from.bytes & ~trace::kWarpgroupProduct; tensor && parts != 0) {
    const unsigned whole = in.product ? warpgroup.interval_cycles : cost.interval;
    in.interval = static_cast<std::uint8_t>(
        std::clamp((whole * parts + trace::kTensorParts - 1) / trace::kTensorParts, 1u, 255u));
  }
  if (in.product) in.latency = static_cast<std::uint16_t>(warpgroup.latency_cycles + in.interval);
  in.payload = trace::carries_transactions(from.kind);
  if (in.route == Route::Object) in.action = static_cast<trace::ObjectAction>(from.bytes);
  in.local = from.kind == trace::OpKind::LoadLocal || from.kind == trace::OpKind::StoreLocal;
  in.bypass_l1 = from.bypass_l1;
  const bool fence = from.kind == trace::OpKind::Fence;
  in.acquires = from.acquires || (fence && from.bytes == trace::kFullFence);
  in.releases = from.releases || (fence && from.bytes != trace::kBlockScope);

  RegisterSet writes;
  unsigned count = 0, only = 0;
  auto add = [&](unsigned reg) {
    if (!writes.test(reg)) ++count;
    writes.set(reg);
    only = reg;
  };
  for (std::uint8_t reg : from.writes) add(reg);
  if (from.kind == trace::OpKind::Branch) add(trace::kPcRegister);
  // No later access of the warp before its own has come.
  if (from.acquires && (in.route == Route::Load || in.route == Route::Atomic))
    add(trace::kPcRegister);
  for (std::uint8_t reg : from.reads) in.uses.set(reg);
  if (in.product) in.uses -= writes;  // the unit adds to them, in the order of the products
  in.op_class = static_cast<std::uint8_t>(lsu ? trace::OpClass::Memory : from.op_class);
  in.bank_reads = bank_reads(in.uses, sm.operands.banks);
  in.register_reads = registers_in(in.uses);
  in.register_writes = registers_in(writes);
  if (!in.product) in.uses |= writes;
  in.uses.set(trace::kPcRegister);
  if (count == 1) in.destination = static_cast<std::uint16_t>(only);
  if (count > 1) {
    in.destination = DecodedInst::kMultiple;
    in.writes = static_cast<std::uint32_t>(several.size());
    several.push_back(writes);
  }
  return in;
}
}  // namespace

/// Who waits for all products of a warp waits for whatever any of them writes.
void DecodedKernel::wait_for_products() {
  RegisterSet sums;
  for (const DecodedInst& in : instructions_)
    if (in.product) sums |= multiple_destinations(in);
  if (!sums.any()) return;
  for (std::size_t i = 0; i < instructions_.size(); ++i)
    if (const trace::StaticInst& from = code_->instructions[i];
        from.kind == trace::OpKind::Barrier && from.op_class == trace::OpClass::Control &&
        from.bytes == trace::kWaitsForProducts)
      instructions_[i].uses |= sums;
}

DecodedKernel::DecodedKernel(const trace::LoweredCode& lowered, const SmSpec& sm,
                             std::uint32_t number)
    : code_(&lowered.code), live_(&lowered.live), number_(number) {
  RADDLE_ASSERT(lowered.live.empty() || lowered.live.size() == lowered.code.instructions.size());
  const std::size_t size = lowered.code.instructions.size();
  if (size > trace::kMaxInstructions)
    throw InputError("kernel '" + short_name(lowered.code.name) + "' has " + std::to_string(size) +
                     " machine instructions; the most is " +
                     std::to_string(trace::kMaxInstructions));
  instructions_.reserve(size);
  for (const trace::StaticInst& in : lowered.code.instructions)
    instructions_.push_back(decode(in, sm, multiple_destinations_));
  for (const DecodedInst& in : instructions_)
    if (in.route == Route::Barrier || in.route == Route::Shared || in.route == Route::Object)
      shares_with_block_ = true;
  wait_for_products();
  std::uint16_t const_at = 0;
  for (DecodedInst& in : instructions_) {
    if (in.route != Route::Const) continue;
    in.const_at = const_at;
    const_at = static_cast<std::uint16_t>(const_at + 8);
  }
  RADDLE_ASSERT(!lowered.first.empty() && lowered.first.back() == size);
  expansions_.reserve(lowered.first.size());
  for (std::size_t i = 0; i + 1 < lowered.first.size(); ++i) {
    const std::uint32_t first = lowered.first[i], end = lowered.first[i + 1];
    RADDLE_ASSERT(first <= end);
    bool payload = false, barrier = false;
    for (std::uint32_t at = first; at < end; ++at) {
      payload = payload || instructions_[at].payload;
      barrier = barrier || instructions_[at].route == Route::Barrier;
    }
    expansions_.emplace_back(first, payload, barrier);
  }
  expansions_.emplace_back(static_cast<std::uint32_t>(size), false, false);
}

}  // namespace raddle::timing
