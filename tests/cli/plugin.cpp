// Policies of one's own as a shared object: `./x plugin` makes it, `--plugin` takes it, and what is
// wrong with one is told in a line.
#include <filesystem>
#include <fstream>

#include "cli/raddle.h"
#include "raddle/base/files.h"
#include "raddle_paths.h"

namespace raddle::test::plugin_test {
namespace {

namespace fs = std::filesystem;

/// Runs ./x plugin for files in the folder.
Outcome make_plugin(const std::vector<std::string>& sources, const std::string& out) {
  std::vector<std::string> arguments = {"plugin"};
  arguments.insert(arguments.end(), sources.begin(), sources.end());
  arguments.insert(arguments.end(), {"-o", out});
  return run_process(RADDLE_SOURCE_DIR "/x", arguments, std::chrono::seconds(300));
}

/// The example, made once for all tests of this file.
class Plugin : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new TemporaryFolder("raddle-plugin");
    made_ = make_plugin({RADDLE_SOURCE_DIR "/examples/own_policy.cpp"}, file());
  }
  static void TearDownTestSuite() { delete folder_; }
  static std::string file() { return (folder_->path() / "youngest.so").string(); }
  static std::string in_folder(const std::string& name) {
    return (folder_->path() / name).string();
  }

  static TemporaryFolder* folder_;
  static Outcome made_;
};
TemporaryFolder* Plugin::folder_ = nullptr;
Outcome Plugin::made_;

TEST_F(Plugin, ExampleIsMadeListedAndRun) {
  ASSERT_EQ(made_.status, 0) << made_.err;
  EXPECT_THAT(raddle("list policies --plugin", {file()}).out, HasSubstr("youngest"));
  EXPECT_THAT(raddle("list policies").out, Not(HasSubstr("youngest")));
  const std::string run = "run bfs size=tiny --gpu gtx480 --quiet --json - --policy ";
  const Json mine = json_of(raddle(run + "warp=youngest:stay=false --plugin", {file()}));
  EXPECT_GT(mine["policies"]["warp"]["statistics"]["picks"].get<std::uint64_t>(), 0u);
  EXPECT_EQ(mine["policies"]["warp"]["statistics"]["stayed"].get<std::uint64_t>(), 0u);
  EXPECT_EQ(mine["policies"]["warp"]["parameters"]["stay"], false);
  EXPECT_NE(mine["state_hash"], json_of(raddle(run + "warp=oldest"))["state_hash"]);
}

TEST_F(Plugin, OptionMayStandBeforeTheCommand) {
  ASSERT_EQ(made_.status, 0) << made_.err;
  const Outcome before = run_process(
      RADDLE_PROGRAM,
      {"--plugin", file(), "run", "vecadd", "size=tiny", "--policy", "warp=youngest", "--quiet"},
      std::chrono::seconds(60));
  EXPECT_EQ(before.status, 0) << before.err;
}

TEST_F(Plugin, ResultsTellWhichPlugin) {
  ASSERT_EQ(made_.status, 0) << made_.err;
  const std::string run = "run vecadd size=tiny --functional --json - --quiet";
  const auto plain = json_of(raddle(run))["raddle_version"].get<std::string>();
  const auto with = json_of(raddle(run + " --plugin", {file()}))["raddle_version"];
  EXPECT_THAT(with.get<std::string>(), testing::StartsWith(plain + "."));
  EXPECT_EQ(with.get<std::string>().size(), plain.size() + 17);
}

TEST_F(Plugin, WorkersOfTheLaboratoryHaveIt) {
  ASSERT_EQ(made_.status, 0) << made_.err;
  std::ofstream(in_folder("mine.toml")) << R"(
id = "mine"
title = "Mine"
kind = "study"
gpu = "gtx480"
[workloads.vecadd]
quick = { size = "tiny" }
[variants.youngest]
policies = ["warp=youngest"]
[[runs]]
workloads = ["vecadd"]
variants = ["youngest"]
[[shapes]]
text = "It takes time"
check = "totals.cycles[vecadd, youngest] > 0"
)";
  const Outcome sweep = raddle("sweep --quiet --results",
                               {in_folder("results"), in_folder("mine.toml"), "--plugin", file()});
  EXPECT_EQ(sweep.status, 0) << sweep.err << sweep.out;
  // The same without the plug-in: no policy of that name.
  expect_refused(raddle("sweep --quiet --results", {in_folder("results"), in_folder("mine.toml")}),
                 {"youngest"});
}

