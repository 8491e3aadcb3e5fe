// A sink of launches that reads their op streams as they come, and lets no time pass.
#pragma once
#include <cstdint>
#include <span>

#include "raddle/runtime/launch_sink.h"
#include "raddle/trace/stream.h"

namespace raddle::runtime {

class StreamReader : public LaunchSink {
 public:
  void admit(const trace::KernelCode&, const trace::LaunchShape&) override {}
  Milestone record(StreamId) override { return milestones_++; }
  void wait(StreamId, Milestone) override {}
  void synchronize() override {}
  void synchronize(Milestone) override {}
  Cycle reached(Milestone) const override { return {}; }
  double milliseconds(Cycle) const override { return 0; }

 protected:
  /// f(record, instruction, its pieces) of each record, end() after each warp.
  template <class F, class End>
  static void read(trace::KernelStream& stream, F f, End end) {
    const auto blocks = static_cast<std::uint32_t>(stream.shape().grid.count());
    for (std::uint32_t block = 0; block < blocks; ++block) {
      for (unsigned warp = 0; warp < stream.shape().warps_per_block(); ++warp) {
        trace::WarpCursor cursor = stream.open(block, warp);
        do read(cursor, stream.code(), f);
        while (stream.refill(cursor));
        end();
      }
      stream.close(block);
    }
  }

 private:
  template <class F>
  static void read(const trace::WarpCursor& cursor, const trace::KernelCode& code, F& f) {
    for (const std::uint32_t* at = cursor.at; at != cursor.end;) {
      const trace::Record record{at[0], at[1]};
      const trace::StaticInst& inst = code.instructions[record.inst()];
      at += trace::kRecordWords;
      const std::size_t words = carries_transactions(inst.kind)
                                    ? record.transactions() * std::size_t{trace::kTransactionWords}
                                    : 0;
      f(record, inst, std::span(at, words));
      at += words;
    }
  }
  Milestone milestones_ = 0;
};

}  // namespace raddle::runtime
