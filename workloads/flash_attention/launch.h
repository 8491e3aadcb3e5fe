// Launches of flash_attention's kernels.
#pragma once
#include <string>

#include "attention/launch.h"

namespace raddle::workloads {

inline void launch_flash(runtime::Device& device, runtime::ModuleId module, const Heads& of,
                         const AttentionRows& rows, std::uint32_t batch, std::uint32_t sequence,
                         bool causal) {
  // As in kernels.cu and tile.h.
  constexpr std::uint32_t kThreads = 128;
  const std::uint32_t queries = of.head_dim == 64 ? 128 : 64, keys = of.head_dim == 64 ? 32 : 64;
  const std::uint32_t shared_bytes = (queries + 4 * keys) * of.head_dim * 2;
  device.launch(device.kernel(module, "flash_attention_" + std::to_string(of.head_dim)),
                {blocks_for(sequence, queries), of.heads, batch}, {kThreads},
                runtime::Arguments(rows.queries, rows.keys, rows.values, rows.out,
                                   rows.query_stride, rows.kv_stride, of.query_numbers(), sequence,
                                   of.group(), std::uint32_t{causal}, of.scale()),
                shared_bytes);
}

}  // namespace raddle::workloads
