// What mum matches: a reference and queries, some of them pieces of it.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace raddle::workloads {

struct QueryStrings {
  std::string reference;
  /// One after the other: a character in front, the letters, a 0.
  std::vector<char> letters;
  std::uint32_t length = 0;  ///< letters of a query

  /// Characters from one query to the next.
  std::uint32_t stride() const { return length + 2; }
  std::uint32_t count() const { return static_cast<std::uint32_t>(letters.size() / stride()); }
  std::string_view query(std::uint32_t q) const {
    return {letters.data() + std::size_t{q} * stride() + 1, length};
  }
};

/// A random reference of `bases` letters; a share `planted` of the queries begins anywhere in it,
/// the others are random strings of their own. Precondition: length <= bases.
QueryStrings make_query_strings(std::uint32_t bases, std::uint32_t queries, std::uint32_t length,
                                double planted, std::uint64_t seed);

}  // namespace raddle::workloads
