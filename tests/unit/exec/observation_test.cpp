// What an AccessObserver is told: every thread's words, and where copies of them are used.
#include "raddle/exec/run/observation.h"

#include <gmock/gmock.h>

#include <map>

#include "rig.h"

namespace raddle::exec::test::observation_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;

/// A tag is the word itself. Addresses are told as words from `origin`.
class Notes final : public AccessObserver {
 public:
  Tag load(const Thread& t, Address word) override {
    ++loads[{t.number, at(word)}];
    return word;
  }
  void use(const Thread& t, Tag tag) override { ++uses[{t.number, at(tag)}]; }
  void store(const Thread& t, Address to, unsigned bytes) override {
    stores.push_back({t.number, at(to), bytes});
  }
  void unseen() override { ++unseen_instructions; }
  void ended(std::uint32_t block) override { blocks.push_back(block); }

  using Key = std::pair<std::uint32_t, std::int64_t>;  // thread, word
  struct Store {
    std::uint32_t thread;
    std::int64_t word;
    unsigned bytes;
    bool operator==(const Store&) const = default;
  };
  Address origin = 0;
  std::map<Key, unsigned> loads, uses;
  std::vector<Store> stores;
  std::vector<std::uint32_t> blocks;
  unsigned unseen_instructions = 0;

 private:
  std::int64_t at(Address a) const { return static_cast<std::int64_t>(a - origin) / 4; }
};

MachineOptions observed(Notes& notes) {
  MachineOptions options;
  options.observer = &notes;
  return options;
}

/// One kernel: %rd1 the input, %rd2 the output, %r1 the thread, %rd3 4 x thread, %rd4 and %rd5 the
/// thread's own words of both.
std::string kernel(const std::string& body) {
  return R"(.visible .entry k(.param .u64 in, .param .u64 out) {
  .reg .b32 %r<20>; .reg .b64 %rd<20>; .reg .pred %p<4>; .reg .b16 %h<4>;
  .shared .align 16 .b8 s[1024]; .local .align 8 .b8 l[64];
  ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out];
  mov.u32 %r1, %tid.x; mul.wide.u32 %rd3, %r1, 4;
  add.s64 %rd4, %rd1, %rd3; add.s64 %rd5, %rd2, %rd3;
)" + body +
         "\n ret;\n}";
}

/// Words 0.. of the input hold 100, 101 ...; the output starts at word 64.
struct Launched {
  Launched(const std::string& body, unsigned threads) : rig(kernel(body), observed(notes)) {
    std::vector<std::uint32_t> words(128);
    for (std::uint32_t i = 0; i < 64; ++i) words[i] = 100 + i;
    const Address in = rig.upload(words);
    notes.origin = in;
    rig.run("k", {1}, {threads}, in, in + 256);
    out = rig.download<std::uint32_t>(in + 256, 64);
  }
  Notes notes;
  Rig rig;
  std::vector<std::uint32_t> out;
};

TEST(Observation, TellsLoadsUsesAndStoresOfEveryThread) {
  const Launched l("ld.global.u32 %r2, [%rd4]; add.u32 %r3, %r2, 1; st.global.u32 [%rd5], %r3;", 3);
  EXPECT_THAT(l.notes.loads, ElementsAre(Pair(Notes::Key{0, 0}, 1), Pair(Notes::Key{1, 1}, 1),
                                         Pair(Notes::Key{2, 2}, 1)));
  EXPECT_EQ(l.notes.uses, l.notes.loads);
  EXPECT_THAT(l.notes.stores,
              ElementsAre(Notes::Store{0, 64, 4}, Notes::Store{1, 65, 4}, Notes::Store{2, 66, 4}));
  EXPECT_THAT(l.notes.blocks, ElementsAre(0));
  EXPECT_EQ(l.out[2], 103u);
}

TEST(Observation, WhatNobodyComputesWithIsNotUsed) {
  const Launched l("ld.global.u32 %r2, [%rd4]; mov.u32 %r2, 7; add.u32 %r3, %r2, 1;", 2);
  EXPECT_EQ(l.notes.loads.size(), 2u);
  EXPECT_THAT(l.notes.uses, IsEmpty());
}

TEST(Observation, AResultIsNoCopy) {
  const Launched l("ld.global.u32 %r2, [%rd4]; neg.s32 %r3, %r2; add.u32 %r4, %r3, %r3;", 1);
  EXPECT_THAT(l.notes.uses, ElementsAre(Pair(Notes::Key{0, 0}, 1)));
}

