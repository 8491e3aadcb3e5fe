// First-level data cache of an SM: any number of sets, sectors or whole lines, LRU or a policy of
// level "replacement", misses merged in MSHRs. A line gets its way when data arrives, which counts
// as its use, or at the miss (reserve_on_miss), where it cannot be pushed out until then and its
// place in the order of use is that of the access, in whatever order data arrives.
//
// What a store does, by write policy (one for global, one for local memory):
//   write_through           keeps a present line and goes to the L2; allocates nothing
//   write_evict             removes a present line and goes to the L2
//   write_through_validate  goes to the L2; the sectors it writes from end to end become valid, in
//                           a way of their own if the line is absent and one is free to take
//   write_back              the sectors are fetched if absent (MSHRs and merging as for loads),
//                           become dirty and stay; the store is done when they are there
//   write_validate          the sectors become valid and dirty at once, nothing is fetched
//   write_back_around       sectors that are all present become dirty; else the store goes to the
//                           L2 and allocates nothing
// Validity is kept by sector: a sector that write_validate writes in part counts as whole, as in
// the L2. Dirty sectors of a line that loses its way, is flushed, or meets an atomic or a bypassing
// access wait in write_backs() for room in the miss queue; until they have left, nothing that could
// take a way or send a request goes on, so that no read overtakes the write-back of its line.
//
// Left out: banks and ports beyond one line a cycle, byte masks, data. A fence does not clean the
// cache: dirty data reaches the L2 when it is pushed out or the next kernel starts.
#pragma once
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "raddle/base/mask.h"
#include "raddle/base/ring.h"
#include "raddle/base/types.h"
#include "raddle/stats/counters.h"
#include "raddle/timing/cache/l1_events.h"
#include "raddle/timing/cache/most_taken.h"
#include "raddle/timing/cache/mshr.h"
#include "raddle/timing/cache/replacement.h"
#include "raddle/timing/cache/tags.h"
#include "raddle/timing/cache/way_shares.h"
#include "raddle/timing/spec/l1_spec.h"
#include "raddle/timing/wire/address_map.h"

namespace raddle::timing {

class L1d {
 public:
  enum class Outcome : std::uint8_t {
    Hit,
    Miss,
    Blocked,
    Forward  ///< of a store: it goes to the L2
  };
  struct Request {
    std::uint32_t line = 0;
    std::uint8_t sectors = 0, kernel = 0;
    std::uint16_t waiter = 0;  ///< comes back from fill() after a Miss
  };
  struct Answer {
    Outcome outcome;
    std::uint8_t ask;    ///< Miss: sectors to request, 0 when they are on their way already
    std::uint16_t mshr;  ///< Miss: tag of the request
    stats::Refusal why;  ///< Blocked
  };
  struct WriteBack {
    std::uint32_t line;
    std::uint8_t sectors, kernel;  ///< kernel: whose access or data pushes the line out
  };

