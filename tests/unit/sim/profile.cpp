// Profiles of ncu and nsys as they are printed: what is read of them, and what is refused.
#include "raddle/sim/validate/profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "raddle/sim/validate/kernel_names.h"
#include "raddle/sim/validate/profile_metrics.h"
#include "raddle_paths.h"
#include "support/errors.h"

namespace raddle::sim::profile_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

const std::string kFolder = RADDLE_SOURCE_DIR "/tests/data/profiles/";

double value(const ProfiledLaunch& launch, Metric metric) {
  return launch.value[static_cast<std::size_t>(metric)];
}

Profile ncu(const std::string& text) {
  std::istringstream in(text);
  return read_ncu_profile(in, "p.csv");
}
Profile nsys(const std::string& text) {
  std::istringstream in(text);
  return read_nsys_profile(in, "t.csv");
}

TEST(Profile, PageRawHasUnitsInARowAndCommasInNumbers) {
  const Profile p = read_ncu_profile(kFolder + "raw.csv");
  ASSERT_EQ(p.launches.size(), 2u);
  EXPECT_FALSE(p.means);
  const ProfiledLaunch& first = p.launches[0];
  EXPECT_EQ(first.kernel, "vecadd(const float *, const float *, float *, int)");
  EXPECT_EQ(first.grid, (Dim3{4096, 1, 1}));
  EXPECT_EQ(first.block, (Dim3{256, 1, 1}));
  EXPECT_EQ(value(first, Metric::Cycles), 16560);
  EXPECT_DOUBLE_EQ(value(first, Metric::Microseconds), 8.45);
  EXPECT_DOUBLE_EQ(value(first, Metric::DramBytes), 12.58e6);
  EXPECT_EQ(value(first, Metric::L1HitRate), 0);
  EXPECT_DOUBLE_EQ(value(first, Metric::L2HitRate), 0.3332);
  EXPECT_EQ(value(first, Metric::WarpInstructions), 589824);
  EXPECT_TRUE(std::isnan(value(first, Metric::Watts)));
  EXPECT_EQ(limited_by(first.busy), "DRAM");
  const ProfiledLaunch& second = p.launches[1];
  EXPECT_DOUBLE_EQ(value(second, Metric::L1HitRate), 0.25);
  EXPECT_TRUE(std::isnan(value(second, Metric::L2HitRate))) << "n/a is not 0";
  EXPECT_EQ(limited_by(second.busy), kLatency);
  EXPECT_EQ(p.conventions.at("capability"), "9.0");
  EXPECT_THAT(p.conventions.at("l1_hit_rate"), HasSubstr("loads and stores"));
}

TEST(Profile, PageDetailsHasLabelsAndARowForEachMetric) {
  const Profile p = read_ncu_profile(kFolder + "details.csv");
  ASSERT_EQ(p.launches.size(), 2u);
  const ProfiledLaunch& first = p.launches[0];
  EXPECT_EQ(value(first, Metric::Cycles), 3210);
  EXPECT_DOUBLE_EQ(value(first, Metric::Microseconds), 2.27);
  EXPECT_DOUBLE_EQ(value(first, Metric::WarpIpc), 0.02);
  EXPECT_DOUBLE_EQ(value(first, Metric::L2HitRate), 0.3518);
  EXPECT_NEAR(value(first, Metric::DramBytes), 5.4e9 * 2.27e-6, 1e-6)
      << "the memory's throughput, not the share of the section before";
  EXPECT_EQ(limited_by(first.busy), kLatency);
  EXPECT_EQ(value(p.launches[1], Metric::Cycles), 3001);
  EXPECT_EQ(limited_by(p.launches[1].busy), "") << "nothing says what was busy";
}

TEST(Profile, TheFirstOfSeveralMetricsThatSayTheSameCounts) {
  const Profile p =
      ncu("\"ID\",\"Kernel Name\",\"gpc__cycles_elapsed.max\",\"sm__cycles_elapsed.max\","
          "\"l1tex__t_sector_hit_rate.pct\",\"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum\","
          "\"l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum\",\"dram__bytes_read.sum\","
          "\"dram__bytes_write.sum\"\n"
          "\"\",\"\",\"cycle\",\"cycle\",\"%\",\"sector\",\"sector\",\"Kbyte\",\"byte\"\n"
          "\"0\",\"k\",\"9\",\"8\",\"50\",\"100\",\"20\",\"1.5\",\"500\"\n");
  EXPECT_EQ(value(p.launches[0], Metric::Cycles), 8);
  EXPECT_DOUBLE_EQ(value(p.launches[0], Metric::L1HitRate), 0.2) << "of loads, as ours";
  EXPECT_DOUBLE_EQ(value(p.launches[0], Metric::DramBytes), 2000);
}

