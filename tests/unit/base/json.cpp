#include "raddle/base/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <new>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <system_error>

#include "raddle/base/error.h"

namespace raddle::json_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::string error_of(std::string_view text) {
  try {
    parse_json(text, "a.json");
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

std::string nested(unsigned depth) { return std::string(depth, '[') + std::string(depth, ']'); }

TEST(ParseJson, TellsWhereItIsNone) {
  EXPECT_THAT(error_of("{\n  \"a\": 1,\n  }"),
              AllOf(StartsWith("a.json:3:3: is not JSON: "), Not(HasSubstr("json.exception"))));
  EXPECT_THAT(error_of(""), StartsWith("a.json:1:1: is not JSON: "));
  EXPECT_THAT(error_of("[1e999]"), HasSubstr("a.json"));
  EXPECT_THAT(error_of("\"\xff\""), StartsWith("a.json:1:2: is not JSON: "));
}

TEST(ParseJson, HasALimitOfDepthThatTextsDoNotCount) {
  EXPECT_EQ(error_of(nested(kMaxJsonDepth)), "");
  EXPECT_EQ(error_of(nested(kMaxJsonDepth + 1)),
            "a.json:1:65: lists and objects are nested deeper than 64");
  EXPECT_THAT(error_of(nested(2'000'000)), HasSubstr("nested deeper"));
  EXPECT_THAT(error_of("\n" + std::string(70, '{')), StartsWith("a.json:2:65: "));
  EXPECT_EQ(error_of("[\"" + std::string(100, '[') + "\\\"" + std::string(100, '{') + "\"]"), "");
}

TEST(PlainWords, LeaveOutTheLibrary) {
  try {
    (void)nlohmann::ordered_json::parse("[1]").at("key");
    FAIL();
  } catch (const std::exception& error) {
    EXPECT_EQ(plain_words(error), "cannot use at() with array");
  }
  EXPECT_EQ(plain_words(std::bad_alloc()), "the system gives this process no more memory");
  EXPECT_EQ(plain_words(RunError("[x] y")), "[x] y");
}

TEST(ValidUtf8, KeepsCharactersAndShowsOtherBytes) {
  for (const char* good :
       {"", "plain", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "\xed\x9f\xbf"})
    EXPECT_EQ(valid_utf8(good), good);
  EXPECT_EQ(valid_utf8("bad\xff/x"), "bad\\xff/x");
  EXPECT_EQ(valid_utf8("\xc3"), "\\xc3") << "half a character";
  EXPECT_EQ(valid_utf8("\xc0\x80"), "\\xc0\\x80") << "too long";
  EXPECT_EQ(valid_utf8("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "half of a pair";
  EXPECT_EQ(valid_utf8("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80") << "beyond the last";
  // What comes out can be written as JSON, whatever went in.
  for (unsigned a = 0; a < 256; ++a)
    for (unsigned b = 0; b < 256; ++b) {
      const std::string text{static_cast<char>(a), static_cast<char>(b), 'x'};
      EXPECT_NO_THROW((void)nlohmann::json(valid_utf8(text)).dump()) << a << " " << b;
    }
}

TEST(JsonDump, WritesAnyTexts) {
  const nlohmann::ordered_json json = {{"a\xff", "b\xc3"}};
  EXPECT_EQ(json_dump(json), "{\"a\xef\xbf\xbd\":\"b\xef\xbf\xbd\"}");
  EXPECT_EQ(json_dump(nlohmann::json("\xc3\xa9")), "\"\xc3\xa9\"");
  EXPECT_FALSE(is_utf8("a\xff"));
  EXPECT_TRUE(is_utf8("\xc3\xa9"));
}

TEST(PlainWords, TellAPathBeforeWhatIsSaidOfIt) {
  const std::filesystem::filesystem_error error(
      "status", "loop", std::make_error_code(std::errc::too_many_symbolic_link_levels));
  EXPECT_EQ(plain_words(error), "loop: Too many levels of symbolic links");
}

TEST(PlainWords, SayThatItIsThreadsThatAreShort) {
  const std::system_error error(std::make_error_code(std::errc::resource_unavailable_try_again));
  EXPECT_THAT(plain_words(error), HasSubstr("threads"));
}

TEST(PlainWords, AreNeverNone) { EXPECT_NE(plain_words(std::runtime_error("")), ""); }

}  // namespace
}  // namespace raddle::json_test
