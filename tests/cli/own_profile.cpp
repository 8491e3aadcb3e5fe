// raddle validate --ncu, --nsys: a profile of one's own beside a simulation. Of CUDA programs:
// tests/cuda/own_programs.cpp.
#include "cli/raddle.h"
#include "raddle_paths.h"

namespace raddle::test::own_profile_test {
namespace {

const std::string kProfiles = RADDLE_SOURCE_DIR "/tests/data/profiles/";
constexpr const char* kSmall = " --gpu gtx480 --set sm.count=2 ";

/// A table of page raw: cycles, time and DRAM bytes of launches of vecadd.
std::string vecadd_table(const std::string& rows) {
  return "==PROF== Connected to process 1\n"
         "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel "
         "Name\",\"Context\",\"Stream\","
         "\"Block Size\",\"Grid "
         "Size\",\"Device\",\"CC\",\"dram__bytes.sum\",\"gpu__time_duration.sum\","
         "\"sm__cycles_elapsed.max\"\n"
         "\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"byte\",\"ns\",\"cycle\"\n" +
         rows;
}
const std::string kVecadd =
    "\"0\",\"1\",\"app\",\"h\",\"vecadd(const float *, const float *, float *, int)\",\"1\",\"7\","
    "\"(256, 1, 1)\",\"(40, 1, 1)\",\"0\",\"9.0\",\"120,000\",\"4,000\",\"8,000\"\n";

TEST(OwnProfile, IsComparedByKernelAndMetric) {
  const Folder folder;
  folder.write("p.csv", vecadd_table(kVecadd));
  const Outcome o = raddle(
      std::string("validate vecadd size=tiny --ncu") + " " + (folder / "p.csv") + kSmall + "--json",
      {folder / "j.json", "--report", folder / "p.html", "--plots", folder / "plots"});
  ASSERT_EQ(o.status, 0) << o.err;
  for (const char* said : {"Nsight Compute, page raw", "vecadd", "8,000", "cycles", "dram_bytes",
                           "limited by", "not in profile", "median", "p90",
                           "note: measured at 2000 MHz (cycles over time), simulated at 700",
                           "note: the profile is of a GPU of capability 9.0, gtx480 has"})
    EXPECT_THAT(o.out, HasSubstr(said));
  const Json json = Json::parse(read_file(folder / "j.json"));
  ASSERT_EQ(json["launches"].size(), 1u);
  EXPECT_EQ(json["launches"][0]["kernel"], "vecadd");
  EXPECT_EQ(json["kernels"][0]["cycles"]["measured"], 8000);
  EXPECT_EQ(json["unpaired"].size(), 0u);
  // The simulated side is that of run with the L2 emptied, as ncu does.
  const Json run =
      json_of(raddle(std::string("run vecadd size=tiny --cold-l2 --quiet --json -") + kSmall));
  EXPECT_EQ(json["kernels"][0]["dram_bytes"]["simulated"], run["totals"]["dram_bytes"]);
  const std::string page = read_file(folder / "p.html");
  for (const char* said : {"id=kernels", "Limited by, simulated", "id=cycles", "measured at 2000"})
    EXPECT_THAT(page, HasSubstr(said));
  EXPECT_THAT(page, Not(HasSubstr("Not measured")));
  EXPECT_THAT(read_file(folder / "plots/cycles.svg"), HasSubstr("vecadd #0"));
}

// Of 0 bytes nothing is so many per cent off.
TEST(OwnProfile, AZeroIsLeftOutOfErrorsAndCounted) {
  const Folder folder;
  std::string none = kVecadd;
  none.replace(none.find("120,000"), 7, "0");
  folder.write("p.csv", vecadd_table(none));
  const Outcome o =
      raddle(std::string("validate vecadd size=tiny") + kSmall, {"--ncu", folder / "p.csv"});
  ASSERT_EQ(o.status, 0) << o.err;
  const std::size_t at = o.out.rfind("dram_bytes");
  ASSERT_NE(at, std::string::npos);
  EXPECT_THAT(o.out.substr(at, o.out.find('\n', at) - at),
              testing::MatchesRegex("dram_bytes +1 +- +0 +- +- +- +-  \\(1 with a zero: .*\\)"));
  EXPECT_THAT(o.out, Not(HasSubstr("nan")));
}

TEST(OwnProfile, OfNsysHasTimesAlone) {
  const Outcome o = raddle(std::string("validate reduction size=tiny --json -") + kSmall,
                           {"--nsys", kProfiles + "trace.csv"});
  const Json json = json_of(o);
  ASSERT_EQ(json["launches"].size(), 2u);
  EXPECT_EQ(json["launches"][0]["microseconds"]["measured"], 3.072);
  EXPECT_FALSE(json["launches"][0].contains("cycles"));
  EXPECT_EQ(json["unpaired"][0]["kernel"], "at::native::fill<4>");
  EXPECT_EQ(json["unpaired"][0]["reason"], "no kernel of that name was simulated");
  const Json means = json_of(raddle(std::string("validate reduction size=tiny --json -") + kSmall,
                                    {"--nsys", kProfiles + "sums.csv"}));
  EXPECT_EQ(means["launches"][0]["launch"], "mean of 2");
  EXPECT_NEAR(means["launches"][0]["microseconds"]["simulated"].get<double>(),
              (json["launches"][0]["microseconds"]["simulated"].get<double>() +
               json["launches"][1]["microseconds"]["simulated"].get<double>()) /
                  2,
              1e-9);
}

TEST(OwnProfile, OfARecordingIsThatOfItsWorkload) {
  const Folder folder;
  folder.write("p.csv", vecadd_table(kVecadd));
  ASSERT_EQ(raddle("record vecadd size=tiny --gpu gtx480 --quiet -o", {folder / "v.rdl"}).status,
            0);
  const std::string options = std::string("validate --quiet --json -") + kSmall;
  EXPECT_EQ(
      json_of(raddle(options, {folder / "v.rdl", "--ncu", folder / "p.csv"}))["launches"],
      json_of(raddle(options, {"vecadd", "size=tiny", "--ncu", folder / "p.csv"}))["launches"]);
}

TEST(OwnProfile, ReplayAsSaysWhatTheL2Holds) {
  const Folder folder;
  folder.write("p.csv", vecadd_table(kVecadd));
  double read = 0;
  const auto cache = [&](const std::string& more) {
    const Json json =
        json_of(raddle("validate vecadd size=tiny --json - --quiet" + std::string(kSmall) + more,
                       {"--ncu", folder / "p.csv"}));
    read = json["kernels"][0]["dram_bytes"]["simulated"];
    EXPECT_EQ(json["launches"].size(), 1u);
    EXPECT_EQ(json["unpaired"].size(), 0u) << "the first pass is no launch";
    return json["simulated"]["cache"].get<std::string>();
  };
  EXPECT_THAT(cache(""), HasSubstr("emptied before each launch"));
  const double cold = read;
  EXPECT_THAT(cache("--replay-as ncu-warm"),
              HasSubstr("as a first pass of the same launch left it"));
  EXPECT_LT(read, cold / 2) << "the second pass finds in the L2 what the first brought";
  EXPECT_THAT(cache("--replay-as none"), HasSubstr("as the launch before left it"));
}

TEST(OwnProfile, IsRefusedByName) {
  const Folder folder;
  folder.write("p.csv", vecadd_table(kVecadd));
  folder.write("other.csv", vecadd_table("\"0\",\"1\",\"a\",\"h\",\"sgemm(int)\",\"1\",\"7\","
                                         "\"(1, 1, 1)\",\"(1, 1, 1)\",\"0\",\"9.0\",\"1\",\"2\","
                                         "\"3\"\n"));
  folder.write("x.ncu-rep", "NVR");
  const std::string profile = folder / "p.csv";
  expect_refused(raddle("validate", {"--ncu", profile}), {"name what the profile is of"});
  expect_refused(raddle("validate vecadd", {"--ncu", profile, "--", "./app"}),
                 {"a profile is of one program", "'vecadd'"});
  expect_refused(raddle("validate vecadd", {"--ncu", profile, "--nsys", profile}),
                 {"--ncu and --nsys exclude each other"});
  expect_refused(raddle("validate vecadd", {"--ncu", folder / "x.ncu-rep"}),
                 {"x.ncu-rep: expected a table, found a report", "ncu --import"});
  expect_refused(raddle("validate vecadd", {"--nsys", profile}), {"p.csv: no line names"});
  expect_refused(raddle("validate vecadd", {"--ncu", "/proc/nowhere/p.csv"}), {"/proc/nowhere"});
  expect_refused(raddle("validate vecadd", {"--suite", "v100", "--", "./app"}),
                 {"a program behind -- goes with a profile of it"});
  expect_refused(raddle("validate vecadd size=tiny --out-of-bounds fault", {"--ncu", profile}),
                 {"--out-of-bounds", "behind --"});
  expect_refused(raddle(std::string("validate vecadd size=tiny --quiet") + kSmall,
                        {"--ncu", folder / "other.csv", "--json", folder / "none.json"}),
                 {"no launch pairs", "the profile has sgemm", "simulated were vecadd"});
  EXPECT_FALSE(std::filesystem::exists(folder / "none.json"));
}

TEST(OwnProfile, MetricsAreFoundByTheProfilersNames) {
  const Outcome one = raddle("list metrics dram__bytes.sum");
  EXPECT_EQ(one.status, 0);
  EXPECT_THAT(one.out,
              AllOf(HasSubstr("dram_bytes"), HasSubstr("Nsight Compute: dram__bytes.sum")));
  EXPECT_THAT(raddle("list metrics").out, HasSubstr("(ncu: smsp__inst_executed.sum)"));
}

}  // namespace
}  // namespace raddle::test::own_profile_test
