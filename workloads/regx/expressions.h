// Regular expressions as automata over 64 symbols, and packets in which they are looked for.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "raddle/base/rng.h"

namespace raddle::workloads {

inline constexpr std::uint32_t kSymbols = 64;
inline constexpr std::uint32_t kPorts = 256;
inline constexpr std::uint32_t kHeaderBytes = 16;
/// States of every automaton; those between are its own.
inline constexpr std::uint8_t kDead = 0, kStart = 1, kAccept = 255;

/// A sequence of elements, each a set of symbols (bit s = symbol s), once or once and more.
struct Expression {
  struct Element {
    std::uint64_t symbols;
    bool repeated;
  };
  std::vector<Element> elements;  ///< 1 to 24
};

/// 5 to 12 elements: mostly one symbol, else a set of 16; one in eight of them repeated.
Expression make_expression(Rng& rng);
/// Symbols that the expression matches.
std::vector<std::uint8_t> make_match(const Expression& expression, Rng& rng);
/// Row s: the next state for each symbol in state s. By subset construction. An expression matches
/// where kAccept is reached. Throws InputError beyond 254 rows.
std::vector<std::uint8_t> make_automaton(const Expression& expression);
/// Does it match what begins at `at`? By trying all ways, without an automaton.
bool matches(const Expression& expression, const std::vector<std::uint8_t>& text, std::size_t at);

/// Automata one after another, row[e] the first of expression e's. Ports have the expressions
/// rule[rule_first[port]] and on.
struct RuleSet {
  std::vector<Expression> expressions;
  std::vector<std::uint8_t> automaton;
  std::vector<std::uint32_t> row, rule_first, rule;
};
/// One port in `ports_per_rule` has one to three expressions.
RuleSet make_rules(std::uint32_t expressions, std::uint32_t ports_per_rule, Rng& rng);

enum class PacketKind : std::uint8_t { Darpa, Strings };

struct Packet {
  std::uint32_t port = 0;
  std::vector<std::uint8_t> payload;
};
/// darpa: of 200 templates, popular ones first (Zipf 1), short (48 bytes) or long (1,384), with
/// their port, their matches and a hundredth of the bytes changed. strings: 256 to 1,024 random
/// symbols, any port.
std::vector<Packet> make_packets(PacketKind kind, std::uint32_t packets, const RuleSet& rules,
                                 Rng& rng);

/// Packets one after another, each at a multiple of 16 after its header: port, bytes, flags, and
/// the inverted sum of these.
struct PacketBuffer {
  std::vector<std::uint32_t> place;
  std::vector<std::uint8_t> data;
};
PacketBuffer lay_out(const std::vector<Packet>& packets);

}  // namespace raddle::workloads
