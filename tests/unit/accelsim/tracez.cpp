// Files of Accel-Sim 2.0: they are read as the text that they stand for, and every kind of damage
// is told.
#include <zstd.h>

#include <cstring>

#include "support/tracez_writer.h"
#include "unit/accelsim/trace_files.h"

namespace raddle::accelsim::tracez_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

/// Three blocks of two warps, of 4 and of 1,000 instructions.
std::string long_text() {
  std::string text = header_6(2, 3);
  for (unsigned b = 0; b < 3; ++b) {
    std::vector<std::string> few, many;
    for (unsigned i = 0; i < 1000; ++i) {
      char line[96];
      std::snprintf(line, sizeof line, "%04x ffffffff 1 R4 LDG.E 1 R2 4 1 0x%x 4 0 NoVal ", i * 16,
                    0x1000 + 128 * i * (b + 1));
      if (i < 4) few.push_back(line);
      many.push_back(line);
    }
    text += block_6(b, warp_text(0, few) + warp_text(1, many), std::to_string(b) + ",0,0");
  }
  return text;
}

template <class Number>
Number number_at(const std::string& bytes, std::size_t at) {
  Number number;
  std::memcpy(&number, bytes.data() + at, sizeof number);
  return number;
}

class Tracez : public TraceFiles {
 protected:
  std::string list_of(const std::string& bytes) {
    file("kernel-1.tracez", bytes);
    return file("kernelslist.g", "kernel-1.tracez\n");
  }
  std::string error_of_bytes(const std::string& bytes) {
    const std::string list = list_of(bytes);
    return test::input_error_of([&] { TraceRecording(list).launch(0); });
  }
  /// `number` instead of what stands `at` bytes from the front, or from the end where negative.
  template <class Number>
  static std::string with(std::string bytes, std::ptrdiff_t at, Number number) {
    const std::size_t place =
        at < 0 ? bytes.size() - static_cast<std::size_t>(-at) : static_cast<std::size_t>(at);
    return bytes.replace(place, sizeof number, reinterpret_cast<const char*>(&number),
                         sizeof number);
  }
  void expect(const std::string& bytes, const std::string& words) {
    EXPECT_THAT(error_of_bytes(bytes),
                AllOf(StartsWith((folder() / "kernel-1.tracez").string() + ":"), HasSubstr(words)))
        << words;
  }
};

TEST_F(Tracez, IsTheSameRunAsItsText) {
  const std::string text = long_text();
  const TraceRecording plain(trace(text));
  plain.launch(0);
  for (const std::size_t lines : {1ul, 3ul, 1000ul, 2048ul})
    for (const std::string& dictionary : {std::string(), text.substr(0, 3000)}) {
      const TraceRecording paged(list_of(test::tracez_of(text, {dictionary, lines})));
      EXPECT_EQ(paged.launch(0).warp_instructions, 3u * 1004);
      EXPECT_EQ(paged.trailer().at("input_hash"), plain.trailer().at("input_hash"))
          << "the hash is that of the text, line by line";
      const auto a = plain.open(0), b = paged.open(0);
      for (unsigned block = 0; block < 3; ++block) {
        const auto x = ops(*a, block, 1), y = ops(*b, block, 1);
        ASSERT_EQ(x.size(), y.size());
        EXPECT_EQ(x[999].transactions.at(0).line, y[999].transactions.at(0).line);
      }
    }
}

TEST_F(Tracez, TheFirstBytesDecideAndNotTheName) {
  file("kernel-1.traceg", test::tracez_of(long_text()));
  const TraceRecording recording(file("kernelslist.g", "kernel-1.traceg\n"));
  EXPECT_EQ(recording.launch(0).warp_instructions, 3u * 1004);
}

TEST_F(Tracez, LinesInItAreCountedAsItsTextHasThem) {
  std::string text = kernel_6({{"0000 ffffffff 0 EXIT 0 0 0 0 NoVal", "0010 ffffffff 0 E!IT"}});
  expect(test::tracez_of(text), ":28: expected the number of source registers");
}

