// Requests as a key-value store in front of Wikipedia sees them.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "raddle/base/rng.h"

namespace raddle::workloads {

/// After the access trace of Urdaneta, Pierre, van Steen, "Wikipedia Workload Analysis for
/// Decentralized Hosting" (Computer Networks 53(11), 2009): few pages get most requests.
struct WikiSpec {
  std::uint32_t keys = 1000;  ///< stored; [1, 2^24]
  std::uint32_t requests = 1000;
  double zipf = 0.95;          ///< the r-th most popular key is asked for in proportion to r^-zipf
  double absent_share = 0.01;  ///< of the requests ask for a key that is not stored
  double burst_share = 0.1;    ///< of the requests repeat one of the kBurst before
  std::uint32_t min_key = 20, max_key = 60;  ///< bytes; 20 <= least_key <= most_key
  static constexpr std::uint32_t kBurst = 16;
};

struct WikiTrace {
  /// Distinct; "enwiki:", letters, ':' and a number. Lengths are log-normal with mean 35 and
  /// shape 0.3, drawn again where beyond least_key or most_key. Key and popularity are independent.
  std::vector<std::string> keys;
  std::vector<std::string> absent;      ///< asked for, but not stored
  std::vector<std::uint32_t> requests;  ///< index in keys, or keys.size() + index in absent
  const std::string& key_of(std::uint32_t request) const {
    return request < keys.size() ? keys[request] : absent[request - keys.size()];
  }
};

WikiTrace make_wiki(const WikiSpec& spec, Rng& rng);

}  // namespace raddle::workloads
