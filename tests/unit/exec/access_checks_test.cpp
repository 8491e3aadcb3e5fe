// Races in shared memory and loads of what nobody has written, in kernels that have them and in
// kernels that only look like it.
#include "raddle/exec/run/access_checks.h"

#include <gmock/gmock.h>

#include "rig.h"

namespace raddle::exec::test::access_checks_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

MachineOptions checked(AccessChecks& checks) {
  MachineOptions options;
  options.checks = &checks;
  return options;
}

/// %rd1 the buffer, %r1 the thread, %r2 its word of shared memory, %r3 that of the thread 32 on (of
/// 64), %rd4 the thread's word of the buffer.
std::string kernel(const std::string& body) {
  return R"(.visible .entry k(.param .u64 in) {
  .reg .b32 %r<20>; .reg .b64 %rd<20>; .reg .pred %p<4>; .reg .b16 %h<4>;
  .shared .align 16 .b8 s[512];
  ld.param.u64 %rd1, [in]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd3, %r1, 4;
  add.s64 %rd4, %rd1, %rd3;
  mov.u32 %r9, s; shl.b32 %r2, %r1, 2; add.u32 %r2, %r2, %r9;
  xor.b32 %r3, %r1, 32; shl.b32 %r3, %r3, 2; add.u32 %r3, %r3, %r9;
)" + body +
         "\n ret;\n}";
}

class Checked {
 public:
  explicit Checked(const std::string& body, CheckOptions options = {true, false},
                   unsigned threads = 64, unsigned blocks = 1)
      : checks_(options), rig_(kernel(body), checked(checks_)) {
    buffer = rig_.upload(std::vector<std::uint32_t>(256));
    rig_.run("k", {blocks}, {threads}, buffer);
  }
  std::vector<std::string> texts() const {
    std::vector<std::string> out;
    for (const Finding& f : checks_.findings())
      out.push_back(std::string(kCheckNames[static_cast<std::size_t>(f.check)]) + ": " + f.text +
                    ", " + std::to_string(f.times));
    return out;
  }
  const AccessChecks& checks() const { return checks_; }
  Address buffer = 0;

 private:
  AccessChecks checks_;
  Rig rig_;
};

// --- races --------------------------------------------------------------------------------------

constexpr const char* kStore = "st.shared.u32 [%r2], %r1;\n";
constexpr const char* kLoadOther = "ld.shared.u32 %r4, [%r3]; st.global.u32 [%rd4], %r4;";

TEST(Races, AReadWithoutBarrierBehindAWriteOfAnotherWarp) {
  const Checked run(std::string(kStore) + kLoadOther);
  // Warp 0 runs first: what it reads is overwritten, and what warp 1 reads was written.
  EXPECT_THAT(
      run.texts(),
      ElementsAre(AllOf(HasSubstr("races: block (0,0,0) thread (32,0,0) writes byte 128"),
                        HasSubstr("thread (0,0,0) of the block reads it at"), HasSubstr(", 32")),
                  AllOf(HasSubstr("thread (32,0,0) reads byte 0 of shared memory at"),
                        HasSubstr("thread (0,0,0) of the block writes it"),
                        HasSubstr("'ld.shared.u32"), HasSubstr(", 32"))));
}

TEST(Races, NoneWithABarrier) {
  EXPECT_THAT(Checked(std::string(kStore) + "bar.sync 0;" + kLoadOther).texts(), IsEmpty());
}

TEST(Races, TheNextRoundsWriteNeedsABarrierToo) {
  const std::string round = std::string(kStore) + "bar.sync 0;" + kLoadOther;
  EXPECT_THAT(Checked(round + round).texts(),
              ElementsAre(AllOf(HasSubstr("thread (32,0,0) reads byte 0"),
                                HasSubstr("thread (0,0,0) of the block writes it")),
                          AllOf(HasSubstr("thread (32,0,0) writes byte 128"),
                                HasSubstr("thread (0,0,0) of the block reads it"))));
  EXPECT_THAT(Checked(round + "bar.sync 0;" + round).texts(), IsEmpty());
}

