// See expressions.h.
#include "regx/expressions.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>

#include "raddle/base/error.h"

namespace raddle::workloads {

namespace {

std::uint64_t random_set(std::uint32_t symbols, Rng& rng) {
  std::uint64_t set = 0;
  while (static_cast<std::uint32_t>(std::popcount(set)) < symbols)
    set |= std::uint64_t{1} << rng.below(kSymbols);
  return set;
}

bool has(std::uint64_t set, std::uint32_t symbol) { return (set >> symbol & 1) != 0; }

// Bit i: elements before i have matched.
std::uint32_t next_positions(const Expression& expression, std::uint32_t positions,
                             std::uint32_t symbol) {
  std::uint32_t next = 0;
  for (std::size_t i = 0; i <= expression.elements.size(); ++i) {
    if ((positions >> i & 1) == 0) continue;
    if (i > 0 && expression.elements[i - 1].repeated &&
        has(expression.elements[i - 1].symbols, symbol))
      next |= 1u << i;
    if (i < expression.elements.size() && has(expression.elements[i].symbols, symbol))
      next |= 1u << (i + 1);
  }
  return next;
}

}  // namespace

Expression make_expression(Rng& rng) {
  Expression expression;
  const std::uint32_t length = 5 + rng.below(8);
  for (std::uint32_t i = 0; i < length; ++i)
    expression.elements.push_back({random_set(rng.below(4) == 0 ? 16 : 1, rng), rng.below(8) == 0});
  return expression;
}

std::vector<std::uint8_t> make_match(const Expression& expression, Rng& rng) {
  std::vector<std::uint8_t> text;
  for (const Expression::Element& element : expression.elements) {
    const std::uint32_t times = element.repeated ? 1 + rng.below(3) : 1;
    for (std::uint32_t n = 0; n < times; ++n) {
      std::uint32_t symbol = rng.below(kSymbols);
      while (!has(element.symbols, symbol)) symbol = (symbol + 1) % kSymbols;
      text.push_back(static_cast<std::uint8_t>(symbol));
    }
  }
  return text;
}

std::vector<std::uint8_t> make_automaton(const Expression& expression) {
  const std::uint32_t accepting = 1u << expression.elements.size();
  std::map<std::uint32_t, std::uint8_t> number = {{0, kDead}, {1, kStart}};
  std::vector<std::uint32_t> positions = {0, 1};  // of each state
  std::vector<std::uint8_t> rows;
  for (std::size_t state = 0; state < positions.size(); ++state)
    for (std::uint32_t symbol = 0; symbol < kSymbols; ++symbol) {
      const std::uint32_t next = next_positions(expression, positions[state], symbol);
      if ((next & accepting) != 0) {
        rows.push_back(kAccept);
        continue;
      }
      const auto [at, fresh] = number.emplace(next, static_cast<std::uint8_t>(positions.size()));
      if (fresh) positions.push_back(next);
      if (positions.size() > kAccept) throw InputError("an expression needs more than 254 states");
      rows.push_back(at->second);
    }
  return rows;
}

bool matches(const Expression& expression, const std::vector<std::uint8_t>& text, std::size_t at) {
  std::uint32_t positions = 1;
  const std::uint32_t accepting = 1u << expression.elements.size();
  for (; at < text.size() && positions != 0 && (positions & accepting) == 0; ++at)
    positions = next_positions(expression, positions, text[at]);
  return (positions & accepting) != 0;
}

RuleSet make_rules(std::uint32_t expressions, std::uint32_t ports_per_rule, Rng& rng) {
  RuleSet rules;
  for (std::uint32_t e = 0; e < expressions; ++e) {
    rules.expressions.push_back(make_expression(rng));
    rules.row.push_back(static_cast<std::uint32_t>(rules.automaton.size() / kSymbols));
    const std::vector<std::uint8_t> rows = make_automaton(rules.expressions.back());
    rules.automaton.insert(rules.automaton.end(), rows.begin(), rows.end());
  }
  rules.rule_first.push_back(0);
  for (std::uint32_t port = 0; port < kPorts; ++port) {
    const std::uint32_t count = port % ports_per_rule == 0 ? 1 + rng.below(3) : 0;
    for (std::uint32_t n = 0; n < count; ++n) rules.rule.push_back(rng.below(expressions));
    rules.rule_first.push_back(static_cast<std::uint32_t>(rules.rule.size()));
  }
  return rules;
}

namespace {

std::vector<std::uint8_t> random_symbols(std::uint32_t count, Rng& rng) {
  std::vector<std::uint8_t> text(count);
  for (std::uint8_t& symbol : text) symbol = static_cast<std::uint8_t>(rng.below(kSymbols));
  return text;
}

// Two matches of each rule of its port, at random places.
Packet make_template(const RuleSet& rules, Rng& rng) {
  Packet packet{rng.below(kPorts), random_symbols(rng.below(2) == 0 ? 48 : 1'384, rng)};
  for (std::uint32_t r = rules.rule_first[packet.port]; r < rules.rule_first[packet.port + 1]; ++r)
    for (int twice = 0; twice < 2; ++twice) {
      const auto match = make_match(rules.expressions[rules.rule[r]], rng);
      const auto room = static_cast<std::uint32_t>(packet.payload.size() - match.size());
      std::ranges::copy(match, packet.payload.begin() + rng.below(room + 1));
    }
  return packet;
}

std::vector<Packet> make_darpa(std::uint32_t packets, const RuleSet& rules, Rng& rng) {
  constexpr std::uint32_t kTemplates = 200;
  std::vector<Packet> templates, all;
  std::vector<double> up_to;
  double sum = 0;
  for (std::uint32_t t = 0; t < kTemplates; ++t) {
    templates.push_back(make_template(rules, rng));
    up_to.push_back(sum += 1.0 / (t + 1));
  }
  for (std::uint32_t p = 0; p < packets; ++p) {
    const auto at = std::ranges::upper_bound(up_to, sum * rng.unit());
    const auto which = std::min<std::ptrdiff_t>(at - up_to.begin(), kTemplates - 1);
    Packet packet = templates[static_cast<std::size_t>(which)];
    for (std::uint8_t& symbol : packet.payload)
      if (rng.below(100) == 0) symbol = static_cast<std::uint8_t>(rng.below(kSymbols));
    all.push_back(std::move(packet));
  }
  return all;
}

}  // namespace

std::vector<Packet> make_packets(PacketKind kind, std::uint32_t packets, const RuleSet& rules,
                                 Rng& rng) {
  if (kind == PacketKind::Darpa) return make_darpa(packets, rules, rng);
  std::vector<Packet> all;
  for (std::uint32_t p = 0; p < packets; ++p) {
    const std::uint32_t port = rng.below(kPorts);
    all.push_back({port, random_symbols(256 + rng.below(769), rng)});
  }
  return all;
}

PacketBuffer lay_out(const std::vector<Packet>& packets) {
  PacketBuffer buffer;
  for (const Packet& packet : packets) {
    buffer.place.push_back(static_cast<std::uint32_t>(buffer.data.size()));
    const auto bytes = static_cast<std::uint32_t>(packet.payload.size());
    constexpr std::uint32_t kFlags = 0x1234;
    for (const std::uint32_t word : {packet.port, bytes, kFlags, ~(packet.port + bytes + kFlags)})
      for (int byte = 0; byte < 4; ++byte)
        buffer.data.push_back(static_cast<std::uint8_t>(word >> 8 * byte));
    buffer.data.insert(buffer.data.end(), packet.payload.begin(), packet.payload.end());
    buffer.data.resize((buffer.data.size() + 15) / 16 * 16);
  }
  return buffer;
}

}  // namespace raddle::workloads