  /// `orphans`: so many MSHRs that nobody waits for count as free (orphan()).
  explicit L1d(const L1dSpec& spec, unsigned unclaimed = 0);
  /// One line access. `can_send`: a request could be queued now. Blocked changes nothing: try again
  /// when a fill has come or can_send has changed.
  Answer load(Cycle now, const Request& r, bool can_send, stats::SmCounters& count);
  /// `whole`: those of the sectors that are written from end to end.
  Answer store(Cycle now, const Request& r, std::uint8_t whole, bool local, bool can_send,
               stats::SmCounters& count);
  /// Data of a request has come; done(waiter) for each access now complete.
  template <class Done>
  void fill(Cycle now, std::uint16_t mshr, std::uint8_t sectors, unsigned kernel,
            stats::SmCounters& count, Done done) {
    install(now, mshr, sectors, kernel, count);
    if (mshrs_.arrive(mshr, sectors, done)) unlock(mshr);
  }
  static constexpr unsigned kNoMshr = Mshrs<std::uint16_t>::kNone;
  /// The MSHR of a line in which this waiter waits for any of these sectors, or kNoMshr.
  unsigned waits(std::uint32_t line, std::uint8_t sectors, std::uint16_t waiter) const {
    const unsigned mshr = mshrs_.find(line);
    return mshr != kNoMshr && mshrs_.waits(mshr, sectors, waiter) ? mshr : kNoMshr;
  }
  /// The waiter will not be told. True: nobody waits for the MSHR any more; the data still come.
  bool cancel(unsigned mshr, std::uint16_t waiter) {
    mshrs_.cancel(mshr, waiter);
    return mshrs_.waiting_for(mshr) == 0;
  }
  /// visit(waiter) for each access that waits for an MSHR.
  template <class F>
  void each_waiter(unsigned mshr, F visit) const {
    mshrs_.each_waiter(mshr, visit);
  }
  /// All there are, with those for orphans.
  unsigned mshrs() const { return static_cast<unsigned>(reserved_.size()); }
  bool waited_for(unsigned mshr) const { return mshrs_.waiting_for(mshr) != 0; }
  /// Sectors of an MSHR that have not come.
  std::uint8_t missing_sectors(unsigned mshr) const { return mshrs_.missing(mshr); }
  /// Frees an MSHR for which nobody waits. Precondition: none of its requests has left.
  void abandon(unsigned mshr) {
    mshrs_.abandon(mshr);
    unlock(static_cast<std::uint16_t>(mshr));
  }
  /// Nobody waits for the MSHR, and its data will come: it counts as free meanwhile, if there is
  /// room for one more of these.
  void unclaimed(unsigned mshr) { mshrs_.unclaimed(mshr); }
  /// What a load would find now; for those who may send it past.
  struct Finding {
    bool hits, pending, lacks_way, refused;
  };
  Finding look(const Request& r) const;
  /// Removes a line (atomics are performed at the L2, bypassing accesses go there). True: it was
  /// dirty, and its write-back must leave first.
  bool remove(Cycle now, std::uint32_t line, unsigned kernel);
  /// From now on misses of a launch fill the ways that `shares` gives its slot; null: any way. They
  /// must outlive the cache.
  void share_ways(const WayShares* shares) {
    shares_ = shares;
    lru_ = shares_ == nullptr && replacement_ == nullptr;
  }
  /// From now on the policy says whose way a miss gets, instead of the order of use. `tenants`: of
  /// the launch slots; they must outlive the cache. Precondition: the cache is empty.
  void replace_by(std::unique_ptr<policy::ReplacementPolicy> policy, const TenantId* tenants) {
    replacement_ = std::make_unique<Replacement>(std::move(policy), max_handles_, tenants);
    lru_ = false;
  }
  /// Null: the order of use decides.
  policy::ReplacementPolicy* replacement() const {
    return replacement_ == nullptr ? nullptr : &replacement_->policy();
  }
  /// From now on as large as so many ways of the sets of its spec. A policy keeps the ways of the
  /// spec and gets more or fewer sets. Precondition: flushed, and the spec has a unified_kib.
  void resize(Cycle now, unsigned ways);
  /// Drops everything that is not on its way.
  void flush(Cycle now, unsigned kernel);
  /// Drops what others may have rewritten: every line that is not dirty. What is on its way counts
  /// as new.
  void invalidate(Cycle now);
  /// Hints that the line will be looked up.
  void prefetch_find(std::uint32_t line) const { tags_.prefetch_find(line); }
  /// Hints that the line will soon be loaded.
  void prefetch_load(std::uint32_t line) const {
    tags_.prefetch_find(line);
    mshrs_.prefetch_find(line);
  }
  /// Hints that the data of this MSHR will soon come.
  void prefetch_fill(unsigned mshr, std::uint32_t line) const {
    mshrs_.prefetch_arrive(mshr, line);
  }

