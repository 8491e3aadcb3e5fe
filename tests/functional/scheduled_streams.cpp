// Op streams in the assembler's order, of all workloads: a block that a warp has executed as a
// whole is put out at once, and must come out as it does instruction by instruction.
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "functional/stream_reader.h"
#include "functional/workload_support.h"
#include "raddle/lowering/scheduled_stream.h"

namespace raddle::runtime::scheduled_streams_test {

namespace {

using Words = std::vector<std::uint32_t>;

/// Warps' records, in pieces of at most so many. With one at a time no block is at hand as a whole.
class Pieces final : public trace::KernelStream {
 public:
  Pieces(trace::KernelStream& of, const std::vector<Words>& warps, std::size_t records, bool keeps)
      : code_(of.code()), shape_(of.shape()), warps_(warps), records_(records), keeps_(keeps) {}
  const trace::KernelCode& code() const override { return code_; }
  const trace::LaunchShape& shape() const override { return shape_; }
  bool concurrent() const override { return false; }
  bool keeps() const override { return keeps_; }
  trace::WarpCursor open(std::uint32_t block, unsigned warp) override {
    const Words& words = warps_[block * std::size_t{shape_.warps_per_block()} + warp];
    trace::WarpCursor out;
    out.at = out.end = words.data();
    out.position = const_cast<Words*>(&words);
    refill(out);
    return out;
  }
  bool refill(trace::WarpCursor& cursor) override {
    const Words& words = *static_cast<const Words*>(cursor.position);
    const std::uint32_t* const end = words.data() + words.size();
    cursor.at = cursor.end;
    for (std::size_t n = 0; n < records_ && cursor.end != end; ++n) {
      const trace::Record record{cursor.end[0], cursor.end[1]};
      cursor.end += trace::kRecordWords;
      if (carries_transactions(code_.instructions[record.inst()].kind))
        cursor.end += record.transactions() * std::size_t{trace::kTransactionWords};
    }
    return cursor.at != cursor.end;
  }
  void close(std::uint32_t) override {}

 private:
  const trace::KernelCode& code_;
  trace::LaunchShape shape_;
  const std::vector<Words>& warps_;
  std::size_t records_;
  bool keeps_;
};

std::vector<Words> words_of(trace::KernelStream& stream) {
  std::vector<Words> out;
  const auto blocks = static_cast<std::uint32_t>(stream.shape().grid.count());
  for (std::uint32_t block = 0; block < blocks; ++block) {
    for (unsigned warp = 0; warp < stream.shape().warps_per_block(); ++warp) {
      Words& words = out.emplace_back();
      trace::WarpCursor cursor = stream.open(block, warp);
      do words.insert(words.end(), cursor.at, cursor.end);
      while (stream.refill(cursor));
    }
    stream.close(block);
  }
  return out;
}

class Orders final : public StreamReader {
 public:
  std::size_t scheduled = 0, differ = 0;
  std::string where;

  void submit(std::shared_ptr<trace::KernelStream> stream, const LaunchRecord& launch) override {
    const auto order = std::make_shared<const lowering::Schedule>(lowering::schedule(
        stream->code(), {lowering::Level::Machine, lowering::Generation::Volta}));
    const std::vector<Words> raw = words_of(*stream);
    if (order->is_identity) return;
    const auto put = [&](std::size_t records, bool keeps) {
      lowering::ScheduledStream out(std::make_shared<Pieces>(*stream, raw, records, keeps), order);
      return words_of(out);
    };
    const std::vector<Words> one_by_one = put(1, false);
    ++scheduled;
    for (const auto& [records, keeps] : {std::pair{std::size_t{1}, true}, {7, true}, {1000, false}})
      if (put(records, keeps) != one_by_one) {
        ++differ;
        where = launch.name;
      }
  }
  void submit_tree(const std::vector<LaunchedStream>& tree) override {
    for (const LaunchedStream& one : tree) submit(one.stream, one.record);
  }
};

class ScheduledStreams : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Tiny, ScheduledStreams, ::testing::ValuesIn(all_workloads().names()),
                         [](const auto& i) { return i.param; });

TEST_P(ScheduledStreams, AreTheSameBlockByBlockAndInstructionByInstruction) {
  auto made = make_workload(GetParam(), {});
  Orders sink;
  SimulatedDeviceOptions options;
  options.sink = &sink;
  SimulatedDevice device(options);
  made->run(device, 1);
  EXPECT_GT(sink.scheduled, 0u);
  EXPECT_EQ(sink.differ, 0u) << "kernel " << sink.where;
}

}  // namespace
}  // namespace raddle::runtime::scheduled_streams_test
