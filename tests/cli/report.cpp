// raddle report: pages of papers from documents.
#include "cli/raddle.h"
#include "support/compressed_text.h"

namespace raddle::test::report_test {
namespace {

using testing::Contains;

Json document(const std::string& paper) {
  return {{"schema", 1},
          {"kind", "reproduction"},
          {"raddle_version", "0.1.0"},
          {"date", ""},
          {"command", "raddle reproduce " + paper},
          {"scale", "quick"},
          {"paper", {{"id", paper}, {"title", "A title"}, {"reference", "somewhere"}}},
          {"machine", nullptr},
          {"experiments",
           {{{"id", paper + ".fig1"},
             {"title", "First"},
             {"claim", "grows"},
             {"status", "pass"},
             {"figures",
              {{{"title", "F"},
                {"type", "bars"},
                {"x", {{"values", {"a"}}}},
                {"series", {{{"name", "s"}, {"values", {1}}}}}}}}}}}};
}

TEST(Report, WritesIndexPagesAndFigures) {
  const Folder folder;
  const std::string first = folder.write("1.json", document("ccws").dump());
  const std::string second = folder.write("2.json", document("ikra").dump());
  const Outcome outcome = raddle("report", {first, second, "-o", folder / "site"});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr(folder / "site" + "/index.html"));
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder / "site"))
    names.push_back(entry.path().filename().string());
  for (const char* name :
       {"index.html", "ccws.html", "ikra.html", "ccws.fig1.csv", "ikra.fig1.svg"})
    EXPECT_THAT(names, Contains(name));
  const Outcome quiet = raddle("report", {first, "--quiet", "-o", folder / "site"});
  EXPECT_EQ(quiet.status, 0);
  EXPECT_EQ(quiet.out + quiet.err, "");
}

TEST(Report, RefusesWhatIsNoDocumentAndWritesNothing) {
  const Folder folder;
  const std::string site = folder / "site";
  const std::string good = folder.write("good.json", document("ccws").dump());
  expect_refused(raddle("report", {folder / "no.json", "-o", site}), {"no.json"});
  expect_refused(raddle("report", {folder.write("text.json", "name = 1\n"), "-o", site}),
                 {"text.json:1:"});
  expect_refused(
      raddle("report", {folder.write("cut.json", document("a").dump().substr(0, 50)), "-o", site}),
      {"cut.json"});
  Json later = document("ccws");
  later["schema"] = 2;
  expect_refused(raddle("report", {folder.write("later.json", later.dump()), "-o", site}),
                 {"later.json", "schema", "expected 1", "found 2"});
  expect_refused(
      raddle("report", {good, folder.write("same.json", document("ccws").dump()), "-o", site}),
      {"two", "'ccws'"});
  expect_refused(raddle("report", {good}), {"--output"});
  expect_refused(raddle("report", {"-o", site}), {"documents"});
  EXPECT_FALSE(std::filesystem::exists(site));
}

TEST(Report, ReadsCompressedDocumentsAndRefusesBrokenOnes) {
  const Folder folder;
  const std::string text = document("ccws").dump();
  const std::string packed = compressed(text);
  const std::string site = folder / "site";
  std::string changed = packed;
  changed[packed.size() / 2] = static_cast<char>(~changed[packed.size() / 2]);
  expect_refused(raddle("report", {folder.write("changed.json.zst", changed), "-o", site}),
                 {"changed.json.zst", "damaged"});
  for (const std::size_t left : {packed.size() - 1, packed.size() / 2, std::size_t{5}})
    expect_refused(
        raddle("report", {folder.write("cut.json.zst", packed.substr(0, left)), "-o", site}),
        {"cut.json.zst", "ends early"});
  const std::string half = compressed(text.substr(0, text.size() / 2));
  expect_refused(raddle("report", {folder.write("half.json.zst", half), "-o", site}),
                 {"half.json.zst"});
  EXPECT_FALSE(std::filesystem::exists(site));

  const Outcome outcome = raddle("report", {folder.write("a.json.zst", packed), "-o", site});
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  const Outcome plain = raddle("report", {folder.write("a.json", text), "-o", folder / "plain"});
  EXPECT_EQ(plain.status, 0) << plain.err;
  EXPECT_EQ(read_file(folder / "site/ccws.html"), read_file(folder / "plain/ccws.html"));
}

TEST(Report, AFolderThatCannotBeWrittenIsNamed) {
  const Folder folder;
  const std::string good = folder.write("good.json", document("ccws").dump());
  const std::string other = folder.write("other.json", "{}");
  expect_failed(raddle("report", {good, "-o", other}), {"other.json"});
  expect_refused(raddle("report", {good, "-o", good}), {"would write over", "good.json"});
}

}  // namespace
}  // namespace raddle::test::report_test