TEST(Races, WithinAWarpTheOrderIsThatOfItsInstructions) {
  EXPECT_THAT(Checked(std::string(kStore) + R"(
    xor.b32 %r5, %r1, 1; shl.b32 %r5, %r5, 2; add.u32 %r5, %r5, %r9; ld.shared.u32 %r4, [%r5];)")
                  .texts(),
              IsEmpty());
}

TEST(Races, NeighbouringBytesAreDifferentPlaces) {
  const std::string own = "shr.u32 %r6, %r1, 5; add.u32 %r6, %r6, %r9; st.shared.u8 [%r6], 7;";
  EXPECT_THAT(Checked(own).texts(), IsEmpty());
  // What words have seen before is known of their bytes: warp 1 reads byte 1 of warp 0's word.
  EXPECT_THAT(Checked("setp.lt.u32 %p1, %r1, 32; @%p1 st.shared.u32 [%r9], %r9; "
                      "@!%p1 ld.shared.u8 %r4, [%r9+1];")
                  .texts(),
              ElementsAre(HasSubstr("thread (32,0,0) reads byte 1")));
}

TEST(Races, OneInstructionStoresDifferentValuesToOnePlace) {
  EXPECT_THAT(Checked("st.shared.u32 [%r9], %r1;", {true, false}, 32).texts(),
              ElementsAre(AllOf(HasSubstr("thread (0,0,0) and thread (1,0,0) store different"),
                                HasSubstr(", 31"))));
  EXPECT_THAT(Checked("mov.u32 %r4, 5; st.shared.u32 [%r9], %r4;", {true, false}, 32).texts(),
              IsEmpty());
}

TEST(Races, AtomicsDoNotRaceWithEachOtherButWithReads) {
  EXPECT_THAT(Checked("red.shared.add.u32 [%r9], 1;").texts(), IsEmpty());
  EXPECT_THAT(
      Checked("atom.shared.add.u32 %r4, [%r9], 1; bar.sync 0; ld.shared.u32 %r4, [%r9];").texts(),
      IsEmpty());
  EXPECT_THAT(Checked("atom.shared.add.u32 %r4, [%r9], 1; ld.shared.u32 %r4, [%r9];").texts(),
              ElementsAre(AllOf(HasSubstr("thread (32,0,0) writes byte 0"),
                                HasSubstr("of the block reads it")),
                          AllOf(HasSubstr("thread (32,0,0) reads byte 0"),
                                HasSubstr("thread (31,0,0) of the block writes it"))));
}

/// Warp 0 writes its words and says so in the word s+256; warp 1 waits for that and reads them.
std::string by_flag(const std::string& says, const std::string& asks) {
  return "setp.ge.u32 %p1, %r1, 32; setp.eq.u32 %p2, %r1, 0; add.u32 %r10, %r9, 256;"
         "@%p2 st.shared.u32 [%r10], 0; bar.sync 0; @%p1 bra CONSUMER;" +
         std::string(kStore) + "bar.warp.sync -1;" + says + "bra END; CONSUMER: " + asks +
         "setp.eq.u32 %p3, %r5, 0; @%p3 bra CONSUMER; " + kLoadOther + "END:";
}

TEST(Races, ReleaseAndAcquireOfAWordPutInOrder) {
  EXPECT_THAT(Checked(by_flag("@%p2 st.release.cta.shared.u32 [%r10], 1;",
                              "ld.acquire.cta.shared.u32 %r5, [%r10];"))
                  .texts(),
              IsEmpty());
  EXPECT_THAT(Checked(by_flag("@%p2 red.release.cta.shared.add.u32 [%r10], 1;",
                              "atom.acq_rel.cta.shared.or.b32 %r5, [%r10], 0;"))
                  .texts(),
              IsEmpty());
  // One that only updates the word in between passes on what it found.
  EXPECT_THAT(Checked(by_flag("@%p2 st.release.cta.shared.u32 [%r10], 1;"
                              "atom.relaxed.cta.shared.add.u32 %r5, [%r10], 1;",
                              "ld.acquire.cta.shared.u32 %r5, [%r10];"))
                  .texts(),
              IsEmpty());
}

