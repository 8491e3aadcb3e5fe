// What a report says without scripts.
#include "raddle/report/static_table.h"

#include <gtest/gtest.h>

#include "raddle/report/page.h"
#include "raddle/report/report.h"
#include "raddle/sim/result/version.h"
#include "samples.h"

namespace raddle::report::static_table_test {
namespace {

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::string table_of(const ReportInput& input) { return static_table(data(input)); }

TEST(StaticTable, HasARowForEachRunWithItsNumbers) {
  sim::Result lrr = small_result(), gto = small_result();
  lrr.cycles = 4500;
  lrr.verdict = sim::Result::Verdict::Correct;
  gto.totals.sm.l1d_accesses = 8;
  gto.totals.sm.l1d_hits = 2;
  gto.totals.sm.thread_instructions = 600;
  gto.totals.dram.bytes = 2048;
  const std::string text = table_of({"raddle compare bfs", "", {{"lrr", &lrr}, {"gto", &gto}}});
  EXPECT_TRUE(
      has(text, "<tr><td>bfs</td><td>lrr</td><td>correct</td><td>4,500</td><td>1.000</td>"));
  EXPECT_TRUE(has(text,
                  "<tr><td>bfs</td><td>gto</td><td>unchecked</td><td>300</td><td>15.000</td>"
                  "<td>2.0</td><td>25.0 %</td><td>-</td><td>2.00 KiB</td></tr>"))
      << text;
  EXPECT_TRUE(has(text, sim::version()));
  EXPECT_TRUE(has(text, "raddle compare bfs"));
}

TEST(StaticTable, ARunIsComparedWithThoseOfItsWorkAndSeed) {
  sim::Result one = small_result(), two = small_result(), other = small_result();
  one.config["run"]["seed"] = 1;
  two.config["run"]["seed"] = 2;
  two.cycles = 600;
  other.config["run"]["seed"] = 1;
  other.parameters = {{"nodes", 9}};
  other.cycles = 900;
  const std::string text = table_of({"", "", {{"a", &one}, {"b", &two}, {"c", &other}}});
  EXPECT_FALSE(has(text, "0.500")) << "another input";
  EXPECT_FALSE(has(text, "0.333")) << "other work";
  EXPECT_TRUE(has(text, "nodes=9</td><td>c")) << "works of one name are told apart";
  two.parameters = one.parameters;
  const std::string seeds = table_of({"", "", {{"a", &one}, {"a", &two}}});
  EXPECT_TRUE(has(seeds, "<td>a, seed 1</td>") && has(seeds, "<td>a, seed 2</td>")) << seeds;
}

TEST(StaticTable, TextsAreText) {
  sim::Result r = small_result();
  const std::string evil = "</noscript><script>alert(1)</script>&";
  r.workload = evil;
  const std::string page = html({evil, evil, {{evil, &r}}});
  EXPECT_FALSE(has(page.substr(0, page.find("raddle-data")), "alert(1)</"));
  EXPECT_TRUE(has(table_of({"", "", {{evil, &r}}}), "&lt;/noscript&gt;&lt;script&gt;"));
}

TEST(StaticTable, StandsInThePageAndNothingStandsForNoRuns) {
  const sim::Result r = small_result();
  const ReportInput input{"", "", {{"gto", &r}}};
  if (has(std::string(page_template(Page::index)), "<!--RADDLE_TABLE-->")) {
    EXPECT_TRUE(has(html(input), "<noscript>"));
    EXPECT_TRUE(has(html(input), table_of(input)));
  }
  EXPECT_EQ(table_of({}), "");
  EXPECT_FALSE(has(html({}), "RADDLE_TABLE"));
}

TEST(StaticTable, OfARunWithoutTimeHasNoCycles) {
  sim::Result r = small_result();
  r.timed = false;
  EXPECT_TRUE(has(table_of({"", "", {{"gto", &r}}}), "<td>unchecked</td><td>-</td><td>-</td>"));
}

}  // namespace
}  // namespace raddle::report::static_table_test
