// Set-ups: machines by name and file, policies and run settings from one document.
#include "raddle/sim/setup/setup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuple>

#include "raddle/base/files.h"
#include "support/errors.h"

#include "raddle/sim/setup/gpus.h"

namespace raddle::sim::setup_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

Setup read(config::Tree tree) { return read_setup(tree, policy::all_policies()); }

TEST(MachineSetup, EveryShippedMachineIsSound) {
  const auto gpus = embedded_gpus();
  EXPECT_GE(gpus.size(), 8u);
  for (const EmbeddedToml& gpu : gpus) {
    SCOPED_TRACE(std::string(gpu.name));
    const sim::Setup setup = read(load_gpu(std::string(gpu.name)));
    EXPECT_EQ(setup.machine.name, gpu.name);
    EXPECT_FALSE(setup.machine.source.empty());
  }
}

TEST(MachineSetup, UnknownMachineNamesTheKnown) {
  const std::string error = test::input_error_of([] { load_gpu("v1000"); });
  EXPECT_THAT(error, HasSubstr("no GPU is called 'v1000'"));
  EXPECT_THAT(error, HasSubstr(" v100"));
}

/// A machine file in a folder of its own.
class Extending : public testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& text) const {
    const std::string file = (folder_.path() / name).string();
    write_file(file, text);
    return file;
  }
  TemporaryFolder folder_{"raddle-extends"};
};

TEST_F(Extending, AMachineHasTheRestFromWhatItExtends) {
  const std::string file = write("mine.toml",
                                 "extends = \"h200\"\nname = \"mine\"\nsource = \"test\"\n"
                                 "[l2]\nslices = 188\n");
  const auto mine = read(load_gpu(file)), base = read(load_gpu("h200"));
  EXPECT_EQ(mine.machine.name, "mine");
  EXPECT_EQ(mine.machine.l2.slices, 188u);
  EXPECT_EQ(mine.machine.sm.count, base.machine.sm.count);
  EXPECT_NE(mine.machine.sm.l1d.unified_kib, 0u);
  EXPECT_EQ(mine.isa.order, lowering::Order::Assembler);
  // Another in turn, by a path from its own folder.
  const std::string other =
      write("other.toml", "extends = \"mine.toml\"\nname = \"other\"\n[sm]\ncount = 2\n");
  const auto last = read(load_gpu(other));
  EXPECT_EQ(last.machine.sm.count, 2u);
  EXPECT_EQ(last.machine.l2.slices, 188u);
  EXPECT_EQ(load_gpu_with_bases(other).names, (std::vector<std::string>{other, file, "h200"}));
}

// As with --set: a size of its own is the size, and PTX as it is written has no assembler's order.
TEST_F(Extending, WhatItSaysTakesAlongWhatTheOtherSaysOfIt) {
  const std::string name = "extends = \"h200\"\nname = \"mine\"\n";
  const auto sized = read(load_gpu(write("sized.toml", name + "[sm.l1d]\nsize_kib = 62\n")));
  EXPECT_EQ(sized.machine.sm.l1d.unified_kib, 0u);
  EXPECT_EQ(sized.machine.sm.l1d.size_kib, 62u);
  const auto plain = read(load_gpu(write("plain.toml", name + "[isa]\nlowering = \"ptx\"\n")));
  EXPECT_EQ(plain.isa.order, lowering::Order::AsWritten);
  // --set over both.
  config::Tree tree = load_gpu(write("set.toml", name));
  tree.set_option("sm.l1d.size_kib=62", "--set");
  EXPECT_EQ(read(tree).machine.sm.l1d.unified_kib, 0u);
}

TEST_F(Extending, APolicyIsReplacedWithItsParameters) {
  const std::string base = write("base.toml",
                                 "extends = \"gtx480\"\nname = \"base\"\n[policy.warp]\nname = "
                                 "\"two_level\"\ngroup_size = 4\n");
  ASSERT_EQ(read(load_gpu(base)).warp->name(), "two_level");
  const std::string mine = write(
      "mine.toml", "extends = \"base.toml\"\nname = \"mine\"\n[policy.warp]\nname = \"gto\"\n");
  EXPECT_EQ(read(load_gpu(mine)).warp->name(), "gto");
}

