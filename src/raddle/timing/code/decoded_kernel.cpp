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

Beside beside_of_fence(unsigned what, bool tma) {
  switch (what) {
    case trace::kEndsGroup:
      return Beside::EndsGroup;
    case trace::kWaitsForGroups:
      return Beside::Waits;
    case trace::kWaitsForCopies:
      return Beside::WaitsForCopies;
    case trace::kEndsBulkGroup:
      return tma ? Beside::EndsBulkGroup : Beside::None;
    case trace::kWaitsForBulkGroups:
      return tma ? Beside::WaitsForBulk : Beside::None;
    case trace::kWaitsForBulkReads:
      return tma ? Beside::WaitsForBulkReads : Beside::None;
    default:
      return Beside::None;
  }
}

/// Without a unit for them copies are loads and stores, for all of which their groups wait.
Beside beside_of(const trace::StaticInst& from, const SmSpec& sm) {
  using trace::OpKind;
  const unsigned what = from.bytes & ((1u << trace::kGroupsLeft) - 1);
  const bool tma = sm.tma.present();
  if (from.kind == OpKind::Fence) return beside_of_fence(what, tma);
  if (from.kind == OpKind::Barrier && from.op_class == trace::OpClass::Control &&
      sm.warpgroup.interval_cycles != 0) {
    if (what == trace::kEndsProducts) return Beside::EndsProducts;
    if (what == trace::kWaitsForProductGroups) return Beside::WaitsForProducts;
  }
  if (from.copy == trace::CopyKind::None || !tma) return Beside::None;
  if (from.kind == OpKind::BarrierObject) return Beside::EndOfCopy;
  return from.copy == trace::CopyKind::Tensor ? Beside::TensorCopy : Beside::BulkCopy;
}

/// How long a product of a warpgroup takes a scheduler's unit: for the arithmetic of the warp's
/// rows, or until shared memory has given A of all four warps and B once for all.
unsigned product_interval(unsigned bytes, unsigned parts, const WarpgroupSpec& spec) {
  constexpr unsigned kRows = 64, kDepth = 32;  // of A; bytes along K
  const unsigned arithmetic =
      (spec.interval_cycles * parts + trace::kTensorParts - 1) / trace::kTensorParts;
  if (spec.shared_bytes == 0) return arithmetic;
  const unsigned columns = parts / 4;
  const unsigned b = columns * kDepth * ((bytes & trace::kSparseA) != 0 ? 2 : 1);
  const unsigned a = (bytes & trace::kSharedA) != 0 ? kRows * kDepth : 0;
  return std::max(arithmetic, (a + b + spec.shared_bytes - 1) / spec.shared_bytes);
}

DecodedInst decode(const trace::StaticInst& from, const SmSpec& sm,
                   std::vector<RegisterSet>& several) {
  DecodedInst in;
  in.route = route_of(from.kind);
  in.beside = beside_of(from, sm);
  if (in.beside == Beside::BulkCopy || in.beside == Beside::TensorCopy) in.route = Route::Copy;
  bool lsu = goes_to_lsu(in.route);
  const OpCost& cost = sm.cost[static_cast<unsigned>(lsu ? trace::OpClass::Memory : from.op_class)];
  in.unit = lsu                       ? Unit::Lsu
            : in.route == Route::Copy ? sm.cost[static_cast<unsigned>(trace::OpClass::Control)].unit
                                      : cost.unit;
  in.latency = static_cast<std::uint16_t>(cost.latency);
  in.interval = static_cast<std::uint8_t>(cost.interval);
  const bool tensor = from.op_class == trace::OpClass::Tensor && !lsu;
  const WarpgroupSpec& warpgroup = sm.warpgroup;
  if (tensor && (from.bytes & trace::kWarpgroupProduct) != 0 && warpgroup.interval_cycles != 0)
    in.product = static_cast<std::uint8_t>(
        (from.bytes & trace::kSharedA) != 0 ? warpgroup.queue : warpgroup.register_queue);
  if (const unsigned parts = from.bytes & trace::kPartsMask; tensor && parts != 0) {
    const unsigned cycles =
        in.product != 0 ? product_interval(from.bytes, parts, warpgroup)
                        : (cost.interval * parts + trace::kTensorParts - 1) / trace::kTensorParts;
    in.interval = static_cast<std::uint8_t>(std::clamp(cycles, 1u, 255u));
  }
  if (in.product != 0)
    in.latency = static_cast<std::uint16_t>(warpgroup.latency_cycles + in.interval);
  in.payload = trace::carries_transactions(from.kind);
  if (in.route == Route::Copy) in.interval = 1;
  if (in.route == Route::Object) {
    in.action = static_cast<trace::ObjectAction>(from.bytes);
    const std::uint32_t test = sm.barrier_objects.test_cycles;
    if (in.action == trace::ObjectAction::Wait && test != 0)
      in.latency = static_cast<std::uint16_t>(test);
  }
  in.local = from.kind == trace::OpKind::LoadLocal || from.kind == trace::OpKind::StoreLocal;
  in.bypass_l1 = from.bypass_l1;
  const bool fence = from.kind == trace::OpKind::Fence;
  in.acquires = from.acquires || (fence && from.bytes == trace::kFullFence);
  const bool waits = in.beside >= Beside::Waits;
  if (waits) in.const_at = static_cast<std::uint16_t>(from.bytes >> trace::kGroupsLeft);
  in.releases = from.releases || waits ||
                (fence && in.beside == Beside::None && from.bytes != trace::kBlockScope &&
                 (from.bytes & 0xff) != trace::kEndsBulkGroup);

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
  if (in.product != 0) in.uses -= writes;  // the unit adds to them, in the order of the products
  in.op_class = static_cast<std::uint8_t>(lsu ? trace::OpClass::Memory : from.op_class);
  in.bank_reads = bank_reads(in.uses, sm.operands.banks);
  in.register_reads = registers_in(in.uses);
  in.register_writes = registers_in(writes);
  if (in.product == 0) in.uses |= writes;
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
    if (in.product != 0) sums |= multiple_destinations(in);
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
    if (in.route == Route::Barrier || in.route == Route::Shared || in.route == Route::Object ||
        in.route == Route::Copy)
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
