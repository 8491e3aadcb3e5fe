// Algorithm 1 of CCBP (Lin et al., TACO 2019): blocks, interconnect and memory bandwidth for each
// tenant, by dominant resource fairness, where a tenant's dominant resource goes by its kind: what
// its blocks take of an SM if it is latency sensitive, else the bandwidth it needs most. Free of
// simulator types. docs/mechanisms/ccbp.md
#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "raddle/policy/scheme/bandwidth_curve.h"
#include "raddle/policy/scheme/bandwidth_rates.h"
#include "raddle/policy/scheme/dominant_share.h"

namespace raddle::policy {

/// Bandwidth is in units of what is sustainable / `units`.
struct BandwidthTenant {
  BandwidthKind kind = BandwidthKind::LatencySensitive;
  SharingBlocks blocks;
  BandwidthCurve noc, dram;
};
struct BandwidthShare {
  std::uint32_t blocks = 0;
  double noc = 0, dram = 0;
  friend bool operator==(const BandwidthShare&, const BandwidthShare&) = default;
};

class BandwidthShares {
 public:
  struct Rules {
    double units = 20;
    double prior = 1;  ///< of latency-sensitive tenants; lower goes first
    /// A latency-sensitive tenant's next block fails for lack of room on the SM only: where
    /// bandwidth is short, it gets what is left, of both the same part of what it would need.
    bool clip = true;
  };
  BandwidthShares(const SmResources& sm, std::vector<BandwidthTenant> tenants, const Rules& rules)
      : sm_(sm),
        rules_(rules),
        tenants_(std::move(tenants)),
        shares_(tenants_.size()),
        dominant_(tenants_.size(), 0),
        finished_(tenants_.size(), false) {
    for (const BandwidthTenant& tenant : tenants_) blocks_.push_back(tenant.blocks);
  }
  /// The tenant that was tried, and whether it got more; nothing when all are finished.
  struct Step {
    std::size_t tenant = 0;
    bool given = false;
  };
  std::optional<Step> step() {
    std::size_t k = tenants_.size();
    for (std::size_t t = 0; t < tenants_.size(); ++t)
      if (!finished_[t] && (k == tenants_.size() || dominant_[t] < dominant_[k])) k = t;
    if (k == tenants_.size()) return std::nullopt;
    std::optional<BandwidthShare> more = wish(k);
    if (more) more = allowed(k, *more);
    if (!more) {
      finished_[k] = true;
      return Step{k, false};
    }
    shares_[k] = *more;
    dominant_[k] = dominant(k);
    return Step{k, true};
  }
  const std::vector<BandwidthShare>& all() {
    while (step()) {
    }
    return shares_;
  }
  const std::vector<BandwidthShare>& shares() const { return shares_; }
  /// What is left of each bandwidth goes to all, in proportion to what they have of it. Ours:
  /// the paper's algorithm leaves it to nobody.
  void fill() {
    BandwidthShare sum;
    for (const BandwidthShare& share : shares_) {
      sum.noc += share.noc;
      sum.dram += share.dram;
    }
    for (BandwidthShare& share : shares_) {
      if (sum.noc > 0) share.noc *= rules_.units / sum.noc;
      if (sum.dram > 0) share.dram *= rules_.units / sum.dram;
    }
  }

 private:
  static constexpr double kRounding = 1e-9;

  /// One unit more of the tenant's dominant resource and what goes with it.
  std::optional<BandwidthShare> wish(std::size_t k) const {
    const BandwidthTenant& tenant = tenants_[k];
    const BandwidthShare& has = shares_[k];
    if (tenant.kind == BandwidthKind::LatencySensitive) {
      const std::uint32_t blocks = has.blocks + 1;
      return BandwidthShare{blocks, at(tenant.noc, blocks), at(tenant.dram, blocks)};
    }
    const bool noc = tenant.kind == BandwidthKind::NocIntensive;
    const BandwidthCurve& own = noc ? tenant.noc : tenant.dram;
    const BandwidthCurve& other = noc ? tenant.dram : tenant.noc;
    const double wanted = (noc ? has.noc : has.dram) + 1;
    const std::uint32_t blocks = at(own, has.blocks) < wanted ? has.blocks + 1 : has.blocks;
    if (!(at(own, blocks) > 0)) return std::nullopt;
    const double beside = at(other, blocks) * wanted / at(own, blocks);
    return noc ? BandwidthShare{blocks, wanted, beside} : BandwidthShare{blocks, beside, wanted};
  }
  /// Line 22 of the algorithm: what of that can be given.
  std::optional<BandwidthShare> allowed(std::size_t k, BandwidthShare wish) const {
    std::vector<std::uint32_t> blocks;
    BandwidthShare left{0, rules_.units, rules_.units};
    for (std::size_t t = 0; t < tenants_.size(); ++t) {
      blocks.push_back(t == k ? wish.blocks : shares_[t].blocks);
      if (t == k) continue;
      left.noc -= shares_[t].noc;
      left.dram -= shares_[t].dram;
    }
    if (wish.blocks > blocks_[k].maximum || !fit_together(sm_, blocks_, blocks))
      return std::nullopt;
    if (wish.noc <= left.noc + kRounding && wish.dram <= left.dram + kRounding) return wish;
    if (!rules_.clip || tenants_[k].kind != BandwidthKind::LatencySensitive) return std::nullopt;
    double part = 1;
    if (wish.noc > left.noc) part = std::min(part, std::max(0.0, left.noc) / wish.noc);
    if (wish.dram > left.dram) part = std::min(part, std::max(0.0, left.dram) / wish.dram);
    return BandwidthShare{wish.blocks, part * wish.noc, part * wish.dram};
  }
  /// DomShareCal.
  double dominant(std::size_t k) const {
    switch (tenants_[k].kind) {
      case BandwidthKind::NocIntensive:
        return shares_[k].noc / rules_.units;
      case BandwidthKind::DramIntensive:
        return shares_[k].dram / rules_.units;
      case BandwidthKind::LatencySensitive:
        break;
    }
    return rules_.prior * dominant_share(sm_, blocks_[k].block, shares_[k].blocks);
  }
  double at(const BandwidthCurve& curve, std::uint32_t blocks) const {
    return curve.at(blocks, rules_.units);
  }

  SmResources sm_;
  Rules rules_;
  std::vector<BandwidthTenant> tenants_;
  std::vector<SharingBlocks> blocks_;
  std::vector<BandwidthShare> shares_;
  std::vector<double> dominant_;
  std::vector<bool> finished_;
};

}  // namespace raddle::policy
