// Damaged containers: every truncation is refused, and no altered byte makes the reader fail in
// another way than by InputError.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>

#include "raddle/base/error.h"
#include "raddle/fatbin/fatbin.h"
#include "unit/fatbin/builder.h"

namespace raddle::fatbin::damage_test {
namespace {

using testing::HasSubstr;

const std::string& sound() {
  static const std::string kBytes = [] {
    EntryBytes one = EntryBytes::zstd(75, "some text, some text, some text");
    one.options = "--compile-only";
    one.name = "a.cu";
    EntryBytes two = EntryBytes::lz4(80, "more text, more text, more text");
    two.options = "-O1";
    return container(one, two, EntryBytes::cubin(80)) + container(EntryBytes::plain(90, "plain"));
  }();
  return kBytes;
}

/// In memory of exactly its size, so that the sanitizers see what is read behind its end.
std::size_t read_all(const std::string& bytes) {
  const auto exact = std::make_unique<std::byte[]>(bytes.size());
  std::memcpy(exact.get(), bytes.data(), bytes.size());
  std::size_t total = 0;
  for (const Entry& entry : read({exact.get(), bytes.size()}, "app")) total += entry.text().size();
  return total;
}

std::string refusal(const std::string& bytes) {
  try {
    read_all(bytes);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(Damage, TheSoundOneIsRead) { EXPECT_GT(read_all(sound()), 0u); }

TEST(Damage, EveryTruncationIsRefused) {
  const std::size_t first = container(EntryBytes::plain(90, "plain")).size();
  const std::size_t boundary = sound().size() - first;  // between the two containers
  for (std::size_t n = 0; n < sound().size(); ++n) {
    const std::string why = refusal(sound().substr(0, n));
    if (n == boundary) {
      EXPECT_EQ(why, "");
    } else {
      EXPECT_THAT(why, HasSubstr("app: byte ")) << n;
    }
  }
}

TEST(Damage, EveryAlteredByteIsReadOrRefused) {
  std::size_t refused = 0, read = 0;
  for (std::size_t at = 0; at < sound().size(); ++at) {
    for (const unsigned flip : {0x01u, 0x80u, 0xffu, 0x40u}) {
      std::string bytes = sound();
      bytes[at] = static_cast<char>(static_cast<unsigned char>(bytes[at]) ^ flip);
      ++(refusal(bytes).empty() ? read : refused);
    }
  }
  EXPECT_GT(refused, read / 2);  // most bytes of such small ones are checked
  EXPECT_GT(read, 0u);           // a character of a name may be any
}

TEST(Damage, EveryFieldSetToExtremes) {
  for (std::size_t at = 0; at + 8 <= sound().size(); at += 2)
    for (const std::uint64_t value :
         {~std::uint64_t{0}, std::uint64_t{1} << 63, std::uint64_t{1} << 31, std::uint64_t{0}}) {
      std::string bytes = sound();
      put(bytes, at, value);
      refusal(bytes);
      bytes = sound();
      put(bytes, at, static_cast<std::uint32_t>(value));
      refusal(bytes);
    }
}

struct Fault {
  const char* name;
  std::function<void(std::string&)> make;
  const char* message;
};

template <class T>
std::function<void(std::string&)> set(std::size_t at, T value) {
  return [=](std::string& bytes) { put(bytes, at, value); };
}

class Refused : public testing::TestWithParam<Fault> {};

TEST_P(Refused, WithPlaceExpectedAndFound) {
  EntryBytes zstd = EntryBytes::zstd(75, "text");
  zstd.options = "-O1";
  std::string bytes = container(zstd);
  GetParam().make(bytes);
  EXPECT_THAT(refusal(bytes), HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Faults, Refused,
    testing::Values(
        Fault{"Magic", set<std::uint32_t>(0, 0x464c457f),
              "byte 0: no fat binary begins here: magic 0x464c457f, expected 0xba55ed50"},
        Fault{"Version", set<std::uint16_t>(4, 2), "byte 4: a fat binary of version 2, expected 1"},
        Fault{"HeaderSize", set<std::uint16_t>(6, 24),
              "byte 6: a fat binary's header of 24 bytes, expected 16"},
        Fault{"TooLong", set<std::uint64_t>(8, 1000),
              "byte 16: a fat binary's content takes 1000 bytes, "},
        Fault{"EntryVersion", set<std::uint16_t>(18, 0x0200),
              "byte 18: an entry of version 0x0200, expected 0x0101"},
        Fault{"EntryHeader", set<std::uint32_t>(20, 60),
              "byte 20: an entry's header of 60 bytes, expected at least 64"},
        Fault{"Payload", set<std::uint64_t>(24, 1 << 20),
              "an entry's payload takes 1048576 bytes, "},
        Fault{"Compressed", set<std::uint32_t>(32, 9999),
              "byte 32: 9999 compressed bytes in a payload of "},
        Fault{"CompressedNothing", set<std::uint32_t>(32, 0),
              "byte 32: flags say compressed, but of 0 bytes"},
        Fault{"Options", set<std::uint32_t>(36, 4096),
              "byte 4112: the descriptor of options takes 8 bytes, 0 are left"},
        Fault{"OptionsText", set<std::uint32_t>(16 + 68, 4096),
              "the text of options takes 4096 bytes, "},
        Fault{"Name", set<std::uint32_t>(16 + 0x24, 4096),
              "byte 16: the source's name takes 4096 bytes, "},
        Fault{"BothFlags", set<std::uint64_t>(16 + 0x28, 0xa011),
              "byte 56: flags say both LZ4 and zstd"},
        Fault{"UnknownFlag", set<std::uint64_t>(16 + 0x28, 0x4011),
              "byte 56: compressed in an unknown way (flags 0x4011)"},
        Fault{"WrongMethod", set<std::uint64_t>(16 + 0x28, 0x2011), "byte 16: the compute_75 here"},
        Fault{"Huge", set<std::uint64_t>(16 + 0x38, std::uint64_t{1} << 40),
              "byte 72: 1099511627776 bytes when decompressed; at most 268435456 are read"},
        Fault{"WrongSize", set<std::uint64_t>(16 + 0x38, 6),
              "byte 16: the compute_75 here is a zstd frame of 5 bytes, expected 6"}),
    [](const auto& info) { return info.param.name; });

TEST(Damage, Lz4ThatCannotBeThatLong) {
  EntryBytes bomb = EntryBytes::lz4(75, "text");
  bomb.uncompressed = 200 << 20;
  EXPECT_THAT(refusal(container(bomb)), HasSubstr("cannot be 209715200 bytes when "));
  EntryBytes longer = EntryBytes::lz4(75, "text");
  longer.uncompressed = 6;
  EXPECT_THAT(refusal(container(longer)), HasSubstr("decompresses to 5 bytes, expected 6"));
  EntryBytes shorter = EntryBytes::lz4(75, "text");
  shorter.uncompressed = 4;
  EXPECT_THAT(refusal(container(shorter)), HasSubstr("is no LZ4 block"));
}

TEST(Damage, RubbishBetweenContainers) {
  EXPECT_THAT(refusal(sound() + std::string(16, '\1')), HasSubstr("no fat binary begins here"));
  EXPECT_THAT(refusal(sound() + '\1'), HasSubstr("a fat binary's header takes 16 bytes, 1 are"));
}

}  // namespace
}  // namespace raddle::fatbin::damage_test
