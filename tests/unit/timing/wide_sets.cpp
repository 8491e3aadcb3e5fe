// Tags of sets of many ways against a model that is plainly right: a list by use for each set.
#include <gtest/gtest.h>

#include <algorithm>
#include <list>
#include <vector>

#include "raddle/base/rng.h"
#include "raddle/timing/cache/tags.h"

namespace raddle::test::wide_sets_test {
namespace {

using timing::Tags;

/// A set's lines, the one used last in front. Ways that hold nothing are not in it.
class Model {
 public:
  Model(unsigned sets, unsigned ways) : ways_(ways), set_(sets) {}
  bool has(unsigned set, std::uint32_t line) const {
    return std::ranges::find(set_[set], line) != set_[set].end();
  }
  void use(unsigned set, std::uint32_t line) {
    set_[set].remove(line);
    set_[set].push_front(line);
  }
  /// The line that had to go, or `none`.
  std::uint32_t add(unsigned set, std::uint32_t line, std::uint32_t none) {
    std::uint32_t out = none;
    if (set_[set].size() == ways_) {
      out = set_[set].back();
      set_[set].pop_back();
    }
    set_[set].push_front(line);
    return out;
  }
  void remove(unsigned set, std::uint32_t line) { set_[set].remove(line); }
  void clear() {
    for (auto& lines : set_) lines.clear();
  }

 private:
  unsigned ways_;
  std::vector<std::list<std::uint32_t>> set_;
};

struct Shape {
  unsigned sets, ways;
};

class WideSets : public testing::TestWithParam<Shape> {};

TEST_P(WideSets, FindUseAndReplaceAsAListByUse) {
  const auto [sets, ways] = GetParam();
  constexpr std::uint32_t kNone = ~0u;
  Rng rng(7);
  Tags tags(sets, ways);
  Model model(sets, ways);
  // Lines of a set that differ by little, much and by what a hash may take for the same.
  const std::uint32_t stride[] = {1, 3, 64, 1u << 20};
  unsigned hits = 0, pushed_out = 0;
  for (unsigned n = 0; n < 40'000; ++n) {
    const unsigned set = rng.below(sets);
    const std::uint32_t line = set + sets * stride[rng.below(4)] * rng.below(ways + ways / 2);
    const unsigned at = tags.find(set, line);
    ASSERT_EQ(at != Tags::kAbsent, model.has(set, line)) << "step " << n;
    switch (rng.below(16)) {
      case 0:
        if (at != Tags::kAbsent) tags.invalidate(at);
        model.remove(set, line);
        break;
      case 1:
        if (rng.below(200) != 0) break;
        tags.invalidate_all();
        model.clear();
        break;
      default:
        if (at != Tags::kAbsent) {
          ++hits;
          ASSERT_EQ(tags.line(at), line);
          tags.touch(at);
          model.use(set, line);
          break;
        }
        const Tags::Victim out = tags.fill(set, line, 1, 0);
        const std::uint32_t expected = model.add(set, line, kNone);
        ASSERT_EQ(out.sectors != 0 ? out.line : kNone, expected) << "step " << n;
        pushed_out += expected != kNone ? 1 : 0;
    }
  }
  EXPECT_GT(hits, 1000u);
  EXPECT_GT(pushed_out, 1000u);
}

INSTANTIATE_TEST_SUITE_P(Shapes, WideSets,
                         testing::Values(Shape{4, 64}, Shape{4, 65}, Shape{3, 96}, Shape{1, 256},
                                         Shape{16, 128}),
                         [](const auto& shape) {
                           return std::to_string(shape.param.sets) + "_sets_of_" +
                                  std::to_string(shape.param.ways);
                         });

}  // namespace
}  // namespace raddle::test::wide_sets_test
