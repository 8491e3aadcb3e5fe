// Sums of counter structs, word by word, and the proof at compile time that a struct is nothing but
// words.
#pragma once
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace raddle::stats {

namespace detail {

/// Becomes a std::uint64_t and nothing else.
struct OnlyAWord {
  template <class Member>
  requires std::same_as<Member, std::uint64_t>
  operator Member() const;
};

template <class Counters, std::size_t... I>
consteval bool takes_words(std::index_sequence<I...>) {
  return requires { Counters{(static_cast<void>(I), OnlyAWord{})...}; };
}

}  // namespace detail

/// As many std::uint64_t as fit in, in members of any depth, and nothing else. An aggregate can be
/// initialised from a list of OnlyAWord only if each of them meets such a member; as they fill the
/// struct, there is no other.
template <class Counters>
concept OnlyCounters = std::is_trivially_copyable_v<Counters> && std::is_aggregate_v<Counters> &&
                               sizeof(Counters) %
                               sizeof(std::uint64_t) ==
                           0 &&
                       detail::takes_words<Counters>(
                           std::make_index_sequence<sizeof(Counters) / sizeof(std::uint64_t)>{});

/// Adds member by member; sign -1 subtracts.
template <OnlyCounters Counters>
Counters& accumulate(Counters& into, const Counters& from, std::int64_t sign = 1) {
  auto* to = reinterpret_cast<std::uint64_t*>(&into);
  const auto* term = reinterpret_cast<const std::uint64_t*>(&from);
  for (std::size_t i = 0; i < sizeof(Counters) / sizeof(std::uint64_t); ++i)
    to[i] += static_cast<std::uint64_t>(sign) * term[i];
  return into;
}

}  // namespace raddle::stats