TEST(Races, FencesMakeStrongAccessesOrder) {
  const std::string says = "@%p2 st.volatile.shared.u32 [%r10], 1;",
                    asks = "ld.volatile.shared.u32 %r5, [%r10];";
  EXPECT_THAT(Checked(by_flag("membar.cta;" + says, asks + "fence.acq_rel.cta;")).texts(),
              IsEmpty());
  // On one side alone they do not: the words race, the flag does not.
  const auto race = ElementsAre(AllOf(HasSubstr("thread (32,0,0) reads byte 0"),
                                      HasSubstr("thread (0,0,0) of the block writes it")));
  EXPECT_THAT(Checked(by_flag(says, asks + "fence.acq_rel.cta;")).texts(), race);
  EXPECT_THAT(Checked(by_flag("membar.cta;" + says, asks)).texts(), race);
  EXPECT_THAT(Checked(by_flag(says, asks)).texts(), race);
}

TEST(Races, WhatComesAfterTheReleaseIsNotInOrder) {
  EXPECT_THAT(Checked(by_flag("@%p2 st.release.cta.shared.u32 [%r10], 1;"
                              "bar.warp.sync -1; st.shared.u32 [%r2], %r2;",
                              "ld.acquire.cta.shared.u32 %r5, [%r10];"))
                  .texts(),
              ElementsAre(HasSubstr("thread (32,0,0) reads byte 0")));
}

TEST(Races, AnOrdinaryWriteOfTheFlagRaces) {
  EXPECT_THAT(
      Checked(by_flag("@%p2 st.shared.u32 [%r10], 1;", "ld.acquire.cta.shared.u32 %r5, [%r10];"))
          .texts(),
      ElementsAre(HasSubstr("reads byte 256"), HasSubstr("reads byte 0")));
}

TEST(Races, ABarrierOrdersThoseThatUseIt) {
  // Of three warps the first two meet at barrier 1; the third reads what the first wrote.
  const std::string two = R"(
    setp.ge.u32 %p1, %r1, 64; @%p1 bra THIRD;
    st.shared.u32 [%r2], %r1; bar.sync 1, 64; ld.shared.u32 %r4, [%r3]; bra END;
    THIRD: )";
  EXPECT_THAT(Checked(two + "END:", {true, false}, 96).texts(), IsEmpty());
  EXPECT_THAT(Checked(two + "ld.shared.u32 %r4, [%r9]; END:", {true, false}, 96).texts(),
              ElementsAre(HasSubstr("thread (64,0,0) reads byte 0")));
}

TEST(Races, WhoArrivesWithoutWaitingIsOrderedBeforeThoseWhoWait) {
  const std::string producer = R"(
    setp.ge.u32 %p1, %r1, 32; @%p1 bra CONSUMER;
    st.shared.u32 [%r2], %r1; bar.arrive 2, 64; )";
  const std::string consumer = R"( bra END;
    CONSUMER: bar.sync 2, 64; ld.shared.u32 %r4, [%r3]; END:)";
  EXPECT_THAT(Checked(producer + consumer).texts(), IsEmpty());
  // What it writes after it has arrived is not.
  EXPECT_THAT(Checked(producer + "st.shared.u32 [%r2], %r2;" + consumer).texts(),
              ElementsAre(HasSubstr("thread (32,0,0) reads byte 0")));
}

TEST(Races, GenericAddressesMeanTheSameMemory) {
  EXPECT_THAT(Checked(std::string(kStore) + R"(
    cvt.u64.u32 %rd6, %r3; cvta.shared.u64 %rd6, %rd6; ld.u32 %r4, [%rd6];)")
                  .texts(),
              ElementsAre(HasSubstr("writes byte 128"), HasSubstr("reads byte 0")));
}

