// Parameters of the workloads whose kernels launch kernels, and what their host code shares.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/device_array.h"
#include "raddle/base/fields.h"

namespace raddle::workloads {

enum class Form : std::uint8_t { Nested, Flat };
inline constexpr std::array<std::string_view, 2> kFormNames = {"nested", "flat"};

/// Launches by kernels that may be pending at once, what the public bfs, sssp and join of
/// gtcasl/dragon_li ask for; CUDA allows 2,048 unless asked.
inline constexpr std::uint32_t kPendingLaunches = 131'072;

/// Of the kernel that the host launches.
struct ParentLaunches {
  std::uint32_t block = 128;
  Form form = Form::Nested;
  bool persistent = false;

  bool nested() const { return form == Form::Nested; }
  std::uint32_t blocks(std::uint64_t items) const {
    return persistent ? kPersistentBlocks : blocks_for(items, block);
  }
  /// Before the host's first launch. `maximum`: that the input can have pending at once; where it
  /// is more than the public programs ask for, they would be refused and their work missing.
  void ask_for_launches(runtime::Device& device, std::uint64_t maximum,
                        std::uint32_t usual = kPendingLaunches) const {
    if (nested()) device.limit_pending_launches(std::max<std::uint64_t>(usual, maximum));
  }
  void visit(FieldVisitor& v) {
    v.choice("form", form, kFormNames,
             "nested: kernels launch kernels; flat: they do not, and who would launch does the "
             "child's work");
    v.field("block", block, {32, 1024}, "threads", "threads per block of the parent");
    v.field("persistent", persistent,
            "false: a block per `block` items; true: 104 blocks that stride over all items");
  }
  std::vector<std::string> violations() const {
    std::vector<std::string> all;
    require_warps("block", block, all);
    return all;
  }

  static void require_warps(std::string_view name, std::uint32_t block,
                            std::vector<std::string>& all) {
    if (block % 32 == 0) return;
    all.push_back(fmt::format("{} must be a multiple of 32, is {}", name, block));
  }

 private:
  /// The grid of the public programs: 8 blocks of 256 threads on each SM of a K20c.
  static constexpr std::uint32_t kPersistentBlocks = 104;
};

/// Of both kernels.
struct ChildLaunches {
  ParentLaunches parent;
  std::uint32_t child_block = 64, threshold = 64;

  bool nested() const { return parent.nested(); }
  /// `unit` and `doc` of threshold.
  void visit(FieldVisitor& v, std::string_view unit, std::string_view doc) {
    parent.visit(v);
    v.field("child_block", child_block, {32, 1024}, "threads", "threads per block of a child");
    v.field("threshold", threshold, {1, 1u << 30}, unit, doc);
  }
  std::vector<std::string> violations() const {
    std::vector<std::string> all = parent.violations();
    ParentLaunches::require_warps("child_block", child_block, all);
    return all;
  }
};

}  // namespace raddle::workloads
