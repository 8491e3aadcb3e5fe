// What a user sees when a machine file or an option is wrong: file, line, key, what was expected
// and what was found; everything at once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "raddle/sim/setup/gpus.h"
#include "raddle/sim/setup/setup.h"
#include "raddle_paths.h"

namespace raddle::bad_machine_test {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

/// A file of that content, gone at the end of the test.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& content, const std::string& suffix = ".toml")
      : path_(testing::TempDir() + "raddle_bad_machine_" + std::to_string(::getpid()) + suffix) {
    std::ofstream(path_, std::ios::binary) << content;
  }
  ~TemporaryFile() { std::remove(path_.c_str()); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::string error_of_tree(const config::Tree& tree) {
  try {
    sim::read_setup(tree, policy::all_policies());
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

/// The error with the file's name cut to "FILE".
std::string error_of(const std::string& content, const std::string& suffix = ".toml") {
  const TemporaryFile file(content, suffix);
  std::string text = "no error";
  try {
    text = error_of_tree(sim::load_gpu(file.path()));
  } catch (const InputError& error) {
    text = error.what();
  }
  for (std::size_t at; (at = text.find(file.path())) != std::string::npos;)
    text.replace(at, file.path().size(), "FILE");
  return text;
}

std::string v100() {
  std::ifstream in(std::string(RADDLE_SOURCE_DIR) + "/gpus/v100.toml");
  return {std::istreambuf_iterator<char>(in), {}};
}

/// v100.toml with one line replaced, and the number of that line.
struct Changed {
  std::string text;
  std::size_t line = 0;
};
Changed change(const std::string& from, const std::string& to) {
  Changed c{v100(), 1};
  const std::size_t at = c.text.find("\n" + from) + 1;
  EXPECT_NE(at, std::string::npos + 1) << from;
  c.line += static_cast<std::size_t>(
      std::count(c.text.begin(), c.text.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
  c.text.replace(at, c.text.find('\n', at) - at, to);
  return c;
}

struct Case {
  const char* what;
  const char *from, *to;
  const char* expected;  ///< after "FILE:<line>:"
};
class OneLineWrong : public testing::TestWithParam<Case> {};

TEST_P(OneLineWrong, IsToldWithItsPlace) {
  const Changed c = change(GetParam().from, GetParam().to);
  const std::string error = error_of(c.text);
  EXPECT_THAT(error, StartsWith("FILE:" + std::to_string(c.line) + ":"));
  EXPECT_THAT(error, HasSubstr(GetParam().expected));
  EXPECT_EQ(error.find('\n'), std::string::npos) << "one mistake, one line";
}

INSTANTIATE_TEST_SUITE_P(
    All, OneLineWrong,
    testing::Values(
        Case{"unknown_key", "size_kib = 32", "size_kb = 32",
             "sm.l1d.size_kb: unknown key; did you mean 'size_kib'?"},
        Case{"unknown_table", "[noc]", "[nok]", "nok: unknown key; did you mean 'noc'?"},
        Case{"text_for_number", "count = 80", "count = \"80\"",
             "sm.count: expected a whole number from 1 to 512, found \"80\""},
        Case{"fraction_for_number", "count = 80", "count = 80.5",
             "sm.count: expected a whole number from 1 to 512, found 80.5"},
        Case{"number_for_text", "source = ", "source = 5",
             "source: expected a text in quotes, found 5"},
        Case{"number_for_flag", "reserve_on_miss = ", "reserve_on_miss = 0",
             "sm.l1d.reserve_on_miss: expected true or false, found 0"},
        Case{"list_for_number", "ways = 24", "ways = [24]",
             "l2.ways: expected a whole number from 1 to 256, found a list"},
        Case{"too_large", "schedulers = 4", "schedulers = 400",
             "sm.schedulers: expected a whole number from 1 to 4, found 400"},
        Case{"negative", "tCL = 12", "tCL = -12",
             "dram.tCL: expected a whole number from 1 to 1000 memory cycles, found -12"},
        Case{"out_of_range_with_unit", "core_clock_mhz = 1132", "core_clock_mhz = 0",
             "core_clock_mhz: expected a whole number from 100 to 10000 MHz, found 0"},
        Case{"no_entry", "entries = 32", "entries = 0",
             "kernels.entries: expected a whole number from 1 to 256, found 0"},
        Case{"too_many_entries", "entries = 32", "entries = 257",
             "kernels.entries: expected a whole number from 1 to 256, found 257"},
        Case{"unknown_choice", "write_policy = ", "write_policy = \"write_around\"",
             "sm.l1d.write_policy: expected one of \"write_through\" \"write_evict\" "
             "\"write_back\" \"write_validate\" \"write_through_validate\" "
             "\"write_back_around\", found \"write_around\""},
        Case{"unknown_unit",
             "int_mul = ", "int_mul = { unit = \"alu\", latency = 5, interval = 2 }",
             "sm.cost.int_mul.unit: expected one of \"int\" \"fp32\""},
        Case{"unknown_policy", "warp.name = ", "warp.name = \"gtoo\"",
             "policy.warp.name: no warp policy is called 'gtoo'; known: "},
        Case{"parameter_of_no_policy", "warp.name = ", "warp = { name = \"gto\", group_size = 4 }",
             "policy.warp.group_size: unknown key"},
        Case{"unknown_energy_table", "table = ", "table = \"v101\"",
             "energy.table: no energy table is called 'v101'; known: "},
        Case{"energy_below_zero", "table = ", "flit_hop_pj = -1",
             "energy.flit_hop_pj: expected a number from 0 to 1e+06 pJ, found -1"},
        Case{"unknown_generation", "generation = ", "generation = \"pascal\"",
             "isa.generation: expected one of \"fermi\" \"kepler\""},
        Case{"parameter_out_of_range",
             "warp.name = ", "warp = { name = \"two_level\", group_size = 0 }",
             "policy.warp.group_size: expected a whole number from 1 to 64 warps, found 0"},
        Case{"contradiction_of_sizes", "size_kib = 96", "size_kib = 97",
             "l2.size_kib must be a whole number of sets (ways x line_bytes)"},
        Case{"syntax", "banks = 16", "banks = = 16", "Error while parsing"},
        Case{"key_given_twice", "tRCD = 12", "tCL = 12", "cannot redefine existing integer 'tCL'"}),
    [](const auto& info) { return std::string(info.param.what); });

TEST(BadMachine, ContradictionsNameTheirKeysAndTheFirstOnesPlace) {
  const Changed c = change("schedulers = 4", "schedulers = 3");
  EXPECT_EQ(error_of(c.text),
            "FILE:" + std::to_string(c.line) +
                ":14: sm.schedulers must divide sm.warps (sm.schedulers is 3, sm.warps is 64)");
}

TEST(BadMachine, AllErrorsAreToldAtOnce) {
  const std::string error =
      error_of("core_clock_mhz = 5\n[sm]\ncuont = 3\nwarps = 'x'\n[dram]\nqueue = 1000\n");
  EXPECT_THAT(error, HasSubstr("FILE:1:18: core_clock_mhz: expected"));
  EXPECT_THAT(error, HasSubstr("\nFILE:3:1: sm.cuont: unknown key; did you mean 'count'?"));
  EXPECT_THAT(error,
              HasSubstr("\nFILE:4:9: sm.warps: expected a whole number from 1 to 64, found \"x\""));
  EXPECT_THAT(
      error,
      HasSubstr("\nFILE:6:9: dram.queue: expected a whole number from 2 to 128, found 1000"));
}

TEST(BadMachine, FilesThatAreNone) {
  EXPECT_EQ(error_of(""), "FILE: is empty; expected a configuration");
  EXPECT_EQ(error_of("# only a comment\n"), "FILE: is empty; expected a configuration");
  EXPECT_EQ(error_of(std::string("\x7f"
                                 "ELF\0\1\2",
                                 7)),
            "FILE: is not a text file (byte 0 at offset 4)");
  EXPECT_THAT(error_of("name = \"\xff\xfe\"\n"), StartsWith("FILE:1:"));
  EXPECT_THAT(error_of("{\"sm\": {\"count\": 1,}}", ".json"), StartsWith("FILE:1: is not JSON: "));
  EXPECT_THAT(error_of("{\n\"sm\": {\n\"count\": 0}}", ".json"),
              StartsWith("FILE:3: sm.count: expected a whole number from 1 to 512, found 0"));
}

TEST(BadMachine, NamesThatAreNone) {
  auto error = [](const std::string& name) {
    try {
      sim::load_gpu(name);
    } catch (const InputError& e) {
      return std::string(e.what());
    }
    return std::string("no error");
  };
  EXPECT_EQ(error("/no/such/file.toml"),
            "/no/such/file.toml: cannot be read: No such file or directory");
  EXPECT_THAT(error("v1000"), StartsWith("no GPU is called 'v1000'; known: a100 ccbp ccws"));
  EXPECT_EQ(error("/tmp/"), "/tmp/: is a folder; expected a configuration");
}

// A machine that extends none must not run on defaults that nobody has seen.
TEST(BadMachine, OneThatStandsAloneSaysWhatEveryMachineSays) {
  std::string without_clock = v100();
  const std::size_t at = without_clock.find("core_clock_mhz");
  without_clock.erase(at, without_clock.find('\n', at) - at);
  const std::string expected =
      "FILE: expected `extends` with the name of a machine, or all settings that every machine of "
      "the program has; missing: core_clock_mhz";
  EXPECT_EQ(error_of(without_clock), expected);
  EXPECT_EQ(error_of(v100()), "no error");
  EXPECT_THAT(error_of("name = \"mine\"\nsource = \"me\"\n[sm.cost.memory]\nunit = \"lsu\"\n"),
              AllOf(StartsWith(expected), EndsWith(" more")));
  EXPECT_EQ(error_of("extends = \"v100\"\nname = \"mine\"\n"), "no error");
  EXPECT_THAT(error_of("base = \"v100\"\nname = \"mine\"\n"),
              AllOf(HasSubstr("base"), Not(HasSubstr("missing"))))
      << "of a misspelt key that comes first";
}

// What an SM still has to count at barriers lies within the event wheel.
TEST(BadOption, BarriersThatTakeTooLong) {
  config::Tree tree = sim::load_gpu("v100");
  tree.set_option("sm.cost.barrier.latency=800", "--set sm.cost.barrier.latency=800");
  tree.set_option("sm.barrier_interval_cycles=4", "--set sm.barrier_interval_cycles=4");
  EXPECT_THAT(error_of_tree(tree), HasSubstr("are too long together"));
  tree.set_option("sm.cost.barrier.latency=704", "--set sm.cost.barrier.latency=704");
  EXPECT_EQ(sim::read_setup(tree, policy::all_policies()).machine.sm.barrier_interval_cycles, 4u);
}

TEST(BadOption, IsToldAsTheUserWroteIt) {
  config::Tree tree = sim::load_gpu("v100");
  tree.set_option("sm.l1d.size_kib=99999", "--set sm.l1d.size_kib=99999");
  tree.set_option("sm.l1d.wyas=4", "--set sm.l1d.wyas=4");
  EXPECT_EQ(error_of_tree(tree),
            "--set sm.l1d.size_kib=99999: sm.l1d.size_kib: expected a whole number from 0 to 16384 "
            "KiB, found 99999\n"
            "--set sm.l1d.wyas=4: sm.l1d.wyas: unknown key; did you mean 'ways'?");
}

TEST(GoodOption, ChangesOneValueOnly) {
  config::Tree tree = sim::load_gpu("v100");
  tree.set_option("sm.l1d.hit_latency_cycles=64", "--set");
  tree.set_policy("warp=two_level:group_size=4,inner=gto", "--policy");
  sim::Setup changed = sim::read_setup(tree, policy::all_policies());
  sim::Setup plain = sim::read_setup(sim::load_gpu("v100"), policy::all_policies());
  EXPECT_EQ(changed.machine.sm.l1d.hit_latency_cycles, 64u);
  auto config = changed.config();
  EXPECT_EQ(config["policy"]["warp"].dump(),
            R"({"name":"two_level","group_size":4,"inner":"gto","outer":"rr"})");
  config["sm"]["l1d"]["hit_latency_cycles"] = 28;
  config["policy"] = plain.config()["policy"];
  EXPECT_EQ(config, plain.config());
}

}  // namespace
}  // namespace raddle::bad_machine_test