TEST(Observation, SeesThroughSharedMemoryToWhoUsesIt) {
  // Each thread brings one word; thread t computes with the words of t and its neighbour.
  const Launched l(R"(mov.u32 %r9, s; mad.lo.u32 %r10, %r1, 4, %r9;
    ld.global.u32 %r2, [%rd4]; st.shared.u32 [%r10], %r2; bar.sync 0;
    setp.eq.u32 %p1, %r1, 39; @%p1 bra done;
    ld.shared.u32 %r3, [%r10]; ld.shared.u32 %r4, [%r10+4];
    add.u32 %r5, %r3, %r4; st.global.u32 [%rd5], %r5;
    done:)",
                   40);
  EXPECT_EQ(l.notes.loads.size(), 40u);
  ASSERT_EQ(l.notes.uses.size(), 78u);
  for (std::uint32_t t = 0; t < 39; ++t) {
    EXPECT_EQ(l.notes.uses.at({t, t}), 1u);
    EXPECT_EQ(l.notes.uses.at({t, t + 1}), 1u);
  }
  EXPECT_EQ(l.out[10], 110u + 111u);
}

TEST(Observation, WhatReplacesAWordInSharedMemoryIsNoCopy) {
  const Launched l(R"(mov.u32 %r9, s; mad.lo.u32 %r10, %r1, 4, %r9;
    ld.global.u32 %r2, [%rd4]; st.shared.u32 [%r10], %r2; st.shared.u32 [%r10], %r1;
    ld.shared.u32 %r3, [%r10]; add.u32 %r5, %r3, %r3;)",
                   2);
  EXPECT_THAT(l.notes.uses, IsEmpty());
}

TEST(Observation, ABlockDoesNotInheritCopiesOfTheOneBeforeIt) {
  Notes notes;
  Rig rig(kernel(R"(mov.u32 %r9, s; mov.u32 %r11, %ctaid.x; setp.ne.u32 %p1, %r11, 0; @%p1 bra two;
    ld.global.u32 %r2, [%rd4]; st.shared.u32 [%r9], %r2; bra done;
    two: ld.shared.u32 %r3, [%r9]; add.u32 %r4, %r3, 1; done:)"),
          observed(notes));
  const Address in = rig.zeros(512);
  rig.run("k", {2}, {1}, in, in + 256);
  EXPECT_EQ(notes.loads.size(), 1u);
  EXPECT_THAT(notes.uses, IsEmpty());
  EXPECT_THAT(notes.blocks, ElementsAre(0, 1));
}

TEST(Observation, FollowsMovesSelectionsAndPairs) {
  const Launched l(R"(ld.global.u32 %r2, [%rd4]; ld.global.u32 %r3, [%rd4+128];
    setp.eq.u32 %p1, %r1, 0; selp.b32 %r4, %r2, %r3, %p1; mov.u32 %r5, %r4;
    mov.b64 %rd6, {%r5, %r1}; mov.u64 %rd7, %rd6; mov.b64 {%r6, %r7}, %rd7;
    add.u32 %r8, %r6, 1;)",
                   2);
  EXPECT_EQ(l.notes.loads.size(), 4u);
  EXPECT_THAT(l.notes.uses, ElementsAre(Pair(Notes::Key{0, 0}, 1), Pair(Notes::Key{1, 1 + 32}, 1)));
}

TEST(Observation, FollowsShuffles) {
  const Launched l(R"(ld.global.u32 %r2, [%rd4];
    shfl.sync.down.b32 %r3, %r2, 1, 31, -1; add.u32 %r4, %r3, 1;)",
                   32);
  ASSERT_EQ(l.notes.uses.size(), 32u);
  for (std::uint32_t t = 0; t < 31; ++t) EXPECT_EQ(l.notes.uses.at({t, t + 1}), 1u);
  EXPECT_EQ(l.notes.uses.at({31, 31}), 1u) << "a lane without a source keeps its own value";
}

TEST(Observation, FollowsLocalMemoryAndWideLoads) {
  const Launched l(R"(mov.u32 %r9, l; ld.global.v2.u32 {%r2, %r3}, [%rd1];
    st.local.v2.u32 [%r9+8], {%r2, %r3}; ld.local.u64 %rd6, [%r9+8]; mov.b64 {%r4, %r5}, %rd6;
    add.u32 %r6, %r5, 1;)",
                   1);
  EXPECT_EQ(l.notes.loads.size(), 2u);
  EXPECT_THAT(l.notes.uses, ElementsAre(Pair(Notes::Key{0, 1}, 1)));
}

