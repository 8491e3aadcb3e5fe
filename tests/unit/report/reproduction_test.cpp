#include "raddle/report/reproduction.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "documents.h"
#include "raddle/base/error.h"
#include "raddle/report/page.h"
#include "raddle/sim/result/version.h"
#include "support/errors.h"

namespace raddle::report::reproduction_test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Json data_in(const std::string& page) {
  const std::string open = R"(<script id="raddle-data" type="application/json">)";
  const std::size_t at = page.find(open) + open.size();
  return Json::parse(page.substr(at, page.find("</script", at) - at));
}

Json of_paper(const std::string& id) {
  Json document = small_document();
  document["paper"]["id"] = id;
  return document;
}

TEST(Templates, EachHasOnePlaceForItsData) {
  for (const Page page : {Page::index, Page::reproduction, Page::papers}) {
    const std::string html(page_template(page));
    EXPECT_EQ(occurrences(html, "/*RADDLE_DATA*/"), 1u);
  }
}

TEST(ReproductionPage, CarriesTheDocumentAsItIs) {
  const Json document = small_document();
  Json data = data_in(reproduction_page(document));
  const std::vector<Figure> figures = read_document(document).experiments[0].figures;
  ASSERT_EQ(data["experiments"][0]["figures"].size(), figures.size());
  for (std::size_t i = 0; i < figures.size(); ++i) {
    Json& figure = data["experiments"][0]["figures"][i];
    EXPECT_EQ(figure["svg"], figure_svg(figures[i]));
    EXPECT_EQ(figure["csv"], figure_csv(figures[i]));
    figure.erase("svg");
    figure.erase("csv");
  }
  EXPECT_EQ(data["page_version"], sim::version())
      << "which program made the page is another matter";
  data.erase("page_version");
  EXPECT_EQ(data, document);
  EXPECT_EQ(page_name(small_document()), "ccws.html");
}

TEST(ReproductionPage, LeadsToAnIndexOnlyWhereThereIsOne) {
  EXPECT_EQ(data_in(reproduction_page(small_document(), "index.html"))["index_page"], "index.html");
}

TEST(ReproductionPage, NoStringCanEndTheScript) {
  Json document = small_document();
  const std::string hostile = "</script><script>x()</script><!--";
  document["experiments"][0]["explanation"] = hostile;
  document["experiments"][0]["figures"][0]["title"] = hostile;
  const std::string page = reproduction_page(document);
  const Json experiment = data_in(page)["experiments"][0];
  EXPECT_EQ(experiment["explanation"], hostile);
  EXPECT_EQ(experiment["figures"][0]["title"], hostile);
  EXPECT_EQ(page.find("x()</script>"), std::string::npos);
}

TEST(ReproductionPage, AnUnsoundDocumentIsRefused) {
  EXPECT_THROW(reproduction_page(Json::object()), InputError);
  EXPECT_THROW(page_name(Json::object()), InputError);
  EXPECT_THROW(index_page(std::vector<Json>{Json::object()}), InputError);
}

TEST(IndexPage, HasARowOfCountsPerPaper) {
  const std::vector<Json> documents = {of_paper("ikra"), of_paper("ccws")};
  const Json papers = data_in(index_page(documents))["papers"];
  ASSERT_EQ(papers.size(), 2u);
  EXPECT_EQ(papers[0]["page"], "ikra.html");
  EXPECT_EQ(papers[1]["id"], "ccws");
  EXPECT_EQ(papers[0]["experiments"],
            Json::parse(R"({"pass":0,"refuted":0,"fail":1,"incomplete":0,"tested_elsewhere":1,)"
                        R"("no_verdict":0})"));
  EXPECT_EQ(papers[0]["shapes"], Json::parse(R"({"total":3,"passed":1,"refuted":0})"));
  EXPECT_EQ(papers[0]["stated"], Json::parse(R"({"total":2,"within":1,"refuted":0})"));
  EXPECT_EQ(papers[0]["runs"], Json::parse(R"({"total":10,"failed":2})"));
}

TEST(IndexPage, NoPaperIsFineTwoOfOneAreNot) {
  EXPECT_TRUE(data_in(index_page({}))["papers"].empty());
  EXPECT_THROW(index_page(std::vector<Json>{of_paper("ccws"), of_paper("ccws")}), InputError);
}

class Site : public testing::Test {
 protected:
  Site() : path_(std::getenv("PATH")) { fs::create_directories(folder_); }
  ~Site() override {
    setenv("PATH", path_.c_str(), 1);
    fs::remove_all(folder_);
  }
  /// Makes a program of this name the only one in the PATH.
  void only_program(const std::string& name, const std::string& script) {
    fs::create_directories(folder_ / "bin");
    std::ofstream(folder_ / "bin" / name) << "#!/bin/sh\n" << script;
    fs::permissions(folder_ / "bin" / name, fs::perms::owner_all);
    setenv("PATH", (folder_ / "bin").c_str(), 1);
  }
  void no_program() { setenv("PATH", (folder_ / "nothing").c_str(), 1); }
  static std::string content(const fs::path& file) {
    std::ostringstream text;
    text << std::ifstream(file, std::ios::binary).rdbuf();
    return text.str();
  }
  const fs::path folder_ = fs::temp_directory_path() / ("raddle_site_" + std::to_string(getpid()));
  const std::string path_;
};

