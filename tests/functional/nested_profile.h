// What the launch trees of a workload amount to: launches that kernels make, their blocks, and the
// lines that are touched.
#pragma once
#include <algorithm>
#include <bit>
#include <map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "functional/stream_reader.h"
#include "functional/workload_support.h"

namespace raddle::runtime {

struct NestedProfile {
  std::uint64_t parent_blocks = 0, parent_threads = 0;  ///< of the host's launches
  std::uint64_t launching_parent_blocks = 0, launching_parent_threads = 0;
  std::uint64_t launching_blocks = 0;  ///< of all launches
  std::uint64_t launches = 0;          ///< that kernels make
  std::uint64_t child_blocks = 0;
  std::uint64_t max_child_blocks = 0;                  ///< that one block launches
  std::uint64_t min_blocks = ~0ull, max_blocks = 0;    ///< of a launch that a kernel makes
  std::map<std::uint32_t, std::uint64_t> launches_at;  ///< by generation, children are 1
  std::uint64_t waiting = 0;                           ///< launches that come after others
  std::uint64_t lines = 0;                             ///< of 128 bytes, distinct
  std::uint64_t parent_instructions = 0, child_instructions = 0;  ///< of warps

  double kib() const { return static_cast<double>(lines) * 128 / 1024; }
};

/// Takes launches with and without descendants.
class NestedProfileSink final : public StreamReader {
 public:
  NestedProfile profile;

  void submit(std::shared_ptr<trace::KernelStream> stream, const LaunchRecord& record) override {
    profile.parent_blocks += record.grid.count();
    profile.parent_instructions += record.warp_instructions;
    profile.parent_threads += record.grid.count() * record.block.count();
    profile.launching_parent_threads += touch(*stream);
  }
  void submit_tree(const std::vector<LaunchedStream>& tree) override {
    submit(tree.front().stream, tree.front().record);
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> of_block;  // launch, block
    for (std::size_t i = 1; i < tree.size(); ++i) {
      const std::uint64_t blocks = add_child(tree[i]);
      const trace::DeviceOrigin& origin = *tree[i].record.origin;
      of_block[{origin.parent, origin.block}] += blocks;
    }
    profile.launching_blocks += of_block.size();
    for (const auto& [block, blocks] : of_block) {
      profile.launching_parent_blocks += block.first == 0;
      profile.max_child_blocks = std::max(profile.max_child_blocks, blocks);
    }
  }
  void synchronize() override { profile.lines = lines_.size(); }

 private:
  std::uint64_t add_child(const LaunchedStream& child) {
    const std::uint64_t blocks = child.record.grid.count();
    ++profile.launches;
    ++profile.launches_at[child.record.origin->depth];
    profile.waiting += !child.record.origin->after.empty() || child.record.origin->tail;
    profile.child_blocks += blocks;
    profile.min_blocks = std::min(profile.min_blocks, blocks);
    profile.max_blocks = std::max(profile.max_blocks, blocks);
    profile.child_instructions += child.record.warp_instructions;
    touch(*child.stream);
    return blocks;
  }
  /// Returns the threads that launch.
  std::uint64_t touch(trace::KernelStream& stream) {
    std::uint64_t launching = 0;
    std::uint32_t lanes = 0;  // of the warp, that launch
    read(
        stream,
        [&](trace::Record record, const trace::StaticInst& inst,
            std::span<const std::uint32_t> transactions) {
          if (inst.kind == trace::OpKind::Launch) lanes |= record.mask;
          if (inst.kind == trace::OpKind::LoadLocal || inst.kind == trace::OpKind::StoreLocal)
            return;
          for (std::size_t i = 0; i < transactions.size(); i += trace::kTransactionWords)
            lines_.insert(transactions[i]);
        },
        [&] {
          launching += static_cast<std::uint64_t>(std::popcount(lanes));
          lanes = 0;
        });
    return launching;
  }

  std::unordered_set<std::uint32_t> lines_;
};

inline NestedProfile nested_profile(std::string_view name, const Parameters& parameters,
                                    Size size = Size::Tiny) {
  auto workload = make_workload(name, parameters, size);
  NestedProfileSink sink;
  SimulatedDeviceOptions options;
  options.sink = &sink;
  SimulatedDevice device(std::move(options));
  workload->run(device, 1);
  EXPECT_EQ(workload->check(), "");
  return sink.profile;
}

}  // namespace raddle::runtime