TEST_F(Extending, WhatIsWrongIsToldWithItsPlace) {
  const auto error = [&](const std::string& text) {
    const std::string file = write("mine.toml", text);
    return test::input_error_of([&] { load_gpu(file); });
  };
  EXPECT_THAT(error("extends = \"v1000\"\n"),
              AllOf(HasSubstr("mine.toml:1:"), HasSubstr("no GPU is called 'v1000'")));
  EXPECT_THAT(error("extends = 3\n"), HasSubstr("expected the name of a machine or a file"));
  EXPECT_THAT(error("extends = \"mine.toml\"\n"), HasSubstr("extends this machine in turn"));
  EXPECT_THAT(error("extends = \"none.toml\"\n"), HasSubstr("none.toml"));
}

// A machine whose L1D is what shared memory leaves has one of a given size when that is said, and
// PTX instructions in PTX's order.
TEST(MachineSetup, WhatIsSetTakesAlongWhatTheMachineSaysOfIt) {
  const auto h200 = [](std::vector<std::string> set) {
    config::Tree tree = load_gpu("h200");
    for (const std::string& text : set) tree.set_option(text, "--set " + text);
    return read(tree);
  };
  const auto plain = h200({});
  ASSERT_NE(plain.machine.sm.l1d.unified_kib, 0u);
  ASSERT_EQ(plain.isa.order, lowering::Order::Assembler);
  const auto sized = h200({"sm.l1d.size_kib=62"});
  EXPECT_EQ(sized.machine.sm.l1d.unified_kib, 0u);
  EXPECT_EQ(sized.machine.sm.l1d.size_kib, 62u);
  EXPECT_EQ(sized.isa.order, lowering::Order::Assembler);
  const auto both = h200({"sm.l1d.size_kib=62", "sm.l1d.unified_kib=256"});
  EXPECT_EQ(both.machine.sm.l1d.unified_kib, 256u);
  EXPECT_EQ(h200({"isa.lowering=ptx"}).isa.order, lowering::Order::AsWritten);
  EXPECT_THROW(h200({"isa.lowering=ptx", "isa.order=assembler"}), InputError);
  // A result's own settings are all from one place.
  const auto again = read(config::Tree::from_json(h200({}).config().dump(), "r.json"));
  EXPECT_EQ(again.machine.sm.l1d.unified_kib, plain.machine.sm.l1d.unified_kib);
}

// Files of before know no shuffles, barriers and BSYNCs: they cost what they did.
TEST(MachineSetup, ClassesThatWereSplitCostWhatTheirWholeDoes) {
  const auto cost = [](const sim::Setup& s, trace::OpClass c) {
    const timing::OpCost& cost = s.machine.sm.cost[static_cast<std::size_t>(c)];
    return std::tuple(cost.unit, cost.latency, cost.interval);
  };
  using trace::OpClass;
  const auto gtx480 = read(load_gpu("gtx480"));
  EXPECT_EQ(cost(gtx480, OpClass::Shuffle), cost(gtx480, OpClass::Sfu));
  EXPECT_EQ(cost(gtx480, OpClass::Barrier), cost(gtx480, OpClass::Control));
  EXPECT_EQ(cost(gtx480, OpClass::Converge), cost(gtx480, OpClass::Control));
  config::Tree tree = load_gpu("gtx480");
  tree.set_option("sm.cost.barrier.latency=21", "--set");
  const auto control = cost(gtx480, OpClass::Control);
  EXPECT_EQ(cost(read(tree), OpClass::Barrier),
            std::tuple(std::get<0>(control), 21u, std::get<2>(control)));
  tree.set_option("energy.lane_pj.sfu=77", "--set");
  EXPECT_EQ(read(tree).energy.lane[static_cast<std::size_t>(OpClass::Shuffle)].picojoule(), 77);
  const auto v100 = read(load_gpu("v100"));
  EXPECT_NE(cost(v100, OpClass::Barrier), cost(v100, OpClass::Control));
}

TEST(MachineSetup, MissingFileIsNamed) {
  EXPECT_THAT(test::input_error_of([] { load_gpu("no/such.toml"); }), HasSubstr("no/such.toml"));
}

TEST(MachineSetup, PoliciesAndTheirParametersAreRead) {
  config::Tree tree = load_gpu("gtx480");
  tree.set_policy("warp=two_level:group_size=4", "--policy");
  tree.set("run.seed", "9", "--seed");
  sim::Setup setup = read(tree);
  EXPECT_EQ(setup.warp->name(), "two_level");
  EXPECT_EQ(setup.config()["policy"]["warp"]["group_size"], 4);
  EXPECT_EQ(setup.run.seed, 9u);
}

