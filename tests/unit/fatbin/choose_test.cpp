#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "raddle/fatbin/fatbin.h"

namespace raddle::fatbin::choose_test {
namespace {

using testing::HasSubstr;

Entry entry(Kind kind, unsigned sm, std::uint64_t flags = 0) {
  Entry e;
  e.kind = kind;
  e.sm = sm;
  e.flags = flags;
  return e;
}

struct Case {
  std::vector<unsigned> ptx;
  unsigned machine, expected;
};

TEST(Choose, HighestNotAboveTheMachineElseLowestAbove) {
  for (const Case& c :
       {Case{{75}, 75, 75}, Case{{75, 80, 90}, 86, 80}, Case{{90, 80, 75}, 90, 90},
        Case{{75, 80}, 70, 75}, Case{{120, 100}, 90, 100}, Case{{52, 35}, 70, 52}}) {
    std::vector<Entry> entries = {entry(Kind::Cubin, c.machine)};
    for (const unsigned sm : c.ptx) entries.push_back(entry(Kind::Ptx, sm));
    const Choice choice = choose(entries, c.machine);
    ASSERT_TRUE(choice.entry);
    EXPECT_EQ(entries[*choice.entry].sm, c.expected);
    EXPECT_EQ(entries[*choice.entry].kind, Kind::Ptx);
    EXPECT_EQ(choice.note.empty(), c.expected <= c.machine);
  }
}

TEST(Choose, PlainBeforeFamilyBeforeArchitectureVariant) {
  std::vector<Entry> entries = {entry(Kind::Ptx, 90, kFlagArchitectureVariant),
                                entry(Kind::Ptx, 90, kFlagFamilyVariant), entry(Kind::Ptx, 90)};
  EXPECT_EQ(choose(entries, 90).entry, 2u);
  entries.pop_back();
  EXPECT_EQ(choose(entries, 90).entry, 1u);
  entries.pop_back();
  EXPECT_EQ(choose(entries, 90).entry, 0u);
  EXPECT_EQ(entries[0].target(), "compute_90a");
}

TEST(Choose, SaysHowToRebuildWhereThereIsNoPtx) {
  const Choice choice = choose({entry(Kind::Cubin, 80), entry(Kind::Cubin, 75)}, 90);
  EXPECT_FALSE(choice.entry);
  EXPECT_EQ(choice.note,
            "the program holds no PTX, only sm_75, sm_80: rebuild it with -gencode "
            "arch=compute_90,code=compute_90");
  EXPECT_THAT(choose({entry(Kind::Cubin, 80)}, 70).note, HasSubstr("code=compute_75"));
  EXPECT_EQ(choose({}, 70).note, "the fat binary is empty");
}

TEST(Choose, WarnsOfPtxNewerThanTheMachine) {
  EXPECT_THAT(choose({entry(Kind::Ptx, 90)}, 70).note, HasSubstr("compute_90"));
}

}  // namespace
}  // namespace raddle::fatbin::choose_test