TEST(Profile, ASummaryIsOfMeans) {
  const Profile p = ncu(
      "\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Device\",\"CC\","
      "\"Invocations\",\"Section Name\",\"Metric Name\",\"Metric Unit\",\"Minimum\",\"Maximum\","
      "\"Average\"\n"
      "\"1\",\"app\",\"h\",\"k\",\"0\",\"8.0\",\"3\",\"S\",\"Duration\",\"ms\",\"1\",\"3\",\"2\"\n"
      "\"1\",\"app\",\"h\",\"k\",\"0\",\"8.0\",\"3\",\"S\",\"Elapsed "
      "Cycles\",\"cycle\",\"1\",\"3\","
      "\"2,000\"\n");
  ASSERT_EQ(p.launches.size(), 1u);
  EXPECT_TRUE(p.means);
  EXPECT_EQ(p.launches[0].launches, 3u);
  EXPECT_EQ(p.launches[0].microseconds, 2000);
}

TEST(Profile, NsysTracesAreInOrderOfTimeAndWithoutCopies) {
  const Profile p = read_nsys_profile(kFolder + "trace.csv");
  ASSERT_EQ(p.launches.size(), 3u);
  EXPECT_DOUBLE_EQ(p.launches[0].microseconds, 3.072);
  EXPECT_EQ(p.launches[0].grid, (Dim3{9, 1, 1}));
  EXPECT_EQ(p.launches[1].grid, (Dim3{1, 1, 1}));
  EXPECT_TRUE(std::isnan(value(p.launches[0], Metric::Cycles)));
  EXPECT_EQ(p.conventions.at("device"), "NVIDIA H200 (0)");
  EXPECT_THAT(p.notes, ElementsAre(HasSubstr("1 line of the file is no row")));
}

TEST(Profile, NsysSumsAreMeans) {
  const Profile p = read_nsys_profile(kFolder + "sums.csv");
  ASSERT_EQ(p.launches.size(), 2u);
  EXPECT_TRUE(p.means);
  EXPECT_EQ(p.launches[0].launches, 2u);
  EXPECT_DOUBLE_EQ(p.launches[0].microseconds, 2.544);
}

TEST(Profile, WithoutATimeItIsRefused) {
  EXPECT_THAT(test::input_error_of([] {
                ncu("\"ID\",\"Kernel Name\",\"dram__bytes.sum\"\n\"\",\"\",\"byte\"\n"
                    "\"0\",\"k\",\"5\"\n");
              }),
              AllOf(HasSubstr("p.csv: no launch has a time"), HasSubstr("sm__cycles_elapsed.max"),
                    HasSubstr("gpu__time_duration.sum")));
}

TEST(Profile, WhatIsNoTableIsRefused) {
  const auto refusal = [](const std::string& text) {
    return test::input_error_of([&] { ncu(text); });
  };
  EXPECT_THAT(refusal("==PROF== Connected\n"), HasSubstr("no line names the columns"));
  EXPECT_THAT(refusal(""), HasSubstr("ncu --csv --page raw"));
  EXPECT_THAT(refusal(std::string("NVR\0x", 5)), HasSubstr("found a report"));
  EXPECT_THAT(refusal("\"ID\",\"Kernel Name\",\"sm__cycles_elapsed.max\"\n"),
              HasSubstr("p.csv: the table has no launch"));
  EXPECT_THAT(refusal("\"ID\",\"Name\"\n"),
              HasSubstr("p.csv:1: expected a column \"Kernel Name\""));
  EXPECT_THAT(test::input_error_of([] { nsys("Generating SQLite file\n"); }),
              HasSubstr("nsys stats --report cuda_gpu_trace"));
}

TEST(Profile, ErrorsNameLineMetricAndWhatWasFound) {
  const std::string head = "\"ID\",\"Kernel Name\",\"gpu__time_duration.sum\",\"Grid Size\"\n";
  const auto refusal = [&](const std::string& text) {
    return test::input_error_of([&] { ncu(head + text); });
  };
  EXPECT_THAT(refusal("\"\",\"\",\"ns\",\"\"\n\"0\",\"k\",\"fast\",\"\"\n"),
              HasSubstr("p.csv:3: 'gpu__time_duration.sum': expected a number of at least 0, "
                        "found 'fast'"));
  EXPECT_THAT(refusal("\"\",\"\",\"parsec\",\"\"\n\"0\",\"k\",\"5\",\"\"\n"),
              HasSubstr("expected a unit such as ns, us, ms or s, found 'parsec'"));
  EXPECT_THAT(refusal("\"\",\"\",\"ns\",\"\"\n\"0\",\"k\",\"5\",\"(1, 2)\"\n"),
              HasSubstr("p.csv:3: expected three numbers as (256, 1, 1), found '(1, 2)'"));
  EXPECT_THAT(refusal("\"\",\"\",\"ns\",\"\"\n\"0\",\"k\",\"5\n"),
              HasSubstr("quote is not closed"));
  EXPECT_THAT(test::input_error_of([] { nsys("Start (ns),Length,GrdX,Name\n1,2,1,k\n"); }),
              HasSubstr("t.csv:1: expected a column \"Duration (ns)\""));
}

