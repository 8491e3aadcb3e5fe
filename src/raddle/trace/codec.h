// Words of warp streams <-> the columns of a Blocks section (file.h).
#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "raddle/trace/allocation.h"
#include "raddle/trace/device_launch.h"
#include "raddle/trace/stream.h"

namespace raddle::trace {

/// Streams of consecutive thread blocks, decoded: the words of warp w of block b are
/// words[start[b * warps + w] .. start[b * warps + w + 1]).
struct BlockBatch {
  std::uint32_t first_block = 0, blocks = 0;
  std::vector<std::uint32_t> words;
  std::vector<std::uint32_t> start;
};

std::string encode(const BlockBatch& batch, const KernelCode& code);
/// Throws InputError (without a place) when the bytes are not what encode() makes for this kernel.
BlockBatch decode(std::string_view bytes, const KernelCode& code, unsigned warps_per_block);

nlohmann::ordered_json code_to_json(const KernelCode& code);
KernelCode code_from_json(const nlohmann::ordered_json& json);

nlohmann::ordered_json origin_to_json(const DeviceOrigin& origin);
DeviceOrigin origin_from_json(const nlohmann::ordered_json& json);
nlohmann::ordered_json changes_to_json(const AllocationChanges& changes);
/// Throws InputError unless their lines have numbers of 32 bits.
AllocationChanges changes_from_json(const nlohmann::ordered_json& json);
nlohmann::ordered_json pointers_to_json(const std::vector<PointerArgument>& pointers);
std::vector<PointerArgument> pointers_from_json(const nlohmann::ordered_json& json);

}  // namespace raddle::trace
