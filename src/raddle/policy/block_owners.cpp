#include "raddle/policy/block_owners.h"

#include <charconv>

#include "raddle/base/error.h"

namespace raddle::policy {
namespace {

constexpr std::uint32_t kNone = ~0u, kFurthest = 64;
/// Of relations' numbers: their products with ids of blocks stay within 64 bits.
constexpr std::int64_t kMax = std::int64_t{1} << 30;

/// The word at the front of `text`, which it loses.
std::string_view take_word(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  const std::string_view word = text.substr(0, text.find(' '));
  text.remove_prefix(word.size());
  return word;
}

std::int64_t take_number(std::string_view& text, std::string_view whole) {
  const std::string_view word = take_word(text);
  std::int64_t n = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), n);
  if (error != std::errc{} || end != word.data() + word.size())
    throw InputError("relation '" + std::string(whole) + "': expected a whole number, found '" +
                     std::string(word) + "' (KERNEL DISTANCE A BX [BY [BZ]])");
  if (n < -kMax || n > kMax)
    throw InputError("relation '" + std::string(whole) + "': " + std::string(word) +
                     " is beyond 2^30");
  return n;
}

Relation read_relation(std::string_view whole) {
  std::string_view text = whole;
  Relation r;
  r.kernel = take_word(text);
  const std::int64_t distance = take_number(text, whole);
  if (distance < 1 || distance > kFurthest)
    throw InputError("relation '" + std::string(whole) + "': a distance is 1 to 64 launches");
  r.distance = static_cast<std::uint32_t>(distance);
  r.a = take_number(text, whole);
  if (r.a == 0) throw InputError("relation '" + std::string(whole) + "': a must not be 0");
  r.b[0] = take_number(text, whole);
  for (unsigned i = 1; i < 3 && text.find_first_not_of(' ') != text.npos; ++i)
    r.b[i] = take_number(text, whole);
  if (text.find_first_not_of(' ') != text.npos)
    throw InputError("relation '" + std::string(whole) + "': '" + std::string(take_word(text)) +
                     "' is one too many (KERNEL DISTANCE A BX [BY [BZ]])");
  return r;
}

/// Linear id of the producer, if the producers' grid has it.
std::optional<std::uint32_t> producer(const Relation& r, std::uint32_t block, Grid to, Grid from) {
  std::uint32_t id = 0, scale = 1, rest = block;
  for (unsigned i = 0; i < 3; ++i) {
    const std::int64_t at = r.a * (rest % to[i]) + r.b[i];
    if (at < 0 || at >= from[i]) return std::nullopt;
    id += static_cast<std::uint32_t>(at) * scale;
    rest /= to[i];
    scale *= from[i];
  }
  return id;
}

}  // namespace

std::vector<Relation> read_relations(std::string_view text) {
  std::vector<Relation> out;
  while (text.find_first_not_of(' ') != text.npos) {
    const std::string_view one = text.substr(0, text.find(';'));
    text.remove_prefix(std::min(one.size() + 1, text.size()));
    out.push_back(read_relation(one));
  }
  return out;
}

std::vector<std::string> relation_faults(std::string_view text) {
  try {
    read_relations(text);
    return {};
  } catch (const InputError& error) {
    return {std::string("policy.block.relations: ") + error.what()};
  }
}

const Relation* find_relation(const std::vector<Relation>& relations, std::string_view kernel) {
  for (const Relation& r : relations)
    if (r.kernel == kernel) return &r;
  return nullptr;
}

std::optional<Owners> follow(const Owners& producers, const Relation& relation, Grid grid) {
  const std::uint32_t blocks = blocks_of(grid);
  std::vector<std::uint32_t> consumer(blocks_of(producers.grid), kNone);
  for (std::uint32_t c = 0; c < blocks; ++c)
    if (const auto p = producer(relation, c, grid, producers.grid)) consumer[*p] = c;

  const auto sms = static_cast<std::uint32_t>(producers.sm.size());
  Owners out{grid, std::vector<Holding>(sms)};
  std::vector<std::uint32_t> owner(blocks, kNone);
  std::vector<bool> queued(blocks);
  for (std::uint32_t sm = 0; sm < sms; ++sm) {
    for (const Chunk& chunk : producers.sm[sm].chunks.parts())
      for (std::uint32_t p = chunk.begin; p < chunk.end; ++p)
        if (consumer[p] != kNone) owner[consumer[p]] = sm;
    for (const std::uint32_t p : producers.sm[sm].queue) {
      if (consumer[p] == kNone) continue;
      owner[consumer[p]] = sm;
      queued[consumer[p]] = true;
      out.sm[sm].queue.push_back(consumer[p]);
    }
  }
  const auto first = std::ranges::find_if(owner, [](std::uint32_t sm) { return sm != kNone; });
  if (first == owner.end()) return std::nullopt;
  std::uint32_t sm = *first;
  for (std::uint32_t c = 0; c < blocks; ++c) {
    if (owner[c] != kNone) sm = owner[c];
    if (!queued[c]) out.sm[sm].chunks.append(c);
  }
  return out;
}

}  // namespace raddle::policy
