#include "raddle/timing/sm/decoded_kernel.h"

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

DecodedInst decode(const trace::StaticInst& from, const SmSpec& sm,
                   std::vector<RegisterSet>& several) {
  DecodedInst in;
  in.route = route_of(from.kind);
  bool lsu = goes_to_lsu(in.route);
  const OpCost& cost = sm.cost[static_cast<unsigned>(lsu ? trace::OpClass::Memory : from.op_class)];
  in.unit = lsu ? Unit::Lsu : cost.unit;
  in.latency = static_cast<std::uint16_t>(cost.latency);
  in.interval = static_cast<std::uint8_t>(cost.interval);
  in.payload = in.route >= Route::Load && in.route <= Route::Reduce;
  in.local = from.kind == trace::OpKind::LoadLocal || from.kind == trace::OpKind::StoreLocal;
  in.bypass_l1 = from.bypass_l1;

  RegisterSet writes;
  unsigned count = 0, only = 0;
  auto add = [&](unsigned r) {
    if (!writes.test(r)) ++count;
    writes.set(r), only = r;
  };
  for (std::uint8_t r : from.writes) add(r);
  if (from.kind == trace::OpKind::Branch) add(trace::kPcRegister);
  for (std::uint8_t r : from.reads) in.uses.set(r);
  in.uses |= writes;
  in.uses.set(trace::kPcRegister);
  if (count == 1) in.destination = static_cast<std::uint16_t>(only);
  if (count > 1) {
    in.destination = DecodedInst::kSeveral;
    in.writes = static_cast<std::uint32_t>(several.size());
    several.push_back(writes);
  }
  return in;
}
}  // namespace

DecodedKernel::DecodedKernel(const trace::KernelCode& code, const SmSpec& sm) {
  instructions_.reserve(code.instructions.size());
  for (const trace::StaticInst& in : code.instructions)
    instructions_.push_back(decode(in, sm, several_));
}

}  // namespace raddle::timing
