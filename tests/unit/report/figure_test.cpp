#include "raddle/report/figure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <random>
#include <sstream>

#include "documents.h"
#include "raddle/report/svg.h"
#include "raddle/report/ticks.h"
#include "raddle_paths.h"

namespace raddle::report::figure_test {
namespace {

using Json = nlohmann::ordered_json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::string file_text(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(RADDLE_SOURCE_DIR "/" + path, std::ios::binary).rdbuf();
  return text.str();
}

Figure read_figure(const Json& json) {
  Json document = small_document();
  document["experiments"][0]["figures"] = {json};
  return read_document(document).experiments[0].figures[0];
}

Figure figure_of(std::size_t index) {
  return read_document(small_document()).experiments[0].figures[index];
}

// --- CSV

TEST(FigureCsv, HasARowPerXAndAColumnPerSeriesAndStatedOne) {
  EXPECT_EQ(figure_csv(read_figure(
                {{"title", "IPC, \"relative\""},
                 {"type", "bars"},
                 {"x", {{"label", ""}, {"values", {"BFS", "a,\"b\"", "two\nlines", "last"}}}},
                 {"series",
                  {{{"name", "LRR"}, {"values", {1, 0.1, nullptr, 1234567}}},
                   {{"name", "GTO"},
                    {"values", {1.5, 2.25, -3, 1e-9}},
                    {"stated", {1.7, nullptr, nullptr, nullptr}}}}}})),
            "x,LRR,GTO,GTO (stated)\n"
            "BFS,1,1.5,1.7\n"
            "\"a,\"\"b\"\"\",0.1,2.25,\n"
            "\"two\nlines\",,-3,\n"
            "last,1234567,1e-09,\n");
}

TEST(FigureCsv, PartsOfStacksAreNamedWithTheirStack) {
  EXPECT_EQ(figure_csv(read_figure(
                {{"title", ""},
                 {"type", "stacked"},
                 {"x", {{"label", "size"}, {"scale", "category"}, {"values", {"8"}}}},
                 {"series",
                  {{{"name", "miss"}, {"stack", "GTO"}, {"values", {6}}},
                   {{"name", "miss"}, {"stack", "CCWS"}, {"values", {5}}, {"stated", {4}}}}}})),
            "size,GTO / miss,CCWS / miss,CCWS / miss (stated)\n8,6,5,4\n");
}

Json tornado_json() {
  return {
      {"title", "What the gain depends on"},
      {"type", "tornado"},
      {"x", {{"label", ""}, {"scale", "category"}, {"values", {"Queue", "L2 latency", "Seed"}}}},
      {"y", {{"label", "CCWS / GTO"}, {"unit", ""}}},
      {"series",
       {{{"name", "least"}, {"values", {1.01, 1.2, nullptr}}, {"at", {"1", "200", ""}}},
        {{"name", "as declared"}, {"values", {1.3, 1.3, 1.3}}},
        {{"name", "most"}, {"values", {1.73, 1.35, nullptr}}, {"at", {"16", "50", ""}}}}}};
}

// --- SVG

TEST(FigureSvg, ATornadoHasABarForEachConstantWithItsEnds) {
  const std::string svg = figure_svg(read_figure(tornado_json()));
  EXPECT_EQ(xml_fault(svg), "");
  EXPECT_EQ(occurrences(svg, "fill=\"#0072b2\""), 2u);
  for (const char* text : {">Queue<", ">L2 latency<", ">Seed<", ">1<", ">16<", ">200<", ">50<",
                           ">CCWS / GTO<", ">no numbers<"})
    EXPECT_THAT(svg, HasSubstr(text));
}

TEST(FigureSvg, ATornadoOfNothingIsDrawn) {
  Json json = tornado_json();
  json["x"]["values"] = Json::array();
  for (Json& series : json["series"]) {
    series["values"] = Json::array();
    series.erase("at");
  }
  EXPECT_EQ(xml_fault(figure_svg(read_figure(json))), "");
}

/// The numbers of an attribute of the drawing.
std::vector<double> numbers_of(const std::string& svg, const std::string& name) {
  const std::size_t at = svg.find(" " + name + "=\"");
  if (at == std::string::npos) return {};
  std::istringstream text(
      svg.substr(at + name.size() + 3, svg.find('"', at + name.size() + 3) - at - name.size() - 3));
  return {std::istream_iterator<double>(text), {}};
}

TEST(FigureSvg, SaysWhereItsColumnsAndRowsAre) {
  const std::string bars = figure_svg(figure_of(0));
  const std::vector<double> plot = numbers_of(bars, "data-plot");
  const std::vector<double> columns = numbers_of(bars, "data-columns");
  ASSERT_EQ(plot.size(), 4u);
  ASSERT_EQ(columns.size(), 2u);
  EXPECT_NEAR(columns[0], plot[0] + plot[2] / 4, 0.01);
  EXPECT_NEAR(columns[1], plot[0] + plot[2] * 3 / 4, 0.01);
  EXPECT_LT(numbers_of(bars, "data-head").at(0), plot[1]);

  const Figure stacks = figure_of(2);
  const std::vector<double> bars_of_stacks = numbers_of(figure_svg(stacks), "data-columns");
  EXPECT_EQ(bars_of_stacks.size(), 2 * stacks.x_names.size());  // two stacks for each x
  EXPECT_TRUE(std::is_sorted(bars_of_stacks.begin(), bars_of_stacks.end()));

  const std::string tornado = figure_svg(read_figure(tornado_json()));
  EXPECT_EQ(numbers_of(tornado, "data-rows").size(), 3u);
  EXPECT_TRUE(numbers_of(tornado, "data-columns").empty());
}

TEST(FigureSvg, LinesAreGroupedBySeries) {
  const std::string svg = figure_svg(figure_of(1));
  const std::size_t series = figure_of(1).series.size();
  EXPECT_EQ(occurrences(svg, "<g data-series=\"0\">"), 2u);  // the line, and what is stated
  EXPECT_EQ(occurrences(svg, "<g data-series=\""), 2 * series);
  EXPECT_EQ(occurrences(svg, "</g>"), occurrences(svg, "<g "));
}

TEST(TicksTest, NeedNotBeginAtZero) {
  const Ticks one = ticks(1.01, 1.73, 6);
  EXPECT_LE(one.low, 1.01);
  EXPECT_GE(one.low, 0.8);
  EXPECT_GE(one.high, 1.73);
  EXPECT_LE(one.values().size(), 10u);
}

TEST(FigureSvg, ColoursAreThoseOfThePage) {
  const std::string theme = file_text("web/src/theme.ts");
  std::string list;
  for (const std::string_view colour : kSeriesColours)
    list += (list.empty() ? "\"" : ", \"") + std::string(colour) + "\"";
  EXPECT_THAT(theme, HasSubstr("series: [" + list + "]"));
}

TEST(FigureSvg, BarsHaveABarPerNumberTheLegendAndThePapersMarks) {
  const std::string svg = figure_svg(figure_of(0));
  EXPECT_EQ(xml_fault(svg), "");
  EXPECT_EQ(occurrences(svg, "fill=\"#0072b2\""), 3u);  // two bars and the legend
  EXPECT_EQ(occurrences(svg, "fill=\"#e69f00\""), 2u);  // one of two was measured
  EXPECT_EQ(occurrences(svg, "<polygon"), 2u);          // one stated number and the legend
  for (const char* text : {">IPC<", ">GTO<", ">CCWS<", ">stated in the paper<", ">BFS<", ">GC<",
                           ">IPC (relative to GTO)<", ">0<", ">1.5<"})
    EXPECT_THAT(svg, HasSubstr(text));
}

TEST(FigureSvg, LinesHaveAMarkerPerNumberAndGapsWhereNothingWasMeasured) {
  Figure figure = figure_of(1);
  const std::string whole = figure_svg(figure);
  EXPECT_EQ(xml_fault(whole), "");
  EXPECT_EQ(occurrences(whole, "<circle"), 4u);  // three and the legend
  EXPECT_EQ(occurrences(whole, "stroke=\"#0072b2\""), 2u);
  figure.series[0].values = {Cell(1.0), Cell(), Cell(3.0)};
  const std::string broken = figure_svg(figure);
  EXPECT_EQ(occurrences(broken, "<circle"), 3u);
  EXPECT_EQ(occurrences(broken, "stroke=\"#0072b2\""), 1u);  // the legend's: no line is left
}

TEST(FigureSvg, ALogarithmicAxisPlacesPowersEvenly) {
  const std::string svg = figure_svg(figure_of(1));
  std::vector<double> at;
  for (const char* name : {">8<", ">16<", ">32<"}) {
    const std::size_t end = svg.find(name);
    ASSERT_NE(end, std::string::npos) << name;
    const std::size_t x = svg.rfind("<text x=\"", end) + 9;
    at.push_back(std::stod(svg.substr(x)));
  }
  EXPECT_NEAR(at[1] - at[0], at[2] - at[1], 0.02);
}

TEST(FigureSvg, StacksStandOnEachOtherAndAreNamed) {
  const std::string svg = figure_svg(figure_of(2));
  EXPECT_EQ(xml_fault(svg), "");
  EXPECT_EQ(occurrences(svg, "fill=\"#0072b2\""), 3u);  // miss of two stacks, legend
  EXPECT_THAT(svg, HasSubstr(">CCWS<"));
  EXPECT_THAT(svg, HasSubstr(">40<"));  // the axis reaches the sum
}

TEST(FigureSvg, TablesAreDrawnAsText) {
  const std::string svg = figure_svg(
      read_figure({{"title", "Limits"},
                   {"type", "table"},
                   {"x", {{"label", "kernel"}, {"values", {"BFS"}}}},
                   {"series", {{{"name", "limit"}, {"values", {5}}, {"stated", {7}}}}}}));
  EXPECT_EQ(xml_fault(svg), "");
  for (const char* text : {">kernel<", ">limit<", ">paper: limit<", ">BFS<", ">5<", ">7<"})
    EXPECT_THAT(svg, HasSubstr(text));
}

TEST(FigureSvg, NothingMeasuredIsSaidSo) {
  Json json = small_document()["experiments"][0]["figures"][0];
  json["series"][0]["values"] = {nullptr, nullptr};
  json["series"].erase(1);
  EXPECT_THAT(figure_svg(read_figure(json)), HasSubstr(">no numbers<"));
  json["series"] = Json::array();
  json["x"]["values"] = Json::array();
  EXPECT_EQ(xml_fault(figure_svg(read_figure(json))), "");
}

TEST(FigureSvg, SeriesBeyondThePaletteAreHatchedOrDashed) {
  Json json = small_document()["experiments"][0]["figures"][0];
  for (int i = 0; i < 10; ++i)
    json["series"].push_back({{"name", "more " + std::to_string(i)}, {"values", {1, 2}}});
  EXPECT_EQ(occurrences(figure_svg(read_figure(json)), "<pattern"), 4u);
  json["type"] = "lines";
  const std::string lines = figure_svg(read_figure(json));
  EXPECT_EQ(occurrences(lines, "<pattern"), 0u);
  EXPECT_THAT(lines, HasSubstr("stroke-dasharray=\"6 4\""));
}

TEST(FigureSvg, HostileTextStaysText) {
  Json json = small_document()["experiments"][0]["figures"][0];
  const std::string evil = "</svg><script>x()</script> & \" ' \x01\xff ]]>\n\xe2\x80\xae";
  json["title"] = evil;
  json["x"]["values"] = {evil, "GC"};
  json["series"][0]["name"] = evil;
  const std::string svg = figure_svg(read_figure(json));
  EXPECT_EQ(xml_fault(svg), "");
  EXPECT_THAT(svg, Not(HasSubstr("<script")));
  EXPECT_THAT(svg, HasSubstr("&lt;script&gt;"));
}

/// Whatever the numbers: no shape outside the picture, no coordinate that is no number.
TEST(FigureSvg, AnyNumbersStayInsideThePicture) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> exponent(-20, 20);
  for (int round = 0; round < 200; ++round) {
    Figure figure = figure_of(static_cast<std::size_t>(round % 3));
    for (Series& s : figure.series)
      for (Cell& cell : s.values)
        if (random() % 4 == 0) cell = Cell();
        else cell = std::pow(10.0, exponent(random)) * (random() % 5 == 0 ? -1 : 1);
    const std::string svg = figure_svg(figure);
    ASSERT_EQ(xml_fault(svg), "");
    ASSERT_THAT(svg, Not(HasSubstr("nan")));
    ASSERT_THAT(svg, Not(HasSubstr("inf")));
    const double height = std::stod(svg.substr(svg.find("height=\"") + 8));
    for (std::size_t at = svg.find(" y=\""); at != std::string::npos;
         at = svg.find(" y=\"", at + 1)) {
      const double y = std::stod(svg.substr(at + 4));
      ASSERT_TRUE(y >= 0 && y <= height) << y << " in " << svg;
    }
  }
}

// --- axes and texts

TEST(Ticks, CoverEverythingInRoundSteps) {
  EXPECT_THAT(ticks_from_zero(0.36, 1.66, 6).values(), ElementsAre(0, 0.5, 1, 1.5, 2));
  EXPECT_THAT(ticks_from_zero(-3, 7, 5).values(), ElementsAre(-4, -2, 0, 2, 4, 6, 8));
  const Ticks nothing = ticks_from_zero(0, 0, 6);
  EXPECT_EQ(nothing.low, 0);
  EXPECT_EQ(nothing.high, 1);
}

TEST(Ticks, LabelsHaveTheDecimalsOfTheStep) {
  EXPECT_EQ(ticks_from_zero(0, 1.5, 6).label(1), "1.0");
  EXPECT_EQ(ticks_from_zero(0, 1.5, 6).label(0), "0");
  EXPECT_EQ(ticks_from_zero(0, 60, 6).label(20), "20");
  EXPECT_EQ(ticks_from_zero(0, 60'000, 6).label(20'000), "20 k");
  EXPECT_EQ(ticks_from_zero(0, 0.003, 6).label(0.0015), "0.0015");
}

TEST(Numbers, AreWrittenForPeople) {
  EXPECT_EQ(digits(5), "5");
  EXPECT_EQ(digits(1234567), "1,234,567");
  EXPECT_EQ(digits(-1234.4), "-1,234");
  EXPECT_EQ(digits(1.234), "1.23");
  EXPECT_EQ(digits(0.05), "0.0500");
  EXPECT_EQ(digits(1e-9), "1.00e-09");
  EXPECT_EQ(short_number(4096), "4096");
  EXPECT_EQ(short_number(500'000), "500 k");
  EXPECT_EQ(short_number(20e6), "20 M");
  EXPECT_EQ(short_number(1048576), "1048576");
  EXPECT_EQ(short_number(0.5), "0.5");
}

TEST(Text, IsCutAndBrokenBetweenCharacters) {
  EXPECT_EQ(fitted("short", 12, 200), "short");
  const std::string cut = fitted("\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9", 12, 40);
  EXPECT_EQ(cut, "\xc3\xa9\xc3\xa9\xc3\xa9\xe2\x80\xa6");
  EXPECT_THAT(wrapped("one two three", 12, text_width("one two", 12) + 1),
              ElementsAre("one two", "three"));
  EXPECT_TRUE(wrapped("", 12, 100).empty());
  EXPECT_GT(text_width("MMM", 12), text_width("iii", 12));
}

}  // namespace
}  // namespace raddle::report::figure_test
