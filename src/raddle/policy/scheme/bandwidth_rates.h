// Equations (1) to (7) of Lin, Dai, Mantor and Zhou, "Coordinated CTA Combination and Bandwidth
// Partitioning for GPU Concurrent Kernel Execution", TACO 2019: what requests that a tenant's SMs
// issue cost the interconnect and the memory, and which rate of requests a share of both allows.
// Free of simulator types. docs/mechanisms/ccbp.md
//
// Rates are requests of one SM in a time unit, bandwidths bytes of the whole GPU in one. Of a
// request's cost: a load's reply takes the interconnect, hit or miss; what a request does not find
// in the L2 takes the memory, once, and again where a dirty line has to go; stores'
// acknowledgements are left out.
#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>

namespace raddle::policy {

/// What has been counted of a tenant.
struct RequestMix {
  std::uint64_t requests = 0, reads = 0, dram_accesses = 0;
  /// Equation (2): reads of a request.
  double rf() const { return ratio(reads); }
  /// Equation (4): accesses to DRAM of a request, 0 to 2.
  double df() const { return ratio(dram_accesses); }

 private:
  double ratio(std::uint64_t part) const {
    return requests == 0 ? 0 : static_cast<double>(part) / static_cast<double>(requests);
  }
};

enum class BandwidthKind : std::uint8_t { LatencySensitive, NocIntensive, DramIntensive };

struct BandwidthRates {
  double sms = 16;
  double reply_bytes = 160;  ///< L1BlkSize + FlitSize
  double dram_bytes = 128;   ///< L2BlkSize
  double noc = 0, dram = 0;  ///< sustainable, in a time unit

  /// Equation (1).
  double noc_of(double rf, double rate) const { return rf * rate * sms * reply_bytes; }
  /// Equation (3).
  double dram_of(double df, double rate) const { return df * rate * sms * dram_bytes; }
  /// The rate that takes just this share of the sustainable interconnect; infinite if the requests
  /// take nothing of it.
  double rate_of_noc(double rf, double share) const {
    if (!(rf > 0)) return std::numeric_limits<double>::infinity();
    return share * noc / (rf * sms * reply_bytes);
  }
  /// The same of the memory.
  double rate_of_dram(double df, double share) const {
    if (!(df > 0)) return std::numeric_limits<double>::infinity();
    return share * dram / (df * sms * dram_bytes);
  }
  /// Equation (5) for any shares of what is sustainable: the greatest rate that stays within both.
  double rate_within(double rf, double df, double noc_share, double dram_share) const {
    return std::min(rate_of_noc(rf, noc_share), rate_of_dram(df, dram_share));
  }
  /// The rate that the share of its dominant bandwidth allows. Blocks are what a latency-sensitive
  /// tenant needs most: it has the greater rate of those bandwidths that it takes anything of.
  double rate_of_dominant(BandwidthKind kind, double rf, double df, double noc_share,
                          double dram_share) const {
    if (kind == BandwidthKind::NocIntensive) return rate_of_noc(rf, noc_share);
    if (kind == BandwidthKind::DramIntensive) return rate_of_dram(df, dram_share);
    if (!(rf > 0) || !(df > 0)) return rate_within(rf, df, noc_share, dram_share);
    return std::max(rate_of_noc(rf, noc_share), rate_of_dram(df, dram_share));
  }
  /// Equations (6) and (7), of a tenant that is bandwidth intensive.
  BandwidthKind kind_of(double rf, double df) const {
    const bool noc_first = noc_of(rf, 1) / noc > dram_of(df, 1) / dram;
    return noc_first ? BandwidthKind::NocIntensive : BandwidthKind::DramIntensive;
  }
};

}  // namespace raddle::policy
