// raddle run --on cuda and raddle validate, against a driver that is none (tests/mock_cuda).
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "raddle/cli/cli.h"
#include "raddle/cli/shared/cuda.h"
#include "raddle/runtime/cuda_device.h"
#include "support/errors.h"
#include "support/process.h"

namespace raddle::on_cuda_test {
namespace {

using Json = nlohmann::ordered_json;
using testing::AllOf;
using testing::HasSubstr;

constexpr const char* kNoNcu = "/proc/nowhere/ncu";

/// The program within this process: the mock takes the functional machine from it.
struct Outcome {
  int status;
  std::string out, err;
};
Outcome raddle(const std::string& words, const std::vector<std::string>& more = {}) {
  std::vector<std::string> arguments = {"raddle"};
  std::istringstream in(words);
  for (std::string word; in >> word;) arguments.push_back(word);
  arguments.insert(arguments.end(), more.begin(), more.end());
  std::vector<char*> argv;
  for (std::string& word : arguments) argv.push_back(word.data());
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  const int status = cli::run(static_cast<int>(argv.size()), argv.data());
  std::string out = testing::internal::GetCapturedStdout();
  return {status, std::move(out), testing::internal::GetCapturedStderr()};
}

class OnCuda : public testing::Test {
 protected:
  ~OnCuda() override { unsetenv("RADDLE_MOCK_CUDA"); }
  static void mode(const char* what) { setenv("RADDLE_MOCK_CUDA", what, 1); }
  std::vector<std::string> mock(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> out = {"--on",          "cuda", "--libcuda", RADDLE_MOCK_LIBCUDA,
                                    "--ncu-program", kNoNcu};
    out.insert(out.end(), more.begin(), more.end());
    return out;
  }
  std::string file(const std::string& name, const std::string& text) {
    std::ofstream(folder_.path() / name) << text;
    return (folder_.path() / name).string();
  }
  /// A program that prints this table whatever it is asked.
  std::string ncu(const std::string& table) {
    const std::string path =
        file("ncu", "#!/bin/sh\necho \"==PROF== Connected\"\ncat <<'END'\n" + table + "END\n");
    chmod(path.c_str(), 0755);
    return path;
  }
  test::Folder folder_;
};

TEST_F(OnCuda, WorkloadsRunAndAreChecked) {
  for (const std::string workload :
       {"vecadd", "bfs", "reduction", "streams", "spmv", "gemm_wgmma cluster=2", "flash_wgmma"}) {
    const Outcome o = raddle("run " + workload + " size=tiny --json -", mock());
    EXPECT_EQ(o.status, 0) << o.err;
    const Json json = Json::parse(o.out);
    EXPECT_EQ(json.at("workload").at("result"), "correct") << workload;
    EXPECT_EQ(json.at("conventions").at("device"), "Mock GPU");
    EXPECT_EQ(json.at("conventions").at("driver"), "CUDA 13.0");
    ASSERT_FALSE(json.at("kernels").empty());
    for (const Json& kernel : json.at("kernels")) {
      EXPECT_EQ(kernel.at("microseconds"), 250.0);
      EXPECT_EQ(kernel.at("cycles"), 250000.0) << "at 1000 MHz";
      EXPECT_FALSE(kernel.contains("dram_bytes")) << "nothing that was not measured";
    }
  }
}

// Same host code, same PTX, same inputs: what the simulator runs.
TEST_F(OnCuda, RunsWhatTheSimulatorRuns) {
  const Json gpu = Json::parse(raddle("run bfs size=tiny --seed 7 --json -", mock()).out);
  const Json simulated =
      Json::parse(raddle("run bfs size=tiny --seed 7 --functional --json -").out);
  EXPECT_EQ(gpu.at("workload").at("input_hash"), simulated.at("workload").at("input_hash"));
  ASSERT_EQ(gpu.at("kernels").size(), simulated.at("kernels").size());
  for (std::size_t i = 0; i < gpu.at("kernels").size(); ++i)
    for (const char* member : {"name", "grid", "block"})
      EXPECT_EQ(gpu.at("kernels")[i].at(member), simulated.at("kernels")[i].at(member));
}

TEST_F(OnCuda, AWrongResultIsToldWithStatusOne) {
  mode("wrong");
  const Outcome o = raddle("run vecadd size=tiny", mock());
  EXPECT_EQ(o.status, 1);
  EXPECT_THAT(o.err, HasSubstr("raddle: vecadd: the result is wrong: "));
  EXPECT_THAT(o.out, HasSubstr(": wrong"));
}

TEST_F(OnCuda, WithoutADriverItSaysSo) {
  const Outcome o =
      raddle("run vecadd size=tiny --on cuda --libcuda libcuda-that-is-not-there.so.1");
  EXPECT_EQ(o.status, 2);
  EXPECT_EQ(o.out, "");
  EXPECT_THAT(o.err, AllOf(HasSubstr("--on cuda needs an NVIDIA GPU with its driver"),
                           HasSubstr("libcuda-that-is-not-there.so.1 cannot be loaded")));
  const Outcome old = raddle("run vecadd size=tiny --on cuda --libcuda libc.so.6");
  EXPECT_EQ(old.status, 2);
  EXPECT_THAT(old.err, HasSubstr("has no function cuInit"));
}

TEST_F(OnCuda, TroubleOfTheDriverIsTold) {
  mode("no_device");
  EXPECT_THAT(raddle("run vecadd size=tiny", mock()).err, HasSubstr("there is no device 0"));
  mode("no_driver");
  EXPECT_THAT(raddle("run vecadd size=tiny", mock()).err, HasSubstr("the driver does not start"));
  mode("launch");
  const Outcome o = raddle("run vecadd size=tiny", mock());
  EXPECT_EQ(o.status, 2);
  EXPECT_THAT(o.err, AllOf(HasSubstr("cannot be launched: cuLaunchKernel"),
                           HasSubstr("CUDA_ERROR_LAUNCH_FAILED (719)")));
}

TEST_F(OnCuda, TheCompilersLogIsShown) {
  const std::string ptx =
      file("bad.ptx", ".version 7.0\n.target sm_70\n.address_size 64\nrubbish\n");
  const Outcome o = raddle("run " + ptx + " kernel=k", mock());
  EXPECT_EQ(o.status, 2);
  EXPECT_THAT(o.err, AllOf(HasSubstr("bad.ptx: the driver refuses it: cuModuleLoadDataEx"),
                           HasSubstr("mock.ptx:4:")));
}

TEST_F(OnCuda, OptionsOfTheSimulatorAreRefused) {
  for (const char* option : {"--functional", "--live", "--no-skip", "--cold-l2", "--set sm.count=1",
                             "--policy warp=gto", "--max-cycles 5", "--threads 2"})
    EXPECT_EQ(raddle(std::string("run vecadd size=tiny ") + option, mock()).status, 2) << option;
}

TEST_F(OnCuda, DevicesKeepTheContract) {
  runtime::CudaDevice device(RADDLE_MOCK_LIBCUDA);
  const std::vector<std::uint32_t> values = {1, 2, 3};
  const Address at = device.upload(values), to = device.allocate(12);
  device.copy_on_device(to, at, 12);
  EXPECT_EQ(device.download<std::uint32_t>(to, 3), values);
  device.set(to, 0xff, 4);
  EXPECT_EQ(device.download<std::uint32_t>(to, 1)[0], ~0u);
  device.free(at);
  EXPECT_THROW(device.free(at + 1), RunError);
  const auto event = device.create_event();
  EXPECT_THROW(device.elapsed_ms(event, event), RunError) << "never recorded";
  EXPECT_THROW(device.record(event, StreamId{9}), InputError);
  EXPECT_THROW(device.record(event + 1, runtime::kDefaultStream), InputError);
  EXPECT_EQ(device.facts().multiprocessors, 4);
  EXPECT_EQ(device.facts().capability_major, 9);
}

const std::string kTable =
    "\"ID\",\"Kernel "
    "Name\",\"dram__bytes.sum\",\"gpu__time_duration.sum\",\"l1tex__t_sectors.sum\","
    "\"l1tex__t_sectors_lookup_hit.sum\",\"lts__t_sectors.sum\",\"lts__t_sectors_lookup_hit.sum\","
    "\"sm__cycles_elapsed.max\",\"smsp__inst_executed.sum\"\n"
    "\"\",\"\",\"byte\",\"ns\",\"sector\",\"sector\",\"sector\",\"sector\",\"cycle\",\"inst\"\n"
    "\"0\",\"vecadd\",\"12,288\",\"2,500\",\"1,000\",\"250\",\"400\",\"100\",\"3,100.5\",\"1,"
    "536\"\n";

TEST_F(OnCuda, CountersComeFromNcu) {
  const std::string program = ncu(kTable);
  const Outcome o = raddle("run vecadd size=tiny --json - --on cuda",
                           {"--libcuda", RADDLE_MOCK_LIBCUDA, "--ncu-program", program});
  ASSERT_EQ(o.status, 0) << o.err;
  const Json json = Json::parse(o.out), kernel = json.at("kernels").at(0);
  EXPECT_EQ(kernel.at("microseconds"), 2.5);
  EXPECT_EQ(kernel.at("cycles"), 3100.5);
  EXPECT_EQ(kernel.at("l1_hit_rate"), 0.25);
  EXPECT_EQ(kernel.at("l2_hit_rate"), 0.25);
  EXPECT_EQ(kernel.at("dram_bytes"), 12288.0);
  EXPECT_EQ(kernel.at("warp_instructions"), 1536.0);
  EXPECT_THAT(json.at("conventions").at("tool").get<std::string>(), HasSubstr("ncu"));
}

TEST_F(OnCuda, RatesOfTwoPassesAreAtMostOneOrNotKnown) {
  auto l2 = [&](const char* hits) {
    std::string table = kTable;
    table.replace(table.find("\"100\""), 5, hits);
    return cli::read_ncu(table).at(0).value[2];
  };
  EXPECT_EQ(l2("\"404\""), 1) << "1 % more than all";
  EXPECT_TRUE(std::isnan(l2("\"420\"")));
}

// One ncu runs them all; it is told how to treat clocks and caches, and the file's head says so.
TEST_F(OnCuda, OneNcuMeasuresAllWorkloads) {
  std::string table = kTable + kTable.substr(kTable.find("\"0\""));
  table.replace(table.rfind("\"0\",\"vecadd\""), 12, "\"1\",\"transpose_padded\"");
  const std::string program = ncu(table);
  std::string script = test::read_file(program);
  script.insert(script.find('\n') + 1,
                "echo \"$@\" > " + (folder_.path() / "asked").string() + "\n");
  std::ofstream(program) << script;
  const Outcome o = raddle(
      "validate size=tiny vecadd transpose --measure-only --csv - --seed 7 --clock-control none "
      "--cache-control all",
      {"--libcuda", RADDLE_MOCK_LIBCUDA, "--ncu-program", program});
  ASSERT_EQ(o.status, 0) << o.err;
  EXPECT_THAT(o.out, AllOf(HasSubstr("# cache: all"), HasSubstr("# launch_gap: included"),
                           HasSubstr("--cache-control all --clock-control none"),
                           HasSubstr(",0,vecadd,2.5,3100.5,0.25,0.25,12288,1536\n"),
                           HasSubstr(",0,transpose_padded,2.5,3100.5,0.25,0.25,12288,1536\n")));
  EXPECT_EQ(o.out.find("# device"), o.out.rfind("# device")) << "told once";
  EXPECT_THAT(test::read_file((folder_.path() / "asked").string()),
              AllOf(HasSubstr("--clock-control none"), HasSubstr("--cache-control all"),
                    HasSubstr("validate --measure-only --no-counters --quiet"),
                    HasSubstr("--seed 7 vecadd size=tiny transpose size=tiny")));
}

TEST_F(OnCuda, MeasuringOnlySimulatesNothing) {
  const std::vector<std::string> device = {"--libcuda", RADDLE_MOCK_LIBCUDA, "--ncu-program",
                                           kNoNcu};
  const Outcome o = raddle("validate size=tiny vecadd --measure-only", device);
  EXPECT_EQ(o.status, 0) << o.err;
  EXPECT_THAT(o.out, AllOf(HasSubstr("# device: Mock GPU"), Not(HasSubstr("Pearson"))));
  for (const std::string with :
       {"--report x.html", "--json -", "--plots x", "--suite v100", "--measured x.csv"}) {
    const Outcome refused = raddle("validate size=tiny vecadd --measure-only " + with, device);
    EXPECT_EQ(refused.status, 2) << with;
    EXPECT_THAT(refused.err, HasSubstr("does not hold for a measurement alone (--measure-only)"));
  }
  mode("wrong");
  EXPECT_EQ(raddle("validate size=tiny vecadd --measure-only --quiet", device).status, 1);
}

// Of a list, what has been measured is kept when others fail, ncu among them.
TEST_F(OnCuda, WhatHasBeenMeasuredIsKept) {
  const std::string csv = (folder_.path() / "kept.csv").string();
  const std::string list =
      "validate size=tiny vecadd transpose --measure-only --quiet --csv " + csv;
  const auto kept = [&] {
    std::vector<std::string> out;
    for (const sim::Measurement& m : sim::read_measurements(csv).rows) out.push_back(m.workload);
    return out;
  };
  mode("no_transpose");
  Outcome o = raddle(list, {"--libcuda", RADDLE_MOCK_LIBCUDA, "--ncu-program", kNoNcu});
  EXPECT_EQ(o.status, 1);
  EXPECT_THAT(o.err, HasSubstr("raddle: transpose on the GPU: "));
  EXPECT_EQ(kept(), std::vector<std::string>{"vecadd"});
  mode("");
  std::filesystem::remove(csv);
  o = raddle(list,
             {"--libcuda", RADDLE_MOCK_LIBCUDA, "--ncu-program", ncu("==ERROR== no permission\n")});
  EXPECT_EQ(o.status, 1);
  EXPECT_EQ(kept(), (std::vector<std::string>{"vecadd", "transpose"}));
}

TEST_F(OnCuda, NcuThatSaysSomethingElseIsRefused) {
  EXPECT_THROW(cli::read_ncu("==ERROR== no permission\n"), RunError);
  EXPECT_THROW(cli::read_ncu("\"ID\",\"Kernel Name\"\n\"\",\"\"\n\"0\",\"k\"\n"), RunError);
  auto status = [&](const std::string& table) {
    const std::string program = ncu(table);
    return raddle("run vecadd size=tiny --on cuda",
                  {"--libcuda", RADDLE_MOCK_LIBCUDA, "--ncu-program", program});
  };
  std::string other = kTable;
  other.replace(other.find("\"vecadd\""), 8, "\"another\"");
  EXPECT_THAT(status(other).err, HasSubstr("launch 0 is of 'another'"));
  EXPECT_THAT(status(kTable + kTable.substr(kTable.find("\"0\""))).err,
              HasSubstr("ncu saw 2 launches"));
}

// --- validate

TEST_F(OnCuda, ValidateMeasuresSimulatesAndCompares) {
  const std::string csv = (folder_.path() / "m.csv").string();
  const std::string plots = (folder_.path() / "plots").string();
  const std::string page = (folder_.path() / "page.html").string();
  const std::vector<std::string> device = {"--libcuda", RADDLE_MOCK_LIBCUDA, "--ncu-program",
                                           kNoNcu};
  std::vector<std::string> words = device;
  words.insert(words.end(), {"--csv", csv, "--plots", plots, "--json", "-", "--report", page});
  const Outcome outcome = raddle("validate size=tiny vecadd bfs", words);
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const Json json = Json::parse(outcome.out);
  const Json& cycles = json.at("metrics").at("cycles");
  EXPECT_GT(cycles.at("pairs"), 2);
  EXPECT_FALSE(cycles.at("mape").is_null());
  EXPECT_EQ(json.at("metrics").at("dram_bytes").at("pairs"), 0) << "not measured: no ncu";
  EXPECT_TRUE(json.at("metrics").at("dram_bytes").at("mape").is_null());
  EXPECT_THAT(test::read_file(plots + "/cycles.svg"), HasSubstr("Cycles, measured"));
  EXPECT_FALSE(std::filesystem::exists(plots + "/dram_bytes.svg"));
  EXPECT_THAT(test::read_file(page),
              AllOf(HasSubstr("<svg"), HasSubstr("Mock GPU"), HasSubstr("bfs #0"),
                    HasSubstr("Not measured."), HasSubstr("Pearson")));
  const std::string kept = test::read_file(csv);
  EXPECT_THAT(kept, AllOf(HasSubstr("# device: Mock GPU\n"), HasSubstr("# core_clock_mhz: 1000\n"),
                          HasSubstr("# date: "), HasSubstr("# driver: CUDA 13.0\n")));

  // The same from the file, without a GPU.
  const Outcome again = raddle("validate --json -", {"--measured", csv});
  ASSERT_EQ(again.status, 0) << again.err;
  EXPECT_EQ(Json::parse(again.out), json);
  const Outcome text = raddle("validate bfs", {"--measured", csv});
  EXPECT_THAT(text.out, AllOf(HasSubstr("Pearson"), HasSubstr("bfs #0"), HasSubstr("sim/meas")));
  EXPECT_THAT(text.out, Not(HasSubstr("vecadd #0")));
}

TEST_F(OnCuda, TheInputsOfBothSidesAreOfOneSeed) {
  const std::vector<std::string> device = {"--libcuda", RADDLE_MOCK_LIBCUDA, "--ncu-program",
                                           kNoNcu};
  const Outcome o = raddle("validate size=tiny vecadd --set run.seed=7 --json -", device);
  ASSERT_EQ(o.status, 0) << o.err;
  EXPECT_EQ(Json::parse(o.out).at("measured").at("seed"), "7");
}

TEST_F(OnCuda, ValidateRefusesWhatItCannotCompare) {
  auto error = [&](const std::string& words, const std::string& csv) {
    const Outcome outcome = raddle(words, {"--measured", csv});
    EXPECT_EQ(outcome.status, 2) << words;
    EXPECT_EQ(outcome.out, "");
    return outcome.err;
  };
  const std::string names =
      "workload,parameters,launch,kernel,microseconds,cycles,l1_hit_rate,l2_hit_rate,dram_bytes\n";
  EXPECT_THAT(error("validate", "/proc/nowhere.csv"),
              HasSubstr("/proc/nowhere.csv: cannot be read: No such file"));
  EXPECT_THAT(error("validate", file("a.csv", "x,y\n")),
              HasSubstr("a.csv:1: expected the columns"));
  EXPECT_THAT(error("validate", file("b.csv", names)), HasSubstr("no measurement"));
  EXPECT_THAT(error("validate", file("c.csv", names + "vecadd,size=tiny,0\n")),
              HasSubstr("c.csv:2: expected 9 columns, found 3"));
  EXPECT_THAT(error("validate", file("d.csv", names + "vecadd,size=tiny,0,vecadd,1,2,1.5,,\n")),
              HasSubstr("d.csv:2: 'l1_hit_rate': expected a number of 0 to 1"));
  EXPECT_THAT(error("validate", file("e.csv", names + "vecadd,size=tiny,7,vecadd,1,2,,,\n")),
              HasSubstr("was measured but not simulated"));
  EXPECT_THAT(error("validate", file("f.csv", names + "vecadd,size=tiny,0,other,1,2,,,\n")),
              HasSubstr("the kernel simulated is 'vecadd'"));
  EXPECT_THAT(error("validate bfs", file("g.csv", names + "vecadd,size=tiny,0,vecadd,1,2,,,\n")),
              HasSubstr("no measurement of 'bfs'"));
  const std::string row = "vecadd,size=tiny,0,vecadd,1,2,,,\n";
  EXPECT_THAT(error("validate", file("k.csv", names + row + row)),
              HasSubstr("k.csv:3: a second row of launch 0 of vecadd size=tiny"));
  EXPECT_THAT(error("validate", file("l.csv", names + "vecadd,size=tiny,all,vecadd,1,2,,,\n")),
              HasSubstr("l.csv:2: launch all is of every kernel"));
  EXPECT_THAT(error("validate", file("i.csv", names + "vecadd,size=tiny,0,vecadd,1,,,,\n")),
              HasSubstr("i.csv: no row with a value: nothing to compare"));
  EXPECT_THAT(error("validate", file("j.csv", "# cache: cold\n" + names +
                                                  "vecadd,size=tiny,0,vecadd,1,2,,,\n")),
              HasSubstr("# cache: expected all"));
  EXPECT_THAT(error("validate", file("h.csv", "#x\n" + names)), HasSubstr("h.csv:1: expected '# "));
  EXPECT_EQ(raddle("validate").status, 2);
}

}  // namespace
}  // namespace raddle::on_cuda_test
