// DeNovo's L1 and bank, one step after the other: what each access and message leads to. All orders
// at once: tests/timing/denovo_random.cpp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "raddle/timing/cache/denovo_bank.h"
#include "raddle/timing/cache/denovo_l1.h"
#include "support/memory_mocks.h"

namespace raddle::test::denovo_test {
namespace {

using namespace timing;
using stats::Refusal;
using stats::ServedFrom;
using Outcome = DenovoL1::Outcome;

struct Heard {
  std::vector<std::pair<unsigned, ServedFrom>> completed;
  std::vector<unsigned> acknowledged;
  std::vector<MessageKind> answered;
};
struct Sink {
  Heard& heard;
  void completed(std::uint16_t waiter, ServedFrom from) {
    heard.completed.push_back({waiter, from});
  }
  void acknowledged(unsigned warp) { heard.acknowledged.push_back(warp); }
  void answered(MessageKind kind) { heard.answered.push_back(kind); }
};

/// SM 1 of 4: two sets of eight ways, two MSHRs with two merges, a store buffer of two.
class Denovo : public ::testing::Test {
 protected:
  static L1dSpec spec() {
    L1dSpec s;
    s.size_kib = 1;
    s.ways = 8;
    s.line_bytes = s.sector_bytes = 64;  // two sets
    s.mshr_entries = 2;
    s.mshr_merges = 2;
    s.store_buffer = 2;
    return s;
  }
  Message take_request() {
    EXPECT_FALSE(l1.requests().empty());
    const Message m = l1.requests().front();
    l1.requests().pop();
    return m;
  }
  Message take_response() {
    EXPECT_FALSE(l1.responses().empty());
    const Message m = l1.responses().front();
    l1.responses().pop();
    return m;
  }
  void hear(const Message& m, Cycle now = 0) { l1.receive(now, m, Sink{heard}); }
  static Message notified(MessageKind kind, std::uint32_t line, WordMask words, unsigned requester,
                          unsigned tag = 0) {
    Message m;
    m.kind = kind;
    m.line = line;
    m.words = words;
    m.sm = static_cast<std::uint16_t>(requester);
    m.tag = static_cast<std::uint16_t>(tag);
    m.peer = 1;
    return m;
  }
  static Message answer(Message request, MessageKind kind, WordMask words,
                        std::uint16_t peer = kFromBank, unsigned dram_accesses = 0) {
    request.kind = kind;
    request.words = words;
    request.peer = peer;
    request.dram_accesses = static_cast<std::uint8_t>(dram_accesses);
    return request;
  }
  /// The words are registered and acknowledged.
  void own(std::uint32_t line, WordMask words) {
    ASSERT_EQ(l1.store(0, {line, words, 0, 9, 0}, true).outcome, Outcome::Miss);
    l1.send_registration();
    hear(answer(take_request(), MessageKind::Registered, words));
    heard = {};
  }
  DenovoL1 l1{spec(), 1, 4, 2};
  Heard heard;
};

TEST_F(Denovo, ALoadAsksForWhatIsMissingAndKeepsAllThatComes) {
  const auto a = l1.load(0, {6, 0b0011, 0, 7, 0}, false, true);
  EXPECT_TRUE(a.outcome == Outcome::Miss && a.asked);
  const Message m = take_request();
  EXPECT_EQ(m.kind, MessageKind::Read);
  EXPECT_EQ(m.words, 0b0011);
  const auto second = l1.load(0, {6, 0b0110, 0, 8, 0}, false, true);
  EXPECT_TRUE(second.outcome == Outcome::Miss && second.asked);
  const Message rest = take_request();
  EXPECT_EQ(rest.words, 0b0100) << "the other word is on its way";
  hear(answer(m, MessageKind::Read, 0b1011, kFromBank, 1));
  EXPECT_THAT(heard.completed, ::testing::ElementsAre(std::pair(7u, ServedFrom::Memory)));
  hear(answer(rest, MessageKind::Remote, 0b0100, 3));
  EXPECT_EQ(heard.completed.back(), std::pair(8u, ServedFrom::RemoteL1));
  EXPECT_EQ(l1.words(6).valid, 0b1111);
  EXPECT_EQ(l1.load(0, {6, 0b1111, 0, 7, 0}, false, true).outcome, Outcome::Hit);
  EXPECT_TRUE(l1.idle());
}

TEST_F(Denovo, AnAcquireInvalidatesWhatIsNotRegisteredAndLateAnswersLeaveNothing) {
  own(6, 0b0001);
  l1.load(0, {8, 1, 0, 7, 0}, false, true);
  const Message m = take_request();
  l1.acquire(0);
  EXPECT_EQ(l1.words(6).registered, 0b0001);
  const auto later = l1.load(0, {8, 1, 0, 5, 0}, false, true);
  EXPECT_TRUE(later.asked) << "what was asked for before may be stale";
  const Message again = take_request();
  hear(answer(m, MessageKind::Read, 0xffff));
  EXPECT_THAT(heard.completed, ::testing::ElementsAre(std::pair(7u, ServedFrom::L2)));
  EXPECT_EQ(l1.words(8).valid, 0);
  hear(answer(again, MessageKind::Read, 0xffff));
  EXPECT_EQ(heard.completed.back().first, 5u);
  EXPECT_EQ(l1.words(8).valid, 0xffff);
}

TEST_F(Denovo, AnAcquireKeepsWordsOfRegionsThatNobodyHasWrittenSinceTheLast) {
  constexpr Cycle kWindow = 10;
  RegionWrites writes;
  l1.keep_unwritten(writes);
  const auto read = [&](Cycle now, std::uint32_t line) {
    const auto access = l1.load(now, {line, 1, 0, 7, 0}, false, true);
    if (access.asked) hear(answer(take_request(), MessageKind::Read, 0xffff));
    return access.outcome == Outcome::Hit;
  };
  const auto lines = {0u, 65u, 129u};  // each in a region of its own
  l1.acquire(104);
  for (const std::uint32_t line : lines) EXPECT_FALSE(read(105, line));
  // An SM has, before this one's acquire, but in the same window: the acquire did not know.
  std::vector<RegionWrite> others = {{0, 102}};
  writes.gather(others, kWindow);
  writes.wrote(128 * 64 + 8, 4, 150);  // the host
  l1.acquire(200);
  EXPECT_FALSE(read(200, 0));
  EXPECT_TRUE(read(200, 65));
  EXPECT_FALSE(read(200, 129));
  EXPECT_EQ(l1.kept(), 16u);
  l1.acquire(300);
  for (const std::uint32_t line : lines) EXPECT_TRUE(read(300, line));
  // A write of this SM counts from the moment it is registered, and so does each to a word it owns.
  EXPECT_EQ(l1.store(310, {66, 1, 0, 9, 0}, true).outcome, Outcome::Miss);
  EXPECT_TRUE(l1.written().empty());
  l1.send_registration();
  hear(answer(take_request(), MessageKind::Registered, 1), 320);
  writes.gather(l1.written(), kWindow);
  EXPECT_TRUE(writes.since(1, 310) && !writes.since(0, 310));
  l1.acquire(400);
  EXPECT_TRUE(read(400, 0));
  EXPECT_FALSE(read(400, 65)) << "a neighbour of what was written";
  l1.acquire(500);
  EXPECT_EQ(l1.store(505, {66, 1, 0, 9, 0}, true).outcome, Outcome::Hit);
  writes.gather(l1.written(), kWindow);
  l1.acquire(600);
  EXPECT_FALSE(read(600, 65));
}

TEST_F(Denovo, AStoreIsDoneWhenAllOwnersHaveAcknowledged) {
  EXPECT_EQ(l1.store(0, {6, 0b0111, 0, 4, 0}, true).outcome, Outcome::Miss);
  EXPECT_EQ(l1.load(0, {6, 0b0111, 0, 7, 0}, false, true).outcome, Outcome::Hit);
  l1.send_registration();
  const Message m = take_request();
  EXPECT_EQ(m.kind, MessageKind::Register);
  hear(answer(m, MessageKind::Registered, 0b0101));
  EXPECT_THAT(heard.acknowledged, ::testing::IsEmpty());
  EXPECT_EQ(l1.store(0, {6, 0b0010, 0, 5, 0}, true).outcome, Outcome::Miss)
      << "registered, but another warp's release must wait for it as well";
  EXPECT_FALSE(l1.any_registration());
  hear(answer(m, MessageKind::Registered, 0b0010, 2));
  EXPECT_THAT(heard.acknowledged, ::testing::ElementsAre(4, 5));
  EXPECT_EQ(l1.store(0, {6, 0b0010, 0, 5, 0}, true).outcome, Outcome::Hit);
}

TEST_F(Denovo, AnOwnerServesOthersGivesUpAndForgets) {
  own(6, 0xffff);
  hear(notified(MessageKind::Forward, 6, 0b0001, 3, 40));
  const Message remote = take_response();
  EXPECT_EQ(remote.kind, MessageKind::Remote);
  EXPECT_TRUE(remote.sm == 3 && remote.tag == 40 && remote.peer == 1 && remote.words == 0b0001);
  EXPECT_EQ(l1.words(6).registered, 0xffff) << "it stays the owner";
  hear(notified(MessageKind::Take, 6, 0b0010, 3, 41));
  EXPECT_EQ(take_response().kind, MessageKind::Owned);
  hear(notified(MessageKind::Invalidate, 6, 0b0100, 2, 42));
  EXPECT_EQ(take_response().kind, MessageKind::Registered);
  EXPECT_EQ(l1.words(6).registered, 0xfff9);
  hear(notified(MessageKind::Recall, 6, 0xfff9, 0, 43));
  const Message back = take_response();
  EXPECT_TRUE(back.kind == MessageKind::Recalled && back.words == 0xfff9 && back.tag == 43);
  EXPECT_EQ(l1.words(6).registered, 0);
}

TEST_F(Denovo, DataOnTheirWayToTheBankStillAnswerUntilItHasThem) {
  for (std::uint32_t line = 0; line < 16; line += 2) own(line, 0xffff);  // all ways of set 0
  own(16, 1);
  ASSERT_FALSE(l1.write_backs().empty());
  const Message out = l1.write_backs().front();
  l1.write_backs().pop();
  EXPECT_TRUE(out.kind == MessageKind::WriteBack && out.line == 0 && out.words == 0xffff);
  EXPECT_EQ(l1.load(0, {0, 1, 0, 7, 0}, false, true).why, Refusal::WriteBack);
  EXPECT_EQ(l1.store(0, {0, 1, 0, 7, 0}, true).why, Refusal::WriteBack);
  EXPECT_EQ(l1.atomic(0, {0, 1, 0, 7, 0}, true).why, Refusal::WriteBack);
  hear(notified(MessageKind::Forward, 0, 0b0001, 3));
  EXPECT_EQ(take_response().kind, MessageKind::Remote);
  hear(notified(MessageKind::Recall, 0, 0xffff, 0));
  EXPECT_EQ(take_response().words, 0xffff);
  hear(answer(out, MessageKind::WroteBack, 0));
  EXPECT_EQ(l1.load(0, {0, 1, 0, 7, 0}, false, true).outcome, Outcome::Miss);
}

TEST_F(Denovo, AnAtomicWaitsForTheDataAndOthersWaitForIt) {
  EXPECT_EQ(l1.atomic(0, {6, 0b0001, 0, 7, 0}, true).outcome, Outcome::Miss);
  const Message m = take_request();
  EXPECT_EQ(m.kind, MessageKind::Own);
  EXPECT_FALSE(l1.atomic(0, {6, 0b0001, 0, 8, 0}, true).asked);
  hear(notified(MessageKind::Take, 6, 0b0001, 3, 40));
  EXPECT_TRUE(l1.responses().empty()) << "the word has not come yet";
  hear(answer(m, MessageKind::Owned, 0b0001, 2));
  EXPECT_THAT(heard.completed, ::testing::ElementsAre(std::pair(7u, ServedFrom::RemoteL1),
                                                      std::pair(8u, ServedFrom::RemoteL1)));
  EXPECT_EQ(take_response().kind, MessageKind::Owned) << "after both atomics";
  EXPECT_EQ(l1.words(6).registered, 0);
  EXPECT_TRUE(l1.idle());
}

TEST_F(Denovo, RefusalsChangeNothing) {
  EXPECT_EQ(l1.load(0, {6, 1, 0, 1, 0}, false, false).why, Refusal::MissQueue);
  l1.load(0, {6, 1, 0, 1, 0}, false, true);
  l1.load(0, {6, 1, 0, 2, 0}, false, true);
  EXPECT_EQ(l1.load(0, {6, 1, 0, 3, 0}, false, true).why, Refusal::Merge);
  take_request();
  l1.load(0, {8, 1, 0, 1, 0}, false, true);
  take_request();
  EXPECT_EQ(l1.load(0, {10, 1, 0, 1, 0}, false, true).why, Refusal::Mshr);
  l1.store(0, {12, 1, 0, 1, 0}, true);
  l1.store(0, {14, 1, 0, 1, 0}, true);
  EXPECT_EQ(l1.store(0, {16, 1, 0, 1, 0}, true).why, Refusal::StoreBuffer);
  EXPECT_EQ(l1.words(16).registered, 0);
  EXPECT_EQ(l1.missing(), 2u);
}

/// One bank of one set with two ways.
class DenovoBankTest : public ::testing::Test {
 protected:
  static MachineSpec machine() {
    MachineSpec m = small_machine();
    m.l2.line_bytes = m.l2.sector_bytes = 64;
    m.dram.channels = m.l2.slices = 1;
    m.l2.size_kib = 1;
    m.l2.ways = 16;
    return m;
  }
  static Message from(unsigned sm, MessageKind kind, std::uint32_t line, WordMask words) {
    Message m;
    m.sm = static_cast<std::uint16_t>(sm);
    m.kind = kind;
    m.line = line;
    m.words = words;
    return m;
  }
  DenovoBank::Wait take(const Message& m, DenovoBank::Free room = {}) {
    return bank.take(m, room, count);
  }
  std::vector<Message> out() {
    std::vector<Message> all;
    for (const auto& o : bank.out()) all.push_back(o.message);
    bank.out().clear();
    return all;
  }
  void fetch() {
    ASSERT_EQ(bank.fetches().size(), 1u);
    const unsigned tag = bank.fetches().front().tag;
    bank.fetches().clear();
    bank.filled(tag, [&](unsigned) -> stats::L2Counters& { return count; });
  }
  MachineSpec m_ = machine();
  AddressMap map{m_};
  DenovoBank bank{{1, 2, 2, 2}, map};
  stats::L2Counters count;
};

TEST_F(DenovoBankTest, ReadsFetchOnceAndTakeAllOfTheLine) {
  EXPECT_EQ(take(from(0, MessageKind::Read, 5, 1), {false, true}), DenovoBank::Wait::Dram);
  EXPECT_EQ(take(from(0, MessageKind::Read, 5, 1)), DenovoBank::Wait::Nothing);
  EXPECT_EQ(take(from(1, MessageKind::Read, 5, 2)), DenovoBank::Wait::Nothing);
  EXPECT_EQ(take(from(2, MessageKind::Read, 5, 4)), DenovoBank::Wait::Mshr) << "merges";
  fetch();
  const auto answers = out();
  ASSERT_EQ(answers.size(), 2u);
  EXPECT_EQ(answers[0].words, 0xffff);
  EXPECT_EQ(answers[0].dram_accesses, 1);
  EXPECT_EQ(answers[1].dram_accesses, 0);
  EXPECT_TRUE(count.misses == 1 && count.pending_hits == 1 && count.fetches == 1);
}

TEST_F(DenovoBankTest, ARegistrationFetchesNothingAndMovesFromOwnerToOwner) {
  take(from(0, MessageKind::Register, 5, 0b0011));
  EXPECT_TRUE(bank.fetches().empty());
  EXPECT_EQ(out().front().kind, MessageKind::Registered);
  take(from(1, MessageKind::Register, 5, 0b0110));
  const auto two = out();
  ASSERT_EQ(two.size(), 2u);
  EXPECT_TRUE(two[0].kind == MessageKind::Invalidate && two[0].peer == 0 && two[0].words == 0b0010);
  EXPECT_TRUE(two[1].kind == MessageKind::Registered && two[1].words == 0b0100);
  EXPECT_EQ(bank.owner(5, 0), 0u);
  EXPECT_EQ(bank.owner(5, 1), 1u);
  take(from(2, MessageKind::Read, 5, 0b0011));
  const auto forwards = out();
  ASSERT_EQ(forwards.size(), 2u) << "and nothing from the bank, which has none of them";
  EXPECT_TRUE(forwards[0].kind == MessageKind::Forward && forwards[0].peer == 0);
  EXPECT_TRUE(forwards[1].kind == MessageKind::Forward && forwards[1].peer == 1);
}

TEST_F(DenovoBankTest, OnlyTheOwnerCanWriteBack) {
  take(from(0, MessageKind::Register, 5, 0b0011));
  take(from(1, MessageKind::Register, 5, 0b0010));
  out();
  take(from(0, MessageKind::WriteBack, 5, 0b0011));
  EXPECT_EQ(out().front().kind, MessageKind::WroteBack);
  EXPECT_EQ(bank.words(5).here, 0b0001);
  EXPECT_EQ(bank.words(5).registered, 0b0010);
}

TEST_F(DenovoBankTest, AnAtomicTakesTheWordFromItsOwner) {
  take(from(0, MessageKind::Register, 5, 1));
  out();
  take(from(1, MessageKind::Own, 5, 1));
  EXPECT_TRUE(out().front().kind == MessageKind::Take);
  EXPECT_EQ(bank.owner(5, 0), 1u);
  EXPECT_EQ(count.takes, 1u);
}

TEST_F(DenovoBankTest, ALineWithRegisteredWordsIsRecalledBeforeItIsForgotten) {
  take(from(0, MessageKind::Register, 1, 0b0001));
  take(from(1, MessageKind::Register, 1, 0b0010));
  take(from(0, MessageKind::Register, 2, 1));
  out();
  EXPECT_EQ(take(from(0, MessageKind::Register, 3, 1), {true, false}), DenovoBank::Wait::WriteBack);
  EXPECT_EQ(take(from(0, MessageKind::Register, 3, 1)), DenovoBank::Wait::Nothing);
  const auto all = out();
  ASSERT_EQ(all.size(), 3u);
  EXPECT_TRUE(all[0].kind == MessageKind::Recall && all[0].peer == 0 && all[0].line == 1);
  EXPECT_TRUE(all[1].kind == MessageKind::Recall && all[1].peer == 1 && all[1].line == 1);
  EXPECT_EQ(take(from(2, MessageKind::Read, 1, 1)), DenovoBank::Wait::Recall);
  Message stale = all[0];
  stale.kind = MessageKind::Recalled;
  --stale.tag;
  bank.recalled(stale);
  EXPECT_EQ(bank.owner(1, 0), 0u) << "the answer to an earlier recall of the line";
  Message first = all[0];
  first.kind = MessageKind::Recalled;
  bank.recalled(first);
  EXPECT_TRUE(bank.dirty().empty());
  take(from(1, MessageKind::WriteBack, 1, 0b0010));
  ASSERT_EQ(bank.dirty().size(), 1u) << "the other one had written it back by itself";
  EXPECT_EQ(bank.dirty().front().line, 1u);
  EXPECT_EQ(take(from(2, MessageKind::Read, 1, 1)), DenovoBank::Wait::Nothing);
}

// --- the host ------------------------------------------------------------------------------------

TEST_F(Denovo, TheHostTakesWordsAndNoMore) {
  own(6, 0b0111);
  l1.lose(6, 0b0010);
  EXPECT_EQ(l1.words(6).registered, 0b0101);
  l1.lose(8, 1);  // a line that is not here
  EXPECT_EQ(l1.words(8).registered, 0);
}

class HostTest : public DenovoBankTest {
 protected:
  using Lost = std::tuple<unsigned, std::uint32_t, WordMask>;
  void read(std::uint32_t line, WordMask words) { bank.host({line, words, false}, effects); }
  void write(std::uint32_t line, WordMask words) { bank.host({line, words, true}, effects); }
  std::vector<Lost> lost;
  HostCounters host;
  HostEffects effects{host, [this](unsigned sm, std::uint32_t line, WordMask words) {
                        lost.push_back({sm, line, words});
                      }};
};

TEST_F(HostTest, AReadLeavesItsLineHereAndIsFetchedOnce) {
  read(5, 0b0001);
  read(5, 0b0010);
  EXPECT_TRUE(host.reads == 2 && host.fetches == 1);
  EXPECT_EQ(bank.words(5).here, 0xffff);
  EXPECT_EQ(take(from(0, MessageKind::Read, 5, 1)), DenovoBank::Wait::Nothing);
  EXPECT_EQ(count.hits, 1u) << "an SM then hits";
  EXPECT_TRUE(bank.out().size() == 1 && bank.fetches().empty());
}

TEST_F(HostTest, AReadOfRegisteredWordsLeavesThemToTheirOwners) {
  take(from(2, MessageKind::Register, 5, 0b0011));
  read(5, 0b0001);
  EXPECT_TRUE(host.fetches == 0 && lost.empty());
  EXPECT_EQ(bank.owner(5, 0), 2u);
  read(5, 0b0100);
  EXPECT_EQ(host.fetches, 1u);
  EXPECT_EQ(bank.words(5).here, 0xfffc) << "what came from DRAM of the others' is stale";
}

TEST_F(HostTest, AWriteTakesWordsFromTheirOwnersAndFetchesNothing) {
  take(from(0, MessageKind::Register, 5, 0b0001));
  take(from(1, MessageKind::Register, 5, 0b0110));
  out();
  write(5, 0b0011);
  EXPECT_THAT(lost, ::testing::ElementsAre(Lost{0, 5, 0b0001}, Lost{1, 5, 0b0010}));
  EXPECT_TRUE(host.fetches == 0 && host.taken == 2 && host.writes == 1);
  EXPECT_EQ(bank.words(5).here, 0b0011);
  EXPECT_EQ(bank.words(5).registered, 0b0100);
  // The write-back of who no longer owns the word is stale.
  take(from(0, MessageKind::WriteBack, 5, 0b0001));
  EXPECT_EQ(bank.words(5).here, 0b0011);
}

TEST_F(HostTest, ALineThatMakesRoomTakesItsWordsAlong) {
  take(from(0, MessageKind::Register, 1, 0b0001));
  take(from(1, MessageKind::Register, 1, 0b0010));
  read(2, 1);
  out();
  read(3, 1);  // two ways: the first line goes
  EXPECT_TRUE(host.evictions == 1 && host.taken == 2);
  EXPECT_THAT(lost, ::testing::ElementsAre(Lost{0, 1, 0b0001}, Lost{1, 1, 0b0010}));
  EXPECT_FALSE(bank.words(1).present);
  EXPECT_TRUE(bank.idle() && bank.dirty().empty());
  EXPECT_EQ(take(from(2, MessageKind::Read, 1, 1)), DenovoBank::Wait::Nothing) << "from DRAM";
  EXPECT_EQ(bank.fetches().size(), 1u);
}

}  // namespace
}  // namespace raddle::test::denovo_test
