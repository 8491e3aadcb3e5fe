// The tenants that a scheme has to share the SMs among: those that have launches, in order.
#pragma once
#include <string_view>
#include <vector>

#include "raddle/policy/scheme/dominant_share.h"
#include "raddle/policy/scheme/policy.h"

namespace raddle::policy {

struct PresentTenants {
  std::vector<unsigned> number;
  std::vector<SharingBlocks> blocks;
  std::size_t count() const { return number.size(); }
};

inline PresentTenants present_tenants(const SchemeView& view) {
  PresentTenants out;
  for (unsigned t = 0; t < kMaxTenants; ++t) {
    if (!view.has(t) || view.tenant[t].max_blocks == 0) continue;
    out.number.push_back(t);
    out.blocks.push_back({view.tenant[t].block, view.tenant[t].max_blocks});
  }
  return out;
}

/// At most so many blocks of each on every SM.
inline void cap_blocks(const PresentTenants& present, const std::vector<std::uint32_t>& blocks,
                       unsigned sms, Knobs& knobs) {
  for (std::size_t i = 0; i < present.count(); ++i)
    knobs.tenant[present.number[i]].block_cap.assign(sms, blocks[i]);
}

}  // namespace raddle::policy