// Of each block another warp than in the one before writes.
TEST(Races, BlocksDoNotShare) {
  EXPECT_THAT(Checked(R"(
    mov.u32 %r5, %ctaid.x; and.b32 %r5, %r5, 1; shr.u32 %r6, %r1, 5;
    setp.eq.u32 %p1, %r5, %r6; @%p1 st.shared.u32 [%r9], %r5;)",
                      {true, false}, 64, 8)
                  .texts(),
              IsEmpty());
}

TEST(Races, ManyReadersOfAPlaceAreEachKnown) {
  // All four warps read word 0; the last writes it. Three of them race, the first found is told.
  const std::string all = "ld.shared.u32 %r4, [%r9]; ";
  const std::string last = "setp.ge.u32 %p1, %r1, 96; @%p1 st.shared.u32 [%r9], %r9;";
  EXPECT_THAT(Checked(all + last, {true, false}, 128).texts(),
              ElementsAre(AllOf(HasSubstr("thread (96,0,0) writes byte 0"),
                                HasSubstr("of the block reads it"))));
  EXPECT_THAT(Checked(all + "bar.sync 0;" + last + "bar.sync 0;" + all + "bar.sync 0;" + last,
                      {true, false}, 128)
                  .texts(),
              IsEmpty());
}

TEST(Races, OfKernelsWithBarrierObjectsAreLeftOut) {
  const Checked run(std::string("mbarrier.init.shared.b64 [%r9], 64;") + kStore + kLoadOther,
                    {true, false}, 64);
  EXPECT_THAT(run.texts(), IsEmpty());
  ASSERT_EQ(run.checks().left_out().size(), 1u);
  EXPECT_THAT(run.checks().left_out().begin()->second, HasSubstr("barrier objects"));
}

// What a strong access does not race with is not forgotten for it.
constexpr const char* kAdd = "red.shared.add.u32 [%r9], 1;\n";
constexpr const char* kLoadFirst = "ld.shared.u32 %r4, [%r9]; st.global.u32 [%rd4], %r4;\n";

TEST(RacesOfStrongAccesses, AWarpsOwnAtomicDoesNotHideItsStore) {
  const std::string zero = "setp.eq.u32 %p1, %r1, 0; @%p1 st.shared.u32 [%r9], 0;\n";
  EXPECT_THAT(Checked(zero + kAdd).texts(),
              ElementsAre(AllOf(HasSubstr("thread (32,0,0) writes byte 0"),
                                HasSubstr("thread (0,0,0) of the block writes it"))));
  EXPECT_THAT(Checked(zero + "bar.sync 0;" + kAdd).texts(), IsEmpty());
}

TEST(RacesOfStrongAccesses, WhicheverWarpReadsWhatAllHaveAdded) {
  for (const char* reader : {"0", "32"}) {
    const std::string read =
        std::string("setp.eq.u32 %p1, %r1, ") + reader + "; @%p1 ld.shared.u32 %r4, [%r9];\n";
    const Checked run(kAdd + read);
    ASSERT_EQ(run.texts().size(), 1u) << reader;
    EXPECT_THAT(Checked(std::string(kAdd) + "bar.sync 0;" + read).texts(), IsEmpty());
  }
}

TEST(RacesOfStrongAccesses, AVolatileReadDoesNotHideAPlainOne) {
  const std::string reads =
      "setp.lt.u32 %p1, %r1, 32; @%p1 ld.shared.u32 %r4, [%r9];\n"
      "@%p1 ld.volatile.shared.u32 %r5, [%r9]; @!%p1 ";
  EXPECT_THAT(Checked(reads + kAdd).texts(),
              ElementsAre(AllOf(HasSubstr("thread (32,0,0) writes byte 0"),
                                HasSubstr("thread (0,0,0) of the block reads it"))));
}

TEST(RacesOfStrongAccesses, APlainWriteInOrderStandsForWhatWasBefore) {
  EXPECT_THAT(Checked(std::string(kAdd) + "bar.sync 0;" + kStore + "bar.sync 0;" + kLoadFirst +
                      "bar.sync 0;" + kAdd)
                  .texts(),
              IsEmpty());
}

