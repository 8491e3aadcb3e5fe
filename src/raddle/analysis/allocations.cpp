#include "raddle/analysis/allocations.h"

#include <algorithm>
#include <bit>
#include <tuple>

#include "raddle/base/error.h"

namespace raddle::analysis {

AllocationCounters& AllocationCounters::operator+=(const AllocationCounters& o) {
  loads += o.loads, stores += o.stores, atomics += o.atomics;
  l1d_hits += o.l1d_hits, l1d_pending_hits += o.l1d_pending_hits, l1d_misses += o.l1d_misses;
  l2_hits += o.l2_hits, l2_pending_hits += o.l2_pending_hits, l2_misses += o.l2_misses;
  dram_sectors_read += o.dram_sectors_read, dram_sectors_written += o.dram_sectors_written;
  return *this;
}

/// What one SM or slice has counted.
class AllocationTraffic::Table {
 public:
  explicit Table(const Slots& slots) : slots_(slots) {}
  const Launch& launch(unsigned slot) const {
    const Launch* launch = slots_[slot].load(std::memory_order_relaxed);
    RADDLE_ASSERT(launch != nullptr);
    return *launch;
  }
  std::uint32_t row(const Launch& launch, std::uint32_t line) {
    if (launch.ranges.get() == last_of_ && line >= last_.first && line <= last_.last)
      return last_.row;
    const Ranges& ranges = *launch.ranges;
    auto after = std::ranges::upper_bound(ranges, line, {}, &Range::first);
    if (after == ranges.begin() || line > std::prev(after)->last) return kRest;
    last_of_ = &ranges, last_ = *std::prev(after);
    return last_.row;
  }
  AllocationCounters& at(std::uint32_t kernel, std::uint32_t row) {
    if (kernel >= counts_.size()) counts_.resize(kernel + 1);
    std::vector<AllocationCounters>& of = counts_[kernel];
    if (row >= of.size()) of.resize(row + 1);
    return of[row];
  }
  /// f(kernel, row, counters) for all that have been touched.
  template <class F>
  void each(F f) const {
    for (std::uint32_t kernel = 0; kernel < counts_.size(); ++kernel)
      for (std::uint32_t row = 0; row < counts_[kernel].size(); ++row)
        if (counts_[kernel][row] != AllocationCounters{}) f(kernel, row, counts_[kernel][row]);
  }

 private:
  const Slots& slots_;
  const Ranges* last_of_ = nullptr;
  Range last_{1, 0, kRest};
  std::vector<std::vector<AllocationCounters>> counts_;
};

class AllocationTraffic::SmTraffic final : public policy::L1Observer {
 public:
  explicit SmTraffic(AllocationTraffic& of) : of_(of), table_(of.slots_) {}
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
  explicit SliceTraffic(AllocationTraffic& of) : of_(of), table_(of.slots_) {}
  void access(std::uint32_t line, std::uint8_t, std::uint8_t kernel,
              policy::L2Outcome outcome) override {
    const Launch& launch = table_.launch(kernel);
    const std::uint32_t row = table_.row(launch, line);
    of_.touch(row, line);
    AllocationCounters& count = table_.at(launch.kernel, row);
    count.l2_hits += outcome == policy::L2Outcome::Hit;
    count.l2_pending_hits += outcome == policy::L2Outcome::PendingHit;
    count.l2_misses += outcome == policy::L2Outcome::Miss;
  }
  void fetched(std::uint32_t line, std::uint8_t sectors, std::uint8_t kernel) override {
    at(line, kernel).dram_sectors_read += static_cast<unsigned>(std::popcount(sectors));
  }
  void written(std::uint32_t line, std::uint8_t sectors, std::uint8_t kernel) override {
    at(line, kernel).dram_sectors_written += static_cast<unsigned>(std::popcount(sectors));
  }
  const Table& table() const { return table_; }

