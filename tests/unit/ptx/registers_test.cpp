// Register assignment: what instructions touch, and that no two live values share a register.
#include <gmock/gmock.h>

#include <algorithm>
#include <map>

#include "raddle/ptx/analysis.h"
#include "raddle/ptx/liveness.h"
#include "unit/ptx/graphs.h"

namespace raddle::ptx::test::registers_test {
namespace {

using testing::ElementsAre;

struct Names {
  std::vector<std::string> reads, writes;
};
Names access_of(const std::string& instruction) {
  const One one = parse_one(instruction);
  RegisterAccess access;
  register_access(one.function, one.instruction, access);
  Names names;
  for (std::uint32_t reg : access.reads) names.reads.push_back(one.register_name(reg));
  for (std::uint32_t reg : access.writes) names.writes.push_back(one.register_name(reg));
  return names;
}

TEST(Access, DestinationIsWrittenTheRestIsRead) {
  const Names names = access_of("@%p1 fma.rn.f32 %f1, %f2, %f3, %f4;");
  EXPECT_THAT(names.reads, ElementsAre("%p1", "%f2", "%f3", "%f4"));
  EXPECT_THAT(names.writes, ElementsAre("%f1"));
}

TEST(Access, AddressesAndStoredValuesAreRead) {
  EXPECT_THAT(access_of("st.global.v2.b32 [%rd1+4], {%r1, %r2};").reads,
              ElementsAre("%rd1", "%r1", "%r2"));
  EXPECT_THAT(access_of("st.global.b32 [%rd1], %r1;").writes, ElementsAre());
  EXPECT_THAT(access_of("ld.global.v2.b32 {%r1, %r2}, [%rd1];").writes, ElementsAre("%r1", "%r2"));
  EXPECT_THAT(access_of("red.global.add.u32 [%rd1], %r2;").reads, ElementsAre("%rd1", "%r2"));
  EXPECT_THAT(access_of("tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f5, %f6}];").reads,
              ElementsAre("%rd1", "%f5", "%f6"));
}

TEST(Access, PairsWriteBoth) {
  EXPECT_THAT(access_of("setp.lt.s32 %p1|%p2, %r1, %r2;").writes, ElementsAre("%p1", "%p2"));
  EXPECT_THAT(access_of("shfl.sync.up.b32 %r1|%p1, %r2, %r3, 0, -1;").writes,
              ElementsAre("%r1", "%p1"));
}

TEST(Access, SomeFirstOperandsAreRead) {
  EXPECT_THAT(access_of("bar.sync %r1, %r2;").reads, ElementsAre("%r1", "%r2"));
  EXPECT_THAT(access_of("bar.red.or.pred %p1, %r1, %p2;").writes, ElementsAre("%p1"));
  EXPECT_THAT(access_of("nanosleep.u32 %r1;").reads, ElementsAre("%r1"));
  EXPECT_THAT(access_of("T: .branchtargets L; L: brx.idx %r1, T;").reads, ElementsAre("%r1"));
}

TEST(Access, CallsReadArgumentsAndWriteResults) {
  const Module module = parse_module(
      ".func (.reg .u32 r) f(.reg .u32 x) { mov.u32 r, x; ret; }\n"
      ".entry k() { .reg .u32 a, b; .reg .b64 d; P: .callprototype (.reg .u32 _) _ (.reg .u32 _);\n"
      "call (a), f, (b); call (a), d, (b), P; }");
  const Function& k = module.functions[1];
  RegisterAccess access;
  register_access(k, k.instructions[0], access);
  EXPECT_EQ(k.registers[access.reads.at(0)].name, "b");
  EXPECT_EQ(k.registers[access.writes.at(0)].name, "a");
  register_access(k, k.instructions[1], access);
  EXPECT_EQ(access.reads.size(), 2u) << "the function pointer too";
}

RegisterAssignment assign(const std::string& body) {
  const Module module = parse_kernel(body);
  return assign_registers(module.functions[0]);
}

TEST(Assignment, ADyingSourceGivesItsRegisterToTheResult) {
  EXPECT_EQ(assign("mov.b32 %r1, 1;\nadd.s32 %r2, %r1, 1;\nadd.s32 %r3, %r2, 1;\n"
                   "st.global.b32 [0], %r3;")
                .registers,
            1u);
}

TEST(Assignment, LiveValuesNeedTheirOwn) {
  EXPECT_EQ(assign("mov.b32 %r1, 1;\nmov.b32 %r2, 2;\nadd.s32 %r3, %r1, %r2;\n"
                   "st.global.b32 [0], %r3;")
                .registers,
            2u);
}

TEST(Assignment, SixtyFourBitValuesAreAlignedPairs) {
  const RegisterAssignment made = assign(
      "mov.b32 %r1, 1;\nmov.b64 %rd1, 2;\nmov.b32 %r2, 2;\nst.global.b32 [%rd1], %r1;\n"
      "st.global.b32 [0], %r2;");
  EXPECT_THAT(made.number, ElementsAre(0, 2, 1));
  EXPECT_EQ(made.registers, 4u);
}

TEST(Assignment, PredicatesHaveTheirOwnFileAndHalvesTakeOne) {
  const RegisterAssignment made = assign(
      "setp.eq.s32 %p1, 1, 1;\nmov.b16 %rs1, 1;\nmov.b16 %rs2, 2;\n@%p1 st.global.b16 [0], %rs1;\n"
      "st.global.b16 [2], %rs2;");
  EXPECT_EQ(made.registers, 2u);
  EXPECT_EQ(made.predicates, 1u);
}

TEST(Assignment, LoopsKeepWhatTheNextRoundReads) {
  const RegisterAssignment made = assign(
      "mov.b32 %r1, 1;\nmov.b32 %r2, 0;\nL: add.s32 %r3, %r2, %r1;\nadd.s32 %r4, %r3, 1;\n"
      "mov.b32 %r2, %r4;\n@%p1 bra L;\nret;");
  EXPECT_EQ(made.registers, 3u) << "%r1 and %r2 across the loop, one for %r3 and %r4";
}

TEST(Assignment, AGuardedWriteDoesNotEndTheOldValue) {
  const RegisterAssignment made =
      assign("mov.b32 %r1, 1;\nmov.b32 %r2, 5;\n@%p1 mov.b32 %r1, %r2;\nst.global.b32 [0], %r1;");
  EXPECT_EQ(made.registers, 2u);
}

TEST(Assignment, AnUnwrittenRegisterDoesNotStretchToTheEntry) {
  EXPECT_EQ(assign("mov.b32 %r1, 1;\nst.global.b32 [0], %r1;\nL: @%p1 mov.b32 %r2, 1;\n"
                   "st.global.b32 [0], %r2;\nbra L;")
                .registers,
            1u);
}

TEST(Assignment, RegisterParametersStayThroughout) {
  const Module module = parse_module(
      ".func (.reg .u32 r) f(.reg .u32 x) { .reg .u32 t; mov.u32 t, 1; mov.u32 r, t; ret; }");
  EXPECT_EQ(assign_registers(module.functions[0]).registers, 3u);
}

TEST(Assignment, OfAnEmptyFunctionIsEmpty) {
  const RegisterAssignment made = assign("");
  EXPECT_TRUE(made.number.empty());
  EXPECT_EQ(made.registers, 0u);
}

TEST(Assignment, MoreLiveValuesThanNumbersIsRefused) {
  std::string body = ".reg .b64 w<40000>;\n";
  for (unsigned i = 0; i < 40'000; ++i) body += "mov.b64 w" + std::to_string(i) + ", 1;\n";
  for (unsigned i = 0; i < 40'000; ++i) body += "st.global.b64 [0], w" + std::to_string(i) + ";\n";
  const Module module = parse_kernel(body);
  try {
    assign_registers(module.functions[0]);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "line 4: function 'k' keeps more than 65535 registers live");
  }
}

// Independent of the implementation: sets per instruction, iterated to the fixed point.
class BruteForce {
 public:
  explicit BruteForce(const Function& function)
      : function_(function), next_(successors(function)), n_(next_.size()) {
    access_.resize(n_);
    for (std::size_t i = 0; i < n_; ++i)
      register_access(function, function.instructions[i], access_[i]);
    live_before_.resize(n_ + 1);
    written_before_.resize(n_ + 1);
    while (step()) {
    }
  }

  /// Registers that hold something after instruction i wrote: read later, and perhaps written by
  /// then.
  std::set<std::uint32_t> held_after(std::size_t i) const {
    std::set<std::uint32_t> live = live_after(i), held;
    const std::set<std::uint32_t> written = written_after(i);
    std::set_intersection(live.begin(), live.end(), written.begin(), written.end(),
                          std::inserter(held, held.end()));
    held.insert(access_[i].writes.begin(), access_[i].writes.end());
    return held;
  }

 private:
  std::set<std::uint32_t> live_after(std::size_t i) const {
    std::set<std::uint32_t> live;
    for (std::uint32_t next : next_[i])
      live.insert(live_before_[next].begin(), live_before_[next].end());
    return live;
  }
  std::set<std::uint32_t> written_after(std::size_t i) const {
    std::set<std::uint32_t> written = written_before_[i];
    written.insert(access_[i].writes.begin(), access_[i].writes.end());
    return written;
  }
  bool step() {
    bool changed = false;
    for (std::size_t i = n_; i-- > 0;) {
      std::set<std::uint32_t> live = live_after(i);
      if (function_.instructions[i].guard == kNoIndex)
        for (std::uint32_t reg : access_[i].writes) live.erase(reg);
      live.insert(access_[i].reads.begin(), access_[i].reads.end());
      changed |= live != live_before_[i];
      live_before_[i] = std::move(live);
      for (std::uint32_t next : next_[i]) {
        const std::size_t before = written_before_[next].size();
        const std::set<std::uint32_t> after = written_after(i);
        written_before_[next].insert(after.begin(), after.end());
        changed |= written_before_[next].size() != before;
      }
    }
    return changed;
  }

  const Function& function_;
  std::vector<std::vector<std::uint32_t>> next_;
  std::size_t n_;
  std::vector<RegisterAccess> access_;
  std::vector<std::set<std::uint32_t>> live_before_, written_before_;
};

unsigned width_of(Type type) { return size_of(type) == 8 ? 2 : 1; }

/// Checks that values held at the same time are apart; returns the most 32-bit registers held at
/// once.
unsigned check(const Function& function, const std::string& body) {
  const RegisterAssignment made = assign_registers(function);
  const BruteForce truth(function);
  unsigned maximum = 0;
  for (std::size_t i = 0; i < function.instructions.size(); ++i) {
    std::map<std::uint32_t, std::uint32_t> owners[2];
    unsigned held = 0;
    for (std::uint32_t reg : truth.held_after(i)) {
      const Type type = function.registers[reg].type;
      const bool is_predicate = type == Type::Pred;
      EXPECT_NE(made.number[reg], RegisterAssignment::kNone);
      EXPECT_EQ(made.number[reg] % width_of(type), 0u);
      for (unsigned part = 0; part < width_of(type); ++part) {
        const std::uint32_t number = made.number[reg] + part;
        EXPECT_LT(number, is_predicate ? made.predicates : made.registers);
        const auto [at, is_new] = owners[is_predicate].emplace(number, reg);
        EXPECT_TRUE(is_new) << function.registers[reg].name << " and "
                            << function.registers[at->second].name << " share " << number
                            << " after instruction " << i << " of\n"
                            << body;
        held += !is_predicate;
      }
    }
    maximum = std::max(maximum, held);
  }
  EXPECT_GE(made.registers, maximum);
  return maximum;
}

TEST(Assignment, NoTwoLiveValuesShareARegisterOnRandomGraphs) {
  std::mt19937 random(7);
  unsigned maximum = 0;
  for (unsigned round = 0; round < 300 && !testing::Test::HasFailure(); ++round) {
    const std::string body = random_body(random, {1 + round % 12, 2 + round % 9, 5});
    const Module module = parse_kernel(body);
    maximum = std::max(maximum, check(module.functions[0], body));
  }
  EXPECT_GT(maximum, 15u) << "there must be pressure for this to mean anything";
}

// More registers than fit in two words of a bitset.
TEST(Assignment, HoldsForManyRegistersAcrossBlocks) {
  constexpr unsigned kCount = 150;
  std::string body = ".reg .b32 w<150>;\n";
  for (unsigned i = 0; i < kCount; ++i) body += "mov.b32 w" + std::to_string(i) + ", 1;\n";
  body += "L: @%p1 bra L;\n";
  for (unsigned i = 0; i < kCount; ++i)
    body += "st.global.b32 [0], w" + std::to_string((i * 67) % kCount) + ";\n";
  const Module module = parse_kernel(body);
  EXPECT_EQ(check(module.functions[0], body), kCount);
  EXPECT_EQ(assign_registers(module.functions[0]).registers, kCount);
}

TEST(Liveness, IsTheSameInSmallGroups) {
  std::mt19937 random(3);
  for (unsigned round = 0; round < 20; ++round) {
    const Module module = parse_kernel(random_body(random, {60, 20, 6}));
    const Function& function = module.functions[0];
    const std::vector<LiveInterval> whole = live_intervals(function);
    const std::vector<LiveInterval> transactions = live_intervals(function, 1);
    ASSERT_EQ(whole.size(), transactions.size());
    ASSERT_GT(whole.size(), 64u) << "more than one group of one word";
    for (std::size_t i = 0; i < whole.size(); ++i) {
      EXPECT_EQ(whole[i].begin, transactions[i].begin);
      EXPECT_EQ(whole[i].end, transactions[i].end);
    }
  }
}

}  // namespace
}  // namespace raddle::ptx::test::registers_test