// A copy beside the warp has ended when its thread has waited for its group, and not before.
constexpr const char* kCopy = "cp.async.ca.shared.global [%r2], [%rd4], 4;\n";
constexpr const char* kCommit = "cp.async.commit_group;\n";
constexpr const char* kLoadOwn = "ld.shared.u32 %r4, [%r2]; st.global.u32 [%rd4], %r4;\n";

TEST(RacesOfCopies, WithTheThreadItselfThatDoesNotWait) {
  for (const std::string& none :
       {std::string(), std::string(kCommit), kCommit + std::string("cp.async.wait_group 1;")})
    EXPECT_THAT(Checked(kCopy + none + kLoadOwn).texts(),
                ElementsAre(AllOf(HasSubstr("thread (0,0,0) reads byte 0 of shared memory"),
                                  HasSubstr("a copy by thread (0,0,0) of the block writes it at"),
                                  HasSubstr("nothing puts the end of its group before that, 64"))))
        << none;
  for (const std::string& wait :
       {kCommit + std::string("cp.async.wait_group 0;"), std::string("cp.async.wait_all;")})
    EXPECT_THAT(Checked(kCopy + wait + kLoadOwn).texts(), IsEmpty()) << wait;
}

TEST(RacesOfCopies, WithOthersWhoMeetNoBarrierBehindTheWait) {
  const std::string wait = kCommit + std::string("cp.async.wait_group 0;");
  EXPECT_THAT(Checked(kCopy + wait + "bar.sync 0;" + kLoadOther).texts(), IsEmpty());
  const auto race = ElementsAre(AllOf(HasSubstr("reads byte"), HasSubstr("a copy by thread")));
  EXPECT_THAT(Checked(kCopy + std::string(kCommit) + "bar.sync 0;" + kLoadOther).texts(), race);
  // The wait behind the barrier is known to the thread that waits alone.
  EXPECT_THAT(Checked(kCopy + std::string(kCommit) + "bar.sync 0;" + wait + kLoadOther).texts(),
              race);
}

TEST(RacesOfCopies, WithThoseOfTheSameInstructionInALoop) {
  const std::string loop = "mov.u32 %r5, 0; AGAIN: " + std::string(kCopy) +
                           "add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, 2; @%p1 bra AGAIN;";
  EXPECT_THAT(Checked(loop).texts(),
              ElementsAre(AllOf(HasSubstr("thread (0,0,0) writes byte 0"),
                                HasSubstr("a copy by thread (0,0,0) of the block writes it"))));
  EXPECT_THAT(Checked("and.b32 %r2, %r2, -8;" + std::string(kCopy)).texts(), IsEmpty())
      << "of one execution";
}

TEST(RacesOfCopies, OldGroupsEndFirst) {
  const std::string second = "cp.async.ca.shared.global [%r2+256], [%rd4], 4;\n";
  const std::string both = kCopy + std::string(kCommit) + second + kCommit;
  const std::string loads = kLoadOwn + std::string("ld.shared.u32 %r5, [%r2+256];");
  EXPECT_THAT(Checked(both + "cp.async.wait_group 1;" + loads).texts(),
              ElementsAre(HasSubstr("thread (0,0,0) reads byte 256")));
  EXPECT_THAT(Checked(both + "cp.async.wait_group 0;" + loads).texts(), IsEmpty());
}

TEST(RacesOfCopies, WithWritesAndReadsBefore) {
  EXPECT_THAT(
      Checked(kCopy + std::string(kStore)).texts(),
      ElementsAre(AllOf(HasSubstr("writes byte 0"), HasSubstr("a copy by thread (0,0,0)"))));
  EXPECT_THAT(Checked(std::string(kStore) + kCopy).texts(), IsEmpty());
  EXPECT_THAT(Checked(kLoadOther + std::string(kCopy)).texts(),
              ElementsAre(HasSubstr("a copy by thread (0,0,0) of the block writes it"),
                          AllOf(HasSubstr("thread (32,0,0) writes byte 128"),
                                HasSubstr("thread (0,0,0) of the block reads it"))));
}

