// raddle validate --suite: published measurements, simulated and compared.
#include "cli/raddle.h"
#include "raddle_paths.h"

namespace raddle::test::validate_suite_test {
namespace {

TEST(ValidateSuite, TellsMeasuredAndSimulatedByRowAndErrorsByHalf) {
  const Folder folder;
  const Outcome text =
      raddle("validate --suite v100 nn --report", {folder / "page.html", "--json", folder / "j"});
  ASSERT_EQ(text.status, 0) << text.err;
  for (const char* word :
       {"data/silicon/v100/programs.csv", "nn records=42764", "first", "7305", "MAPE %", "NRMSE"})
    EXPECT_THAT(text.out, HasSubstr(word));
  EXPECT_THAT(text.out, Not(HasSubstr("kernels.csv"))) << "no row of nn there";
  const Json json = Json::parse(read_file(folder / "j"));
  const Json& part = json["parts"]["programs"];
  ASSERT_EQ(part["rows"].size(), 1u);
  EXPECT_EQ(part["rows"][0]["cycles"]["measured"], 7305);
  EXPECT_GT(part["rows"][0]["cycles"]["simulated"], 0);
  EXPECT_EQ(part["halves"]["first"]["cycles"]["rows"], 1);
  EXPECT_EQ(part["halves"]["second"]["cycles"]["rows"], 0);
  EXPECT_THAT(read_file(folder / "page.html"),
              AllOf(HasSubstr("validate --suite v100 nn --report"), HasSubstr("farthest off is nn"),
                    HasSubstr("<title>nn records=42764 (first half): 7,305 measured")));
}

// Power is linear in each component, so what the error would be without one needs no other run.
TEST(ValidateSuite, PowerIsToldWithWhatItsErrorIsMadeOf) {
  const Folder folder;
  const Outcome text = raddle("validate --suite v100 --part kernels dct --json ",
                              {folder / "j", "--keep-errors", folder / "e.csv"});
  ASSERT_EQ(text.status, 0) << text.err;
  // What results say of their error is what this gives now.
  const std::string kept = read_file(folder / "e.csv");
  const std::string row = kept.substr(kept.rfind("\nkernels,dct,") + 1);
  EXPECT_THAT(row, testing::StartsWith("kernels,dct,size=paper,dct,1,5823,"));
  EXPECT_THAT(read_file(RADDLE_SOURCE_DIR "/data/errors/v100.csv"), HasSubstr(row))
      << "data/errors/README.md says how it is made again";
  for (const char* word : {"power, W", "dynamic", "static", "without it", "front_end", "dram",
                           "static_chip", "MAPE of the power, both halves"})
    EXPECT_THAT(text.out, HasSubstr(word));
  const Json watts = Json::parse(read_file(folder / "j"))["parts"]["kernels"]["rows"][0]["watts"];
  EXPECT_EQ(watts["measured"], 130.1);
  double sum = 0;
  for (const Json& part : watts["simulated_of"]) sum += part.get<double>();
  EXPECT_NEAR(sum, watts["simulated"].get<double>(), 1e-9 * sum);
  EXPECT_GT(watts["simulated_of"]["static_chip"], 30);
  EXPECT_THAT(raddle("validate --suite v100 --part programs nn").out, Not(HasSubstr("power, W")));
}

TEST(ValidateSuite, SaysWhetherTheGoalIsMet) {
  const Outcome text = raddle("validate --suite v100 --part kernels dct byte_histogram");
  ASSERT_EQ(text.status, 0) << text.err;
  // dct is off by 14 %, byte_histogram by 5.
  EXPECT_THAT(text.out, testing::ContainsRegex("cycles +first +1 .*MAPE 10 %: met"));
  EXPECT_THAT(text.out, testing::ContainsRegex("cycles +second +1 .*MAPE 10 %: missed"));
  EXPECT_THAT(text.out, testing::ContainsRegex("dram_bytes +second +1 .*NRMSE 0.2: met"));
}

TEST(ValidateSuite, RefusesWhatItsFilesSayThemselves) {
  for (const auto& [words, message] :
       {std::pair("--suite v1000",
                  "no measurements of 'v1000' come with the program; known: h100 h200 v100"),
        {"--suite v100 bfs", "--suite v100: no measurement of 'bfs'"},
        {"--suite v100 nn records=5", "its files say the parameters; leave out 'records=5'"},
        {"--suite v100 --csv x", "--csv does not hold for"},
        {"--suite v100 --half third", "--half"},
        {"--suite h200 --part rows", "--suite h200: no part 'rows'; there are: kernels micro"},
        {"--suite v100 nn --half second", "--suite v100: no row of these is in the second half"},
        {"vecadd --part kernels", "--part does not hold for"}}) {
    const Outcome o = raddle(std::string("validate ") + words);
    EXPECT_EQ(o.status, 2) << words;
    EXPECT_THAT(o.err, HasSubstr(message)) << words;
    EXPECT_EQ(o.out, "");
  }
}

// What was measured is of the machine of that name, if no other is asked for.
TEST(ValidateSuite, SimulatesTheMachineThatWasMeasured) {
  const auto simulated = [](const std::string& more) {
    const Outcome o = raddle("validate --suite h200 --part paper nn --json -" + more);
    EXPECT_EQ(o.status, 0) << o.err;
    const Json json = Json::parse(o.out);
    EXPECT_EQ(json["parts"].size(), 1u) << "nn is in other parts, too";
    return json["parts"]["paper"]["simulated"]["gpu"].get<std::string>();
  };
  EXPECT_EQ(simulated(""), "h200");
  EXPECT_EQ(simulated(" --gpu v100"), "v100");
}

}  // namespace
}  // namespace raddle::test::validate_suite_test
