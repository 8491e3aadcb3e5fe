// Recordings laid open (trace/file.h), changed, packed and sealed again: what no checksum catches.
#pragma once
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "raddle/trace/file.h"
#include "raddle/trace/file_sections.h"
#include "support/json_mutator.h"

namespace raddle::test {

struct Section {
  trace::SectionKind kind{};
  std::string raw;
};
inline constexpr std::size_t kFileFront = trace::kFileMagic.size() + sizeof(trace::kFileVersion);

inline std::vector<Section> sections_of(std::string_view file) {
  std::vector<Section> out;
  for (std::size_t at = kFileFront; at + sizeof(trace::SectionHeader) <= file.size();) {
    trace::SectionHeader header;
    std::memcpy(&header, file.data() + at, sizeof header);
    at += sizeof header;
    Section section{static_cast<trace::SectionKind>(header.kind),
                    std::string(header.raw_bytes, '\0')};
    ZSTD_decompress(section.raw.data(), section.raw.size(), file.data() + at, header.packed_bytes);
    out.push_back(std::move(section));
    at += header.packed_bytes;
  }
  return out;
}

/// An index that names the sections of its launch where they are now, as far as it still can.
inline void repair(std::string& index, const std::vector<std::uint64_t>& places) {
  MutableJson json = MutableJson::parse(index, nullptr, false);
  if (!json.is_object() || !json.contains("blocks") || !json["blocks"].is_array()) return;
  for (std::size_t i = 0; i < std::min(json["blocks"].size(), places.size()); ++i)
    if (MutableJson& one = json["blocks"][i]; one.is_array() && one.size() > 2) one[2] = places[i];
  index = json.dump(-1, ' ', false, MutableJson::error_handler_t::replace);
}

/// The file of these sections.
inline std::string file_of(std::vector<Section> sections) {
  std::string out(trace::kFileMagic);
  out.append(reinterpret_cast<const char*>(&trace::kFileVersion), sizeof trace::kFileVersion);
  std::vector<std::uint64_t> places;  // of the launch's blocks
  for (Section& section : sections) {
    if (section.kind == trace::SectionKind::Launch) places.clear();
    if (section.kind == trace::SectionKind::Blocks) places.push_back(out.size());
    if (section.kind == trace::SectionKind::Index) repair(section.raw, places);
    std::string packed(ZSTD_compressBound(section.raw.size()), '\0');
    packed.resize(
        ZSTD_compress(packed.data(), packed.size(), section.raw.data(), section.raw.size(), 1));
    const trace::SectionHeader header =
        trace::seal(section.kind, static_cast<std::uint32_t>(section.raw.size()), packed);
    out.append(reinterpret_cast<const char*>(&header), sizeof header).append(packed);
  }
  return out;
}

inline void mutate_words(std::string& raw, Rng& rng) {
  constexpr std::uint32_t kOdd[] = {0, 1, 2, 63, 64, 0x7fffffff, 0x80000000, 0xffffffff};
  const std::size_t words = raw.size() / sizeof(std::uint32_t);
  if (words == 0 || rng.below(16) == 0) {
    raw.resize(rng.below(static_cast<std::uint32_t>(raw.size()) + 64));
    return;
  }
  const std::size_t at = rng.below(static_cast<std::uint32_t>(words)) * sizeof(std::uint32_t);
  std::uint32_t word = 0;
  std::memcpy(&word, raw.data() + at, sizeof word);
  switch (rng.below(3)) {
    case 0:
      word ^= 1u << rng.below(32);
      break;
    case 1:
      word = kOdd[rng.below(std::size(kOdd))];
      break;
    default:
      word += rng.below(9) - 4;
      break;
  }
  std::memcpy(raw.data() + at, &word, sizeof word);
}

inline void mutate_order(std::vector<Section>& sections, Rng& rng) {
  const auto count = static_cast<std::uint32_t>(sections.size());
  const std::size_t i = rng.below(count), k = rng.below(count);
  switch (rng.below(4)) {
    case 0:
      sections.erase(sections.begin() + static_cast<std::ptrdiff_t>(i));
      break;
    case 1:
      sections.insert(sections.begin() + static_cast<std::ptrdiff_t>(k), Section(sections[i]));
      break;
    case 2:
      std::swap(sections[i], sections[k]);
      break;
    default:
      sections[i].kind = static_cast<trace::SectionKind>(1 + rng.below(5));
      break;
  }
}

/// One change somewhere.
inline void mutate(std::vector<Section>& sections, Rng& rng) {
  if (sections.empty()) return;
  if (rng.below(6) == 0) return mutate_order(sections, rng);
  Section& one = sections[rng.below(static_cast<std::uint32_t>(sections.size()))];
  if (one.kind == trace::SectionKind::Blocks) return mutate_words(one.raw, rng);
  MutableJson json = MutableJson::parse(one.raw, nullptr, false);
  if (json.is_discarded()) return mutate_words(one.raw, rng);
  mutate(json, rng);
  one.raw = json.dump(-1, ' ', false, MutableJson::error_handler_t::replace);
}

}  // namespace raddle::test
