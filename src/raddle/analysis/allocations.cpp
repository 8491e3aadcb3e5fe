#include "raddle/analysis/allocations.h"

#include <algorithm>
#include <bit>
#include <tuple>
#include <unordered_map>

#include "raddle/base/error.h"

namespace raddle::analysis {

AllocationCounters& AllocationCounters::operator+=(const AllocationCounters& o) {
  loads += o.loads;
  stores += o.stores;
  atomics += o.atomics;
  l1d_hits += o.l1d_hits;
  l1d_pending_hits += o.l1d_pending_hits;
  l1d_misses += o.l1d_misses;
  l2_hits += o.l2_hits;
  l2_pending_hits += o.l2_pending_hits;
  l2_misses += o.l2_misses;
  dram_read_bytes += o.dram_read_bytes;
  dram_written_bytes += o.dram_written_bytes;
  return *this;
}

namespace {
/// Places of what was looked up before, so that most look-ups need no map.
template <class Key, class Value>
class LookupCache {
 public:
  /// `look_up(key)`: where it is, for ever.
  template <class LookUp>
  Value& at(const Key& key, std::size_t hash, LookUp look_up) {
    Entry& entry = entries_[hash % kEntries];
    if (entry.value == nullptr || entry.key != key) entry = {key, &look_up(key)};
    return *entry.value;
  }

 private:
  static constexpr std::size_t kEntries = 256;
  struct Entry {
    Key key{};
    Value* value = nullptr;
  };
  std::array<Entry, kEntries> entries_{};
};
}  // namespace

/// What one SM or slice has counted.
class AllocationTraffic::Table {
 public:
  explicit Table(const AllocationTraffic& of) : of_(of) {}
  const Launch& launch(unsigned slot) const {
    const Launch* launch = of_.slots_[slot].load(std::memory_order_relaxed);
    RADDLE_ASSERT(launch != nullptr);
    return *launch;
  }
  std::uint32_t row(const Launch& launch, std::uint32_t line) {
    if (!last_.holds(line, launch.version)) last_ = of_.find(line, launch.version);
    return last_.life.row;
  }
  AllocationCounters& at(std::uint32_t kernel, std::uint32_t row) {
    return lookup_cache_.at(key_of(kernel, row), row + std::size_t{31} * kernel,
                            [&](std::uint64_t key) -> AllocationCounters& { return counts_[key]; });
  }
  /// f(kernel, row, counters) for all that have been touched.
  template <class F>
  void each(F f) const {
    for (const auto& [key, count] : counts_)
      f(static_cast<std::uint32_t>(key >> 32), static_cast<std::uint32_t>(key), count);
  }

 private:
  const AllocationTraffic& of_;
  Found last_;
  std::unordered_map<std::uint64_t, AllocationCounters> counts_;
  LookupCache<std::uint64_t, AllocationCounters> lookup_cache_;
};

class AllocationTraffic::SmTraffic final : public policy::L1Observer {
 public:
  explicit SmTraffic(AllocationTraffic& of) : of_(of), table_(of) {}
  void warp_started(const policy::WarpStart& start) override {
    of_.slots_[start.kernel].store(&of_.launches_.at(start.launch), std::memory_order_relaxed);
  }
  void access(const policy::L1Access& a) override {
    if (a.outcome == policy::L1Outcome::Refused) return;  // it will be told again
    const Launch& launch = table_.launch(a.kernel);
    AllocationCounters& count =
        table_.at(launch.kernel, a.local ? kLocal : table_.row(launch, a.line));
    switch (a.kind) {
      case policy::L1Kind::Load:
        ++count.loads;
        count.l1d_hits += a.outcome == policy::L1Outcome::Hit;
        count.l1d_pending_hits += a.outcome == policy::L1Outcome::PendingHit;
        count.l1d_misses += a.outcome == policy::L1Outcome::Miss;
        break;
      case policy::L1Kind::Store:
        ++count.stores;
        break;
      case policy::L1Kind::Atomic:
        ++count.atomics;
        break;
    }
  }
  const Table& table() const { return table_; }

