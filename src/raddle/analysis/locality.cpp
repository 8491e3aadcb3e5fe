#include "raddle/analysis/locality.h"

#include "raddle/base/error.h"

namespace raddle::analysis {

using policy::L1Kind;
using policy::L1Outcome;

LocalityCounts& LocalityCounts::operator+=(const LocalityCounts& o) {
  accesses += o.accesses;
  pending_hits += o.pending_hits;
  misses += o.misses;
  hits += o.hits;
  pending += o.pending;
  warps += o.warps;
  warp_lines += o.warp_lines;
  return *this;
}

void LocalityObserver::access(const policy::L1Access& e) {
  if (e.outcome == L1Outcome::Refused || e.bypass) return;
  if (e.kind == L1Kind::Load) load(e, warp_[e.warp]);
  else if (e.kind == L1Kind::Store && e.keeps != 0) store(e, warp_[e.warp]);
}

void LocalityObserver::load(const policy::L1Access& e, std::uint32_t warp) {
  ++counts_.accesses;
  loaded_[e.warp].try_emplace(e.line);
  LineOwner* present = present_.find(e.line);
  if (e.outcome == L1Outcome::Hit) {
    // Atomics bring lines too, and DeNovo's come in parts, of which the first may have left again.
    if (present == nullptr) present = present_.try_emplace(e.line, {warp, 0}).first;
    present->count_hit(warp, e.lanes, counts_.hits);
  } else {
    Pending& pending = *pending_.try_emplace(e.line, {{warp, 0}, 0}).first;
    if (e.outcome == L1Outcome::Miss) {
      ++counts_.misses;
      ++pending.requests;
    } else {
      ++counts_.pending_hits;
      (present != nullptr ? *present : pending.owner).count_hit(warp, e.lanes, counts_.pending);
    }
    pending.owner.touch(warp, e.lanes);
  }
  if (present != nullptr) present->touch(warp, e.lanes);
}

/// A store whose data stays: it brings a line that is absent.
void LocalityObserver::store(const policy::L1Access& e, std::uint32_t warp) {
  if (e.outcome == L1Outcome::Miss || e.outcome == L1Outcome::PendingHit) {
    Pending& pending = *pending_.try_emplace(e.line, {{warp, 0}, 0}).first;
    pending.requests += e.outcome == L1Outcome::Miss;
    pending.owner.touch(warp, e.lanes);
  } else {
    present_.try_emplace(e.line, {warp, 0}).first->touch(warp, e.lanes);
  }
}

void LocalityObserver::filled(const policy::L1Fill& e) {
  Pending* pending = pending_.find(e.line);
  RADDLE_ASSERT(pending != nullptr);
  present_.try_emplace(e.line, pending->owner);
  if (--pending->requests == 0) pending_.erase(e.line);
}

void LocalityObserver::warp_started(const policy::WarpStart& e) {
  warp_[e.warp] = static_cast<std::uint32_t>(++counts_.warps);
  counts_.warp_lines += loaded_[e.warp].size();
  loaded_[e.warp].clear();
}

LocalityCounts LocalityObserver::counts() const {
  LocalityCounts out = counts_;
  for (const auto& lines : loaded_) out.warp_lines += lines.size();
  return out;
}

}  // namespace raddle::analysis