TEST_F(Plugin, WhatIsWrongWithOneIsToldInALine) {
  const std::string run = "run vecadd size=tiny --plugin";
  expect_refused(raddle(run, {in_folder("none.so")}), {"none.so", "No such file"});
  std::ofstream(in_folder("text.so")) << "text";
  expect_refused(raddle(run, {in_folder("text.so")}), {"text.so"});
  expect_refused(raddle(run, {in_folder("a:b.so")}), {"a:b.so", "':'"});
  ASSERT_EQ(made_.status, 0) << made_.err;
  expect_refused(raddle(run, {file(), "--plugin", file()}),
                 {"youngest.so", "two policies are called 'youngest'"});
}

/// Ends the program, throws, crashes, or has two statistics of one name.
constexpr const char* kRude = R"cpp(
#include <cstdlib>
#include <stdexcept>

#include "raddle/policy/registry.h"
#include "raddle/policy/warp/policy.h"
  namespace raddle::policy {
  namespace {
  class Rude final : public WarpPolicy {
   public:
    struct Params {
      bool leaves = false, vanishes = false, throws = false, crashes = false;
      void visit(FieldVisitor& v) {
        v.field("leaves", leaves, "calls exit");
        v.field("vanishes", vanishes, "calls _Exit");
        v.field("throws", throws, "throws an exception");
        v.field("crashes", crashes, "ends the process");
      }
    };
    Rude(const Params& params, const Context&) : params_(params) {}
    unsigned pick(const WarpView& view) override {
      if (params_.leaves) std::exit(0);
      if (params_.vanishes) std::_Exit(0);
      if (params_.throws) throw std::runtime_error("rude");
      if (params_.crashes) std::abort();
      return lowest(view.ready);
    }
    void visit_statistics(FieldVisitor& v) override {
      for (int twice = 0; twice < 2; ++twice) v.field("picks", picks_, {}, "decisions", "asked");
    }

   private:
    Params params_;
    std::uint64_t picks_ = 0;
  };
  }  // namespace
  void add_warp_rude(Registry<WarpPolicy>& r) { r.add<Rude>("rude", "is not to be trusted"); }
  }  // namespace raddle::policy
)cpp";

TEST_F(Plugin, ARudeOneIsNoSuccessAndHoldsNobodyElseUp) {
  std::ofstream(in_folder("rude.cpp")) << kRude;
  const std::string rude = in_folder("rude.so");
  const Outcome made = make_plugin({in_folder("rude.cpp")}, rude);
  ASSERT_EQ(made.status, 0) << made.err;
  const std::string run = "run vecadd size=tiny --quiet --policy warp=rude";
  const Outcome left = raddle(run + ":leaves=true --plugin", {rude});
  EXPECT_EQ(left.status, 1);
  EXPECT_THAT(left.err, HasSubstr("called exit() before the command was done"));
  const Outcome vanished = raddle(run + ":vanishes=true --plugin", {rude});
  EXPECT_EQ(vanished.status, 1);
  EXPECT_THAT(vanished.err, HasSubstr("called _exit() before the command was done"));
  expect_failed(raddle(run + ":throws=true --plugin", {rude}),
                {"rude (an exception of the standard library, or of a policy of " + rude + ")"});
  expect_refused(raddle(run + " --plugin", {rude}), {"two fields", "'picks'"});

  // A run that fails is kept with its reason, and the others go on.
  std::ofstream(in_folder("rude.toml")) << R"(
id = "rude"
title = "Rude"
kind = "study"
gpu = "gtx480"
[workloads.vecadd]
quick = { size = "tiny" }
[variants.lrr]
policies = ["warp=lrr"]
[variants.throws]
policies = ["warp=rude:throws=true"]
[variants.crashes]
policies = ["warp=rude:crashes=true"]
[variants.leaves]
policies = ["warp=rude:leaves=true"]
[variants.vanishes]
policies = ["warp=rude:vanishes=true"]
[[runs]]
workloads = ["vecadd"]
variants = ["lrr", "throws", "crashes", "leaves", "vanishes"]
[[shapes]]
text = "It takes time"
check = "totals.cycles[vecadd, lrr] > 0"
)";
  const std::string json = in_folder("rude.json");
  const Outcome sweep =
      raddle("sweep --quiet --results",
             {in_folder("rude_results"), in_folder("rude.toml"), "--plugin", rude, "--json", json});
  EXPECT_NE(sweep.status, 2) << sweep.err;
  EXPECT_THAT(read_file(json), AllOf(HasSubstr("rude"), HasSubstr("\"pass\"")));
}

