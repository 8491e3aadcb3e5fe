// How often, and after how many other lines, a warp comes back to a line: the character of a
// kernel as a cache sees it, read off the op streams. Nothing of it depends on timing.
#pragma once
#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "raddle/runtime/simulated_device.h"
#include "raddle/runtime/workload.h"

namespace raddle::test {

/// Global loads of one kernel, all launches. An access is one 128-byte line of one instruction.
struct KernelCharacter {
  std::uint64_t warp_instructions = 0, accesses = 0;
  std::uint64_t first = 0;         ///< the warp's first touch of the line
  std::uint64_t same_thread = 0;   ///< a lane of the access has touched the line before
  std::uint64_t other_thread = 0;  ///< only other lanes of the warp have
  /// distance[d]: reuses with d lines of the warp touched since, the line itself counted; the last
  /// entry holds all from there on.
  std::vector<std::uint64_t> distance = std::vector<std::uint64_t>(1025, 0);

  std::uint64_t reuses() const { return same_thread + other_thread; }
  /// Lines between reuses: the mean over all reuses.
  double mean_lines() const {
    double sum = 0;
    for (std::size_t d = 0; d < distance.size(); ++d)
      sum += static_cast<double>(d) * static_cast<double>(distance[d]);
    return sum / static_cast<double>(std::max<std::uint64_t>(reuses(), 1));
  }
  /// Lines a warp needs so that this share of its reuses would hit (LRU, full associativity).
  unsigned lines_for(double share) const {
    auto left = static_cast<double>(reuses()) * share;
    unsigned d = 0;
    while (d + 1 < distance.size() && (left -= static_cast<double>(distance[d])) > 0) ++d;
    return d;
  }
  double reuse_share() const {
    return static_cast<double>(reuses()) / static_cast<double>(accesses);
  }
  double same_thread_share() const {
    return static_cast<double>(same_thread) / static_cast<double>(reuses());
  }
};

class CharacterSink final : public runtime::LaunchSink {
 public:
  std::map<std::string, KernelCharacter> kernels;

  void admit(const trace::KernelCode&, const trace::LaunchShape&) override {}
  void submit(std::shared_ptr<trace::KernelStream> stream,
              const runtime::LaunchRecord& record) override {
    KernelCharacter& kernel = kernels[record.name];
    kernel.warp_instructions += record.warp_instructions;
    const auto blocks = static_cast<std::uint32_t>(stream->shape().grid.count());
    for (std::uint32_t block = 0; block < blocks; ++block) {
      for (unsigned warp = 0; warp < stream->shape().warps_per_block(); ++warp)
        read(*stream, stream->open(block, warp), kernel);
      stream->close(block);
    }
  }
  runtime::Milestone record(StreamId) override { return 0; }
  void wait(StreamId, runtime::Milestone) override {}
  void synchronize() override {}
  void synchronize(runtime::Milestone) override {}
  Cycle reached(runtime::Milestone) const override { return 0; }
  double milliseconds(Cycle) const override { return 0; }

 private:
  struct Warp {
    std::unordered_map<std::uint32_t, LaneMask> touched_by;
    std::vector<std::uint32_t> lines;  // in order of last touch
  };

  static void read(trace::KernelStream& stream, trace::WarpCursor cursor, KernelCharacter& kernel) {
    Warp warp;
    do {
      while (cursor.at != cursor.end) {
        const trace::Record record{cursor.at[0], cursor.at[1]};
        cursor.at += trace::kRecordWords;
        const trace::StaticInst& inst = stream.code().instructions[record.inst()];
        if (!trace::carries_transactions(inst.kind)) continue;
        for (unsigned p = 0; p < record.transactions(); ++p, cursor.at += trace::kTransactionWords)
          if (inst.kind == trace::OpKind::LoadGlobal)
            touch(warp, cursor.at[0], cursor.at[2], kernel);
      }
    } while (stream.refill(cursor));
  }

  static void touch(Warp& warp, std::uint32_t line, LaneMask lanes, KernelCharacter& kernel) {
    ++kernel.accesses;
    auto [at, is_new] = warp.touched_by.try_emplace(line, 0);
    if (is_new) {
      ++kernel.first;
    } else {
      ++((at->second & lanes) != 0 ? kernel.same_thread : kernel.other_thread);
      auto before = std::find(warp.lines.rbegin(), warp.lines.rend(), line);
      const auto distance = static_cast<std::size_t>(before - warp.lines.rbegin()) + 1;
      ++kernel.distance[std::min(distance, kernel.distance.size() - 1)];
      warp.lines.erase(before.base() - 1);
    }
    at->second |= lanes;
    warp.lines.push_back(line);
  }
};

}  // namespace raddle::test
