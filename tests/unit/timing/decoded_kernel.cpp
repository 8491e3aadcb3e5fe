#include "raddle/timing/code/decoded_kernel.h"

#include <gtest/gtest.h>

#include "raddle/base/error.h"
#include "raddle/trace/stream.h"
#include "support/machines.h"
#include "support/stream_builder.h"

namespace raddle::decoded_kernel_test {
namespace {

using namespace raddle::support;
using timing::DecodedInst;
using timing::DecodedKernel;
using timing::Route;
using timing::Unit;

/// A code as it is, decoded; keeps what the decoded kernel refers to.
struct Decoded {
  Decoded(const Code& code, const timing::SmSpec& sm)
      : lowered(trace::as_it_is(code.raw())), kernel(lowered, sm) {}
  trace::LoweredCode lowered;
  DecodedKernel kernel;
};

TEST(DecodedKernel, HazardsAreReadsWritesAndThePc) {
  Code code;
  code.alu(3, {1, 200});
  Decoded decoded(code, small_machine().sm);
  const DecodedKernel& k = decoded.kernel;
  timing::RegisterSet want;
  for (unsigned r : {1u, 3u, 200u, 255u}) want.set(r);
  EXPECT_EQ(k.instructions()[0].uses, want);
  EXPECT_EQ(k.instructions()[0].destination, 3);
}

TEST(DecodedKernel, DestinationsAreNoneOneOrSeveral) {
  Code code;
  code.store(1, 2);
  code.add(OpKind::Alu, OpClass::Int, {4, 4}, {}, "same twice");
  code.add(OpKind::LoadGlobal, OpClass::Memory, {4, 5, 6}, {}, "ld.v3");
  code.branch();
  Decoded decoded(code, small_machine().sm);
  const DecodedKernel& k = decoded.kernel;
  EXPECT_EQ(k.instructions()[0].destination, DecodedInst::kNone);
  EXPECT_EQ(k.instructions()[1].destination, 4);
  EXPECT_EQ(k.instructions()[2].destination, DecodedInst::kMultiple);
  const timing::RegisterSet& several = k.multiple_destinations(k.instructions()[2]);
  EXPECT_TRUE(several.test(4) && several.test(5) && several.test(6) && !several.test(7));
  EXPECT_EQ(k.instructions()[3].destination, trace::kPcRegister);
}

TEST(DecodedKernel, TensorOperationsTakeTheUnitByTheirWork) {
  timing::SmSpec sm = small_machine().sm;
  sm.cost[static_cast<unsigned>(OpClass::Tensor)].interval = 32;
  Code code;
  for (unsigned parts : {0u, 64u, 16u, 1u, 255u}) {
    code.op(OpClass::Tensor, 1, {});
    code.raw().instructions.back().bytes = static_cast<std::uint8_t>(parts);
  }
  Decoded decoded(code, sm);
  std::vector<unsigned> intervals;
  for (std::size_t i = 0; i < 5; ++i)
    intervals.push_back(decoded.kernel.instructions()[i].interval);
  EXPECT_EQ(intervals, (std::vector<unsigned>{32, 32, 8, 1, 128}));
}

TEST(DecodedKernel, CostsComeFromTheClassAndMemoryFromTheMemoryClass) {
  timing::SmSpec sm = small_machine().sm;
  sm.cost[static_cast<unsigned>(OpClass::Memory)] = {Unit::Lsu, 1, 4};
  Code code;
  code.op(OpClass::Fp64Div, 1, {});
  code.load(1, 2);
  code.raw().instructions[1].op_class = OpClass::Int;
  Decoded decoded(code, sm);
  const DecodedKernel& k = decoded.kernel;
  EXPECT_EQ(k.instructions()[0].unit, Unit::Fp64);
  EXPECT_EQ(k.instructions()[0].latency, 60);
  EXPECT_EQ(k.instructions()[0].interval, 16);
  EXPECT_EQ(k.instructions()[1].unit, Unit::Lsu);
  EXPECT_EQ(k.instructions()[1].interval, 4);
}

TEST(DecodedKernel, EveryKindHasItsRoute) {
  const std::pair<OpKind, Route> routes[] = {
      {OpKind::Alu, Route::Pipeline},        {OpKind::Branch, Route::Pipeline},
      {OpKind::Exit, Route::Pipeline},       {OpKind::Barrier, Route::Barrier},
      {OpKind::Fence, Route::Fence},         {OpKind::Sleep, Route::Sleep},
      {OpKind::LoadGlobal, Route::Load},     {OpKind::LoadLocal, Route::Load},
      {OpKind::StoreGlobal, Route::Store},   {OpKind::StoreLocal, Route::Store},
      {OpKind::AtomicGlobal, Route::Atomic}, {OpKind::ReduceGlobal, Route::Reduce},
      {OpKind::LoadShared, Route::Shared},   {OpKind::StoreShared, Route::Shared},
      {OpKind::AtomicShared, Route::Shared}, {OpKind::LoadConst, Route::Const}};
  for (auto [kind, route] : routes) {
    Code code;
    code.add(kind, OpClass::Control, {}, {}, "x");
    Decoded decoded(code, small_machine().sm);
    const DecodedKernel& k = decoded.kernel;
    const DecodedInst& in = k.instructions()[0];
    EXPECT_EQ(in.route, route);
    EXPECT_EQ(in.unit == Unit::Lsu, timing::goes_to_lsu(route));
    bool lines = route == Route::Load || route == Route::Store || route == Route::Atomic ||
                 route == Route::Reduce;
    EXPECT_EQ(in.payload, lines);
    EXPECT_EQ(in.local, kind == OpKind::LoadLocal || kind == OpKind::StoreLocal);
  }
}

TEST(DecodedKernel, RegisterOperandsAreDistinctAndNoPredicates) {
  Code code;
  code.alu(3, {1, 1, 2, trace::kFirstPredicate});
  code.add(OpKind::LoadGlobal, OpClass::Memory, {4, 5, 6}, {7}, "ld.v3");
  code.branch({250});
  Decoded decoded(code, small_machine().sm);
  const DecodedInst* in = decoded.kernel.instructions();
  EXPECT_EQ(in[0].register_reads, 2);
  EXPECT_EQ(in[0].register_writes, 1);
  EXPECT_EQ(in[1].register_reads, 1);
  EXPECT_EQ(in[1].register_writes, 3);
  EXPECT_EQ(in[2].register_reads, 0);
  EXPECT_EQ(in[2].register_writes, 0) << "the PC is no register of the file";
}

TEST(DecodedKernel, ExpansionsKnowWhereTheyBeginAndWhatTheirRecordsCarry) {
  Code code;  // machine instructions
  code.alu(1, {2});
  code.load(3, 1);
  code.barrier();
  code.alu(4, {3});
  trace::LoweredCode lowered{code.raw(), {0, 0, 2, 4, 4}};
  DecodedKernel k(lowered, small_machine().sm);
  ASSERT_EQ(k.ptx_size(), 4u);
  const unsigned first[] = {0, 0, 2, 4, 4}, payload[] = {0, 1, 0, 0, 0},
                 barrier[] = {0, 0, 1, 0, 0};
  for (unsigned i = 0; i < 5; ++i) {
    EXPECT_EQ(k.expansions()[i].first(), first[i]) << i;
    EXPECT_EQ(k.expansions()[i].payload(), payload[i] != 0) << i;
    EXPECT_EQ(k.expansions()[i].barrier(), barrier[i] != 0) << i;
  }
}

TEST(DecodedKernel, MoreMachineInstructionsThanEventsCanNameAreRefused) {
  Code code;
  code.alu(1, {2});
  trace::LoweredCode lowered = trace::as_it_is(code.raw());
  lowered.code.instructions.resize(trace::kMaxInstructions + 1, lowered.code.instructions[0]);
  lowered.first.back() = trace::kMaxInstructions + 1;
  EXPECT_THROW(DecodedKernel(lowered, small_machine().sm), InputError);
}

}  // namespace
}  // namespace raddle::decoded_kernel_test
