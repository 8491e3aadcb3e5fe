#include "raddle/timing/cache/l1d.h"

#include <algorithm>
#include <bit>

namespace raddle::timing {

namespace {
constexpr std::uint32_t kInterleaveSalt = 0x51ed270bu;
constexpr unsigned kRequestsPerMshr = 8;  // one for each sector at most

// Every request under way may push a line out when its data comes, an access one more, and a flush
// all lines.
unsigned max_write_backs(const L1dSpec& spec, unsigned unclaimed) {
  if (!spec.keeps_dirty()) return 1;
  return spec.sets() * spec.ways + (spec.mshr_entries + unclaimed) * kRequestsPerMshr + 1;
}
unsigned sets_or_one(const L1dSpec& spec) { return spec.present() ? spec.sets() : 1; }
/// Of the tags, however a cache of so many sets and ways is resized.
std::size_t max_handles(unsigned sets, unsigned ways, unsigned max_ways) {
  return std::max(std::size_t{sets} * std::bit_ceil(max_ways),
                  std::size_t{sets * max_ways / ways} * std::bit_ceil(ways));
}
}  // namespace

L1d::L1d(const L1dSpec& spec, unsigned unclaimed)
    : spec_sets_(sets_or_one(spec)),
      spec_ways_(spec.ways),
      max_ways_(spec.max_ways()),
      max_handles_(max_handles(spec_sets_, spec_ways_, max_ways_)),
      sets_(sets_or_one(spec)),
      interleave_(sets_or_one(spec), kInterleaveSalt),
      hash_(spec.index == SetIndex::Hash),
      reserve_(spec.reserve_on_miss),
      keeps_dirty_(spec.keeps_dirty()),
      policy_{spec.write_policy, spec.local_write_policy},
      tags_(sets_or_one(spec), spec.ways),
      mshrs_(spec.mshr_entries, spec.mshr_merges, unclaimed),
      reserved_(spec.mshr_entries + unclaimed),
      stored_(keeps_dirty_ ? reserved_.size() : 0),
      write_backs_(max_write_backs(spec, unclaimed)) {}

void L1d::observe(policy::L1Observer& observer) {
  if (events_ == nullptr) events_ = std::make_unique<L1Events>(max_handles_, reserved_.size());
  events_->add(observer);
}

void L1d::place(Cycle now, unsigned at, std::uint32_t line, unsigned kernel,
                stats::SmCounters& count) {
  const Tags::Victim out = tags_.place(at, line);
  last_ = at;
  if (replacement_ != nullptr) [[unlikely]]
    replacement_->placed(tags_, at, kernel, out.sectors != 0);
  if (out.sectors != 0) {
    ++count.l1d_evictions;
    if (out.dirty != 0) write_backs_.push({out.line, out.dirty, static_cast<std::uint8_t>(kernel)});
    if (events_ != nullptr) events_->evicted(now, out, at, policy::L1Eviction::Why::Replaced);
  }
  if (events_ != nullptr) events_->placed(at);
}

/// Inline: an answer of six bytes that goes through memory is read back before it is all there.
[[gnu::always_inline]] inline L1d::Answer L1d::miss(Cycle now, const Request& r, unsigned at,
                                                    std::uint8_t missing, bool can_send,
                                                    stats::SmCounters& count) {
  unsigned m = mshrs_.find(r.line);
  const bool fresh = m == Mshrs<std::uint16_t>::kNone;
  const auto ask = static_cast<std::uint8_t>(fresh ? missing : missing & ~mshrs_.requested(m));
  const bool needs_way = reserve_ && at == Tags::kAbsent;
  if (fresh && mshrs_.full()) return blocked(stats::Refusal::Mshr);
  if (!fresh && !mshrs_.can_merge(m)) return blocked(stats::Refusal::Merge);
  if (needs_way && (at = victim(r.line, r.kernel)) == Tags::kAbsent)
    return blocked(stats::Refusal::Way);
  if (ask != 0 && !can_send) return blocked(stats::Refusal::MissQueue);

  if (fresh) {
    m = mshrs_.add(r.line, missing, r.waiter);
    max_mshrs_.add(r.kernel, mshrs_.taken());
    if (keeps_dirty_) stored_[m] = 0;
  } else {
    mshrs_.wait(m, missing, r.waiter);
  }
  if (reserve_) {
    if (needs_way) place(now, at, r.line, r.kernel, count);
    tags_.lock(at);
    tags_.touch(at);
    reserved_[m] = at;
  }
  if (ask != 0) count.l1d_miss_cycles -= now;  // the fill adds its own cycle
  return {Outcome::Miss, ask, static_cast<std::uint16_t>(m), {}};
}

L1d::Answer L1d::load(Cycle now, const Request& r, bool can_send, stats::SmCounters& count) {
  const unsigned at = find(r.line);
  const auto missing =
      static_cast<std::uint8_t>(at == Tags::kAbsent ? r.sectors : r.sectors & ~tags_.valid(at));
  if (missing == 0) {
    ++count.l1d_accesses;
    ++count.l1d_hits;
    tags_.touch(at);
    last_ = at;
    notify(now, r, at);
    return plain(Outcome::Hit);
  }
  const Answer a = miss(now, r, at, missing, can_send, count);
  if (a.outcome == Outcome::Miss) {
    ++count.l1d_accesses;
    ++(a.ask != 0 ? count.l1d_misses : count.l1d_pending_hits);
    notify(now, r, at);
  }
  return a;
}

L1d::Finding L1d::look(const Request& r) const {
  const unsigned at = find(r.line);
  if (at != Tags::kAbsent && (r.sectors & ~tags_.valid(at)) == 0)
    return {true, false, false, false};
  const unsigned m = mshrs_.find(r.line);
  const bool pending = m != kNoMshr;
  const bool lacks_way =
      reserve_ && at == Tags::kAbsent && victim(r.line, r.kernel) == Tags::kAbsent;
  return {false, pending, lacks_way, lacks_way || (pending ? !mshrs_.can_merge(m) : mshrs_.full())};
}

L1d::Answer L1d::store(Cycle now, const Request& r, std::uint8_t whole, bool local, bool can_send,
                       stats::SmCounters& count) {
  unsigned at = find(r.line);
  last_ = Tags::kAbsent;
  const WritePolicy policy = policy_[local ? 1 : 0];
  if (policy == WritePolicy::WriteBack) return write_back(now, r, at, can_send, count);
  if (policy == WritePolicy::WriteValidate) return write_validate(now, r, at, can_send, count);
  if (policy == WritePolicy::WriteBackAround && at != Tags::kAbsent &&
      (r.sectors & ~tags_.valid(at)) == 0)
    return write_back(now, r, at, can_send, count);
  if (!can_send) return blocked(stats::Refusal::MissQueue);
  if (policy == WritePolicy::WriteBackAround) return plain(Outcome::Forward);
  if (policy == WritePolicy::WriteEvict) {
    if (at != Tags::kAbsent) drop(now, at, r.kernel, policy::L1Eviction::Why::Written);
    return plain(Outcome::Forward);
  }
  const unsigned found = at;
  if (policy == WritePolicy::WriteThroughValidate && at == Tags::kAbsent && whole != 0) {
    at = victim(r.line, r.kernel);
    if (at != Tags::kAbsent) place(now, at, r.line, r.kernel, count);
  }
  if (at != Tags::kAbsent) {
    notify(now, r, found);
    if (policy == WritePolicy::WriteThroughValidate) tags_.add_valid(at, whole);
    tags_.touch(at);
    last_ = at;
  }
  return plain(Outcome::Forward);
}

L1d::Answer L1d::write_back(Cycle now, const Request& r, unsigned at, bool can_send,
                            stats::SmCounters& count) {
  const auto present =
      static_cast<std::uint8_t>(at == Tags::kAbsent ? 0 : r.sectors & tags_.valid(at));
  const auto missing = static_cast<std::uint8_t>(r.sectors & ~present);
  Answer a = plain(Outcome::Hit);
  if (missing != 0) {
    a = miss(now, r, at, missing, can_send, count);
    if (a.outcome == Outcome::Blocked) return a;
    stored_[a.mshr] |= missing;
    count.l1d_store_misses += a.ask != 0;
  }
  notify(now, r, at);
  if (present != 0) {
    tags_.mark_dirty(at, present);
    tags_.touch(at);
    last_ = at;
  }
  return a;
}

L1d::Answer L1d::write_validate(Cycle now, const Request& r, unsigned at, bool can_send,
                                stats::SmCounters& count) {
  const unsigned found = at;
  if (at == Tags::kAbsent) {
    at = victim(r.line, r.kernel);
    if (at == Tags::kAbsent) return blocked(stats::Refusal::Way);
    if (!can_send) return blocked(stats::Refusal::MissQueue);  // it may push out a dirty line
    place(now, at, r.line, r.kernel, count);
  }
  notify(now, r, found);
  tags_.add_valid(at, r.sectors);
  tags_.mark_dirty(at, r.sectors);
  tags_.touch(at);
  last_ = at;
  return plain(Outcome::Hit);
}

void L1d::install(Cycle now, std::uint16_t mshr, std::uint8_t sectors, unsigned kernel,
                  stats::SmCounters& count) {
  ++count.l1d_fills;
  count.l1d_miss_cycles += now;
  const std::uint32_t line = mshrs_.line(mshr);
  unsigned at = reserve_ ? reserved_[mshr] : find(line);
  if (at == Tags::kAbsent) {
    at = victim(line, kernel);
    place(now, at, line, kernel, count);
    if (events_ != nullptr) events_->used(at, events_->requester(mshr));
  }
  tags_.add_valid(at, sectors);
  if (keeps_dirty_) tags_.mark_dirty(at, stored_[mshr] & sectors);
  if (!reserve_) tags_.touch(at);  // else the miss was the use, and the order is that of uses
  if (events_ != nullptr) events_->filled({now, line, sectors, events_->requester(mshr)});
}

/// Forgets a line that is present.
void L1d::drop(Cycle now, unsigned at, unsigned kernel, policy::L1Eviction::Why why) {
  const Tags::Victim out{tags_.line(at), tags_.valid(at), tags_.dirty(at)};
  tags_.invalidate(at);
  if (out.dirty != 0) write_backs_.push({out.line, out.dirty, static_cast<std::uint8_t>(kernel)});
  if (out.sectors != 0 && events_ != nullptr) events_->evicted(now, out, at, why);
}

bool L1d::remove(Cycle now, std::uint32_t line, unsigned kernel) {
  const unsigned at = find(line);
  if (at == Tags::kAbsent) return false;
  const bool dirty = tags_.dirty(at) != 0;
  drop(now, at, kernel, policy::L1Eviction::Why::Invalidated);
  return dirty;
}

void L1d::resize(Cycle now, unsigned ways) {
  RADDLE_ASSERT(ways <= max_ways_ && shares_ == nullptr && !reserve_ && !keeps_dirty_);
  unsigned sets = spec_sets_;
  if (replacement_ != nullptr) {
    sets = std::max(1u, sets * ways / spec_ways_);
    ways = spec_ways_;
  }
  if (ways == tags_.ways() && sets == sets_.value()) return;
  sets_ = Divisor(sets);
  interleave_ = Interleave(sets, kInterleaveSalt);
  tags_ = Tags(sets, ways);
  if (events_ != nullptr) events_->resized(now, sets, ways);
}

void L1d::flush(Cycle now, unsigned kernel) {
  if (keeps_dirty_ || events_ != nullptr)
    tags_.each([&](unsigned at) { drop(now, at, kernel, policy::L1Eviction::Why::Flushed); });
  tags_.invalidate_all();
  if (replacement_ != nullptr) replacement_->policy().flushed();
  if (events_ != nullptr) events_->flushed(now);
}

void L1d::invalidate(Cycle now) {
  if (!keeps_dirty_ && events_ == nullptr) return tags_.invalidate_all();
  tags_.each([&](unsigned at) {
    if (tags_.dirty(at) == 0) drop(now, at, 0, policy::L1Eviction::Why::Invalidated);
  });
}

}  // namespace raddle::timing
