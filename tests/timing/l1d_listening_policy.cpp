// A warp policy that listens to its SM's L1D is told everything that is counted, under skipping and
// threads alike.
#include <gtest/gtest.h>

#include <map>

#include "support/gpu_harness.h"
#include "support/no_fields.h"
#include "support/random_kernel.h"

namespace raddle::l1d_listening_policy_test {
namespace {

using namespace raddle::support;

/// Issues the oldest ready warp and counts what the first scheduler's instance hears.
class Listener final : public policy::WarpPolicy, private policy::L1Observer {
 public:
  using Params = policy::NoParams;
  Listener(const Params&, const Context& c) : first_(c.scheduler == 0) {}
  unsigned pick(const policy::WarpView& view) override { return view.age.oldest(view.ready); }
  policy::L1Observer* l1_observer() override { return first_ ? this : nullptr; }
  void visit_statistics(FieldVisitor& v) override {
    v.field("hits", hits_, {}, "", "loads that hit");
    v.field("misses", misses_, {}, "", "loads that ask for sectors");
    v.field("evictions", evictions_, {}, "", "lines replaced");
    v.field("fills", fills_, {}, "", "requests that came back");
  }

 private:
  void access(const policy::L1Access& e) override {
    if (e.kind != policy::L1Kind::Load) return;
    hits_ += e.outcome == policy::L1Outcome::Hit;
    misses_ += e.outcome == policy::L1Outcome::Miss;
  }
  void evicted(const policy::L1Eviction& e) override {
    evictions_ += e.why == policy::L1Eviction::Why::Replaced;
  }
  void filled(const policy::L1Fill&) override { ++fills_; }
  bool first_;
  std::uint64_t hits_ = 0, misses_ = 0, evictions_ = 0, fills_ = 0;
};

/// What a policy's statistics say.
class Numbers final : public test::NoFields {
 public:
  void field(std::string_view name, std::uint64_t& value, Range<std::uint64_t>, std::string_view,
             std::string_view) override {
    number[std::string(name)] = value;
  }
  std::map<std::string, std::uint64_t> number;
};

TEST(L1dListeningPolicy, HearsWhatIsCounted) {
  policy::Registry<policy::WarpPolicy> registry;
  registry.add<Listener>("listener", "oldest first, with ears");
  const auto warp = registry.choose("listener");
  policy::Registries others = policy::all_policies();
  const auto kernel = others.kernel.choose("fcfs");
  const auto block = others.block.choose("rr");
  const auto dram = others.dram.choose("frfcfs");
  auto r = random_kernel(5);
  std::vector<std::uint64_t> hashes;
  for (bool skip : {true, false}) {
    timing::GpuOptions options;
    options.skip = skip;
    const timing::PolicyChoices choices = {
        .kernel = kernel.get(), .warp = warp.get(), .block = block.get(), .dram = dram.get()};
    timing::Gpu gpu(busy_machine(), choices, options);
    gpu.run(r->stream(), {r->code().name, StreamId{}, 0});
    Numbers heard;
    gpu.visit_policy_statistics("warp", heard);
    const stats::SmCounters c = gpu.counters().sm;
    EXPECT_GT(c.l1d_hits, 0u);
    EXPECT_EQ(heard.number["hits"], c.l1d_hits);
    EXPECT_EQ(heard.number["misses"], c.l1d_misses);
    EXPECT_EQ(heard.number["evictions"], c.l1d_evictions);
    EXPECT_EQ(heard.number["fills"], c.l1d_fills);
    hashes.push_back(gpu.hash());
  }
  EXPECT_EQ(hashes[0], hashes[1]);
}

}  // namespace
}  // namespace raddle::l1d_listening_policy_test
