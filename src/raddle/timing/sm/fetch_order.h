// In which order the MSHRs of an L1D have asked for their data: kept only where policies may ask
// for the oldest or youngest misses that are outstanding (level "migrate").
#pragma once
#include <cstdint>
#include <deque>
#include <vector>

#include "raddle/base/error.h"

namespace raddle::timing {

class FetchOrder {
 public:
  /// A request for an MSHR's data; numbers rise.
  struct Fetch {
    std::uint64_t number = 0;
    std::uint16_t mshr = 0;
  };

  /// From now on it is kept, for so many MSHRs.
  void keep(unsigned mshrs) { last_.resize(mshrs); }
  bool kept() const { return !last_.empty(); }
  /// Not all that are over have left from the front when nobody looks.
  void asked(std::uint16_t mshr) {
    RADDLE_ASSERT(mshr < last_.size());
    const std::uint64_t number = fetches_.empty() ? 1 : fetches_.back().number + 1;
    if (fetches_.size() >= 4 * last_.size())
      std::erase_if(fetches_, [&](const Fetch& fetch) { return is_old(fetch); });
    last_[mshr] = number;
    fetches_.push_back({number, mshr});
  }
  /// The MSHR has asked again since, for something else.
  bool is_old(const Fetch& fetch) const { return last_[fetch.mshr] != fetch.number; }
  /// Those in front of which is_over(fetch) are forgotten.
  template <class IsOver>
  void forget(IsOver is_over) {
    while (!fetches_.empty() && is_over(fetches_.front())) fetches_.pop_front();
  }
  unsigned size() const { return static_cast<unsigned>(fetches_.size()); }
  /// The i-th from the oldest.
  const Fetch& operator[](unsigned i) const { return fetches_[i]; }

 private:
  std::deque<Fetch> fetches_;        // those that are over, too
  std::vector<std::uint64_t> last_;  // by MSHR: number of its last request
};

}  // namespace raddle::timing
