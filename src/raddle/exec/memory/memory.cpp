#include "raddle/exec/memory/memory.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <new>
#include <utility>

#include "raddle/base/error.h"
#include "raddle/base/round_up.h"

namespace raddle::exec {

namespace {
constexpr std::uint64_t kLine = 128, kWhole = ~std::uint64_t{0};
/// An index that has wrapped at 32 bits is up to this far from its array (of 8 bytes); what is
/// farther has nothing to do with it. Below kNearNull nothing is allocated.
constexpr std::uint64_t kFar = std::uint64_t{1} << 35, kNearNull = std::uint64_t{1} << 30;

constexpr std::uint64_t kDriverBytes = std::uint64_t{2} << 20;
constexpr std::uint64_t kOpenStep = std::uint64_t{32} << 20;

/// What a process that runs short of address space must be left with, and the least device memory
/// that is of any use.
constexpr std::uint64_t kHostBytes = std::uint64_t{2} << 30, kMinimum = std::uint64_t{64} << 20;

/// Address space that the process's limit (ulimit -v) leaves it.
std::uint64_t address_space_left() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return kWhole;
  std::uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;  // its first word: of all that is mapped
  const std::uint64_t used = pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  return limit.rlim_cur - std::min<std::uint64_t>(used, limit.rlim_cur);
}

/// Of a limit half is for the device at most, when not all fits.
std::uint64_t within_limit(std::uint64_t capacity) {
  const std::uint64_t left = address_space_left();
  if (left >= kHostBytes && capacity <= left - kHostBytes) return capacity;
  return std::min(capacity, std::max(left / 2, kMinimum)) / kLine * kLine;
}

/// Address space only: pages appear, zeroed, when touched; huge ones where the host has them, since
/// gathers from small ones wait for address translation. Read-only until make_writable(), so that a
/// limit on a process's data (RLIMIT_DATA) counts what is allocated and not what could be. Null
/// when the system refuses.
void* reserve(std::uint64_t bytes, Address at = 0) {
  const int fixed = at != 0 ? MAP_FIXED_NOREPLACE : 0;
  void* p = mmap(reinterpret_cast<void*>(at), bytes, PROT_READ,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | fixed, -1, 0);
  // A kernel older than 4.17 takes the address for a wish.
  if (p != MAP_FAILED && at != 0 && reinterpret_cast<Address>(p) != at) {
    munmap(p, bytes);
    p = MAP_FAILED;
  }
  if (p == MAP_FAILED) return nullptr;
  madvise(p, bytes, MADV_HUGEPAGE);  // advice only: where it is refused, nothing is lost
  return p;
}

void make_writable(void* p, std::uint64_t bytes) {
  if (mprotect(p, bytes, PROT_READ | PROT_WRITE) != 0) throw std::bad_alloc();
}

}  // namespace

DeviceMemory::DeviceMemory(std::uint64_t capacity, HostView view)
    : capacity_(round_up(within_limit(capacity), kAlignment)) {
  const Address at = view == HostView::SameAddress ? kBase : 0;
  for (bool refused = false; !reserve_all(at); refused = true) {
    // Below what was refused there may be just enough, and nothing left for the host: a quarter.
    capacity_ = round_up(capacity_ / (refused ? 2 : 4), kAlignment);
    if (capacity_ >= kMinimum) continue;
    throw RunError(fmt::format("cannot reserve {} MiB of address space for device memory{}",
                               capacity >> 20, at != 0 ? fmt::format(" at {:#x}", at) : ""));
  }
  // Host code is given addresses as a driver gives them: not from where mapped memory begins.
  if (view == HostView::SameAddress) first_ = extent_ = std::min(kDriverBytes, capacity_);
}

bool DeviceMemory::reserve_all(Address at) {
  // One more alignment unit, so that a full vector load near the end stays inside the reservation.
  bytes_ = static_cast<std::byte*>(reserve(capacity_ + kAlignment, at));
  if (bytes_ == nullptr) return false;
  valid_ = static_cast<std::uint8_t*>(reserve(capacity_ / kLine + kAlignment));
  if (valid_ == nullptr) munmap(bytes_, capacity_ + kAlignment);
  return valid_ != nullptr;
}

void DeviceMemory::open(std::uint64_t extent) {
  RADDLE_ASSERT(extent <= capacity_);
  if (extent <= open_) return;
  // In steps: each is a call to the system. valid_ has a byte for each line and is far smaller.
  const std::uint64_t open = std::min(round_up(extent, kOpenStep), capacity_);
  make_writable(bytes_, open + kAlignment);
  make_writable(valid_, open / kLine + kAlignment);
  open_ = open;
}

DeviceMemory::~DeviceMemory() {
  munmap(bytes_, capacity_ + kAlignment);
  munmap(valid_, capacity_ / kLine + kAlignment);
}

namespace {
/// Is it something that the program knows?
bool is_notified(const DeviceMemory::Owner& owner) {
  using Kind = DeviceMemory::Owner::Kind;
  return owner.kind == Kind::Program || owner.kind == Kind::Variable;
}

std::uint64_t footprint_of(std::uint64_t size) {
  return round_up(size, DeviceMemory::kAlignment) +
         DeviceMemory::kAlignment;  // the tail: the guard
}
}  // namespace

