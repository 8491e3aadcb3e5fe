#include "raddle/base/stable_sort.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace raddle::stable_sort_test {
namespace {

using ::testing::ElementsAre;

TEST(SortStably, KeepsTheOrderOfEquals) {
  std::vector<std::string> words = {"bb", "a", "cc", "d", "", "aa"};
  sort_stably(words, [](const std::string& word) { return word.size(); });
  EXPECT_THAT(words, ElementsAre("", "a", "d", "bb", "cc", "aa"));
}

TEST(SortStably, ByAMember) {
  struct Item {
    int key, number;
  };
  std::vector<Item> items = {{2, 0}, {1, 1}, {2, 2}, {1, 3}};
  sort_stably(items, &Item::key);
  std::vector<int> order;
  for (const Item& item : items) order.push_back(item.number);
  EXPECT_THAT(order, ElementsAre(1, 3, 0, 2));
}

TEST(SortStably, DownwardsEqualsKeepTheirOrder) {
  std::vector<std::string> words = {"bb", "a", "cc", "d", "", "aa"};
  sort_stably(
      words, [](const std::string& word) { return word.size(); }, std::greater<>{});
  EXPECT_THAT(words, ElementsAre("bb", "cc", "aa", "a", "d", ""));
}

TEST(SortStably, NothingAndOne) {
  std::vector<int> none, one = {7};
  sort_stably(none, [](int i) { return i; });
  sort_stably(one, [](int i) { return i; });
  EXPECT_TRUE(none.empty());
  EXPECT_THAT(one, ElementsAre(7));
}

}  // namespace
}  // namespace raddle::stable_sort_test
