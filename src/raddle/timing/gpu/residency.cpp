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
  struct Limit {
    const char* name;
    const char* amount;  // how the need is told
    std::uint64_t need, have;
  };
  const Limit limits[] = {{"threads", "threads", needs.threads, sm.threads},
                          {"warps", "warp slots", needs.warps, sm.warps},
                          {"registers", "registers", needs.registers, sm.registers},
                          {"shared memory", "bytes of shared memory", needs.shared_bytes,
                           std::uint64_t{sm.shared_kib} * 1024},
                          {"block slots", "block slots", 1, sm.blocks}};
  Residency out;
  std::uint64_t fewest = kMax;
  auto refuse = [&](const std::string& what, std::uint64_t have, const std::string& limit) {
    out.blocks = 0;
    out.limited_by = limit;
    out.reason =
        "a block of kernel '" + short_name(code.name) + "' " + what + " " + std::to_string(have);
  };
  for (const Limit& limit : limits) {
    std::uint64_t fit = limit.need == 0 ? kMax : limit.have / limit.need;
    if (fit >= fewest) continue;
    fewest = fit;
    out.limited_by = limit.name;
    out.blocks = static_cast<unsigned>(fit);
    if (fit == 0) {
      refuse("needs " + std::to_string(limit.need) + " " + limit.amount +
                 "; an SM of this machine has",
             limit.have, limit.name);
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