std::multimap<std::uint64_t, Address> DeviceMemory::gaps() const {
  std::multimap<std::uint64_t, Address> out;
  Address from = kBase + first_;
  for (const auto& [start, live] : live_) {
    if (start > from) out.emplace(start - from, from);
    from = start + footprint_of(live.size);
  }
  if (const Address end = kBase + capacity_; end > from) out.emplace(end - from, from);
  return out;
}

std::uint64_t DeviceMemory::largest_free() const {
  const auto all = gaps();
  const std::uint64_t largest = all.empty() ? 0 : all.rbegin()->first / kAlignment * kAlignment;
  return largest > kAlignment ? largest - kAlignment : 0;
}

/// Joins what was freed side by side, and takes of the smallest gap that is large enough.
std::optional<Address> DeviceMemory::take_gap(std::uint64_t footprint) {
  auto all = gaps();
  const auto gap = all.lower_bound(footprint);
  if (gap == all.end()) return std::nullopt;
  const auto [size, at] = *gap;
  all.erase(gap);
  if (size > footprint) all.emplace(size - footprint, at + footprint);
  const Address last = live_.empty() ? 0 : std::prev(live_.end())->first;
  const Address end = std::max(
      at + footprint, live_.empty() ? kBase + first_ : last + footprint_of(live_.at(last).size));
  open(end - kBase);  // may throw: nothing has changed yet
  extent_ = end - kBase;
  std::erase_if(all, [&](const auto& one) { return one.second >= end; });
  free_ = std::move(all);
  return at;
}

std::optional<Address> DeviceMemory::allocate(std::uint64_t size, Owner owner) {
  size = std::max<std::uint64_t>(size, 1);
  if (size > capacity_) return std::nullopt;
  const std::uint64_t footprint = footprint_of(size);
  Address at = 0;
  if (auto hole = free_.find(footprint); hole != free_.end()) {
    at = hole->second;
    free_.erase(hole);
  } else if (extent_ + footprint <= capacity_) {
    open(extent_ + footprint);
    at = kBase + extent_;
    extent_ += footprint;
  } else if (const auto gap = take_gap(footprint)) {
    at = *gap;
  } else {
    return std::nullopt;
  }
  RADDLE_ASSERT(at % kAlignment == 0 && !live_.contains(at));
  const std::uint64_t number = owner.kind == Owner::Kind::Program ? ++asked_for_ : 0;
  if (is_notified(owner)) made_.insert(at);
  live_[at] = {size, std::move(owner), number};
  used_ += size;
  std::uint8_t* line = valid_ + (at - kBase) / kLine;
  std::fill_n(line, size / kLine, std::uint8_t{kLine});
  if (size % kLine != 0) line[size / kLine] = static_cast<std::uint8_t>(size % kLine);
  return at;
}

bool DeviceMemory::free(Address address) {
  auto found = live_.find(address);
  if (found == live_.end()) return false;
  const std::uint64_t size = found->second.size;
  std::fill_n(valid_ + (address - kBase) / kLine, round_up(size, kLine) / kLine, std::uint8_t{0});
  free_.emplace(footprint_of(size), address);
  RADDLE_ASSERT(used_ >= size);
  used_ -= size;
  if (is_notified(found->second.owner) && made_.erase(address) == 0) freed_.push_back(address);
  live_.erase(found);
  return true;
}

trace::AllocationChanges DeviceMemory::take_changes() {
  trace::AllocationChanges out;
  out.freed = std::exchange(freed_, {});
  for (const Address at : std::exchange(made_, {})) {
    const Live& live = live_.at(at);
    out.made.push_back({at, live.size, live.owner.variable, live.number});
  }
  return out;
}

bool DeviceMemory::valid(Address address, std::uint64_t size) const {
  auto after = live_.upper_bound(address);
  if (after == live_.begin()) return false;
  const auto& [start, live] = *std::prev(after);
  return address - start <= live.size && size <= live.size - (address - start);
}

std::string DeviceMemory::describe(Address address) const {
  const auto text = [](Address start, const Live& live) {
    if (live.owner.kind == Owner::Kind::Variable)
      return fmt::format("variable '{}' of {} bytes at {:#x}", live.owner.variable, live.size,
                         start);
    return fmt::format("the {}-byte allocation at {:#x}", live.size, start);
  };
  const auto is_named = [](const auto& one) {
    return one.second.owner.kind != Owner::Kind::Internal;
  };
  const auto next = live_.upper_bound(address);
  const auto after = std::find_if(next, live_.end(), is_named);
  const auto before = std::find_if(std::make_reverse_iterator(next),
                                   std::make_reverse_iterator(live_.begin()), is_named);
  std::uint64_t past = kWhole;
  if (before != std::make_reverse_iterator(live_.begin())) {
    const auto& [start, live] = *before;
    if (address - start < live.size)
      return fmt::format("byte {} of {}", address - start, text(start, live));
    past = address - start - live.size;
  }
  if (past == kWhole && after == live_.end()) return "no memory is allocated";
  const std::uint64_t ahead = after == live_.end() ? kWhole : after->first - address;
  if (std::min(ahead, past) > kFar)
    return address < kNearNull ? "near the null pointer" : "far from every allocation";
  if (ahead < past)
    return fmt::format("{} bytes before {}", ahead, text(after->first, after->second));
  return fmt::format("{} bytes past the end of {}", past, text(before->first, before->second));
}

}  // namespace raddle::exec
