#include "raddle/config/writer.h"

#include <gtest/gtest.h>

#include "raddle/base/rng.h"
#include "raddle/config/describer.h"
#include "raddle/config/reader.h"
#include "sample.h"

namespace raddle::config::writer_test {
namespace {

TEST(JsonWriter, NestsFieldsInTheOrderVisited) {
  Sample sample;
  EXPECT_EQ(to_json(sample).dump(),
            R"({"name":"unnamed","count":1,)"
            R"("l1d":{"size_kib":16,"seed":1,"ratio":0.25,"sectored":true,"write":"through"},)"
            R"("l2":{"size_kib":16,"seed":1,"ratio":0.25,"sectored":true,"write":"through"}})");
}

TEST(JsonWriter, TakesSeveralStructsAndStartsAnew) {
  Cache cache;
  JsonWriter writer;
  writer.enter("x", "");
  cache.visit(writer);
  writer.leave();
  std::string text = "t";
  writer.field("y", text, "");
  const auto all = writer.take();
  EXPECT_EQ(all["x"]["size_kib"], 16);
  EXPECT_EQ(all["y"], "t");
  EXPECT_TRUE(writer.take().empty());
}

TEST(JsonWriter, TwoFieldsOfOneNameAreRefused) {
  JsonWriter writer;
  std::string text;
  writer.field("a", text, "");
  EXPECT_THROW(writer.field("a", text, ""), InputError);
}

Cache random_cache(Rng& rng) {
  Cache c;
  c.size_kib = 1 + rng.below(4096);
  c.seed = rng.next();
  c.ratio = rng.unit();
  c.sectored = rng.below(2) == 0;
  c.write = rng.below(2) == 0 ? Write::Through : Write::Back;
  return c;
}

TEST(RoundTrip, DumpReadDumpIsTheSame) {
  Rng rng(4);
  for (int round = 0; round < 200; ++round) {
    Sample sample;
    sample.name = "quote \" backslash \\ newline \n tab \t \xC3\xA4 " + std::to_string(round);
    sample.count = 1 + rng.below(1u << 31);
    sample.l1d = random_cache(rng);
    sample.l2 = random_cache(rng);
    const std::string dump = to_json(sample).dump(round % 2 == 0 ? -1 : 2);
    Sample copy;
    const Tree tree = Tree::from_json(dump, "dump");
    Reader reader(tree);
    copy.visit(reader);
    reader.finish();
    EXPECT_EQ(copy.l1d.ratio, sample.l1d.ratio) << "to the last bit";
    ASSERT_EQ(to_json(copy).dump(round % 2 == 0 ? -1 : 2), dump);
  }
}

TEST(Describer, ListsEveryFieldWithItsPath) {
  Sample sample;
  Describer describer;
  sample.visit(describer);
  ASSERT_EQ(describer.fields().size(), 12u);
  const FieldDescription& size = describer.fields()[2];
  EXPECT_EQ(size.path, "l1d.size_kib");
  EXPECT_EQ(size.type, "whole number");
  EXPECT_EQ(size.unit, "KiB");
  EXPECT_EQ(size.doc, "capacity");
  EXPECT_EQ(describer.fields()[11].path, "l2.write");
}

TEST(Describer, AsJsonLeavesOutWhatDoesNotApply) {
  Cache cache;
  Describer describer;
  cache.visit(describer);
  const auto all = describer.json();
  EXPECT_EQ(all[0].dump(),
            R"({"path":"size_kib","type":"whole number","default":16,"low":1,"high":4096,)"
            R"("unit":"KiB","doc":"capacity"})");
  EXPECT_EQ(all[1].dump(),
            R"({"path":"seed","type":"whole number","default":1,"doc":"any number"})");
  EXPECT_EQ(all[4].dump(),
            R"({"path":"write","type":"choice","default":"through","doc":"where a write goes",)"
            R"("choices":["through","back"]})");
}

}  // namespace
}  // namespace raddle::config::writer_test
