// regx's expressions, their automata, rules and packets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "raddle/base/error.h"
#include "regx/expressions.h"

namespace raddle::workloads::regx_inputs_test {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

Expression one_of(std::initializer_list<Expression::Element> elements) {
  Expression expression;
  expression.elements = elements;
  return expression;
}

bool accepts(const std::vector<std::uint8_t>& rows, const std::vector<std::uint8_t>& text) {
  std::uint8_t state = kStart;
  for (const std::uint8_t symbol : text) {
    state = rows[state * kSymbols + symbol];
    if (state == kDead || state == kAccept) break;
  }
  return state == kAccept;
}

TEST(Expressions, AnElementOnceAndAnElementRepeated) {
  const Expression ab = one_of({{1 << 1, false}, {1 << 2, false}});       // 1 2
  const Expression a_plus_b = one_of({{1 << 1, true}, {1 << 2, false}});  // 1+ 2
  for (const auto& [text, once, repeated] :
       {std::tuple<std::vector<std::uint8_t>, bool, bool>{{1, 2}, true, true},
        {{1, 1, 2}, false, true},
        {{2}, false, false},
        {{1, 1}, false, false},
        {{1, 2, 7}, true, true}}) {
    EXPECT_EQ(matches(ab, text, 0), once);
    EXPECT_EQ(accepts(make_automaton(ab), text), once);
    EXPECT_EQ(matches(a_plus_b, text, 0), repeated);
    EXPECT_EQ(accepts(make_automaton(a_plus_b), text), repeated);
  }
}

TEST(Expressions, AutomataMatchWhatTryingAllWaysMatches) {
  Rng rng(1, "test");
  for (int n = 0; n < 200; ++n) {
    const Expression expression = make_expression(rng);
    const std::vector<std::uint8_t> rows = make_automaton(expression);
    EXPECT_LE(rows.size() / kSymbols, 254u);
    std::vector<std::uint8_t> text = make_match(expression, rng);
    EXPECT_TRUE(accepts(rows, text));
    EXPECT_TRUE(matches(expression, text, 0));
    text[rng.below(static_cast<std::uint32_t>(text.size()))] ^= 1;
    EXPECT_EQ(accepts(rows, text), matches(expression, text, 0));
  }
}

TEST(Expressions, OneThatNeedsTooManyStatesIsRefused) {
  // Any subset of the elements may be under way, since each has half of the symbols.
  Expression expression;
  for (std::uint32_t i = 0; i < 24; ++i) {
    std::uint64_t set = 0;
    for (std::uint32_t s = 0; s < kSymbols; ++s)
      if ((s * 2654435761u >> (i % 24) & 1) != 0) set |= std::uint64_t{1} << s;
    expression.elements.push_back({set, true});
  }
  EXPECT_THROW(make_automaton(expression), InputError);
}

TEST(Rules, OnePortOfSoManyHasOneToThree) {
  Rng rng(2, "test");
  const RuleSet rules = make_rules(50, 8, rng);
  ASSERT_EQ(rules.rule_first.size(), kPorts + 1);
  for (std::uint32_t port = 0; port < kPorts; ++port) {
    const std::uint32_t count = rules.rule_first[port + 1] - rules.rule_first[port];
    if (port % 8 != 0) EXPECT_EQ(count, 0u);
    else EXPECT_THAT(count, ::testing::AllOf(::testing::Ge(1u), ::testing::Le(3u)));
  }
  for (const std::uint32_t expression : rules.rule) EXPECT_LT(expression, 50u);
}

TEST(Packets, DarpaHasTwoLengthsAndFewPopularTemplates) {
  Rng rng(3, "test");
  const RuleSet rules = make_rules(50, 8, rng);
  const auto packets = make_packets(PacketKind::Darpa, 4000, rules, rng);
  std::map<std::pair<std::uint32_t, std::size_t>, int> kinds;  // port and length
  std::size_t long_ones = 0;
  for (const Packet& packet : packets) {
    EXPECT_TRUE(packet.payload.size() == 48 || packet.payload.size() == 1384);
    EXPECT_THAT(packet.payload, Each(::testing::Lt(kSymbols)));
    ++kinds[{packet.port, packet.payload.size()}];
    long_ones += packet.payload.size() == 1384;
  }
  EXPECT_LE(kinds.size(), 200u);
  EXPECT_GT(long_ones, 800u);
  EXPECT_LT(long_ones, 3200u);
  int maximum = 0;
  for (const auto& [kind, count] : kinds) maximum = std::max(maximum, count);
  EXPECT_GT(maximum, 4000 / 8);  // the first of 200 templates under Zipf: 1 / 5.9
}

TEST(Packets, StringsAreOf256To1024SymbolsAllAlike) {
  Rng rng(4, "test");
  const RuleSet rules = make_rules(50, 8, rng);
  std::vector<double> seen(kSymbols);
  double all = 0;
  for (const Packet& packet : make_packets(PacketKind::Strings, 500, rules, rng)) {
    EXPECT_GE(packet.payload.size(), 256u);
    EXPECT_LE(packet.payload.size(), 1024u);
    for (const std::uint8_t symbol : packet.payload) ++seen[symbol];
    all += static_cast<double>(packet.payload.size());
  }
  EXPECT_NEAR(all / 500, 640, 40);
  for (const double count : seen) EXPECT_NEAR(count / all, 1.0 / kSymbols, 0.1 / kSymbols);
}

TEST(Packets, LieAlignedBehindAHeaderWithItsSum) {
  const PacketBuffer buffer = lay_out({{7, {1, 2, 3}}, {9, {4}}});
  EXPECT_THAT(buffer.place, ElementsAre(0, 32));
  ASSERT_EQ(buffer.data.size(), 64u);
  const auto word = [&](std::size_t at) {
    std::uint32_t value = 0;
    for (std::size_t byte = 4; byte-- > 0;) value = value << 8 | buffer.data[at + byte];
    return value;
  };
  EXPECT_EQ(word(0), 7u);
  EXPECT_EQ(word(4), 3u);
  EXPECT_EQ(word(12), ~(word(0) + word(4) + word(8)));
  EXPECT_EQ(buffer.data[16], 1);
  EXPECT_EQ(buffer.data[48], 4);
}

}  // namespace
}  // namespace raddle::workloads::regx_inputs_test
