// What each launch of a workload touches: blocks, distinct words, lines per access.
#pragma once
#include <bit>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "functional/stream_reader.h"
#include "functional/workload_support.h"

namespace raddle::runtime {

struct Accesses {
  std::uint64_t count = 0, transactions = 0;  ///< warp accesses; lines they touch, or bank passes
  std::uint64_t halves = 0;                   ///< of global memory: lines of 64 bytes
  double transactions_each() const {
    return static_cast<double>(transactions) / static_cast<double>(count);
  }
};

struct LaunchProfile {
  std::string name;
  std::uint64_t blocks = 0, words = 0;  ///< words: distinct 4-byte words of global memory
  Dim3 block;                           ///< threads
  std::uint64_t barriers = 0;           ///< warps at a barrier
  std::uint64_t warp_instructions = 0;
  std::map<std::string, Accesses> accesses;  ///< by opcode, those with an active lane
  double kib() const { return static_cast<double>(words) * 4 / 1024; }
  Accesses of(std::string_view prefix) const {
    Accesses sum;
    for (const auto& [opcode, some] : accesses)
      if (opcode.starts_with(prefix)) {
        sum.count += some.count;
        sum.transactions += some.transactions;
        sum.halves += some.halves;
      }
    return sum;
  }
};

/// Reads every launch's op streams and keeps what they amount to.
class ProfileSink final : public StreamReader {
 public:
  std::vector<LaunchProfile> profiles;

  void submit(std::shared_ptr<trace::KernelStream> stream, const LaunchRecord& record) override {
    LaunchProfile& out = profiles.emplace_back();
    out.name = record.name;
    out.blocks = stream->shape().grid.count();
    out.block = stream->shape().block;
    out.warp_instructions = record.warp_instructions;
    touched_.clear();
    read(
        *stream,
        [&](trace::Record one, const trace::StaticInst& inst,
            std::span<const std::uint32_t> transactions) {
          note(out, stream->code().opcode_names[inst.opcode], one, inst, transactions);
        },
        [] {});
    for (const auto& [line, mask] : touched_) out.words += std::popcount(mask);
  }

 private:
  void note(LaunchProfile& out, const std::string& opcode, trace::Record record,
            const trace::StaticInst& inst, std::span<const std::uint32_t> transactions) {
    if (inst.kind == trace::OpKind::Barrier) ++out.barriers;
    if (inst.op_class == trace::OpClass::Memory && record.transactions() != 0) {
      Accesses& some = out.accesses[opcode];
      ++some.count;
      some.transactions += record.transactions();
    }
    for (std::size_t i = 0; i < transactions.size(); i += trace::kTransactionWords) {
      touched_[transactions[i]] |= transactions[i + 1];
      out.accesses[opcode].halves +=
          ((transactions[i + 1] & 0xffff) != 0) + (transactions[i + 1] >> 16 != 0);
    }
  }

  std::unordered_map<std::uint32_t, std::uint32_t> touched_;  // words of each line
};

inline std::vector<LaunchProfile> profile(std::string_view name, const Parameters& parameters) {
  auto workload = make_workload(name, parameters);
  ProfileSink sink;
  SimulatedDeviceOptions options;
  options.sink = &sink;
  SimulatedDevice device(std::move(options));
  workload->run(device, 1);
  EXPECT_EQ(workload->check(), "");
  return sink.profiles;
}

}  // namespace raddle::runtime