TEST_F(Plugin, OneThatIsCutOffIsRefusedWhereverItWasCut) {
  ASSERT_EQ(made_.status, 0) << made_.err;
  const std::string whole = read_file(file());
  const std::string cut = in_folder("cut.so");
  for (unsigned part = 0; part < 16; ++part) {
    write_file(cut, std::string_view(whole).substr(0, whole.size() * part / 16));
    expect_refused(raddle("list policies --plugin", {cut}), {"cut.so", "cut off or damaged"});
  }
  write_file(cut, std::string_view(whole).substr(0, whole.size() - 1));
  expect_refused(raddle("list policies --plugin", {cut}), {"cut.so", "cut off or damaged"});
}

TEST_F(Plugin, OneOfAnotherMachineIsToldByItsName) {
  ASSERT_EQ(made_.status, 0) << made_.err;
  std::string bytes = read_file(file());
  bytes[18] = static_cast<char>(183);  // e_machine: EM_AARCH64
  write_file(in_folder("arm.so"), bytes);
  expect_refused(raddle("list policies --plugin", {in_folder("arm.so")}),
                 {"arm.so", "is for AArch64, this program for x86-64"});
}

TEST_F(Plugin, OneOfOtherHeadersIsRefused) {
  ASSERT_EQ(made_.status, 0) << made_.err;
  std::ifstream in(file(), std::ios::binary);
  std::string bytes(std::istreambuf_iterator<char>(in), {});
  const Outcome notified = raddle("run vecadd size=tiny --plugin", {file()});
  ASSERT_EQ(notified.status, 0) << notified.err;
  // The hash of the headers stands in the file as text: another digit, other headers.
  std::ifstream header(RADDLE_SOURCE_DIR "/build/release/generated/raddle/policy/interface_hash.h");
  const std::string text(std::istreambuf_iterator<char>(header), {});
  const std::string hash = text.substr(text.find('"') + 1, 16);
  const std::size_t at = bytes.find(hash);
  ASSERT_NE(at, std::string::npos);
  bytes[at] = bytes[at] == 'f' ? '0' : 'f';
  write_file(in_folder("other.so"), bytes);
  expect_refused(raddle("run vecadd size=tiny --plugin", {in_folder("other.so")}),
                 {"other.so", hash, "raddle plugin"});
}

TEST_F(Plugin, ScriptRefusesWhatIsNoPolicy) {
  std::ofstream(in_folder("empty.cpp")) << "int nothing;\n";
  const Outcome empty = make_plugin({in_folder("empty.cpp")}, in_folder("empty.so"));
  EXPECT_EQ(empty.status, 2);
  EXPECT_THAT(empty.err, HasSubstr("add_<level>_<name>"));
  EXPECT_FALSE(fs::exists(in_folder("empty.so")));
  EXPECT_EQ(make_plugin({in_folder("nowhere.cpp")}, in_folder("x.so")).status, 2);
}

}  // namespace
}  // namespace raddle::test::plugin_test
