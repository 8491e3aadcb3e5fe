// What belongs to an installed program: a manual page and completions that say what the program can
// do, what this machine lacks, and where the runtime library is looked for.
#include <algorithm>
#include <filesystem>

#include "cli/raddle.h"
#include "raddle/base/files.h"

namespace raddle::test::installed_test {
namespace {

namespace fs = std::filesystem;

const std::vector<std::string> kCommands = {"list",      "run",      "compare", "exec",   "record",
                                            "replay",    "ptx",      "analyze", "report", "sweep",
                                            "reproduce", "validate", "diff",    "plugin", "doctor"};

TEST(Manual, HasEveryCommandAndOption) {
  const Outcome man = raddle("help --man");
  EXPECT_EQ(man.status, 0) << man.err;
  EXPECT_THAT(man.out, testing::StartsWith(".\\\" "));
  for (const std::string& command : kCommands)
    EXPECT_THAT(man.out, HasSubstr(".SS raddle " + command));
  EXPECT_THAT(man.out, Not(HasSubstr(".SS raddle cell"))) << "which is no command for people";
  // Options as the help has them.
  const Json all = json_of(raddle("help --json"));
  unsigned options = 0;
  for (const Json& command : all) {
    if (command["name"] == "") continue;
    const std::string help = raddle(command["name"].get<std::string>() + " --help").out;
    for (const Json& option : command.value("options", Json::array()))
      for (const Json& name : option["names"]) {
        EXPECT_THAT(help, HasSubstr(name.get<std::string>())) << command["name"];
        ++options;
      }
  }
  EXPECT_GT(options, 100u);
}

TEST(Manual, ManCanReadIt) {
  if (std::system("command -v man > /dev/null") != 0) GTEST_SKIP() << "no man here";
  const Folder folder;
  write_file(folder / "raddle.1", raddle("help --man").out);
  const Outcome read =
      run_process("/usr/bin/env", {"MANWIDTH=100", "man", "--warnings", "-l", folder / "raddle.1"},
                  std::chrono::seconds(60));
  EXPECT_EQ(read.status, 0) << read.err;
  EXPECT_EQ(read.err, "");
  EXPECT_THAT(read.out, AllOf(HasSubstr("--policies"), HasSubstr("raddle analyze source")));
}

TEST(Completion, BashKnowsCommandsOptionsAndNames) {
  const Folder folder;
  write_file(folder / "raddle.bash", raddle("help --completion bash").out);
  const auto complete = [&](const std::string& words, int at) {
    const std::string script = "source '" + (folder / "raddle.bash") + "'; COMP_WORDS=(" + words +
                               "); COMP_CWORD=" + std::to_string(at) + "; cd '" +
                               folder.path().string() + "'; _raddle; echo \"${COMPREPLY[@]}\"";
    const Outcome out = run_process("/bin/bash", {"-c", script}, std::chrono::seconds(20));
    EXPECT_EQ(out.err, "") << words;
    return out.out;
  };
  write_file(folder / "compiled.json", "{}");
  EXPECT_EQ(complete("raddle comp", 1), "compare\n") << "no command is a file";
  EXPECT_THAT(complete("raddle replay comp", 2), HasSubstr("compiled.json"));
  EXPECT_EQ(complete("raddle run bfs --gpu h2", 4), "h200\n");
  EXPECT_THAT(complete("raddle run --max", 2), HasSubstr("--max-cycles"));
  EXPECT_THAT(complete("raddle run --policy warp=g", 3), HasSubstr("warp=gto"));
  EXPECT_EQ(complete("raddle run --policy warp = gt", 5), "gto\n") << "as bash splits words";
  EXPECT_THAT(complete("raddle run --policy dram =", 4), HasSubstr("frfcfs"));
  EXPECT_EQ(complete("raddle run --gpu = h2", 4), "h200\n");
  EXPECT_THAT(complete("raddle run hist", 2), HasSubstr("histogram"));
  EXPECT_THAT(complete("raddle analyze source --gp", 3), HasSubstr("--gpu"));
  EXPECT_THAT(complete("raddle reproduce ccws.fig7", 2), HasSubstr("ccws.fig7"));
  EXPECT_EQ(complete("raddle sweep a.toml --scale q", 4), "quick\n");
}

TEST(Completion, OtherShellsTakeTheirs) {
  const Folder folder;
  for (const auto& [shell, check] : {std::pair{"zsh", "-n"}, {"fish", "--no-execute"}}) {
    const Outcome script = raddle(std::string("help --completion ") + shell);
    EXPECT_EQ(script.status, 0);
    EXPECT_THAT(script.out,
                AllOf(HasSubstr("policies"), HasSubstr("h200"), HasSubstr("footprint")));
    if (std::system((std::string("command -v ") + shell + " > /dev/null").c_str()) != 0) continue;
    write_file(folder / shell, script.out);
    const Outcome checked =
        run_process("/usr/bin/env", {shell, check, folder / shell}, std::chrono::seconds(20));
    EXPECT_EQ(checked.status, 0) << shell << ": " << checked.err;
  }
  expect_refused(raddle("help --completion tcsh"), {"tcsh", "fish"});
  expect_refused(raddle("help --man --json"), {"--man"});
}

TEST(Doctor, SaysWhatThereIsAndWhatMendsTheRest) {
  const Outcome well = raddle("doctor");
  EXPECT_EQ(well.status, 0) << well.out;
  EXPECT_THAT(well.out, AllOf(HasSubstr("libcudart.so.13"), HasSubstr("temporary files"),
                              HasSubstr("nothing is wrong")));
  const Outcome poor = run_process(
      "/usr/bin/env", {"TMPDIR=/proc/none", "PATH=/proc", RADDLE_PROGRAM, "doctor", "--json"},
      std::chrono::seconds(20));
  const Json found = Json::parse(poor.out);
  EXPECT_EQ(poor.status, 1);
  EXPECT_EQ(found["ok"], false);
  for (const Json& one : found["findings"]) {
    const bool lacking =
        one["what"] == "temporary files" || one["what"] == "g++" || one["what"] == "nvcc";
    EXPECT_TRUE(!lacking || one["mend"] != "") << one;
    EXPECT_EQ(one["ok"], one["mend"] == "") << one;
  }
}

/// The program alone, and as it is installed.
class Elsewhere : public testing::Test {
 protected:
  std::string doctor(const fs::path& program) const {
    return run_process(program, {"doctor"}, std::chrono::seconds(20)).out;
  }
  Folder folder_;
};

TEST_F(Elsewhere, TheRuntimeLibraryIsFoundFromTheProgramsPlace) {
  fs::create_directories(folder_ / "bin");
  const fs::path program = folder_ / "bin/raddle";
  fs::copy_file(RADDLE_PROGRAM, program);
  EXPECT_THAT(doctor(program), HasSubstr("BAD    runtime library"));
  const Outcome refused =
      run_process(program, {"exec", "--", "/bin/true"}, std::chrono::seconds(20));
  EXPECT_NE(refused.status, 0);
  const Outcome plugin =
      run_process(program, {"plugin", "a.cpp", "-o", "a.so"}, std::chrono::seconds(20));
  EXPECT_EQ(plugin.status, 2);
  EXPECT_THAT(plugin.err, AllOf(HasSubstr("plugin.sh"), HasSubstr("lib/raddle")));
  fs::create_directories(folder_ / "lib/raddle");
  fs::copy_file(fs::path(RADDLE_PROGRAM).parent_path() / "libcudart.so.13",
                folder_ / "lib/raddle/libcudart.so.13");
  const std::string library = folder_ / "lib/raddle/libcudart.so.13";
  EXPECT_THAT(doctor(program), AllOf(HasSubstr(library), Not(HasSubstr(library + " is no whole"))));
  fs::resize_file(library, fs::file_size(library) / 2);
  EXPECT_THAT(doctor(program), HasSubstr(library + " is no whole library"));
  fs::resize_file(library, 0);
  EXPECT_THAT(doctor(program), HasSubstr(library + " is no whole library"));
}

TEST(Machines, OneIsListedWithMeaningsAndSources) {
  const Outcome v100 = raddle("list gpus v100");
  EXPECT_EQ(v100.status, 0) << v100.err;
  EXPECT_THAT(v100.out, AllOf(HasSubstr("# gpus/v100.toml"), HasSubstr("sm.l1d.size_kib = "),
                              HasSubstr("sm.cost.int.latency = ")));
  const Json all = json_of(raddle("list gpus ccws_released --json"));
  EXPECT_EQ(all["files"], (Json{"gpus/ccws_released.toml", "gpus/ccws.toml"}));
  unsigned own = 0;
  for (const Json& one : all["settings"]) {
    if (one["path"] == "name" || one["path"] == "source") continue;
    EXPECT_NE(one["source"], "") << one;
    if (one["path"] == "sm.lsu_queue") {
      EXPECT_EQ(one["value"], "5");
      EXPECT_EQ(one["source"], "L");
      EXPECT_NE(one["meaning"], "");
    }
    own += one["file"] == "gpus/ccws_released.toml" ? 1 : 0;
  }
  EXPECT_EQ(own, 8u);
  expect_refused(raddle("list gpus v1000"), {"no GPU is called 'v1000'"});
  expect_refused(raddle("list policies gto"), {"a name goes with"});
}

// What is listed is a machine file again.
TEST(Machines, WhatIsListedIsTheMachine) {
  const Folder folder;
  write_file(folder / "again.toml", raddle("list gpus ikra_micro").out);
  const std::string run = "run vecadd size=tiny --quiet --json - --gpu ";
  EXPECT_EQ(json_of(raddle(run + (folder / "again.toml")))["state_hash"],
            json_of(raddle(run + "ikra_micro"))["state_hash"]);
}

TEST(Machines, ADifferenceIsWhatTheOtherSaysOtherwise) {
  const Outcome none = raddle("diff gpus v100 v100");
  EXPECT_EQ(none.status, 0);
  EXPECT_THAT(none.out, HasSubstr("\n0 of "));
  const Json released = json_of(raddle("diff gpus ccws ccws_released --json"));
  ASSERT_EQ(released.size(), 8u);
  const auto queue =
      std::ranges::find_if(released, [](const Json& one) { return one["path"] == "sm.lsu_queue"; });
  ASSERT_NE(queue, released.end());
  EXPECT_EQ((*queue)["a"]["value"], "8");
  EXPECT_EQ((*queue)["b"]["value"], "5");
  // A result leaves nothing to defaults; it is the same machine nevertheless.
  const Folder folder;
  ASSERT_EQ(raddle("run vecadd size=tiny --quiet --gpu v100 --json", {folder / "r.json"}).status,
            0);
  EXPECT_THAT(raddle("diff gpus v100", {folder / "r.json"}).out, HasSubstr("\n0 of "));
  expect_refused(raddle("diff gpus v100 none.toml"), {"none.toml"});
  expect_refused(raddle("diff workloads a b"), {"workloads", "gpus"});
}

}  // namespace
}  // namespace raddle::test::installed_test