TEST(MachineSetup, UnknownPolicyAndParameterAreErrorsWithTheirOrigin) {
  config::Tree tree = load_gpu("gtx480");
  tree.set_policy("warp=gtoo", "--policy warp=gtoo");
  EXPECT_THAT(
      test::input_error_of([&] { read(tree); }),
      testing::AllOf(HasSubstr("--policy warp=gtoo"), HasSubstr("gtoo"), HasSubstr("known: ")));
  config::Tree other = load_gpu("gtx480");
  other.set_policy("warp=gto:streak=3", "--policy warp=gto:streak=3");
  EXPECT_THAT(test::input_error_of([&] { read(other); }), HasSubstr("streak"));
}

TEST(MachineSetup, AllErrorsAreReportedAtOnce) {
  config::Tree tree = load_gpu("gtx480");
  tree.set("sm.warps", "0", "a");
  tree.set("sm.nonsense", "1", "b");
  tree.set("policy.dram.name", "none", "c");
  const std::string error = test::input_error_of([&] { read(tree); });
  for (const char* part : {"sm.warps", "nonsense", "none"}) EXPECT_THAT(error, HasSubstr(part));
}

TEST(MachineSetup, ContradictionsAreErrors) {
  config::Tree tree = load_gpu("gtx480");
  tree.set("sm.schedulers", "5", "--set sm.schedulers=5");
  EXPECT_FALSE(test::input_error_of([&] { read(tree); }).empty());
}

/// What is said of `--policy throttle=<text>` on a machine.
std::string throttle_error(const std::string& text, const char* gpu = "ccws",
                           const char* set = nullptr) {
  config::Tree tree = load_gpu(gpu);
  tree.set_policy("throttle=" + text, "--policy throttle=" + text);
  if (set != nullptr) tree.set_option(set, "--set " + std::string(set));
  return test::input_error_of([&] { read(tree); });
}

TEST(ThrottleSetup, EveryNumberHasItsBounds) {
  for (const auto& [text, low, high] : {std::tuple{"swl:limit=0", "1", "64"},
                                        {"swl:limit=65", "1", "64"},
                                        {"ccws:k=0", "1", "1024"},
                                        {"ccws:k=1025", "1", "1024"},
                                        {"ccws:base=0", "1", "10000"},
                                        {"ccws:base=10001", "1", "10000"},
                                        {"ccws:vta_entries=0", "1", "1024"},
                                        {"ccws:vta_entries=1025", "1", "1024"},
                                        {"ccws:vta_ways=0", "1", "64"},
                                        {"ccws:vta_ways=65", "1", "64"},
                                        {"ccws:eval_period=0", "1", "4096"},
                                        {"ccws:eval_period=4097", "1", "4096"},
                                        {"ccws:lls_bits=33", "0", "32"}}) {
    const std::string name = text, key = name.substr(name.find(':') + 1);
    const std::size_t equal = key.find('=');
    EXPECT_THAT(throttle_error(text),
                testing::AllOf(HasSubstr("--policy throttle=" + name),
                               HasSubstr("policy.throttle." + key.substr(0, equal)), HasSubstr(low),
                               HasSubstr(high), HasSubstr(key.substr(equal + 1))))
        << text;
  }
}

TEST(ThrottleSetup, WrongTypesNamesAndKeysAreErrors) {
  for (const char* text :
       {"swl:limit=many", "swl:limit=2.5", "swl:limit=-1", "ccws:k=true", "ccws:totals=all",
        "ccws:flush_at_kernel=2", "ccws:limit=3", "none:limit=3", "swl:k=8", "ccsw"})
    EXPECT_THAT(throttle_error(text), HasSubstr(std::string("--policy throttle=") + text)) << text;
  EXPECT_THAT(throttle_error("ccws:totals=all"), HasSubstr("resident"));
  EXPECT_THAT(throttle_error("ccsw"), HasSubstr("known: ccws dyncta mil none swl"));
}

