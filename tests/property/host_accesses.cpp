// coherence.host on whole machines: what the host reads and writes between launches passes through
// the L2, and nothing of it where it is off.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "support/whole.h"

namespace raddle::host_accesses_test {
namespace {

using test::RunSpec;

constexpr std::uint64_t kBytes = 1 << 20;  // of each array; the L2 has 4 MiB

/// Copies an array, launch after launch; between launches the host reads or writes another one.
class Copier final : public runtime::Workload {
 public:
  enum class Between : std::uint8_t { Nothing, Reads, Inspects, Writes, WritesTheSame };
  Copier(Between between, std::uint64_t host_bytes) : between_(between), host_bytes_(host_bytes) {}
  void set_size(runtime::Size) override {}
  void visit(FieldVisitor&) override {}
  void run(runtime::Device& device, std::uint64_t) override {
    const auto module = device.load(R"(
      .version 7.0
      .target sm_70
      .address_size 64
      .visible .entry copy(.param .u64 from, .param .u64 to) {
        .reg .b32 %r<6>;
        .reg .b64 %rd<6>;
        ld.param.u64 %rd1, [from];
        ld.param.u64 %rd2, [to];
        mov.u32 %r1, %tid.x;
        mov.u32 %r2, %ctaid.x;
        mov.u32 %r3, %ntid.x;
        mad.lo.u32 %r4, %r2, %r3, %r1;
        mul.wide.u32 %rd3, %r4, 4;
        add.s64 %rd4, %rd1, %rd3;
        add.s64 %rd5, %rd2, %rd3;
        ld.global.u32 %r5, [%rd4];
        st.global.u32 [%rd5], %r5;
        ret;
      })",
                                    "copy.ptx");
    const Address from = device.upload(std::vector<std::uint32_t>(kBytes / 4, 1));
    const Address to = device.allocate(kBytes);
    std::vector<std::uint32_t> values(host_bytes_ / 4, 3);
    const Address other = device.upload(values);
    for (unsigned launch = 0; launch < 3; ++launch) {
      if (launch != 0) host(device, other, values);
      device.launch(device.kernel(module, "copy"), {kBytes / 4 / 256}, {256},
                    runtime::Arguments(from, to));
    }
  }
  std::string check() override { return ""; }
  std::uint64_t input_hash() const override { return 0; }

 private:
  void host(runtime::Device& device, Address other, std::vector<std::uint32_t>& values) {
    if (between_ == Between::Writes) values[0] += 1;
    if (between_ == Between::Reads) device.copy_to_host(values.data(), other, host_bytes_);
    else if (between_ == Between::Inspects) device.inspect(values.data(), other, host_bytes_);
    else if (between_ != Between::Nothing) device.copy_to_device(other, values.data(), host_bytes_);
  }

  Between between_;
  std::uint64_t host_bytes_;
};

using Between = Copier::Between;
constexpr std::uint64_t kMore = 4 << 20;  // than is left of the L2

sim::Result copied(Between between, std::uint64_t host_bytes, std::vector<std::string> policy,
                   sim::Options options = {}) {
  Copier copier(between, host_bytes);
  return test::run_on(copier, "copier", {"ikra", {}, std::move(policy), options});
}

std::uint64_t count(const sim::Result& r, const char* name) {
  return r.policies["coherence"]["statistics"][name].get<std::uint64_t>();
}

TEST(HostAccesses, PushTheDeviceOutOfTheL2) {
  // Nothing that is only read stays in an L1.
  const sim::Result alone = copied(Between::Nothing, kMore, {"coherence=denovo:host=true"}),
                    reads = copied(Between::Reads, kMore, {"coherence=denovo:host=true"});
  EXPECT_EQ(alone.totals.dram.reads, kBytes / 64) << "first touches alone";
  EXPECT_EQ(count(alone, "host_reads"), 0u);
  EXPECT_EQ(count(reads, "host_reads"), 2 * kMore / 64);
  EXPECT_EQ(reads.totals.dram.reads, 3 * kBytes / 64) << "each launch reads its array anew";
  EXPECT_GT(count(reads, "host_evictions"), kBytes / 64);
  EXPECT_GT(reads.cycles, alone.cycles);
}

TEST(HostAccesses, ThatFitPushNothingOutAndAreFetchedOnce) {
  const sim::Result reads = copied(Between::Reads, kBytes, {});
  EXPECT_EQ(reads.totals.dram.reads, kBytes / 64);
  EXPECT_EQ(count(reads, "host_fetches"), kBytes / 64);
  EXPECT_EQ(count(reads, "host_evictions"), 0u);
}

TEST(HostAccesses, AreThoseOfTheProgramNotOfItsCheck) {
  EXPECT_EQ(count(copied(Between::Inspects, kMore, {}), "host_reads"), 0u);
  EXPECT_GT(count(copied(Between::Writes, kMore, {}), "host_writes"), 0u);
  EXPECT_EQ(count(copied(Between::WritesTheSame, kMore, {}), "host_writes"), 0u)
      << "data that stay where they are in a memory that is shared";
}

TEST(HostAccesses, MoveNothingWhereTheyAreOff) {
  for (const char* off : {"coherence=denovo:host=false", "coherence=gpu"}) {
    const auto hash = [&](Between between) {
      return test::state_hash(copied(between, kMore, {off}));
    };
    EXPECT_EQ(hash(Between::Reads), hash(Between::Nothing)) << off;
  }
}

TEST(HostAccesses, PassThroughTheL2UnderGpuCoherenceToo) {
  const auto reads_of_dram = [](Between between, std::uint64_t bytes) {
    return copied(between, bytes, {"coherence=gpu_one_memory"}).totals.dram.reads;
  };
  EXPECT_EQ(reads_of_dram(Between::Nothing, kMore), kBytes / 64);
  EXPECT_EQ(reads_of_dram(Between::Reads, kMore), 3 * kBytes / 64);
  EXPECT_EQ(reads_of_dram(Between::Reads, kBytes), kBytes / 64);
}

TEST(HostAccesses, AreTheSameUnderEveryHostChoiceAndReplayed) {
  const auto hash = [](sim::Options options) {
    return test::state_hash(copied(Between::Reads, kMore, {"block=flip"}, options));
  };
  sim::Options options;
  const std::string first = hash(options);
  options.audit = true;
  options.skip = false;
  EXPECT_EQ(first, hash(options)) << "no skip";
  options.skip = true;
  options.shuffle = true;
  EXPECT_EQ(first, hash(options)) << "shuffled";
  options.shuffle = false;
  options.threads = 2;
  EXPECT_EQ(first, hash(options)) << "two threads";

  const auto path =
      std::filesystem::temp_directory_path() / ("raddle_host_" + std::to_string(getpid()) + ".rdl");
  Copier copier(Between::Reads, kMore);
  const RunSpec spec{"ikra", {}, {"block=flip"}};
  sim::Setup setup = test::make_setup(spec);
  sim::record(copier, {"copier", {}}, setup, {}, path.string());
  {
    const trace::FileReader file(path.string());
    std::vector<sim::Setup> setups;
    setups.push_back(test::make_setup(spec));
    EXPECT_EQ(first, test::state_hash(sim::replay(file, setups, {}).front()));
  }
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace raddle::host_accesses_test