 private:
  AllocationTraffic& of_;
  Table table_;
};

class AllocationTraffic::SliceTraffic final : public policy::L2Observer {
 public:
  explicit SliceTraffic(AllocationTraffic& of) : of_(of), table_(of) {}
  void access(std::uint32_t line, std::uint8_t sectors, std::uint8_t kernel,
              policy::L2Outcome outcome) override {
    const Launch& launch = table_.launch(kernel);
    const std::uint32_t row = table_.row(launch, line);
    touch(row, line, sectors);
    AllocationCounters& count = table_.at(launch.kernel, row);
    count.l2_hits += outcome == policy::L2Outcome::Hit;
    count.l2_pending_hits += outcome == policy::L2Outcome::PendingHit;
    count.l2_misses += outcome == policy::L2Outcome::Miss;
  }
  void fetched(std::uint32_t line, std::uint32_t bytes, std::uint8_t kernel) override {
    at(line, kernel).dram_read_bytes += bytes;
  }
  void written(std::uint32_t line, std::uint32_t bytes, std::uint8_t kernel) override {
    at(line, kernel).dram_written_bytes += bytes;
  }
  const Table& table() const { return table_; }

 private:
  void touch(std::uint32_t row, std::uint32_t line, std::uint8_t sectors) {
    const Row& of = of_.rows_[row];
    if (of.sectors == 0) return;  // of no allocation
    std::uint64_t place = (line - of.at / of_.line_bytes_) * of_.sectors_per_line_;
    // Lines do not straddle leaves: both are powers of two, and rows begin with a line.
    const LeafKey key{row, place / kLeafSectors};
    Leaf& leaf = leaves_.at(key, key.second + std::size_t{31} * row,
                            [&](const LeafKey& of_row) -> Leaf& { return of_.leaf(of_row); });
    for (; sectors != 0; sectors = static_cast<std::uint8_t>(sectors >> 1), ++place) {
      // What a cache fetches may be more than is allocated.
      if ((sectors & 1) == 0 || place >= of.sectors) continue;
      std::atomic<std::uint64_t>& word = leaf[place % kLeafSectors / 64];
      const std::uint64_t bit = std::uint64_t{1} << place % 64;
      if ((word.load(std::memory_order_relaxed) & bit) == 0)
        word.fetch_or(bit, std::memory_order_relaxed);
    }
  }
  AllocationCounters& at(std::uint32_t line, std::uint8_t kernel) {
    const Launch& launch = table_.launch(kernel);
    return table_.at(launch.kernel, table_.row(launch, line));
  }
  AllocationTraffic& of_;
  Table table_;
  LookupCache<LeafKey, Leaf> leaves_;
};

AllocationTraffic::AllocationTraffic(const Geometry& geometry, std::vector<Region> regions)
    : line_bytes_(geometry.line_bytes),
      sectors_per_line_(geometry.line_bytes / geometry.sector_bytes),
      rows_(1) {
  for (Region& region : regions) {
    const auto row = static_cast<std::uint32_t>(rows_.size());
    regions_.push_back({region.first, region.last, {0, kNotYet, row}});
    Row& last = rows_.emplace_back();
    last.kind = Row::Kind::Region;
    last.name = std::move(region.name);
  }
  RADDLE_ASSERT(!regions_.empty());
  for (unsigned sm = 0; sm < geometry.sms; ++sm) sms_.push_back(std::make_unique<SmTraffic>(*this));
  for (unsigned slice = 0; slice < geometry.slices; ++slice)
    slices_.push_back(std::make_unique<SliceTraffic>(*this));
}

AllocationTraffic::~AllocationTraffic() = default;

policy::L1Observer& AllocationTraffic::of_sm(unsigned sm) { return *sms_.at(sm); }
policy::L2Observer& AllocationTraffic::of_slice(unsigned slice) { return *slices_.at(slice); }

AllocationTraffic::Found AllocationTraffic::find(std::uint32_t line, std::uint64_t version) const {
  for (const Found& region : regions_)
    if (region.holds(line, version)) return region;
  // Places may overlap: of what was there one after another.
  for (std::size_t n = 0; n < places_.size(); ++n) {
    const auto& places = places_[n];
    for (auto at = places.upper_bound({line, ~std::uint32_t{0}}); at != places.begin();) {
      --at;
      const auto& [first, last] = at->first;
      if (std::uint64_t{line - first} >> n != 0) break;  // and so of all before it
      if (line > last) continue;
      const Lives& lives = at->second;
      const auto after = std::ranges::upper_bound(lives, version, {}, &Life::made);
      if (after != lives.begin() && version < std::prev(after)->freed)
        return {first, last, *std::prev(after)};
    }
  }
  return {line, line, {version, version + 1, kRest}};
}

std::uint32_t AllocationTraffic::row_of(const trace::Allocation& a) {
  const auto [known, fresh] =
      row_of_.try_emplace({a.variable, {a.at, a.bytes}}, static_cast<std::uint32_t>(rows_.size()));
  if (fresh) {
    Row& row = rows_.emplace_back();
    row.kind = a.variable.empty() ? Row::Kind::Program : Row::Kind::Variable;
    row.name = a.variable;
    row.number = a.number;
    row.at = a.at;
    row.bytes = a.bytes;
    const std::uint64_t sector_bytes = line_bytes_ / sectors_per_line_;
    row.sectors = (a.bytes + sector_bytes - 1) / sector_bytes;
  }
  rows_[known->second].times += a.variable.empty() ? 1 : 0;
  return known->second;
}

AllocationTraffic::Leaf& AllocationTraffic::leaf(const LeafKey& key) {
  const std::lock_guard lock(leaves_mutex_);
  std::unique_ptr<Leaf>& leaf = leaves_[key];
  if (leaf == nullptr) leaf = std::make_unique<Leaf>();
  return *leaf;
}

void AllocationTraffic::allocated(const trace::AllocationChanges& changes) {
  known_ = true;
  ++version_;
  for (const Address at : changes.freed)
    if (const auto alive = alive_.find(at); alive != alive_.end()) {
      alive->second->back().freed = version_;
      alive_.erase(alive);
    }
  for (const trace::Allocation& a : changes.made) {
    if (a.bytes == 0) continue;
    const auto first = static_cast<std::uint32_t>(a.at / line_bytes_),
               last = static_cast<std::uint32_t>((a.at + a.bytes - 1) / line_bytes_);
    Lives& lives = places_[static_cast<std::size_t>(std::bit_width(last - first))][{first, last}];
    if (!lives.empty())  // also where nobody has said that it was freed
      lives.back().freed = std::min(lives.back().freed, version_);
    lives.push_back({version_, kNotYet, row_of(a)});
    alive_[a.at] = &lives;
  }
}

void AllocationTraffic::submitted(const std::string& kernel,
                                  const std::vector<trace::PointerArgument>& pointers) {
  const auto [known, fresh] =
      kernel_of_.try_emplace(kernel, static_cast<std::uint32_t>(kernels_.size()));
  if (fresh) kernels_.push_back(kernel);
  launches_.push_back({known->second, version_});
  for (const trace::PointerArgument& p : pointers) {
    const std::uint32_t row =
        find(static_cast<std::uint32_t>(p.at / line_bytes_), version_).life.row;
    if (row == kRest) continue;
    auto& arguments = rows_[row].arguments;
    auto of = std::ranges::find(arguments, kernel, [](const auto& one) { return one.first; });
    if (of == arguments.end()) of = arguments.insert(of, {kernel, {}});
    if (std::ranges::find(of->second, p.argument) == of->second.end())
      of->second.push_back(p.argument);
  }
}

std::vector<AllocationTraffic::Row> AllocationTraffic::rows() const {
  std::vector<std::map<std::uint32_t, AllocationCounters>> counts(rows_.size());  // by kernel
  const auto add = [&](std::uint32_t kernel, std::uint32_t row, const AllocationCounters& count) {
    counts[row][kernel] += count;
  };
  for (const auto& sm : sms_) sm->table().each(add);
  for (const auto& slice : slices_) slice->table().each(add);
  std::vector<std::uint64_t> touched(rows_.size());
  for (const auto& [key, leaf] : leaves_)
    for (const std::atomic<std::uint64_t>& word : *leaf)
      touched[key.first] += static_cast<unsigned>(std::popcount(word.load()));
  std::vector<Row> out;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    Row row = rows_[i];
    row.touched_sectors = touched[i];
    for (const auto& [kernel, count] : counts[i]) {
      row.counters += count;
      row.kernels.push_back({kernels_[kernel], count});
    }
    if (row.bytes != 0 || !row.kernels.empty()) out.push_back(std::move(row));
  }
  std::ranges::sort(out, {}, [](const Row& row) {
    return std::tuple(static_cast<unsigned>(row.kind), row.number, row.name, row.at);
  });
  return out;
}

}  // namespace raddle::analysis
