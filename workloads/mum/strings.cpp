// Random references and queries of mum. See strings.h.
#include "mum/strings.h"

#include <array>

#include "raddle/base/rng.h"

namespace raddle::workloads {

namespace {

// Shares of A, C, G and T: those of the public program's queries.
constexpr std::array<double, 4> kComposition = {0.32, 0.18, 0.18, 0.32};

char random_letter(Rng& rng) {
  double at = rng.unit();
  for (std::size_t letter = 0; letter < 3; ++letter) {
    if (at < kComposition[letter]) return "ACGT"[letter];
    at -= kComposition[letter];
  }
  return 'T';
}

std::string random_letters(std::size_t count, Rng& rng) {
  std::string letters(count, 'A');
  for (char& letter : letters) letter = random_letter(rng);
  return letters;
}

}  // namespace

QueryStrings make_query_strings(std::uint32_t bases, std::uint32_t queries, std::uint32_t length,
                                double planted, std::uint64_t seed) {
  Rng genome(seed, "mum/reference"), reads(seed, "mum/queries");
  QueryStrings made{random_letters(bases, genome), {}, length};
  for (std::uint32_t q = 0; q < queries; ++q) {
    bool transaction = reads.unit() < planted;
    std::string one = transaction ? made.reference.substr(reads.below(bases - length + 1), length)
                                  : random_letters(length, reads);
    made.letters.push_back('q');
    made.letters.insert(made.letters.end(), one.begin(), one.end());
    made.letters.push_back('\0');
  }
  return made;
}

}  // namespace raddle::workloads
