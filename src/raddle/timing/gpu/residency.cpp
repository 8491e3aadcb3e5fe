#include "raddle/timing/gpu/residency.h"

#include <algorithm>

#include "raddle/base/demangle.h"
#include "raddle/timing/gpu/gpu.h"

namespace raddle::timing {

namespace {
constexpr std::uint64_t kMax = ~std::uint32_t{0};

std::uint32_t rounded(std::uint64_t amount, std::uint32_t unit) {
  return static_cast<std::uint32_t>(std::min(kMax, (amount + unit - 1) / unit * unit));
}
}  // namespace

BlockNeeds block_needs(const SmSpec& sm, const trace::KernelCode& code,
                       const trace::LaunchShape& shape) {
  BlockNeeds needs;
  needs.threads = static_cast<std::uint32_t>(std::min(kMax, shape.block.count()));
  needs.warps = (needs.threads + kLanes - 1) / kLanes;
  needs.registers = static_cast<std::uint32_t>(std::min(
      kMax, std::uint64_t{sm.register_file().of_warp(code.registers_per_thread)} * needs.warps));
  needs.shared_bytes = rounded(std::uint64_t{code.static_shared_bytes} +
                                   shape.dynamic_shared_bytes + sm.shared_reserved_bytes,
                               sm.shared_unit_bytes);
  return needs;
}

Residency residency(const SmSpec& sm, const trace::KernelCode& code,
                    const trace::LaunchShape& shape) {
  BlockNeeds needs = block_needs(sm, code, shape);
  constexpr std::array<const char*, 5> kAmounts = {
      // how a need is told
      "threads", "warp slots", "registers", "bytes of shared memory", "block slots"};
  Residency out;
  out.limits = {{{"threads", needs.threads, sm.threads},
                 {"warps", needs.warps, sm.warps},
                 {"registers", needs.registers, sm.registers},
                 {"shared memory", needs.shared_bytes, std::uint64_t{sm.shared_kib} * 1024},
                 {"block slots", 1, sm.blocks}}};
  std::uint64_t fewest = kMax;
  auto refuse = [&](const std::string& what, std::uint64_t have, std::string_view limit) {
    out.blocks = 0;
    out.limited_by = limit;
    out.reason =
        "a block of kernel '" + short_name(code.name) + "' " + what + " " + std::to_string(have);
  };
  for (std::size_t i = 0; i < out.limits.size(); ++i) {
    const ResidencyLimit& limit = out.limits[i];
    std::uint64_t fit = limit.needs == 0 ? kMax : limit.has / limit.needs;
    if (fit >= fewest) continue;
    fewest = fit;
    out.limited_by = limit.of;
    out.blocks = static_cast<unsigned>(fit);
    if (fit == 0) {
      refuse("needs " + std::to_string(limit.needs) + " " + kAmounts[i] +
                 "; an SM of this machine has",
             limit.has, limit.of);
      break;
    }
  }
  if (needs.threads > sm.max_threads_per_block) {
    refuse("has " + std::to_string(needs.threads) + " threads; this machine allows",
           sm.max_threads_per_block, "threads");
  }
  return out;
}

}  // namespace raddle::timing
