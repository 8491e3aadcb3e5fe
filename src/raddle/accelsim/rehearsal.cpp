#include "raddle/accelsim/rehearsal.h"

#include <algorithm>

#include "raddle/base/error.h"

namespace raddle::accelsim {

using Kind = BarrierEvent::Kind;

Rehearsal::Rehearsal(std::vector<BlockBarriers> blocks) : blocks_(std::move(blocks)) {
  for (std::uint32_t b = 0; b < blocks_.size(); ++b)
    for (std::uint32_t w = 0; w < blocks_[b].warps.size(); ++w)
      warps_.push_back({.block = b, .warp = w});
}

/// Warps that have not come to their end.
std::uint32_t Rehearsal::running(std::optional<std::uint32_t> block) const {
  return static_cast<std::uint32_t>(std::ranges::count_if(
      warps_, [&](const Warp& warp) { return (!block || warp.block == *block) && !ended(warp); }));
}

void Rehearsal::hear(const Warp& warp, const BarrierEvent& event, std::int64_t arrivals,
                     std::int64_t bytes) {
  Object& object = objects_[{event.rank, event.object}];
  object.pending -= arrivals;
  object.bytes -= bytes;
  if (event.rank == blocks_[warp.block].rank)
    object.brought += static_cast<std::uint32_t>(event.count + (bytes > 0 ? bytes : 0));
  if (object.count == 0 || object.pending > 0 || object.bytes != 0) return;
  object.parity = !object.parity;
  ++object.phases;
  object.pending = object.count;
  object.brought_at_phase = object.brought;
}

bool Rehearsal::wait(const Warp& warp, const BarrierEvent& event, std::vector<BarrierWait>& waits) {
  const Object& object = objects_[{event.rank, event.object}];
  const bool own = event.rank == blocks_[warp.block].rank;
  if (!object.broken && (object.count == 0 || object.parity == (event.count != 0))) return false;
  if (object.broken || !own) waits[event.bytes] = {};
  else if (blocks_.size() == 1) waits[event.bytes] = {.value = object.phases};
  else waits[event.bytes] = {.value = object.brought_at_phase, .brought = true};
  return true;
}

bool Rehearsal::meet(Warp& warp, const BarrierEvent& event) {
  Barrier& barrier = barriers_[{warp.block, event.object}];
  if (!warp.arrived) {
    warp.arrived = true;
    warp.opening = barrier.openings + 1;
    ++barrier.arrived;
  }
  const std::uint32_t expected = event.count != 0 ? event.count : running(warp.block);
  if (barrier.openings < warp.opening && barrier.arrived >= expected) {
    barrier.arrived = 0;
    ++barrier.openings;
  }
  if (event.kind == Kind::Sync && barrier.openings < warp.opening) return false;
  warp.arrived = false;
  return true;
}

bool Rehearsal::meet_cluster(Warp& warp, bool waits) {
  if (!waits) {
    if (warp.cluster_opening != cluster_.openings + 1) ++cluster_.arrived;
    warp.cluster_opening = cluster_.openings + 1;
  }
  if (cluster_.arrived != 0 && cluster_.arrived >= running({})) {
    cluster_.arrived = 0;
    ++cluster_.openings;
  }
  return !waits || cluster_.openings >= warp.cluster_opening;
}

bool Rehearsal::act(Warp& warp, const BarrierEvent& event, std::vector<BarrierWait>& waits) {
  switch (event.kind) {
    case Kind::Init: {
      Object& object = objects_[{event.rank, event.object}];
      object.count = object.pending = event.count;
      object.bytes = 0;
      object.parity = false;
      return true;
    }
    case Kind::Arrive:
      hear(warp, event, event.count, -std::int64_t{event.bytes});
      return true;
    case Kind::Copies:
      hear(warp, event, 0, 0);
      return true;
    case Kind::Come:
      hear(warp, event, 0, event.bytes);
      return true;
    case Kind::Wait:
      return wait(warp, event, waits);
    case Kind::Sync:
    case Kind::Join:
      return meet(warp, event);
    case Kind::ClusterArrive:
    case Kind::ClusterWait:
      return meet_cluster(warp, event.kind == Kind::ClusterWait);
  }
  return true;
}

bool Rehearsal::advance(Warp& warp, std::vector<BarrierWait>& waits) {
  const std::size_t before = warp.at;
  while (!ended(warp) && act(warp, events(warp)[warp.at], waits)) ++warp.at;
  return warp.at != before;
}

std::uint64_t Rehearsal::force(std::vector<BarrierWait>& waits) {
  std::uint64_t unended = 0;
  for (Warp& warp : warps_) {
    if (ended(warp) || events(warp)[warp.at].kind != Kind::Wait) continue;
    const BarrierEvent& event = events(warp)[warp.at++];
    objects_[{event.rank, event.object}].broken = true;
    waits[event.bytes] = {};
    ++unended;
  }
  if (unended != 0) return unended;
  for (Warp& warp : warps_) {
    if (ended(warp)) continue;
    ++warp.at;
    warp.arrived = false;
  }
  return 0;
}

std::uint64_t Rehearsal::run(std::vector<BarrierWait>& waits) {
  std::uint64_t unended = 0;
  for (;;) {
    bool moved = false;
    for (Warp& warp : warps_) moved |= advance(warp, waits);
    if (moved) continue;
    if (running({}) == 0) return unended;
    unended += force(waits);
  }
}

}  // namespace raddle::accelsim
