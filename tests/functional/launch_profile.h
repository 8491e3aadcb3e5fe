// What each launch of a workload touches: blocks, distinct words, lines per access.
#pragma once
#include <bit>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "functional/workload_support.h"
#include "raddle/runtime/launch_sink.h"

namespace raddle::runtime {

struct Accesses {
  std::uint64_t count = 0, pieces = 0;  ///< warp accesses; lines they touch, or bank passes
  std::uint64_t halves = 0;             ///< of global memory: lines of 64 bytes
  double pieces_each() const { return static_cast<double>(pieces) / static_cast<double>(count); }
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
        sum.count += some.count, sum.pieces += some.pieces;
        sum.halves += some.halves;
      }
    return sum;
  }
};

/// Reads every launch's op streams and keeps what they amount to.
class ProfileSink final : public LaunchSink {
 public:
  std::vector<LaunchProfile> profiles;

  void admit(const trace::KernelCode&, const trace::LaunchShape&) override {}
  void submit(std::shared_ptr<trace::KernelStream> stream, const LaunchRecord& record) override {
    profile_ = {};
    profile_.name = record.name;
    profile_.blocks = stream->shape().grid.count();
    profile_.block = stream->shape().block;
    profile_.warp_instructions = record.warp_instructions;
    touched_.clear();
    for (std::uint32_t block = 0; block < profile_.blocks; ++block) {
      for (unsigned warp = 0; warp < stream->shape().warps_per_block(); ++warp) {
        trace::WarpCursor cursor = stream->open(block, warp);
        do read(cursor, stream->code());
        while (stream->refill(cursor));
      }
      stream->close(block);
    }
    for (const auto& [line, mask] : touched_) profile_.words += std::popcount(mask);
    profiles.push_back(profile_);
  }
  Mark record(StreamId) override { return marks_++; }
  void wait(StreamId, Mark) override {}
  void synchronize() override {}
  void synchronize(Mark) override {}
  Cycle reached(Mark) const override { return {}; }
  double milliseconds(Cycle) const override { return 0; }

 private:
  void read(trace::WarpCursor cursor, const trace::KernelCode& code) {
    for (const std::uint32_t* at = cursor.at; at != cursor.end;) {
      const trace::Record record{at[0], at[1]};
      const trace::StaticInst& inst = code.instructions[record.inst()];
      at += trace::kRecordWords;
      if (inst.kind == trace::OpKind::Barrier) ++profile_.barriers;
      if (inst.op_class == trace::OpClass::Memory && record.pieces() != 0) {
        Accesses& some = profile_.accesses[code.opcode_names[inst.opcode]];
        ++some.count;
        some.pieces += record.pieces();
      }
      if (!carries_pieces(inst.kind)) continue;
      Accesses& some = profile_.accesses[code.opcode_names[inst.opcode]];
      for (unsigned i = 0; i < record.pieces(); ++i, at += trace::kPieceWords) {
        touched_[at[0]] |= at[1];
        some.halves += ((at[1] & 0xffff) != 0) + (at[1] >> 16 != 0);
      }
    }
  }

  LaunchProfile profile_;
  std::unordered_map<std::uint32_t, std::uint32_t> touched_;  // words of each line
  Mark marks_ = 0;
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
