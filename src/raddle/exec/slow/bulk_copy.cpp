#include "raddle/exec/slow/bulk_copy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "raddle/base/error.h"
#include "raddle/exec/run/runner.h"
#include "raddle/exec/slow/bulk_traffic.h"
#include "raddle/exec/slow/vector_atomic.h"

namespace raddle::exec {

using u32 = std::uint32_t;
using u64 = std::uint64_t;
using Access = BulkTraffic::Access;

namespace {
constexpr u64 kUnit = 16;  // of addresses and sizes
}  // namespace

u64 in_block(u64 offset, unsigned rank) {
  return (offset & ((u64{1} << kRankShift) - 1)) + (u64{rank + 1} << kRankShift);
}

void BulkCopy::run(const SlowRun& run) const {
  if (to.space == ptx::Space::Global) store(run);
  else if (from.space == ptx::Space::Global) load(run);
  else distribute(run);
}

void BulkCopy::combine(char* to, const char* from, u64 bytes) const {
  if (what) reduce_in_memory(*what, element_bytes, to, from, bytes);
  else std::memmove(to, from, bytes);
}

BulkCopy::Ends BulkCopy::ends_of(const SlowRun& run, unsigned lane,
                                 const BulkTraffic& traffic) const {
  const Ends out{lane_value<u32>(run.frame, bytes, lane), from.of(run.frame, lane),
                 to.of(run.frame, lane)};
  traffic.align(lane, "size", out.size, kUnit);
  traffic.align(lane, "source", out.source, kUnit);
  traffic.align(lane, "destination", out.target, kUnit);
  return out;
}

void BulkCopy::load(const SlowRun& run) const {
  RADDLE_ASSERT(barrier.has_value());
  BulkTraffic traffic(run, Access::Load);
  each_lane(run.mask, [&](unsigned lane) {
    const auto [size, source, target] = ends_of(run, lane, traffic);
    const char* const data = traffic.global(lane, source, size);
    std::optional<u32> mask;
    if (blocks) mask = lane_value<std::uint16_t>(run.frame, *blocks, lane);
    each_block(mask, target, barrier->of(run.frame, lane),
               [&, bytes = size](u64 place, u64 object) {
                 combine(traffic.shared(lane, place, bytes), data, bytes);
                 traffic.complete(lane, object, bytes);
               });
  });
  traffic.write();
}

void BulkCopy::store(const SlowRun& run) const {
  BulkTraffic traffic(run, Access::Store);
  each_lane(run.mask, [&](unsigned lane) {
    const auto [size, source, target] = ends_of(run, lane, traffic);
    const char* const data = traffic.shared(lane, source, size);
    combine(traffic.global(lane, target, size), data, size);
  });
  traffic.write();
}

void BulkCopy::distribute(const SlowRun& run) const {
  RADDLE_ASSERT(barrier.has_value());
  BulkTraffic traffic(run, Access::Store);
  each_lane(run.mask, [&](unsigned lane) {
    const auto [size, source, target] = ends_of(run, lane, traffic);
    const char* const data = traffic.shared(lane, source, size);
    combine(traffic.shared(lane, target, size), data, size);
    traffic.complete(lane, barrier->of(run.frame, lane), size);
  });
  traffic.write_rows(true);
}

void BulkClear::run(const SlowRun& run) const {
  BulkTraffic traffic(run, Access::Store);
  each_lane(run.mask, [&](unsigned lane) {
    const u64 size = lane_value<u64>(run.frame, bytes, lane), target = to.of(run.frame, lane);
    traffic.align(lane, "size", size, 8);
    traffic.align(lane, "destination", target, 8);
    std::memset(traffic.shared(lane, target, size), 0, size);
  });
  traffic.write_rows(false);
}

void RemoteStore::run(const SlowRun& run) const {
  BulkTraffic traffic(run, Access::Store);
  each_lane(run.mask, [&](unsigned lane) {
    const u64 size = u64{this->size} * values.size(), target = to.of(run.frame, lane);
    traffic.align(lane, "destination", target, size);
    char* const place = traffic.shared(lane, target, size);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const char* const value = run.frame + values[i] + this->size * lane;
      char* const element = place + this->size * i;
      if (what) reduce_in_memory(*what, this->size, element, value, this->size);
      else std::memcpy(element, value, this->size);
    }
    traffic.complete(lane, barrier.of(run.frame, lane), size);
  });
  traffic.write_rows(true);
}

}  // namespace raddle::exec