TEST_F(Site, FiguresAreNamedByExperimentAndNumber) {
  no_program();
  const Written written = write_figures(small_document(), folder_ / "new" / "figures");
  EXPECT_THAT(written.names, ElementsAre("ccws.fig7.1.csv", "ccws.fig7.1.svg", "ccws.fig7.2.csv",
                                         "ccws.fig7.2.svg", "ccws.fig7.3.csv", "ccws.fig7.3.svg"));
  EXPECT_THAT(written.note, HasSubstr("librsvg2-bin"));
  const fs::path csv = folder_ / "new" / "figures" / "ccws.fig7.2.csv";
  EXPECT_EQ(content(csv), "KiB,BFS,BFS (stated)\n8,1,\n16,2,\n32,3,3.5\n");
}

TEST_F(Site, AnExperimentsOnlyFigureHasItsName) {
  no_program();
  Json document = small_document();
  document["experiments"][0]["figures"].erase(1);
  document["experiments"][0]["figures"].erase(1);
  EXPECT_THAT(write_figures(document, folder_).names,
              ElementsAre("ccws.fig7.csv", "ccws.fig7.svg"));
}

TEST_F(Site, PicturesAreMadeByTheConverter) {
  only_program("rsvg-convert",
               "for a; do case $a in --output=*) /bin/echo picture > \"${a#--output=}\";; esac; "
               "done\n");
  const Written written = write_figures(small_document(), folder_);
  EXPECT_EQ(written.note, "");
  EXPECT_EQ(written.names.size(), 9u);
  EXPECT_EQ(content(folder_ / "ccws.fig7.3.png"), "picture\n");
}

TEST_F(Site, AConverterThatFailsIsSaidSoAndLeavesNothing) {
  only_program("rsvg-convert", "exit 3\n");
  const Written written = write_figures(small_document(), folder_);
  EXPECT_EQ(written.note, "no ccws.fig7.1.png: rsvg-convert failed");
  EXPECT_EQ(written.names.size(), 6u);
  for (const auto& entry : fs::directory_iterator(folder_))
    EXPECT_THAT(entry.path().string(), testing::Not(HasSubstr(".png")));
}

TEST_F(Site, TheRealConverterTakesWhatIsWritten) {
  if (std::system("command -v rsvg-convert >/dev/null") != 0)
    GTEST_SKIP() << "rsvg-convert is not installed";
  const Written written = write_figures(small_document(), folder_);
  EXPECT_EQ(written.note, "");
  EXPECT_EQ(content(folder_ / "ccws.fig7.1.png").substr(1, 3), "PNG");
}

TEST_F(Site, HoldsIndexPagesAndFigures) {
  no_program();
  const std::vector<Json> documents = {small_document()};
  const Written written = write_site(documents, folder_ / "site");
  EXPECT_EQ(written.names.size(), 9u);
  EXPECT_EQ(written.names[0], "index.html");
  EXPECT_EQ(written.names[1], "ccws.html");
  EXPECT_EQ(written.names[2], "ccws.md");
  EXPECT_EQ(written.names[3], "figures/ccws.fig7.1.csv");
  for (const std::string& name : written.names) EXPECT_TRUE(fs::exists(folder_ / "site" / name));
  EXPECT_EQ(content(folder_ / "site" / "ccws.html"),
            reproduction_page(small_document(), "index.html"));
}

TEST_F(Site, SingleExperimentsOfOnePaperAreOnOnePage) {
  no_program();
  Json other = small_document();
  for (std::size_t i = 0; i < other["experiments"].size(); ++i)
    other["experiments"][i]["id"] = "ccws.more" + std::to_string(i);
  other["date"] = "2999-01-01T00:00:00Z";
  const std::vector<Json> documents = {small_document(), other};
  write_site(documents, folder_ / "site");
  const Json page = data_in(content(folder_ / "site" / "ccws.html"));
  const std::size_t each = small_document()["experiments"].size();
  ASSERT_EQ(page["experiments"].size(), 2 * each);
  EXPECT_EQ(page["experiments"][each]["id"], "ccws.more0");
  EXPECT_EQ(page["date"], "2999-01-01T00:00:00Z");
  EXPECT_EQ(page["machine"], small_document()["machine"]);
  const std::string command = small_document()["command"];
  EXPECT_EQ(page["command"], command + "; " + command);
}

TEST_F(Site, TwoOfOneExperimentOrOfOtherScalesAreRefused) {
  no_program();
  const auto refused = [&](const Json& other) {
    const std::vector<Json> documents = {small_document(), other};
    return raddle::test::input_error_of([&] { write_site(documents, folder_ / "site"); });
  };
  EXPECT_NE(refused(small_document()).find("hold experiment"), std::string::npos);
  Json other = small_document();
  for (Json& experiment : other["experiments"]) experiment["id"] = "ccws.more";
  other["experiments"].erase(other["experiments"].begin() + 1, other["experiments"].end());
  other["scale"] = other["scale"] == "full" ? "quick" : "full";
  EXPECT_NE(refused(other).find("scales"), std::string::npos);
  EXPECT_FALSE(fs::exists(folder_ / "site"));
}

TEST_F(Site, NothingIsWrittenOfAnUnsoundDocument) {
  const std::vector<Json> documents = {small_document(), Json::object()};
  EXPECT_THROW(write_site(documents, folder_ / "site"), InputError);
  EXPECT_THROW(write_figures(Json::object(), folder_ / "site"), InputError);
  EXPECT_FALSE(fs::exists(folder_ / "site"));
}

TEST_F(Site, AFolderThatCannotBeMadeIsNamed) {
  std::ofstream(folder_ / "file") << "x";
  try {
    write_figures(small_document(), folder_ / "file" / "figures");
    FAIL();
  } catch (const RunError& error) {
    EXPECT_THAT(error.what(), HasSubstr((folder_ / "file" / "figures").string()));
  }
  EXPECT_THROW(write_site(std::vector<Json>{small_document()}, folder_ / "file"), RunError);
}

}  // namespace
}  // namespace raddle::report::reproduction_test