// --- uninitialised ------------------------------------------------------------------------------

constexpr CheckOptions kLoads{false, true};

TEST(Uninitialised, SharedMemoryNobodyInTheBlockHasWritten) {
  EXPECT_THAT(Checked("ld.shared.u32 %r4, [%r2];", kLoads, 32).texts(),
              ElementsAre(AllOf(HasSubstr("uninitialised: block (0,0,0) thread (0,0,0) loads 4 "),
                                HasSubstr("has written byte 0, 32"))));
  EXPECT_THAT(Checked(std::string(kStore) + "ld.shared.u32 %r4, [%r2];", kLoads).texts(),
              IsEmpty());
}

/// Of 256 bytes allocated, the host writes the first 16.
TEST(Uninitialised, AnAtomicReadsSharedMemory) {
  EXPECT_THAT(Checked("red.shared.add.u32 [%r9], 1;", kLoads, 32).texts(),
              ElementsAre(AllOf(HasSubstr("uninitialised: "), HasSubstr("loads 4 bytes of shared"),
                                HasSubstr("red.shared"))));
  EXPECT_THAT(Checked("st.shared.u32 [%r9], 0; red.shared.add.u32 [%r9], 1;", kLoads, 32).texts(),
              IsEmpty());
}

class Allocated : public testing::Test {
 protected:
  std::vector<Finding> run(const std::string& body, unsigned threads) {
    AccessChecks checks(kLoads);
    Rig rig(kernel(body), checked(checks));
    const Address at = rig.memory.allocate(256).value();
    checks.memory().allocated(at, 256);
    checks.memory().write(at, 16);
    rig.run("k", {1}, {threads}, at);
    return checks.findings();
  }
};

TEST_F(Allocated, LoadsBeyondWhatWasWritten) {
  EXPECT_THAT(run("ld.global.u32 %r4, [%rd4];", 4), IsEmpty());
  const auto found = run("ld.global.u32 %r4, [%rd4];", 6);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].times, 2u);
  EXPECT_THAT(found[0].text, AllOf(HasSubstr("thread (4,0,0) loads 4 bytes of global memory"),
                                   HasSubstr("nobody has written byte 16 of the 256")));
}

TEST_F(Allocated, WhatAKernelStoresIsWritten) {
  EXPECT_THAT(run("st.global.u32 [%rd4], %r1; ld.global.u32 %r4, [%rd4];", 32), IsEmpty());
}

TEST(Uninitialised, WhatASurfaceStoresIsWritten) {
  AccessChecks checks(kLoads);
  Rig rig(R"(.visible .entry k(.param .u64 image, .param .u64 in) {
  .reg .b32 %r<4>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [image]; ld.param.u64 %rd2, [in]; mov.u32 %r1, %tid.x;
  shl.b32 %r2, %r1, 2;
  sust.b.1d.b32.trap [%rd1, {%r2}], {%r1};
  mul.wide.u32 %rd3, %r1, 4; add.s64 %rd3, %rd3, %rd2;
  ld.global.u32 %r3, [%rd3];
  ret;
})",
          checked(checks));
  ImageShape shape;
  shape.width = 32;
  ChannelFormat words;
  words.bits = {32, 0, 0, 0};
  Image image = lay_out_array(shape, words);
  image.address = rig.memory.allocate(image_bytes(image)).value();
  checks.memory().allocated(image.address, image_bytes(image));
  rig.run("k", {1}, {16}, rig.machine.create_surface({image}), image.address);
  EXPECT_THAT(checks.findings(), IsEmpty());
}

TEST_F(Allocated, AnAtomicReads) {
  EXPECT_EQ(run("red.global.add.u32 [%rd4+64], 1;", 2).size(), 1u);
}

