#include "raddle/base/compressed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "raddle/base/error.h"
#include "support/compressed_text.h"

namespace raddle::compressed_test {
namespace {

using test::compressed;

constexpr std::uint64_t kMaximum = std::uint64_t{1} << 20;

std::string refusal(const std::string& bytes) {
  try {
    decompressed(bytes, kMaximum, "kept.json");
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

/// Long enough for several blocks.
std::string numbers() {
  std::string out;
  for (std::uint64_t i = 0; out.size() < 600'000; ++i) out += std::to_string(i * i) + ' ';
  return out;
}

TEST(Compressed, GivesBackWhatWentIn) {
  for (const std::string& text : {std::string(), std::string("{}"), numbers()})
    EXPECT_EQ(decompressed(compressed(text), kMaximum, ""), text);
  EXPECT_EQ(decompressed(compressed("one ") + compressed("two"), kMaximum, ""), "one two");
}

TEST(Compressed, WhatIsNotCompressedStaysAsItIs) {
  EXPECT_EQ(decompressed("{\"a\": 1}", kMaximum, ""), "{\"a\": 1}");
  EXPECT_EQ(decompressed("", kMaximum, ""), "");
}

TEST(Compressed, EveryCutIsSeen) {
  const std::string bytes = compressed("a short text, a short text");
  for (std::size_t left = 4; left < bytes.size(); ++left)
    EXPECT_THAT(refusal(bytes.substr(0, left)),
                testing::AllOf(testing::StartsWith("kept.json"), testing::HasSubstr("ends early")))
        << left;
}

TEST(Compressed, DamageAndWhatIsTooLargeAreRefused) {
  std::string bytes = compressed(numbers());
  EXPECT_THAT(refusal(bytes + "tail"), testing::HasSubstr("damaged"));
  bytes[20] = static_cast<char>(~bytes[20]);
  EXPECT_THAT(refusal(bytes), testing::HasSubstr("damaged"));
  EXPECT_THAT(refusal(compressed(std::string(kMaximum + 1, 'a'))), testing::HasSubstr("1 MiB"));
  EXPECT_EQ(refusal(compressed(std::string(kMaximum, 'a'))), "");
}

}  // namespace
}  // namespace raddle::compressed_test