TEST_F(Tracez, DamageOfTheFrontAndTheIndexIsTold) {
  const std::string text = long_text(), good = test::tracez_of(text);
  const auto front = static_cast<std::ptrdiff_t>(good.find('\0')) + 1;
  const auto index = static_cast<std::ptrdiff_t>(
      number_at<std::uint64_t>(good, good.size() - sizeof(std::uint64_t)));
  EXPECT_EQ(error_of_bytes(good), "no error");
  expect(text.substr(0, static_cast<std::size_t>(front) - 1), "is no .tracez");
  expect(good.substr(0, static_cast<std::size_t>(front) + 4), "the file ends inside the header");
  expect(with(good, front, 1u << 25),
         "byte " + std::to_string(front) + " of the .tracez file: a dictionary of 33554432 bytes");
  expect(with(good, front, 0xec30a437u & 0xffff), "a dictionary of 42039 bytes");
  expect(with(good, -8, std::uint64_t{7}), "the index is said to be at byte 7, outside of");
  expect(with(good, -8, ~std::uint64_t{0}), "outside of");
  expect(with(good, index, 4u), "the index ends early");
  expect(with(good, index, 2u), "bytes too many");
  expect(with(good, index + 4 + 4 * 10, 3u), "byte ");
  expect(with(good, index + 4 + 4 * 9, 16u), "'cluster rank = 0' to 15");
  expect(with(good, index + 4 + 44, 5u),
         "the warp says 4 instructions in 1 sub-chunks, the index 5");
  expect(with(good, index + 4 + 44 + 8, std::uint64_t{3}), "a warp at byte 3, outside of");
  expect(with(good, index + 4 + 44 + 16, 3u), "lines, and the index says 3");
  expect(with(good, index + 4 + 44 + 16, 5u), "a sub-chunk of 5 instructions, and the warp has 4");
}

TEST_F(Tracez, DamageOfAPageIsTold) {
  const std::string text = long_text(), good = test::tracez_of(text);
  const auto page = static_cast<std::ptrdiff_t>(good.find('\0')) + 1 + 8 + 8;
  const auto bytes =
      number_at<std::uint32_t>(good, static_cast<std::size_t>(page));  // of the first warp's
  expect(with(good, page, 0x7fffffffu), "a sub-chunk of 2147483647 bytes where");
  expect(with(good, page, bytes - 3), "ends early");
  expect(with(good, page, bytes + 3), "a sub-chunk has bytes behind its compressed data");
  expect(with(good, page + 4, 0u), "the compressed data is damaged (zstd: ");
  const std::string dictionary = text.substr(0, 3000);
  std::string other = test::tracez_of(text, {dictionary, 2048});
  other.replace(other.find(dictionary), dictionary.size(), dictionary.size(), 'x');
  expect(other, "lines, and the index says");
}

TEST_F(Tracez, ADictionaryThatSaysItIsTrainedMustBe) {
  const std::string text = long_text();
  EXPECT_THAT(error_of_bytes(with(test::tracez_of(text, {std::string(28, ' '), 2048}),
                                  static_cast<std::ptrdiff_t>(text.find("\n#BEGIN_TB")) + 9,
                                  std::array<char, 4>{'\x37', '\xa4', '\x30', '\xec'})),
              HasSubstr("the dictionary is damaged"));
}

TEST_F(Tracez, APipeIsRefused) {
  std::FILE* const pipe = popen("printf -- '-a\\0'", "r");
  ASSERT_NE(pipe, nullptr);
  EXPECT_THAT(test::input_error_of([&] { test::text_of_tracez(pipe); }),
              HasSubstr("can be read at any place"));
  pclose(pipe);
}

}  // namespace
}  // namespace raddle::accelsim::tracez_test
