// The second-level cache as numbers: table [l2] of a machine file. Cycles are core-clock cycles.
#pragma once
#include <array>
#include <cstdint>
#include <string_view>

#include "raddle/base/fields.h"
#include "raddle/timing/spec/spec_rules.h"

namespace raddle::timing {

/// When written data go to DRAM: when their line is pushed out, or at once.
enum class L2WritePolicy : std::uint8_t { WriteBack, WriteThrough };
inline constexpr std::array<std::string_view, 2> kL2WritePolicies = {"write_back", "write_through"};

/// What a write does whose line is absent (names: Jouppi, ISCA 1993): takes a way and counts the
/// written sectors as whole; takes a way and fetches them first; passes on to DRAM.
enum class L2WriteMiss : std::uint8_t { WriteValidate, FetchOnWrite, WriteAround };
inline constexpr std::array<std::string_view, 3> kL2WriteMisses = {
    "write_validate", "fetch_on_write", "write_around"};

/// What a miss fetches and a dirty line writes back: the sectors concerned, or all of the line.
enum class DramGranularity : std::uint8_t { Sector, Line };
inline constexpr std::array<std::string_view, 2> kDramGranularities = {"sector", "line"};

/// How the lines of a slice are dealt out to its sets, and those of a channel to its slices.
enum class L2Index : std::uint8_t { Modulo, Hash };
inline constexpr std::array<std::string_view, 2> kL2Indices = {"modulo", "hash"};

/// L2 slices, at most: of the machine, and in front of one memory channel.
inline constexpr std::uint32_t kMaxSlices = 512, kMaxSlicesOfChannel = 256;

struct L2Spec {
  std::uint32_t slices = 8, size_kib = 128, line_bytes = 128, sector_bytes = 32,
                ways = 8;  ///< size per slice
  /// Of a set's lines so many may be dirty. Before another becomes dirty, that which was used
  /// longest ago is written back, and stays. As many as there are ways: no limit.
  std::uint32_t dirty_ways = 256;
  L2Index index = L2Index::Hash, slice_index = L2Index::Hash;
  L2WritePolicy write_policy = L2WritePolicy::WriteBack;
  L2WriteMiss write_miss = L2WriteMiss::WriteValidate;
  DramGranularity dram_granularity = DramGranularity::Sector;
  std::uint32_t hit_latency_cycles = 60, mshr_entries = 32, mshr_merges = 4, interval_cycles = 1;
  std::uint32_t out_queue = 8;          ///< replies beyond those the pipeline itself holds
  std::uint32_t write_back_queue = 32;  ///< of a partition; whoever could add to it waits when full
  std::uint32_t atomic_interval_cycles = 4;  ///< a slice performs `atomic_sectors` in that time
  std::uint32_t atomic_sectors = 8;
  double atomic_word_cycles = 0;    ///< for each lane that meets others in a word
  double fabric_sector_cycles = 0;  ///< 0: one L2 for all SMs, no halves (l2_fabric.h)
  std::uint32_t sets() const { return size_kib * 1024 / (line_bytes * ways); }
  void visit(FieldVisitor& v);
};

}  // namespace raddle::timing
