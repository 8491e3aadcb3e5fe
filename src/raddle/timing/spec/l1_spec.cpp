#include "raddle/timing/spec/l1_spec.h"

#include <algorithm>
#include <array>
#include <bit>
#include <string_view>
#include <vector>

#include "raddle/timing/spec/machine.h"
#include "raddle/timing/spec/spec_rules.h"

namespace raddle::timing {

namespace {
using R = Range<std::uint32_t>;
constexpr std::array<std::string_view, 6> kWritePolicyNames = {
    "write_through",          "write_evict",      "write_back", "write_validate",
    "write_through_validate", "write_back_around"};
constexpr std::array<std::string_view, 2> kIndexNames = {"modulo", "hash"};
constexpr std::array<std::string_view, 3> kCoalescingNames = {"line", "sector", "half_warp"};

/// "0,8,16" as numbers; empty when it is no such list.
std::vector<std::uint32_t> numbers_of(const std::string& text) {
  std::vector<std::uint32_t> out;
  std::uint32_t number = 0;
  bool digits = false;
  for (const char c : text + ",") {
    if (c >= '0' && c <= '9' && number < 100'000) {
      number = number * 10 + static_cast<std::uint32_t>(c - '0');
      digits = true;
    } else if (c == ',' && digits) {
      out.push_back(number);
      number = 0;
      digits = false;
    } else {
      return {};
    }
  }
  return out;
}

void check_unified(const L1dSpec& l1, std::uint32_t shared_kib, SpecRules& r) {
  if (l1.unified_kib == 0) return;
  const std::vector<std::uint32_t> choices = numbers_of(l1.shared_kib_choices);
  const std::uint64_t way = std::uint64_t{l1.line_bytes} * l1.sets();
  bool whole = way != 0;
  for (const std::uint32_t kib : choices)
    whole = whole && kib < l1.unified_kib && (l1.unified_kib - kib) * 1024ull % way == 0;
  r.require(
      !choices.empty() && whole && std::ranges::is_sorted(choices) && choices.back() >= shared_kib,
      "sm.l1d.shared_kib_choices must be numbers like 0,8,16, ascending, below "
      "sm.l1d.unified_kib, the last at least sm.shared_kib, each leaving whole ways",
      {{"sm.l1d.unified_kib", l1.unified_kib}, {"sm.shared_kib", shared_kib}});
  r.require(way == 0 || l1.max_ways() <= L1dSpec::kMaxWays,
            "sm.l1d.unified_kib makes more than 256 ways of the sets that sm.l1d.size_kib has",
            {{"sm.l1d.unified_kib", l1.unified_kib}, {"sm.l1d.size_kib", l1.size_kib}});
  r.require(!l1.reserve_on_miss && !l1.keeps_dirty() && l1.flush_at_kernel_start,
            "sm.l1d.unified_kib needs reserve_on_miss = false, flush_at_kernel_start = true and "
            "write policies that keep nothing dirty",
            {{"sm.l1d.unified_kib", l1.unified_kib}});
}
}  // namespace

std::uint32_t L1dSpec::ways_beside(std::uint64_t shared_bytes) const {
  if (unified_kib == 0 || !present()) return 0;
  std::uint32_t apart = 0;
  for (const std::uint32_t kib : numbers_of(shared_kib_choices)) {
    apart = kib;
    if (std::uint64_t{kib} * 1024 >= shared_bytes) break;
  }
  return (unified_kib - apart) * 1024 / (line_bytes * sets());
}

std::uint32_t L1dSpec::max_ways() const { return std::max(ways, ways_beside(0)); }

std::uint32_t L1dSpec::max_sets() const { return sets() * max_ways() / ways; }

void L1dSpec::visit(FieldVisitor& visitor) {
  visitor.field("size_kib", size_kib, R{0, 16384}, "KiB",
                "capacity of one SM's data cache; 0 = none, every access goes to the L2");
  visitor.field("line_bytes", line_bytes, R{64, 128}, "bytes", "cache line, 64 or 128");
  visitor.field("sector_bytes", sector_bytes, R{16, 128}, "bytes",
                "part of a line that is fetched and valid by itself; line_bytes = whole lines");
  visitor.field("ways", ways, R{1, kMaxWays}, "", "lines of a set");
  visitor.choice(
      "index", index, kIndexNames,
      "set of a line: its number modulo the sets, or that turned by a hash of the quotient");
  visitor.field("hit_latency_cycles", hit_latency_cycles, R{1, kLongestDelay}, "cycles",
                "from issue of a load that hits to the issue of an instruction that needs it");
  visitor.field("mshr_entries", mshr_entries, R{1, 4096}, "", "lines that may be missing at once");
  visitor.field("mshr_merges", mshr_merges, R{1, 256}, "",
                "accesses that may wait for one missing line");
  visitor.field("miss_queue", miss_queue, R{1, 1024}, "",
                "requests between the cache and the interconnect");
  visitor.field("store_buffer", store_buffer, R{0, 256}, "",
                "lines of stores that combine on their way to the L2; 0 = stores leave one by one");
  visitor.choice(
      "write_policy", write_policy, kWritePolicyNames,
      "stores: write_through updates a line that is present, write_evict removes it, "
      "write_back fetches the line and keeps the data, write_validate keeps it unfetched, "
      "write_through_validate keeps whole sectors and writes through, write_back_around keeps "
      "what is present and sends the rest on");
  visitor.choice("local_write_policy", local_write_policy, kWritePolicyNames,
                 "the same for stores to local memory");
  visitor.choice(
      "coalescing", coalescing, kCoalescingNames,
      "what of an instruction is looked up at once: a line, a sector, or, with half_warp, a "
      "line of what lanes 0 to 15 access and then one of lanes 16 to 31");
  visitor.field("reserve_on_miss", reserve_on_miss,
                "a way is taken at the miss instead of at the fill");
  visitor.field("flush_at_kernel_start", flush_at_kernel_start,
                "every line is dropped, if dirty written back, when a kernel starts");
  visitor.field("invalidate_at_acquire", invalidate_at_acquire,
                "every line that is not dirty is dropped when a warp's fence or acquiring access "
                "of the GPU's scope is over");
  visitor.field(
      "unified_kib", unified_kib, R{0, 1024}, "KiB",
      "L1D and shared memory together: a kernel's L1D has what its blocks leave, as more ways, "
      "unless a scheme or a replacement policy divides them; 0 = size_kib always");
  visitor.field("shared_kib_choices", shared_kib_choices,
                "what can be set apart of that for shared memory, such as 0,8,16,32,64,96");
}

void ConstCacheSpec::visit(FieldVisitor& v) {
  v.field("size_kib", size_kib, R{0, 1024}, "KiB",
          "capacity of one SM's constant cache; 0 = constants always hit");
  v.field("line_bytes", line_bytes, R{16, 128}, "bytes", "cache line");
  v.field("ways", ways, R{1, L1dSpec::kMaxWays}, "", "lines of a set");
  v.field("mshr_entries", mshr_entries, R{1, 256}, "", "lines that may be missing at once");
  v.field("mshr_merges", mshr_merges, R{1, 256}, "", "accesses that may wait for one missing line");
}

void check_l1(const MachineSpec& m, SpecRules& r) {
  const L1dSpec& l1 = m.sm.l1d;
  const ConstCacheSpec& c = m.sm.const_cache;
  check_cache("sm.l1d", l1.size_kib, l1.line_bytes, l1.sector_bytes, l1.ways, r);
  check_unified(l1, m.sm.shared_kib, r);
  r.require(std::has_single_bit(c.line_bytes) && c.line_bytes <= m.l2.line_bytes,
            "sm.const_cache.line_bytes must be a power of two, at most l2.line_bytes",
            {{"sm.const_cache.line_bytes", c.line_bytes}, {"l2.line_bytes", m.l2.line_bytes}});
  r.require(divides(std::uint64_t{c.ways} * c.line_bytes, std::uint64_t{c.size_kib} * 1024),
            "sm.const_cache.size_kib must be a whole number of sets (ways x line_bytes)",
            {{"sm.const_cache.size_kib", c.size_kib},
             {"sm.const_cache.ways", c.ways},
             {"sm.const_cache.line_bytes", c.line_bytes}});
  r.require(l1.store_buffer == 0 || l1.present(),
            "sm.l1d.store_buffer needs a cache: sm.l1d.size_kib must not be 0",
            {{"sm.l1d.store_buffer", l1.store_buffer}, {"sm.l1d.size_kib", l1.size_kib}});
}

}  // namespace raddle::timing