  Ring<WriteBack>& write_backs() { return write_backs_; }
  const Ring<WriteBack>& write_backs() const { return write_backs_; }
  unsigned missing_lines() const { return mshrs_.used(); }
  /// MSHRs that are not free.
  unsigned mshrs_taken() const { return mshrs_.taken(); }
  MaxTaken& max_mshrs() { return max_mshrs_; }
  /// Null while nobody observes.
  L1Events* events() { return events_.get(); }
  void observe(policy::L1Observer& observer);
  /// For events: the way of the last access, and the first request of an MSHR.
  unsigned last_way() const { return last_; }
  bool first_request(unsigned mshr, std::uint8_t ask) const {
    return mshrs_.requested(mshr) == ask;
  }
  unsigned reserved_way(unsigned mshr) const { return reserve_ ? reserved_[mshr] : Tags::kAbsent; }

 private:
  unsigned set_of(std::uint32_t line) const {
    return hash_ ? interleave_(line).part : line - sets_.quotient(line) * sets_.value();
  }
  unsigned find(std::uint32_t line) const { return tags_.find(set_of(line), line); }
  unsigned victim(std::uint32_t line, unsigned kernel) const {
    if (lru_) [[likely]]
      return tags_.victim(set_of(line));
    const Tags::WayMask among = shares_ == nullptr ? Tags::kAnyWay : shares_->of(kernel);
    if (replacement_ == nullptr) return tags_.victim(set_of(line), among);
    return replacement_->victim(tags_, set_of(line), line, kernel, among);
  }
  /// The cache has taken an access whose line had that way.
  void notify(Cycle now, const Request& r, unsigned at) {
    if (replacement_ != nullptr) [[unlikely]]
      replacement_->accessed(now, tags_, set_of(r.line), r.line, r.kernel, at);
  }
  static Answer blocked(stats::Refusal why) { return {Outcome::Blocked, 0, 0, why}; }
  static Answer plain(Outcome outcome) { return {outcome, 0, 0, {}}; }
  Answer miss(Cycle now, const Request& r, unsigned at, std::uint8_t missing, bool can_send,
              stats::SmCounters& count);
  Answer write_back(Cycle now, const Request& r, unsigned at, bool can_send,
                    stats::SmCounters& count);
  Answer write_validate(Cycle now, const Request& r, unsigned at, bool can_send,
                        stats::SmCounters& count);
  void place(Cycle now, unsigned at, std::uint32_t line, unsigned kernel, stats::SmCounters& count);
  void drop(Cycle now, unsigned at, unsigned kernel, policy::L1Eviction::Why why);
  void install(Cycle now, std::uint16_t mshr, std::uint8_t sectors, unsigned kernel,
               stats::SmCounters& count);
  void unlock(std::uint16_t mshr) {
    if (reserve_) tags_.unlock(reserved_[mshr]);
  }

  // sets and ways of the spec, and ways that a resized one may have
  unsigned spec_sets_, spec_ways_, max_ways_;
  std::size_t max_handles_;
  Divisor sets_;
  Interleave interleave_;
  bool hash_, reserve_, keeps_dirty_;
  bool lru_ = true;        // the order of use alone decides who is replaced
  WritePolicy policy_[2];  // global, local
  unsigned last_ = 0;      // way of the last hit, or of the last store if present
  Tags tags_;
  Mshrs<std::uint16_t> mshrs_;
  std::vector<std::uint32_t> reserved_;  // reserve_on_miss, by MSHR: where its line is
  std::vector<std::uint8_t> stored_;     // keeps_dirty_, by MSHR: dirty when they come
  MaxTaken max_mshrs_;
  Ring<WriteBack> write_backs_;
  std::unique_ptr<L1Events> events_;
  const WayShares* shares_ = nullptr;
  std::unique_ptr<Replacement> replacement_;
};

}  // namespace raddle::timing