TEST_F(Allocated, OneByteOfAWordIsNotTheWord) {
  EXPECT_EQ(run("st.global.u8 [%rd4+16], 1; ld.global.u32 %r4, [%rd4+16];", 1).size(), 1u);
  EXPECT_THAT(run("st.global.u8 [%rd4+16], 1; ld.global.u8 %r4, [%rd4+16];", 1), IsEmpty());
}

// --- written bytes ------------------------------------------------------------------------------

TEST(WrittenBytes, TellTheFirstThatNobodyWrote) {
  WrittenBytes bytes;
  bytes.allocated(0x1000, 200);
  bytes.write(0x1000, 70);
  bytes.write(0x1000 + 71, 129);
  EXPECT_FALSE(bytes.first_unwritten(0x1000, 70));
  const auto gap = bytes.first_unwritten(0x1000 + 60, 100);
  ASSERT_TRUE(gap);
  EXPECT_EQ(gap->allocation, 0x1000u);
  EXPECT_EQ(gap->offset, 70u);
  EXPECT_EQ(gap->size, 200u);
  bytes.write(0x1000 + 70, 1);
  EXPECT_FALSE(bytes.first_unwritten(0x1000, 200));
}

TEST(WrittenBytes, MemoryNobodyToldOfCountsAsWritten) {
  WrittenBytes bytes;
  bytes.allocated(0x1000, 64);
  EXPECT_FALSE(bytes.first_unwritten(0x2000, 4));
  EXPECT_FALSE(bytes.first_unwritten(0xfff, 1));
  EXPECT_TRUE(bytes.first_unwritten(0x103f, 1));
  bytes.freed(0x1000);
  EXPECT_FALSE(bytes.first_unwritten(0x1000, 4));
  bytes.allocated(0x1000, 32);  // what was written before is gone
  EXPECT_TRUE(bytes.first_unwritten(0x1000, 4));
}

TEST(WrittenBytes, ACopyIsAsMuchWrittenAsItsSource) {
  WrittenBytes bytes;
  bytes.allocated(0x1000, 64);
  bytes.allocated(0x2000, 64);
  bytes.write(0x1000, 8);
  bytes.write(0x1010, 4);
  bytes.copy(0x2000, 0x1000, 64);
  EXPECT_FALSE(bytes.first_unwritten(0x2000, 8));
  EXPECT_TRUE(bytes.first_unwritten(0x2008, 1));
  EXPECT_FALSE(bytes.first_unwritten(0x2010, 4));
  bytes.copy(0x2000, 0x9000, 64);  // of the host's own memory
  EXPECT_FALSE(bytes.first_unwritten(0x2000, 64));
  bytes.copy(0x2000, 0x1000, 64);  // written before, and not any more
  EXPECT_EQ(bytes.first_unwritten(0x2000, 64)->offset, 8u);
  bytes.copy(0x1004, 0x1000, 16);  // onto itself
  EXPECT_FALSE(bytes.first_unwritten(0x1000, 12));
  EXPECT_EQ(bytes.first_unwritten(0x1000, 64)->offset, 12u);
  bytes.copy(0x5000, 0x1000, 64);  // to memory nobody told of
  EXPECT_FALSE(bytes.first_unwritten(0x5000, 64));
}

TEST(AccessChecks, TellAsManyPlacesAsTheyMay) {
  AccessChecks checks({true, true});
  for (std::uint32_t i = 0; i < 2 * AccessChecks::kMaxFindings; ++i)
    for (int again = 0; again < 2; ++again)
      checks.found(Check::Races, "k", 0, i, 0, [] { return "text"; });
  EXPECT_EQ(checks.findings().size(), AccessChecks::kMaxFindings);
  EXPECT_EQ(checks.findings().back().times, 2u);
  EXPECT_EQ(checks.more(), AccessChecks::kMaxFindings);
}

TEST(AccessChecks, NamesThatAreNone) {
  EXPECT_EQ(check_options({"races", "uninitialised"}), (CheckOptions{true, true}));
  EXPECT_FALSE(check_options({}).any());
  EXPECT_THROW(check_options({"raves"}), InputError);
}

}  // namespace
}  // namespace raddle::exec::test::access_checks_test
