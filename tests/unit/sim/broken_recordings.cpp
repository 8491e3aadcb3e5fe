// Recordings that no checksum catches: read and timed, or refused in one line, and nothing else.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "support/broken_recordings.h"
#include "support/recording_mutator.h"

namespace raddle::broken_recordings_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using trace::SectionKind;

class BrokenRecordings : public testing::Test {
 protected:
  BrokenRecordings() {
    std::filesystem::create_directories(folder_);
    test::record_small(path_);
    std::ifstream in(path_, std::ios::binary);
    whole_ = test::sections_of(std::string{std::istreambuf_iterator<char>(in), {}});
  }
  ~BrokenRecordings() override { std::filesystem::remove_all(folder_); }
  std::string notified(const std::vector<test::Section>& sections) const {
    std::ofstream(path_, std::ios::binary | std::ios::trunc) << test::file_of(sections);
    return test::notified_of(path_);
  }
  std::vector<test::Section> without(SectionKind kind) const {
    std::vector<test::Section> out = whole_;
    std::erase_if(out, [&](const test::Section& s) { return s.kind == kind; });
    return out;
  }
  test::Section& first(std::vector<test::Section>& sections, SectionKind kind) const {
    return *std::ranges::find(sections, kind, &test::Section::kind);
  }
  /// The recording with one JSON text in place of another in its first section of a kind.
  std::string notified_with(SectionKind kind, const std::string& from,
                            const std::string& to) const {
    std::vector<test::Section> out = whole_;
    std::string& raw = first(out, kind).raw;
    const std::size_t at = raw.find(from);
    EXPECT_NE(at, raw.npos) << raw;
    raw.replace(at, from.size(), to);
    return notified(out);
  }
  const std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("raddle_broken_" + std::to_string(getpid()));
  const std::string path_ = (folder_ / "a.rdl").string();
  std::vector<test::Section> whole_;
};

TEST_F(BrokenRecordings, TheWholeOneIsTimed) { EXPECT_EQ(notified(whole_), ""); }

TEST_F(BrokenRecordings, SectionsThatAreNotThereAreMissed) {
  EXPECT_THAT(notified(without(SectionKind::Header)),
              AllOf(HasSubstr(path_ + ": byte 12: "), HasSubstr("expected the header")));
  EXPECT_THAT(notified(without(SectionKind::Launch)), HasSubstr("expected a launch or the end"));
  EXPECT_THAT(notified(without(SectionKind::Index)),
              HasSubstr("expected blocks or the index of the launch"));
  EXPECT_THAT(notified(without(SectionKind::Blocks)), HasSubstr("the index does not name"));
  EXPECT_THAT(notified(without(SectionKind::End)), HasSubstr("its end section is missing"));
  EXPECT_THAT(notified({}), HasSubstr("its end section is missing"));
}

TEST_F(BrokenRecordings, JsonThatIsTooDeepIsRefused) {
  std::vector<test::Section> deep = whole_;
  first(deep, SectionKind::Header).raw = std::string(100, '[') + std::string(100, ']');
  EXPECT_THAT(notified(deep), AllOf(HasSubstr("byte 12: "), HasSubstr("nested deeper than 64")));
}

TEST_F(BrokenRecordings, MembersOfTheWrongKindAreNamed) {
  EXPECT_THAT(notified_with(SectionKind::Header, "\"seed\":1", "\"seed\":\"1\""),
              AllOf(HasSubstr("in the header section here: 'seed': expected a whole number"),
                    Not(HasSubstr("json.exception"))));
  EXPECT_THAT(notified_with(SectionKind::End, "unchecked", "splendid"),
              HasSubstr("'verdict': expected correct, wrong or unchecked, found \"splendid\""));
  EXPECT_THAT(
      notified_with(SectionKind::Launch, "\"grid\":[3,1,1]", "\"grid\":[65536,65536,65536]"),
      HasSubstr("a launch of 65536x65536x65536"));
  EXPECT_THAT(notified_with(SectionKind::Launch, "\"block\":[64,1,1]", "\"block\":[0,1,1]"),
              HasSubstr("a launch of 0x1x1"));
  EXPECT_THAT(notified_with(SectionKind::Launch, "\"stream\":0", "\"stream\":-1"),
              HasSubstr("expected a whole number of 0 to 1048576, found -1"));
  EXPECT_THAT(notified_with(SectionKind::Index, "\"warp_instructions\"", "\"instructions\""),
              HasSubstr("key 'warp_instructions' not found"));
}

/// Numbers that no conversion to 64 bits holds.
TEST_F(BrokenRecordings, OperandsAreWholeNumbers) {
  std::string& raw = first(whole_, SectionKind::Launch).raw;
  auto launch = nlohmann::ordered_json::parse(raw);
  auto& instructions = launch.at("code").at("instructions");
  const auto it = std::ranges::find_if(instructions, [](auto& i) { return !i.at(8).empty(); });
  ASSERT_NE(it, instructions.end());
  it->at(8).at(0).at(2) = 1e300;
  raw = launch.dump();
  EXPECT_THAT(notified(whole_), HasSubstr("expected a whole number, found 1e+300"));
}

/// 3 KB that would become 80 MB, and more when read.
TEST_F(BrokenRecordings, ABombIsRefusedBeforeItIsUnpacked) {
  std::vector<test::Section> bomb = whole_;
  first(bomb, SectionKind::Blocks).raw.assign(80u << 20, '\0');
  EXPECT_THAT(notified(bomb), HasSubstr("claim to hold 83886080"));
  first(bomb = whole_, SectionKind::Header).raw = "[" + std::string(1u << 20, ' ') + "]";
  EXPECT_THAT(notified(bomb), HasSubstr("claim to hold"));
}

TEST_F(BrokenRecordings, AThousandMutantsEndWell) {
  Rng rng(7);
  unsigned refused = 0;
  for (unsigned n = 0; n < 1000; ++n) {
    std::vector<test::Section> mutant = whole_;
    for (unsigned changes = 1 + rng.below(3); changes > 0; --changes) test::mutate(mutant, rng);
    const std::string words = notified(mutant);
    refused += words.empty() ? 0 : 1;
    EXPECT_THAT(words, Not(HasSubstr("json.exception"))) << n;
    EXPECT_EQ(words.find("std::"), words.npos) << words;
  }
  EXPECT_GT(refused, 500u);
}

}  // namespace
}  // namespace raddle::broken_recordings_test
