// Containers built here: what was put in comes out.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "raddle/base/error.h"
#include "raddle/base/rng.h"
#include "raddle/fatbin/fatbin.h"
#include "raddle/fatbin/wrapper.h"
#include "unit/fatbin/builder.h"

namespace raddle::fatbin::read_test {
namespace {

using testing::HasSubstr;

constexpr const char* kText = ".version 9.0\n.target sm_75\n.address_size 64\n";

TEST(Read, PlainLz4AndZstdGiveTheSameText) {
  const std::string text = kText + std::string(5000, ' ') + "// end\n";
  const std::string bytes = container(EntryBytes::plain(75, text), EntryBytes::lz4(80, text),
                                      EntryBytes::zstd(90, text), EntryBytes::cubin(90));
  const auto entries = read(view(bytes), "app");
  ASSERT_EQ(entries.size(), 4u);
  for (unsigned i = 0; i < 3; ++i) {
    EXPECT_EQ(entries[i].kind, Kind::Ptx);
    EXPECT_EQ(entries[i].text(), text) << i;
    EXPECT_EQ(entries[i].version_major, 9u);
    EXPECT_EQ(entries[i].version_minor, 0u);
    EXPECT_EQ(entries[i].file, "app");
    EXPECT_FALSE(entries[i].relocatable());
  }
  EXPECT_EQ(entries[0].compression, Compression::None);
  EXPECT_EQ(entries[1].compression, Compression::Lz4);
  EXPECT_EQ(entries[2].compression, Compression::Zstd);
  EXPECT_EQ(entries[0].target(), "compute_75");
  EXPECT_EQ(entries[3].target(), "sm_90");
  EXPECT_EQ(entries[3].kind, Kind::Cubin);
  EXPECT_THAT(entries[3].text(), HasSubstr("ELF"));
  EXPECT_EQ(entries[0].offset, 16u);
}

TEST(Read, TextsOfManyLengths) {
  Rng rng(1);
  for (unsigned n = 0; n < 200; ++n) {
    std::string text;
    for (unsigned i = 0; i < n; ++i) text += static_cast<char>('a' + rng.below(4));
    const std::string bytes = container(EntryBytes::plain(75, text), EntryBytes::lz4(80, text),
                                        EntryBytes::zstd(90, text));
    for (const Entry& entry : read(view(bytes), "app")) EXPECT_EQ(entry.text(), text);
  }
}

TEST(Read, OptionsAndSourceName) {
  EntryBytes one = EntryBytes::zstd(75, kText);
  one.options = "--compile-only  -maxrregcount=32 ";
  one.name = "dir/a.cu";
  EntryBytes named = EntryBytes::plain(75, kText);
  named.name = std::string("b.cu\0", 5);
  const std::string bytes = container(one, named);
  const auto entries = read(view(bytes), "app");
  EXPECT_EQ(entries[0].options, one.options);
  EXPECT_EQ(entries[0].name, one.name);
  EXPECT_TRUE(entries[0].relocatable());
  EXPECT_EQ(entries[1].options, "");
  EXPECT_EQ(entries[1].name, "b.cu");
  EXPECT_EQ(entries[1].text(), kText);
}

TEST(Read, FeatureTagsOfNewerCubinsAreNoOptions) {
  EntryBytes tagged = EntryBytes::cubin(100);
  tagged.options = std::string("\0\2\t\0", 4);
  tagged.flags |= 0x1000000;
  const std::string bytes = container(tagged);
  EXPECT_EQ(read(view(bytes), "app").at(0).options, "");
}

TEST(Read, UnknownKindsAreKeptAndNotInterpreted) {
  EntryBytes other = EntryBytes::plain(75, "bitcode");
  other.kind = 8;
  other.flags = ~std::uint64_t{0};
  const std::string bytes = container(other, EntryBytes::plain(75, kText));
  const auto entries = read(view(bytes), "app");
  EXPECT_EQ(entries[0].kind, Kind::Other);
  EXPECT_EQ(entries[0].raw_kind, 8u);
  EXPECT_EQ(entries[0].target(), "entry of kind 8");
  EXPECT_EQ(entries[1].text(), kText);
}

TEST(Read, SeveralContainersInARowEmptyOnesToo) {
  const std::string bytes = container() + container(EntryBytes::plain(75, "a")) + container() +
                            container(EntryBytes::plain(80, "b"), EntryBytes::plain(90, "c")) +
                            std::string(8, '\0');
  const auto entries = read(view(bytes), "app");
  ASSERT_EQ(entries.size(), 3u);
  EXPECT_EQ(entries[2].text(), "c");
  EXPECT_EQ(entries[0].offset, 32u);
  EXPECT_TRUE(read(view(container()), "app").empty());
}

TEST(Read, MeasureFindsTheEndOfOneContainer) {
  const std::string one = container(EntryBytes::plain(75, kText));
  const std::string bytes = one + container(EntryBytes::plain(80, "b"));
  const auto found = measure(view(bytes).data(), "app");
  EXPECT_EQ(found.size(), one.size());
  EXPECT_EQ(read(found, "app").size(), 1u);
  EXPECT_THROW(measure(view(bytes).data() + 16, "app"), InputError);
}

TEST(Registered, FollowsWrappersOfBothVersions) {
  const std::string whole = container(EntryBytes::plain(75, "a"));
  const std::string linked = container(EntryBytes::cubin(75));
  const std::string parts[] = {container(EntryBytes::plain(75, "b")),
                               container(EntryBytes::plain(75, "c"))};
  const Wrapper v1{kWrapperMagic, 1, view(whole).data(), nullptr};
  const Registered simple = registered(v1, "app");
  EXPECT_FALSE(simple.relocatable);
  ASSERT_EQ(simple.containers.size(), 1u);
  EXPECT_EQ(read(simple.containers[0], "app").at(0).text(), "a");

  const std::byte* const extras[] = {view(parts[0]).data(), view(parts[1]).data(), nullptr};
  const Wrapper v2{kWrapperMagic, 2, view(linked).data(), extras};
  const Registered several = registered(v2, "app");
  EXPECT_TRUE(several.relocatable);
  ASSERT_EQ(several.containers.size(), 2u);
  EXPECT_EQ(read(several.containers[1], "app").at(0).text(), "c");

  const Wrapper alone{kWrapperMagic, 2, view(linked).data(), nullptr};
  EXPECT_EQ(registered(alone, "app").containers.size(), 1u);
}

TEST(Registered, RefusesWhatIsNoWrapper) {
  const std::string whole = container();
  for (const Wrapper& wrong : {Wrapper{1, 1, view(whole).data(), nullptr},
                               Wrapper{kWrapperMagic, 3, view(whole).data(), nullptr}})
    EXPECT_THROW(registered(wrong, "app"), InputError);
}

}  // namespace
}  // namespace raddle::fatbin::read_test