 private:
  AllocationCounters& at(std::uint32_t line, std::uint8_t kernel) {
    const Launch& launch = table_.launch(kernel);
    return table_.at(launch.kernel, table_.row(launch, line));
  }
  AllocationTraffic& of_;
  Table table_;
};

AllocationTraffic::AllocationTraffic(unsigned sms, unsigned slices, std::uint32_t line_bytes)
    : line_bytes_(line_bytes), rows_(kFirst), ranges_(std::make_shared<const Ranges>()) {
  rows_[kLocal].kind = Row::Kind::Local;
  touched_.resize(kFirst);
  for (unsigned sm = 0; sm < sms; ++sm) sms_.push_back(std::make_unique<SmTraffic>(*this));
  for (unsigned slice = 0; slice < slices; ++slice)
    slices_.push_back(std::make_unique<SliceTraffic>(*this));
}

AllocationTraffic::~AllocationTraffic() = default;

policy::L1Observer& AllocationTraffic::of_sm(unsigned sm) { return *sms_.at(sm); }
policy::L2Observer& AllocationTraffic::of_slice(unsigned slice) { return *slices_.at(slice); }

std::uint32_t AllocationTraffic::row_of(const trace::Allocation& a) {
  const auto [known, fresh] =
      row_of_.try_emplace({a.variable, {a.at, a.bytes}}, static_cast<std::uint32_t>(rows_.size()));
  if (!fresh) return known->second;
  Row row;
  row.kind = a.variable.empty() ? Row::Kind::Program : Row::Kind::Variable;
  row.variable = a.variable, row.at = a.at, row.bytes = a.bytes;
  if (row.kind == Row::Kind::Program)
    row.number =
        1 + static_cast<unsigned>(std::ranges::count(rows_, Row::Kind::Program, &Row::kind));
  rows_.push_back(std::move(row));
  const std::uint64_t lines = (a.bytes + line_bytes_ - 1) / line_bytes_;
  touched_.emplace_back((lines + 63) / 64);
  return known->second;
}

void AllocationTraffic::touch(std::uint32_t row, std::uint32_t line) {
  if (row < kFirst) return;
  const std::uint64_t place = line - rows_[row].at / line_bytes_;
  std::atomic<std::uint64_t>& word = touched_[row][place / 64];
  const std::uint64_t bit = std::uint64_t{1} << place % 64;
  if ((word.load(std::memory_order_relaxed) & bit) == 0)
    word.fetch_or(bit, std::memory_order_relaxed);
}

void AllocationTraffic::allocated(const trace::Allocations& allocations) {
  known_ = true;
  auto ranges = std::make_shared<Ranges>();
  for (const trace::Allocation& a : allocations) {
    if (a.bytes == 0) continue;
    ranges->push_back({static_cast<std::uint32_t>(a.at / line_bytes_),
                       static_cast<std::uint32_t>((a.at + a.bytes - 1) / line_bytes_), row_of(a)});
  }
  ranges_ = std::move(ranges);
}

void AllocationTraffic::submitted(const std::string& kernel,
                                  const std::vector<trace::PointerArgument>& pointers) {
  const auto [known, fresh] =
      kernel_of_.try_emplace(kernel, static_cast<std::uint32_t>(kernels_.size()));
  if (fresh) kernels_.push_back(kernel);
  launches_.push_back({known->second, ranges_});
  for (const trace::PointerArgument& p : pointers) {
    const auto line = static_cast<std::uint32_t>(p.at / line_bytes_);
    const auto after = std::ranges::upper_bound(*ranges_, line, {}, &Range::first);
    if (after == ranges_->begin() || line > std::prev(after)->last) continue;
    std::vector<std::uint32_t>& places = rows_[std::prev(after)->row].arguments[kernel];
    if (std::ranges::find(places, p.argument) == places.end()) places.push_back(p.argument);
  }
}

std::vector<AllocationTraffic::Row> AllocationTraffic::rows() const {
  std::vector<Row> all = rows_;
  const auto add = [&](std::uint32_t kernel, std::uint32_t row, const AllocationCounters& count) {
    all[row].counters += count;
    all[row].kernels[kernels_[kernel]] += count;
  };
  for (const auto& sm : sms_) sm->table().each(add);
  for (const auto& slice : slices_) slice->table().each(add);
  for (std::size_t row = 0; row < all.size(); ++row)
    for (const std::atomic<std::uint64_t>& word : touched_[row])
      all[row].lines_touched += static_cast<unsigned>(std::popcount(word.load()));
  std::erase_if(all, [](const Row& row) { return row.kernels.empty(); });
  std::ranges::sort(all, {}, [](const Row& row) {
    const auto kind = static_cast<unsigned>(row.kind);
    return std::tuple(kind, row.number, row.variable, row.at);
  });
  return all;
}

}  // namespace raddle::analysis