TEST(Observation, FollowsGenericAddressesIntoSharedMemory) {
  const Launched l(R"(mov.u64 %rd6, s; cvta.shared.u64 %rd7, %rd6; add.s64 %rd7, %rd7, %rd3;
    ld.global.u32 %r2, [%rd4]; st.u32 [%rd7], %r2; ld.u32 %r3, [%rd7]; add.u32 %r4, %r3, 1;)",
                   2);
  EXPECT_THAT(l.notes.uses, ElementsAre(Pair(Notes::Key{0, 0}, 1), Pair(Notes::Key{1, 1}, 1)));
}

TEST(Observation, StoringAddressingAndBranchingAreUses) {
  const Launched l(R"(ld.global.u32 %r2, [%rd1]; st.global.u32 [%rd2], %r2;
    ld.global.u32 %r3, [%rd1+4]; setp.eq.u32 %p1, %r3, 0;
    ld.global.u64 %rd6, [%rd1+256]; add.s64 %rd7, %rd6, %rd1; ld.global.u32 %r5, [%rd7];)",
                   1);
  EXPECT_EQ(l.notes.uses.at({0, 0}), 1u);
  EXPECT_EQ(l.notes.uses.at({0, 1}), 1u);
  EXPECT_EQ(l.notes.uses.at({0, 64}), 1u) << "low half of the 64-bit index";
  EXPECT_EQ(l.notes.uses.at({0, 65}), 1u);
}

TEST(Observation, SmallElementsAreUsedByTheLoad) {
  const Launched l("ld.global.u8 %h1, [%rd1+5]; ld.global.u16 %r2, [%rd1+10];", 1);
  EXPECT_THAT(l.notes.loads, ElementsAre(Pair(Notes::Key{0, 1}, 1), Pair(Notes::Key{0, 2}, 1)));
  EXPECT_EQ(l.notes.uses, l.notes.loads);
}

TEST(Observation, AtomicsLoadUseAndStore) {
  const Launched l("ld.global.u32 %r2, [%rd4]; red.global.add.u32 [%rd2], %r2;", 2);
  EXPECT_EQ(l.notes.loads.at({0, 64}), 1u);
  EXPECT_EQ(l.notes.uses.at({1, 64}), 1u);
  EXPECT_EQ(l.notes.uses.at({1, 1}), 1u);
  EXPECT_THAT(l.notes.stores, ElementsAre(Notes::Store{0, 64, 4}, Notes::Store{1, 64, 4}));
  EXPECT_EQ(l.out[0], 100u + 101u);
}

TEST(Observation, OnlyLanesThatRunAreTold) {
  const Launched l("setp.eq.u32 %p1, %r1, 5; @%p1 ld.global.u32 %r2, [%rd4]; add.u32 %r3, %r2, 1;",
                   32);
  EXPECT_THAT(l.notes.loads, ElementsAre(Pair(Notes::Key{5, 5}, 1)));
  EXPECT_EQ(l.notes.uses, l.notes.loads);
}

TEST(Observation, APausedWarpIsNotToldTwice) {
  // Its stream is longer than the buffer it is written to, so the warp stops at some of its loads.
  const Launched l(R"(mov.u32 %r9, 0; again:
    ld.global.u32 %r2, [%rd4]; st.global.u32 [%rd5], %r2;
    add.u32 %r9, %r9, 1; setp.lt.u32 %p1, %r9, 3000; @%p1 bra again;)",
                   1);
  EXPECT_EQ(l.notes.loads.at({0, 0}), 3000u);
  EXPECT_EQ(l.notes.stores.size(), 3000u);
}

TEST(Observation, SaysWhatItDoesNotSee) {
  const Launched l(R"(mov.u32 %r9, s; ld.global.u32 %r2, [%rd4];
    cp.async.ca.shared.global [%r9], [%rd1], 4; cp.async.wait_all; ld.shared.u32 %r3, [%r9];
    add.u32 %r4, %r3, %r2;)",
                   1);
  EXPECT_GE(l.notes.unseen_instructions, 1u);
  EXPECT_EQ(l.notes.loads.at({0, 0}), 2u) << "also those of the asynchronous copy";
  EXPECT_EQ(l.notes.uses.at({0, 0}), 1u) << "by the copy; the registers' copies are forgotten";
}

}  // namespace
}  // namespace raddle::exec::test::observation_test