TEST(Profile, ACommaThatIsNoneOfThousandsIsRefused) {
  EXPECT_EQ(profiled_number("1,234,567.5"), 1234567.5);
  EXPECT_EQ(profiled_number("12"), 12);
  for (const char* text : {"3,20", ",200", "1,2345", "1,23,456", "1.5,000", "1,"})
    EXPECT_THAT(test::input_error_of([&] { profiled_number(text); }), HasSubstr(text));
}

TEST(Profile, ALaunchTakesTime) {
  EXPECT_THAT(
      test::input_error_of(
          [] { ncu("\"ID\",\"Kernel Name\",\"sm__cycles_elapsed.max\"\n\"0\",\"k\",\"0\"\n"); }),
      AllOf(HasSubstr("p.csv:2"), HasSubstr("sm__cycles_elapsed.max"), HasSubstr("takes time")));
}

TEST(Profile, MayBeginWithAByteOrderMark) {
  EXPECT_EQ(ncu("\xef\xbb\xbf\"ID\",\"Kernel Name\",\"sm__cycles_elapsed.max\"\n"
                "\"0\",\"k\",\"5\"\n")
                .launches.size(),
            1u);
}

TEST(Profile, IsOfOneProcessAndOneDevice) {
  const auto two = [](const std::string& column) {
    return test::input_error_of([&] {
      ncu("\"ID\",\"" + column + "\",\"Kernel Name\",\"sm__cycles_elapsed.max\"\n" +
          "\"0\",\"1\",\"k\",\"5\"\n\"1\",\"2\",\"k\",\"5\"\n");
    });
  };
  EXPECT_THAT(two("Process ID"), HasSubstr("expected launches of one process, found those of 2"));
  EXPECT_THAT(two("Device"), HasSubstr("expected launches on one device, found those on 2"));
}

TEST(KernelNames, AreTheSameHoweverToolsWriteThem) {
  const auto same = [](const char* a, const char* b) {
    return match(kernel_name(a), kernel_name(b));
  };
  EXPECT_EQ(same("_Z7reduce6IiLj512ELb1EEvPT_S1_j",
                 "void reduce6<int, (unsigned int)512, (bool)1>(T1 *, T1 *, unsigned int)"),
            NameMatch::Full);
  EXPECT_EQ(same("_ZN12_GLOBAL__N_13addEPKfPf", "<unnamed>::add(const float *, float *)"),
            NameMatch::Full);
  EXPECT_EQ(same("_ZN12_GLOBAL__N_13addEPKfPf", "(anonymous namespace)::add(float const*, float*)"),
            NameMatch::Full);
  EXPECT_EQ(same("_Z7reduce6IiLj512ELb1EEvPT_S1_j", "reduce6"), NameMatch::Base);
  EXPECT_EQ(same("_Z7reduce6IiLj512ELb1EEvPT_S1_j", "_Z7reduce6IiLj512ELb1EEvPT_S1_j"),
            NameMatch::Same);
  EXPECT_EQ(same("vecadd", "vecadd(const float *, const float *, float *, int)"), NameMatch::Full);
  EXPECT_EQ(same("_Z7reduce6IiLj512ELb1EEvPT_S1_j", "reduce7"), NameMatch::None);
  EXPECT_TRUE(kernel_name("reduce6").bare);
  EXPECT_FALSE(kernel_name("reduce6(int)").bare);
}

TEST(ProfileUnits, AreThoseOfBothTools) {
  for (const auto& [unit, factor] : {std::pair("ns", 1e-3),
                                     {"nsecond", 1e-3},
                                     {"us", 1.0},
                                     {"usecond", 1.0},
                                     {"ms", 1e3},
                                     {"second", 1e6},
                                     {"(s)", 1e6}})
    EXPECT_DOUBLE_EQ(microseconds_in(unit), factor) << unit;
}

}  // namespace
}  // namespace raddle::sim::profile_test
