#include "raddle/timing/gpu/residency.h"

#include <fmt/format.h>

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

namespace {

/// What is wrong with a block that an SM has no registers for.
std::string lack_of_registers(const SmSpec& sm, std::uint32_t of_warp, std::uint32_t warps) {
  if (sm.register_partitions == 1)
    return fmt::format("needs {} registers; an SM of this machine has {}",
                       std::uint64_t{of_warp} * warps, sm.registers);
  const std::uint32_t each = sm.registers / sm.register_partitions;
  return fmt::format(
      "needs room for {} warp{} of {} registers; an SM of this machine has {} partitions of {} "
      "registers, with room for {}",
      warps, warps == 1 ? "" : "s", of_warp, sm.register_partitions, each,
      each / of_warp * sm.register_partitions);
}

}  // namespace

BlockNeeds taken_by_block(const SmSpec& sm, const trace::KernelCode& code,
                          const trace::LaunchShape& shape) {
  BlockNeeds out = block_needs(sm, code, shape);
  out.registers =
      rounded(std::uint64_t{sm.register_file().granted(code.registers_per_thread)} * out.warps, 1);
  return out;
}

Residency residency(const SmSpec& sm, const trace::KernelCode& code,
                    const trace::LaunchShape& shape) {
  const BlockNeeds needs = taken_by_block(sm, code, shape);
  const std::uint32_t charged = block_needs(sm, code, shape).registers;
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
  auto refuse = [&](const std::string& what, std::string_view limit) {
    out.blocks = 0;
    out.limited_by = limit;
    out.reason = "a block of kernel '" + short_name(code.name) + "' " + what;
  };
  for (std::size_t i = 0; i < out.limits.size(); ++i) {
    ResidencyLimit& limit = out.limits[i];
    const bool registers = limit.of == "registers";
    const std::uint64_t charge = registers ? charged : limit.needs;
    limit.fit = charge == 0 ? kMax : limit.has / charge;
    if (limit.fit >= fewest) continue;
    fewest = limit.fit;
    out.limited_by = limit.of;
    out.blocks = static_cast<unsigned>(limit.fit);
    if (limit.fit != 0) continue;
    refuse(registers ? lack_of_registers(sm, needs.registers / needs.warps, needs.warps)
                     : fmt::format("needs {} {}; an SM of this machine has {}", limit.needs,
                                   kAmounts[i], limit.has),
           limit.of);
  }
  if (needs.threads > sm.max_threads_per_block) {
    refuse(fmt::format("has {} threads; this machine allows {}", needs.threads,
                       sm.max_threads_per_block),
           "threads");
  }
  return out;
}

}  // namespace raddle::timing
