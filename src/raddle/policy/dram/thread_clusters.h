// The two clusters of tenants of thread cluster memory scheduling: Kim, Papamichael, Mutlu,
// Harchol-Balter, "Thread Cluster Memory Scheduling: Exploiting Differences in Memory Access
// Behavior", MICRO 2010, section 3.2. Those that ask memory the least for what they execute are the
// latency cluster, as long as they take no more than a given share of the bandwidth together; all
// others are the bandwidth cluster.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>

#include "raddle/policy/scheme/policy.h"

namespace raddle::policy {

struct ThreadClusters {
  /// Tenants: the latency cluster by requests per instruction, the least first, then the others.
  std::array<std::uint8_t, kMaxTenants> order{};
  unsigned latency = 0;  ///< so many are in the latency cluster
};

/// Requests to memory per thousand warp instructions.
inline double memory_intensity(const TenantCounts& c) {
  const auto requests = static_cast<double>(c.dram_reads + c.dram_writes);
  if (requests == 0) return 0;
  if (c.instructions == 0) return std::numeric_limits<double>::infinity();
  return 1000 * requests / static_cast<double>(c.instructions);
}

/// `percent`: what the latency cluster may take of the bytes of all.
inline ThreadClusters thread_clusters(std::span<const TenantCounts, kMaxTenants> counts,
                                      std::uint32_t percent) {
  ThreadClusters out;
  std::iota(out.order.begin(), out.order.end(), std::uint8_t{0});
  std::array<double, kMaxTenants> intensity;
  std::uint64_t total = 0, sum = 0;
  for (unsigned t = 0; t < kMaxTenants; ++t) {
    intensity[t] = memory_intensity(counts[t]);
    total += counts[t].dram_bytes;
  }
  std::ranges::sort(out.order, [&](std::uint8_t a, std::uint8_t b) {
    return intensity[a] != intensity[b] ? intensity[a] < intensity[b] : a < b;
  });
  while (out.latency < kMaxTenants) {
    sum += counts[out.order[out.latency]].dram_bytes;
    if (100 * sum > percent * total) break;
    ++out.latency;
  }
  return out;
}

}  // namespace raddle::policy
