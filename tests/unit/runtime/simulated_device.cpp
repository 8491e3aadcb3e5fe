// The simulated device as host code sees it: memory, modules, launches and every refusal.
#include "raddle/runtime/simulated_device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <utility>

#include "raddle/base/error.h"

namespace raddle::runtime::simulated_device_test {
namespace {

using testing::HasSubstr;

// out[i] = a * i + in[i], one thread per element.
constexpr const char* kAxpy = R"(.version 7.0
.target sm_70
.address_size 64
.global .align 4 .u32 total = 5;
.visible .entry axpy(.param .u64 out, .param .u64 in, .param .u32 a)
{
  .reg .b32 %r<8>;
  .reg .b64 %d<8>;
  ld.param.u64 %d1, [out];
  ld.param.u64 %d2, [in];
  ld.param.u32 %r1, [a];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.s32 %r5, %r2, %r3, %r4;
  mul.wide.u32 %d3, %r5, 4;
  add.s64 %d4, %d2, %d3;
  ld.global.u32 %r6, [%d4];
  mad.lo.s32 %r7, %r1, %r5, %r6;
  add.s64 %d5, %d1, %d3;
  st.global.u32 [%d5], %r7;
  ret;
}
.visible .entry only64() .reqntid 64 { ret; }
.visible .entry upto96() .maxntid 96 { ret; }
)";

template <class F>
std::string error_of(F f) {
  try {
    f();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

class DeviceTest : public testing::Test {
 protected:
  SimulatedDevice device{[] {
    SimulatedDeviceOptions options;
    options.memory_bytes = 1 << 20;
    return options;
  }()};
  ModuleId module = device.load(kAxpy, "axpy.ptx");
};

TEST_F(DeviceTest, RunsAKernel) {
  std::vector<std::uint32_t> in(100);
  for (std::uint32_t i = 0; i < 100; ++i) in[i] = 1000 + i;
  const Address from = device.upload(in), to = device.allocate(400);
  device.launch(device.kernel(module, "axpy"), {5}, {20}, Arguments(to, from, std::uint32_t{3}), 0,
                kDefaultStream);
  const auto out = device.download<std::uint32_t>(to, 100);
  for (std::uint32_t i = 0; i < 100; ++i) EXPECT_EQ(out[i], 3 * i + in[i]);
  ASSERT_EQ(device.launches().size(), 1u);
  EXPECT_EQ(device.launches()[0].warp_instructions, 5u * 14u);
  EXPECT_EQ(device.launches()[0].thread_instructions, 100u * 14u);
}

TEST_F(DeviceTest, CopiesAndSets) {
  const Address a = device.allocate(64), b = device.allocate(64);
  device.set(a, 0xab, 64);
  device.copy_on_device(b, a, 64);
  EXPECT_EQ(device.download<std::uint8_t>(b, 64), std::vector<std::uint8_t>(64, 0xab));
  device.copy_to_host(nullptr, a, 0);
}

TEST_F(DeviceTest, RefusesCopiesOutsideAllocations) {
  const Address a = device.allocate(64);
  EXPECT_THAT(error_of([&] { device.set(a, 0, 65); }), HasSubstr("memset of 65 bytes"));
  EXPECT_THAT(error_of([&] { device.copy_to_device(a + 60, &module, 8); }),
              HasSubstr("leaves its allocation"));
  EXPECT_THAT(error_of([&] { device.free(a + 4); }), HasSubstr("not the start of an allocation"));
  EXPECT_THAT(error_of([&] { device.allocate(2 << 20); }), HasSubstr("out of device memory"));
}

TEST_F(DeviceTest, FindsVariables) {
  EXPECT_EQ(device.download<std::uint32_t>(device.symbol(module, "total"), 1)[0], 5u);
  EXPECT_THAT(error_of([&] { device.symbol(module, "none"); }),
              HasSubstr("no variable is called 'none'"));
}

TEST_F(DeviceTest, RefusesUnknownKernelsNamingTheKnown) {
  const std::string error = error_of([&] { device.kernel(module, "axpi"); });
  EXPECT_THAT(error, HasSubstr("axpi"));
  EXPECT_THAT(error, HasSubstr("only64"));
}

TEST_F(DeviceTest, RefusesBadShapes) {
  const KernelId kernel = device.kernel(module, "axpy");
  const Arguments good(Address{0}, Address{0}, std::uint32_t{0});
  auto launch = [&](Dim3 grid, Dim3 block) {
    return error_of([&] { device.launch(kernel, grid, block, good, 0, kDefaultStream); });
  };
  EXPECT_THAT(launch({0}, {32}), HasSubstr("must not be empty"));
  EXPECT_THAT(launch({1}, {1025}), HasSubstr("1025 threads"));
  EXPECT_THAT(launch({1}, {1, 1, 65}), HasSubstr("64 in z"));
  EXPECT_THAT(launch({1, 70000}, {32}), HasSubstr("65535"));
  EXPECT_THAT(error_of([&] {
                device.launch(device.kernel(module, "only64"), {1}, {32}, Arguments(), 0,
                              kDefaultStream);
              }),
              HasSubstr(".reqntid"));
  EXPECT_THAT(error_of([&] {
                device.launch(device.kernel(module, "upto96"), {1}, {128}, Arguments(), 0,
                              kDefaultStream);
              }),
              HasSubstr(".maxntid"));
  EXPECT_THAT(error_of([&] { device.launch(kernel, {1}, {32}, good, 0, StreamId{3}); }),
              HasSubstr("stream 3"));
}

TEST_F(DeviceTest, RefusesArgumentsThatDoNotMatch) {
  const KernelId kernel = device.kernel(module, "axpy");
  EXPECT_THAT(error_of([&] { device.launch(kernel, {1}, {32}, Arguments(), 0, kDefaultStream); }),
              HasSubstr("takes 3 arguments, not 0"));
  EXPECT_THAT(error_of([&] {
                device.launch(kernel, {1}, {32},
                              Arguments(Address{0}, std::uint32_t{0}, std::uint32_t{0}), 0,
                              kDefaultStream);
              }),
              HasSubstr("argument 2 of kernel 'axpy' has 8 bytes, not 4"));
}

TEST_F(DeviceTest, EventsNeedToBeRecorded) {
  const EventId a = device.create_event(), b = device.create_event();
  device.record(a, kDefaultStream);
  EXPECT_THAT(error_of([&] { device.elapsed_ms(a, b); }), HasSubstr("never recorded"));
  EXPECT_THAT(error_of([&] { device.wait(kDefaultStream, b); }), HasSubstr("never recorded"));
  device.record(b, device.create_stream());
  EXPECT_EQ(device.elapsed_ms(a, b), 0);
}

TEST(ElapsedTime, WithoutTimingIsToldOnce) {
  std::vector<std::string> notes;
  SimulatedDeviceOptions options;
  options.memory_bytes = 1 << 20;
  options.max_per_ms = 2;
  options.note = [&](const std::string& text) { notes.push_back(text); };
  SimulatedDevice device(options);
  const ModuleId module = device.load(kAxpy, "axpy.ptx");
  const EventId a = device.create_event(), b = device.create_event();
  device.record(a, kDefaultStream);
  device.launch(device.kernel(module, "only64"), {1}, {64}, Arguments(), 0, kDefaultStream);
  device.record(b, kDefaultStream);
  EXPECT_TRUE(notes.empty());
  EXPECT_EQ(device.elapsed_ms(a, b), 1) << "two warps return";
  EXPECT_EQ(device.elapsed_ms(a, b), 1);
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_THAT(notes[0], HasSubstr("asks how long its kernels take"));
}

/// A sink that keeps nothing: counts how many blocks are under way at once.
class Streamed final : public LaunchSink, public trace::StreamWriter {
 public:
  void admit(const trace::KernelCode&, const trace::LaunchShape&) override {}
  trace::StreamWriter* writer(const trace::KernelCode&, const trace::LaunchShape&,
                              const LaunchRecord& launch) override {
    EXPECT_EQ(launch.warp_instructions, 0u) << "not known yet";
    ++begun;
    return this;
  }
  void written(const LaunchRecord& launch) override { done.push_back(launch); }
  void submit(std::shared_ptr<trace::KernelStream>, const LaunchRecord&) override {
    ADD_FAILURE() << "the launch was kept in memory";
  }
  Milestone record(StreamId) override { return 0; }
  void wait(StreamId, Milestone) override {}
  void synchronize() override {}
  void synchronize(Milestone) override {}
  Cycle reached(Milestone) const override { return 0; }
  double milliseconds(Cycle) const override { return 0; }

  Room grow(std::uint32_t block, unsigned, unsigned words) override {
    under_way.insert(block);
    maximum = std::max(maximum, under_way.size());
    space.resize(words);
    return {space.data(), space.data() + words};
  }
  void commit(std::uint32_t, unsigned, std::uint32_t* at) override { words += at - space.data(); }
  void finish(std::uint32_t block) override {
    under_way.erase(block);
    ++finished;
  }

  std::vector<LaunchRecord> done;
  std::set<std::uint32_t> under_way;
  std::size_t maximum = 0, finished = 0, begun = 0;
  std::ptrdiff_t words = 0;

 private:
  std::vector<std::uint32_t> space;
};

TEST(StreamedLaunch, LeavesBlockByBlock) {
  Streamed sink;
  SimulatedDeviceOptions options;
  options.sink = &sink;
  options.memory_bytes = 1 << 20;
  SimulatedDevice device(options);
  const ModuleId module = device.load(kAxpy, "axpy.ptx");
  const Address from = device.allocate(64 * 64 * 4), to = device.allocate(64 * 64 * 4);
  device.launch(device.kernel(module, "axpy"), {64}, {64}, Arguments(to, from, std::uint32_t{3}), 0,
                kDefaultStream);
  ASSERT_EQ(sink.done.size(), 1u);
  EXPECT_EQ(sink.done[0].warp_instructions, 64u * 2 * 14);
  EXPECT_EQ(sink.finished, 64u);
  EXPECT_LE(sink.maximum, 8u) << "blocks do not wait for one another: few are under way at once";
  EXPECT_GT(sink.words, 64 * 2 * 2 * 5) << "two memory records a warp at least";
}

TEST(StreamedLaunch, OfWhatIsRefusedNothingIsBegun) {
  Streamed sink;
  SimulatedDeviceOptions options;
  options.sink = &sink;
  options.memory_bytes = 1 << 20;
  SimulatedDevice device(options);
  const ModuleId module = device.load(kAxpy, "axpy.ptx");
  const KernelId kernel = device.kernel(module, "only64");
  using Options = SimulatedDevice::LaunchOptions;
  const auto refused = [&](const Options& launch) {
    return error_of([&] { device.launch(kernel, {6}, {64}, {}, launch); });
  };
  EXPECT_THAT(refused({.cluster = {4, 1, 1}}), HasSubstr("do not divide a grid of (6, 1, 1)"));
  EXPECT_THAT(refused({.cluster = {32, 1, 1}}), HasSubstr("the limit is 16"));
  EXPECT_THAT(refused({.dynamic_shared_bytes = 1 << 30}), HasSubstr("the limit is 232448"));
  EXPECT_EQ(sink.begun, 0u);
  device.launch(kernel, {6}, {64}, {}, Options{.cluster = {2, 1, 1}});
  EXPECT_EQ(sink.begun, 1u);
  EXPECT_EQ(sink.finished, 6u);
}

/// Keeps what is submitted until somebody waits for it, as a clock does.
class Deferred final : public LaunchSink {
 public:
  void allocated(const trace::AllocationChanges& changes) override { notified.push_back(changes); }
  void admit(const trace::KernelCode&, const trace::LaunchShape&) override {}
  void submit(std::shared_ptr<trace::KernelStream> stream, const LaunchRecord& record) override {
    pending_.push_back(std::move(stream));
    records.push_back(record);
  }
  Milestone record(StreamId) override { return 0; }
  void wait(StreamId, Milestone) override {}
  void synchronize() override {
    for (const auto& stream : std::exchange(pending_, {})) {
      ++run;
      for (unsigned w = 0; w < stream->shape().warps_per_block(); ++w) {
        trace::WarpCursor cursor = stream->open(0, w);
        while (stream->refill(cursor)) continue;
      }
      stream->close(0);
    }
  }
  void synchronize(Milestone) override { synchronize(); }
  Cycle reached(Milestone) const override { return 0; }
  double milliseconds(Cycle) const override { return 0; }
  unsigned run = 0;
  std::vector<trace::AllocationChanges> notified;
  std::vector<LaunchRecord> records;

 private:
  std::vector<std::shared_ptr<trace::KernelStream>> pending_;
};

TEST(Allocations, AreToldBeforeALaunchThatFindsOthers) {
  Deferred sink;
  SimulatedDeviceOptions options;
  options.memory_bytes = 1 << 20;
  options.sink = &sink;
  SimulatedDevice device(options);
  const ModuleId module = device.load(kAxpy, "axpy.ptx");
  const KernelId axpy = device.kernel(module, "axpy");
  const Address a = device.allocate(512), b = device.allocate(128);
  const trace::Allocation total{device.symbol(module, "total"), 4, "total"};
  const auto launch = [&](Address to, Address from) {
    device.launch(axpy, {1}, {32}, Arguments(to, from, std::uint32_t{1}), 0, kDefaultStream);
  };
  launch(b, a);
  launch(b, a + 128);
  ASSERT_EQ(sink.notified.size(), 1u) << "once for both";
  EXPECT_EQ(sink.notified[0],
            (trace::AllocationChanges{{}, {total, {a, 512, "", 1}, {b, 128, "", 2}}}));
  device.free(b);
  EXPECT_EQ(sink.notified.size(), 1u) << "no launch has found it so";
  launch(a + 256, a);
  ASSERT_EQ(sink.notified.size(), 2u);
  EXPECT_EQ(sink.notified[1], (trace::AllocationChanges{{b}, {}}));
  const auto& pointers = sink.records.at(1).pointers;
  ASSERT_EQ(pointers.size(), 2u) << "the third argument is a number";
  EXPECT_EQ(pointers[0].argument, 0u);
  EXPECT_EQ(pointers[0].at, b);
  EXPECT_EQ(pointers[1].argument, 1u);
  EXPECT_EQ(pointers[1].at, a + 128) << "into it, not to its start";
}

TEST(FirstLaunches, OfALiveDeviceRunBeforeThoseThatAreLeftOut) {
  Deferred sink;
  SimulatedDeviceOptions options;
  options.memory_bytes = 1 << 20;
  options.sink = &sink;
  options.live = true;
  options.first_launches = 1;
  SimulatedDevice device(options);
  const KernelId axpy = device.kernel(device.load(kAxpy, "axpy.ptx"), "axpy");
  const Address a = device.upload(std::vector<std::uint32_t>(32, 7)), b = device.allocate(128),
                c = device.allocate(128);
  device.launch(axpy, {1}, {32}, Arguments(b, a, std::uint32_t{1}), 0, kDefaultStream);
  EXPECT_EQ(sink.run, 0u);
  device.launch(axpy, {1}, {32}, Arguments(c, b, std::uint32_t{1}), 0, kDefaultStream);
  device.launch(axpy, {1}, {32}, Arguments(b, c, std::uint32_t{1}), 0, kDefaultStream);
  EXPECT_EQ(sink.run, 1u);
  EXPECT_EQ(device.launches_left_out(), 2u);
  const auto out = device.download<std::uint32_t>(b, 32);
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(out[i], 7 + 3 * i);
}

}  // namespace
}  // namespace raddle::runtime::simulated_device_test
