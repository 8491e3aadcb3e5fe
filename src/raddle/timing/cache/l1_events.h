// Tells observers what happens in an L1D (policy/observer.h). Exists only while somebody listens:
// who brought and who used a line is kept here, beside the tags and not in them.
#pragma once
#include <cstdint>
#include <vector>

#include "raddle/policy/observer.h"
#include "raddle/timing/cache/tags.h"

namespace raddle::timing {

class L1Events {
 public:
  L1Events(std::size_t ways, std::size_t mshrs) : owner_(ways), requester_(mshrs) {}
  void add(policy::L1Observer& observer) { observers_.push_back(&observer); }

  /// A way was given to a new line; the first warp to use it has brought it.
  void placed(unsigned at) { owner_[at] = {kInvalidId, kInvalidId}; }
  void used(unsigned at, std::uint8_t warp) {
    if (owner_[at].brought_by == kInvalidId) owner_[at].brought_by = warp;
    owner_[at].used_by = warp;
  }
  void requested(unsigned mshr, std::uint8_t warp) { requester_[mshr] = warp; }
  std::uint8_t requester(unsigned mshr) const { return requester_[mshr]; }

  void access(const policy::L1Access& e) {
    for (policy::L1Observer* o : observers_) o->access(e);
  }
  void evicted(Cycle now, const Tags::Victim& v, unsigned at, policy::L1Eviction::Why why) {
    for (policy::L1Observer* o : observers_)
      o->evicted({.at = now,
                  .line = v.line,
                  .sectors = v.sectors,
                  .dirty = v.dirty,
                  .brought_by = owner_[at].brought_by,
                  .used_by = owner_[at].used_by,
                  .why = why});
  }
  void filled(const policy::L1Fill& e) {
    for (policy::L1Observer* o : observers_) o->filled(e);
  }
  void flushed(Cycle now) {
    for (policy::L1Observer* o : observers_) o->flushed(now);
  }
  void resized(Cycle now, unsigned sets, unsigned ways) {
    for (policy::L1Observer* o : observers_) o->resized(now, sets, ways);
  }
  void warp_started(const policy::WarpStart& e) {
    for (policy::L1Observer* o : observers_) o->warp_started(e);
  }

 private:
  static constexpr std::uint8_t kInvalidId = 0xff;
  struct Owner {
    std::uint8_t brought_by = kInvalidId, used_by = kInvalidId;
  };
  std::vector<policy::L1Observer*> observers_;
  std::vector<Owner> owner_;             // by handle of the tags
  std::vector<std::uint8_t> requester_;  // by MSHR
};

}  // namespace raddle::timing