TEST(ThrottleSetup, WhatMakesNoSenseIsRefusedWithAReason) {
  EXPECT_THAT(throttle_error("swl:limit=33"),
              HasSubstr("policy.throttle.limit must not exceed sm.warps (policy.throttle.limit is "
                        "33, sm.warps is 32)"));
  EXPECT_THAT(throttle_error("ccws:vta_entries=12"),
              HasSubstr("policy.throttle.vta_ways must divide policy.throttle.vta_entries "
                        "(policy.throttle.vta_entries is 12, policy.throttle.vta_ways is 8)"));
  EXPECT_THAT(throttle_error("ccws:lls_bits=6"),
              HasSubstr("scores of policy.throttle.lls_bits must reach above "
                        "policy.throttle.base (policy.throttle.lls_bits is 6, "
                        "policy.throttle.base is 100)"));
  EXPECT_THAT(throttle_error("ccws", "ccws", "sm.l1d.size_kib=0"),
              HasSubstr("\"ccws\" learns from the L1D: sm.l1d.size_kib must not be 0"));
}

TEST(ThrottleSetup, WhatMakesSenseIsNot) {
  for (const char* text :
       {"none", "swl", "swl:limit=32", "swl:limit=1", "ccws", "ccws:k=1024", "ccws:vta_entries=1",
        "ccws:vta_entries=4", "ccws:vta_entries=512", "ccws:vta_entries=12,vta_ways=3",
        "ccws:lls_bits=10", "ccws:lls_bits=7", "ccws:eval_period=4096", "ccws:totals=run"})
    EXPECT_EQ(throttle_error(text), "no error") << text;
  EXPECT_EQ(throttle_error("swl:limit=33", "v100"), "no error");
  EXPECT_EQ(throttle_error("swl", "ccws", "sm.l1d.size_kib=0"), "no error");
}

TEST(MachineSetup, FixedMemoryTakesNoOtherOrderThanThatOfArrival) {
  config::Tree tree = load_gpu("gtx480");
  tree.set("dram.model", "\"fixed\"", "--set");
  EXPECT_THAT(test::input_error_of([&] { read(tree); }), HasSubstr("policy.dram.name must be"));
  tree.set("policy.dram.name", "\"fcfs\"", "--set");
  EXPECT_EQ(test::input_error_of([&] { read(tree); }), "no error");
}

TEST(MachineSetup, ResolvedConfigurationReadsBackToItself) {
  for (const EmbeddedToml& gpu : embedded_gpus()) {
    sim::Setup first = read(load_gpu(std::string(gpu.name)));
    sim::Setup second = read(config::Tree::from_json(first.config().dump(), "resolved"));
    EXPECT_EQ(first.config(), second.config()) << gpu.name;
  }
}

// --- dispatch policies --------------------------------------------------------------------------

/// One that decides alone; it never runs here.
struct Alone final : policy::DispatchPolicy {
  using Params = policy::NoParams;
  Alone(const Params&, const Context&) {}
  std::optional<policy::BlockDispatch> pick(const policy::DispatchView&) override { return {}; }
};

Setup read_with_alone(std::initializer_list<const char*> chosen) {
  policy::Registries all = policy::all_policies();
  all.dispatch.add<Alone>("alone", "a policy of this test");
  config::Tree tree = load_gpu("v100");
  for (const char* policy : chosen) tree.set_policy(policy, std::string("--policy ") + policy);
  return read_setup(tree, all);
}

TEST(DispatchSetup, TwoStepIsTheDefaultAndStandsNowhere) {
  EXPECT_FALSE(read(load_gpu("v100")).config()["policy"].contains("dispatch"));
  EXPECT_EQ(read_with_alone({"dispatch=two_step"}).config(), read(load_gpu("v100")).config());
}

TEST(DispatchSetup, AnotherOneStandsInPlaceOfKernelAndBlock) {
  const auto policies = read_with_alone({"dispatch=alone"}).config()["policy"];
  EXPECT_EQ(policies["dispatch"]["name"], "alone");
  EXPECT_FALSE(policies.contains("kernel"));
  EXPECT_FALSE(policies.contains("block"));
  EXPECT_TRUE(policies.contains("warp"));
}

TEST(DispatchSetup, AKernelOrBlockPolicyBesideAnotherOneIsRefused) {
  const std::string error = test::input_error_of([] {
    read_with_alone({"dispatch=alone", "block=steal", "kernel=rr"});
  });
  EXPECT_THAT(error, HasSubstr("policy.dispatch.name = \"alone\" decides what level block would"));
  EXPECT_THAT(error, HasSubstr("policy.block.name = \"steal\" would have no effect"));
  EXPECT_THAT(error, HasSubstr("policy.kernel.name = \"rr\" would have no effect"));
  read_with_alone({"dispatch=two_step", "block=steal", "kernel=rr"});
}

}  // namespace
}  // namespace raddle::sim::setup_test
