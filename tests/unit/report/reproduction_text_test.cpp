// A reproduction as Markdown.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "raddle/base/error.h"
#include "raddle/report/reproduction.h"
#include "unit/report/documents.h"

namespace raddle::report::reproduction_text_test {
namespace {

using nlohmann::ordered_json;
using testing::HasSubstr;
using testing::Not;

TEST(ReproductionText, HasARowForEachExperiment) {
  const std::string text = reproduction_text(small_document());
  EXPECT_THAT(text, HasSubstr("| fig7 | Performance | fail | 1 of 3 | gain: 1.63 / 1.5; "
                              "loss: - / - **outside** |\n"));
  EXPECT_THAT(text, HasSubstr("| fig6 | Example | tested elsewhere | - | - |\n"));
}

TEST(ReproductionText, SaysWhatWasRunAndHowItCameOut) {
  const std::string text = reproduction_text(small_document());
  EXPECT_THAT(text, HasSubstr("# Cache-Conscious: what reproduces"));
  EXPECT_THAT(text, HasSubstr("\nraddle reproduce ccws\n"));
  EXPECT_THAT(text, HasSubstr("2024-05-01, Raddle 0.1.0. Rows: 1 fail, 1 tested elsewhere. 1 of 3 "
                              "required shapes and 1 of 2 stated numbers hold. 10 runs, "
                              "counted in every row that uses them.\n"));
}

TEST(ReproductionText, AStudyIsMarkedAndDoesNotCount) {
  ordered_json document = small_document();
  document["experiments"][0]["kind"] = "study";
  const std::string text = reproduction_text(document);
  EXPECT_THAT(text, HasSubstr("| fig7 | Performance | fail (ours) | 1 of 3 |"));
  EXPECT_THAT(text, HasSubstr("Rows: 1 tested elsewhere. 0 of 0 required shapes and 0 of 0 stated "
                              "numbers hold. Rows of ours, not counted: 1. 10 runs, "));
}

TEST(ReproductionText, ExplainsRowsThatHaveAnExplanation) {
  const std::string text = reproduction_text(small_document());
  EXPECT_THAT(text, HasSubstr("\n## fig7: Performance\n\nbecause\n"));
  EXPECT_THAT(text, Not(HasSubstr("## fig6")));
  EXPECT_THAT(text, Not(HasSubstr("cannot be followed")));
}

TEST(ReproductionText, EndsWithThePapersNotes) {
  ordered_json document = small_document();
  document["paper"]["notes"] = "* registers";
  EXPECT_THAT(reproduction_text(document), HasSubstr("cannot be followed\n\n* registers\n"));
}

TEST(ReproductionText, ABarInATitleDoesNotEndTheCell) {
  ordered_json document = small_document();
  document["experiments"][1]["title"] = "a|b\nc";
  EXPECT_THAT(reproduction_text(document), HasSubstr("| fig6 | a\\|b  c |"));
}

TEST(ReproductionText, OfAnUnsoundDocumentIsRefused) {
  EXPECT_THROW(reproduction_text(ordered_json::object()), InputError);
  ordered_json document = small_document();
  document["paper"]["notes"] = 3;
  EXPECT_THROW(reproduction_text(document), InputError);
}

}  // namespace
}  // namespace raddle::report::reproduction_text_test
