// Every workload of the source tree, functionally: right at every variant and awkward size, and its
// check really catches a wrong word.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <set>

#include "functional/workload_support.h"

namespace raddle::runtime::workloads_test {

namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::string safe(std::string name) {
  for (char& c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  return name;
}

TEST(Workloads, ThoseOfTheTableAreThere) {
  std::vector<std::string> names = all_workloads().names();
  for (const char* name : {"vecadd",
                           "transpose",
                           "sgemm",
                           "reduction",
                           "scan",
                           "histogram",
                           "hotspot",
                           "pathfinder",
                           "bfs",
                           "spmv",
                           "kmeans",
                           "nn",
                           "streams",
                           "memc",
                           "gc",
                           "sssp",
                           "wp",
                           "stmcl",
                           "cfd",
                           "nw",
                           "backprop",
                           "srad",
                           "lud",
                           "reuse",
                           "pagerank",
                           "dijkstra",
                           "coloring",
                           "mis",
                           "convolution",
                           "lavamd",
                           "stencil",
                           "kmn",
                           "nested_bfs",
                           "nested_sssp",
                           "nested_coloring",
                           "amr",
                           "bht",
                           "regx",
                           "pre",
                           "join",
                           "mum",
                           "walsh",
                           "sha1",
                           "raytrace",
                           "libor",
                           "digits",
                           "wsm5",
                           "fdtd",
                           "sad",
                           "btree",
                           "bucketsort",
                           "lbm",
                           "spmv_jds",
                           "tagged_histogram",
                           "btree_range",
                           "byte_histogram",
                           "dct",
                           "polybench",
                           "quasirandom",
                           "sobol",
                           "rms_norm",
                           "softmax",
                           "rotary",
                           "swiglu",
                           "quantize",
                           "attention",
                           "topk",
                           "llm_layer",
                           "gemm_mma",
                           "gemm_wgmma",
                           "flash_attention",
                           "flash_wgmma",
                           "paged_decode",
                           "moe"})
    EXPECT_THAT(names, Contains(name));
}

class EveryWorkload : public ::testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(All, EveryWorkload, ::testing::ValuesIn(all_workloads().names()),
                         [](const auto& info) { return safe(info.param); });

TEST_P(EveryWorkload, IsCorrectAtTinyForSeveralSeeds) {
  for (std::uint64_t seed : {0ull, 1ull, 20250101ull}) {
    auto workload = make_workload(GetParam(), {});
    WatchedDevice device;
    workload->run(device, seed);
    EXPECT_EQ(workload->check(), "") << "seed " << seed;
  }
}

TEST_P(EveryWorkload, TinyIsSmallEnoughForTestsOfEveryMachine) {
  auto workload = make_workload(GetParam(), {});
  WatchedDevice device;
  workload->run(device, 1);
  EXPECT_GT(device.warp_instructions(), 0u);
  EXPECT_LT(device.warp_instructions(), 20'000u);
}

TEST_P(EveryWorkload, FreesWhatItAllocates) {
  auto workload = make_workload(GetParam(), {});
  WatchedDevice device;
  workload->run(device, 1);
  EXPECT_EQ(device.live_allocations, 0u);
}

TEST_P(EveryWorkload, AFailingLaunchReachesTheCallerAndLeavesNoMemoryBehind) {
  WatchedDevice device;
  device.failing_launch = 0;
  auto workload = make_workload(GetParam(), {});
  EXPECT_THROW(workload->run(device, 1), RunError);
  EXPECT_EQ(device.live_allocations, 0u);
}

TEST_P(EveryWorkload, NamedSizesAreSoundAndDocumented) {
  EXPECT_THAT(all_workloads().doc(GetParam()), Not(IsEmpty()));
  for (Size size : {Size::Tiny, Size::Small, Size::Paper}) {
    auto workload = make_workload(GetParam(), {}, size);  // throws when out of range
    EXPECT_THAT(workload->violations(), IsEmpty());
    ParameterSetter reader({});
    workload->visit(reader);
    EXPECT_THAT(reader.undocumented(), IsEmpty());
  }
}

TEST_P(EveryWorkload, SameSeedSameInputsOtherSeedOthers) {
  auto hash = [&](std::uint64_t seed) {
    auto workload = make_workload(GetParam(), {});
    WatchedDevice device;
    workload->run(device, seed);
    return workload->input_hash();
  };
  EXPECT_EQ(hash(7), hash(7));
  EXPECT_NE(hash(7), hash(8));
}

// Which number of the result has bit 30 of a word.
std::size_t number_of(const std::string& workload, std::size_t word) {
  const std::set<std::string> halves = {"rms_norm",    "rotary",       "swiglu",
                                        "attention",   "llm_layer",    "flash_attention",
                                        "flash_wgmma", "paged_decode", "moe"};
  if (halves.contains(workload)) return 2 * word + 1;
  return workload == "lavamd" ? word / 2 : word;  // lavamd's are of two words
}

// The result is what is downloaded last. Bit 30 changes a float by 2^128 or so and an integer by
// 2^30: no tolerance lets that pass, and the message says where it is.
TEST_P(EveryWorkload, CheckFindsAnyOneWrongWordOfTheResult) {
  auto clean = make_workload(GetParam(), {});
  WatchedDevice watch;
  clean->run(watch, 1);
  ASSERT_FALSE(watch.download_bytes.empty());
  std::size_t last = watch.download_bytes.size() - 1;
  std::size_t words = watch.download_bytes[last] / 4;
  for (std::size_t word : {std::size_t{0}, words / 3, words - 1}) {
    auto workload = make_workload(GetParam(), {});
    WatchedDevice device;
    device.corruption = Corruption{last, word, 1u << 30};
    workload->run(device, 1);
    std::string found = workload->check();
    std::size_t number = number_of(GetParam(), word);
    EXPECT_THAT(found, HasSubstr("[" + std::to_string(number) + "]: expected "));
    EXPECT_THAT(found, HasSubstr(", got "));
  }
}

// Where the reference is exact even the lowest bit shows.
class ExactWorkload : public ::testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(All, ExactWorkload,
                         ::testing::Values("vecadd", "transpose", "reduction", "scan", "histogram",
                                           "pathfinder", "bfs", "streams", "memc", "gc", "sssp",
                                           "nw", "backprop", "lud", "stmcl", "reuse", "dijkstra",
                                           "coloring", "mis", "stencil", "nested_bfs",
                                           "nested_sssp", "nested_coloring", "amr", "regx", "pre",
                                           "join", "mum", "sha1", "fdtd", "sad", "btree",
                                           "bucketsort", "tagged_histogram", "btree_range",
                                           "byte_histogram", "sobol", "quantize", "topk"),
                         [](const auto& info) { return safe(info.param); });

TEST_P(ExactWorkload, CheckFindsTheLowestBit) {
  auto clean = make_workload(GetParam(), {});
  WatchedDevice watch;
  clean->run(watch, 1);
  auto workload = make_workload(GetParam(), {});
  WatchedDevice device;
  device.corruption = Corruption{watch.download_bytes.size() - 1, 0, 1};
  workload->run(device, 1);
  EXPECT_THAT(workload->check(), HasSubstr("[0]: expected "));
}

TEST(Workloads, KmeansChecksTheAssignmentOfEveryRound) {
  for (std::size_t round : {0u, 1u}) {
    auto workload = make_workload("kmeans", {{"rounds", "3"}});
    WatchedDevice device;
    device.corruption = Corruption{round, 17, 1};  // another cluster that exists
    workload->run(device, 1);
    EXPECT_THAT(workload->check(),
                HasSubstr("membership of round " + std::to_string(round) + "[17]"));
  }
}

TEST(Workloads, KmnChecksTheAssignmentOfBothRounds) {
  for (std::size_t round : {0u, 1u}) {
    auto workload = make_workload("kmn", {});
    WatchedDevice device;
    device.corruption = Corruption{round, 17, 1};  // another cluster that exists
    workload->run(device, 1);
    EXPECT_THAT(workload->check(),
                HasSubstr("membership of round " + std::to_string(round) + "[17]"));
  }
}

TEST(Workloads, KmnSurvivesAMembershipThatIsNoCluster) {
  auto workload = make_workload("kmn", {});
  WatchedDevice device;
  device.corruption = Corruption{0, 5, 1u << 31};
  workload->run(device, 1);
  EXPECT_THAT(workload->check(), HasSubstr("membership of round 0[5]"));
}

TEST(Workloads, KmeansSurvivesAMembershipThatIsNoCluster) {
  auto workload = make_workload("kmeans", {});
  WatchedDevice device;
  device.corruption = Corruption{0, 5, 1u << 31};
  workload->run(device, 1);
  EXPECT_THAT(workload->check(), HasSubstr("membership of round 0[5]"));
}

TEST(Workloads, NnSurvivesDistancesThatAreNoNumbers) {
  auto workload = make_workload("nn", {{"records", "100"}});
  WatchedDevice device;
  device.corruption = Corruption{0, 40, 0x7fc00000};
  workload->run(device, 1);
  EXPECT_THAT(workload->check(), HasSubstr("distance[40]"));
}

struct Case {
  std::string name;
  Parameters parameters;
};

// Without it a failure prints the bytes.
void PrintTo(const Case& one, std::ostream* out) { *out << one.name; }

std::string case_name(const ::testing::TestParamInfo<Case>& info) {
  std::string text = info.param.name;
  for (const auto& [key, value] : info.param.parameters) text += "_" + key + "_" + value;
  return safe(text);
}

class Variant : public ::testing::TestWithParam<Case> {};

TEST_P(Variant, IsCorrect) {
  auto workload = make_workload(GetParam().name, GetParam().parameters);
  ASSERT_THAT(workload->violations(), IsEmpty());
  WatchedDevice device;
  workload->run(device, 3);
  EXPECT_EQ(workload->check(), "");
}

INSTANTIATE_TEST_SUITE_P(
    Kernels, Variant,
    ::testing::Values(
        Case{"transpose", {{"variant", "conflicting"}}}, Case{"transpose", {{"variant", "naive"}}},
        Case{"reduction", {{"operation", "max"}}}, Case{"reduction", {{"operation", "pairs"}}},
        Case{"scan", {{"algorithm", "blelloch"}}},
        Case{"scan", {{"algorithm", "naive"}, {"n", "6144"}, {"length", "2048"}}},
        Case{"scan", {{"algorithm", "naive"}, {"n", "3072"}, {"length", "1024"}}},
        Case{"scan", {{"algorithm", "naive"}, {"n", "2048"}, {"length", "4"}}},
        Case{"walsh", {{"block_order", "10"}}}, Case{"walsh", {{"kernel_order", "0"}}},
        Case{"sha1", {{"length", "180"}, {"step", "8"}, {"windows", "40"}}},
        Case{"histogram", {{"hot_share", "0.9"}}},
        Case{"histogram", {{"hot_share", "1"}, {"bins", "12288"}}},
        Case{"pathfinder", {{"height", "3"}}},
        Case{"pathfinder", {{"height", "127"}, {"columns", "40"}}},
        Case{"pathfinder", {{"height", "3"}, {"arrays", "2"}}},
        Case{"lavamd", {{"sums", "memory"}}}, Case{"kmeans", {{"rounds", "0"}}},
        Case{"backprop", {{"forward", "true"}}},
        Case{"backprop", {{"forward", "true"}, {"powers", "true"}}},
        Case{"cfd", {{"flux", "true"}}}, Case{"cfd", {{"flux", "true"}, {"width", "9"}}},
        Case{"bfs", {{"launches", "1"}}}, Case{"bfs", {{"launches", "4"}}},
        Case{"bfs", {{"graph", "rmat"}}}, Case{"bfs", {{"graph", "grid"}}},
        Case{"bfs", {{"graph", "power_law"}}}, Case{"bfs", {{"graph", "small_world"}}},
        Case{"bfs", {{"edge_words", "1"}}}, Case{"bfs", {{"graph", "undirected"}}},
        Case{"bfs", {{"graph", "connected"}, {"edges", "3000"}}},
        Case{"bfs", {{"edge_words", "1"}, {"targets", "true"}}}, Case{"memc", {{"zipf", "0"}}},
        Case{"memc", {{"slot_bytes", "128"}}}, Case{"gc", {{"live_share", "0.2"}}},
        Case{"gc", {{"live_share", "1"}}}, Case{"gc", {{"near_share", "0"}}},
        Case{"sssp", {{"graph", "rmat"}}}, Case{"sssp", {{"graph", "grid"}}},
        Case{"sssp", {{"graph", "power_law"}}}, Case{"sssp", {{"graph", "small_world"}}},
        Case{"sssp", {{"weights", "65536"}}}, Case{"spmv", {{"variant", "vector"}}},
        Case{"spmv", {{"matrix", "rmat"}}},
        Case{"spmv", {{"matrix", "rmat"}, {"variant", "vector"}}},
        Case{"spmv", {{"matrix", "uniform"}}}),
    case_name);

// One element, one less and one more than a block or tile, blocks that are no multiple of a warp.
INSTANTIATE_TEST_SUITE_P(
    Edges, Variant,
    ::testing::Values(
        Case{"vecadd", {{"n", "1"}}}, Case{"vecadd", {{"n", "256"}}},
        Case{"vecadd", {{"n", "1000"}, {"block", "7"}}},
        Case{"transpose", {{"rows", "1"}, {"columns", "33"}}},
        Case{"transpose", {{"rows", "32"}, {"columns", "64"}}},
        Case{"sgemm", {{"m", "1"}, {"n", "1"}, {"k", "1"}}},
        Case{"sgemm", {{"m", "64"}, {"n", "64"}, {"k", "16"}}},
        Case{"sgemm", {{"m", "65"}, {"n", "63"}, {"k", "17"}}},
        Case{"sgemm", {{"alpha", "0"}, {"beta", "1"}}},
        Case{"reduction", {{"n", "1"}, {"blocks", "1"}}},
        Case{"reduction", {{"n", "257"}, {"blocks", "300"}}},
        Case{"reduction", {{"operation", "pairs"}, {"n", "257"}, {"blocks", "3"}}},
        Case{"reduction", {{"operation", "pairs"}, {"n", "1"}, {"blocks", "300"}}},
        Case{"scan", {{"n", "1"}}}, Case{"scan", {{"n", "1024"}}}, Case{"scan", {{"n", "1025"}}},
        Case{"scan", {{"n", "1023"}, {"algorithm", "blelloch"}}},
        Case{"scan", {{"n", "1050000"}}},  // three levels
        Case{"scan", {{"algorithm", "naive"}, {"n", "264192"}, {"length", "2048"}}},  // 258 totals
        Case{"walsh", {{"order", "10"}, {"block_order", "10"}, {"kernel_order", "10"}}},
        Case{"walsh", {{"order", "13"}, {"block_order", "8"}, {"blocks", "1"}}},
        Case{"sha1", {{"length", "4"}, {"windows", "33"}}},
        Case{"sha1", {{"length", "64"}, {"windows", "33"}, {"block", "33"}}},
        Case{"histogram", {{"bins", "1"}}}, Case{"histogram", {{"n", "1"}, {"block", "1"}}},
        Case{"hotspot", {{"rows", "1"}, {"columns", "1"}}},
        Case{"hotspot", {{"rows", "14"}, {"columns", "15"}, {"steps", "5"}}},
        Case{"hotspot", {{"rows", "3"}, {"columns", "200"}}},
        Case{"hotspot", {{"height", "3"}, {"steps", "7"}}},
        Case{"hotspot", {{"height", "7"}, {"steps", "7"}, {"rows", "20"}}},
        Case{"kmeans", {{"invert", "false"}, {"unified", "true"}, {"rounds", "2"}}},
        Case{"kmeans", {{"constant", "true"}, {"block", "64"}}},
        Case{"kmeans", {{"constant", "true"}, {"block", "64"}, {"square", "true"}}},
        Case{"kmeans", {{"constant", "true"}, {"clusters", "1"}, {"features", "3"}}},
        Case{"pathfinder", {{"columns", "1"}, {"rows", "2"}}},
        Case{"pathfinder", {{"columns", "254"}}}, Case{"pathfinder", {{"columns", "255"}}},
        Case{"bfs", {{"edges", "0"}}}, Case{"bfs", {{"vertices", "16"}, {"edges", "16"}}},
        Case{"bfs", {{"graph", "grid"}, {"vertices", "17"}}},
        Case{"bfs", {{"block", "512"}, {"vertices", "513"}}},
        Case{"memc", {{"requests", "1"}, {"keys", "1"}}}, Case{"memc", {{"block", "33"}}},
        Case{"memc", {{"slot_bytes", "32"}}}, Case{"memc", {{"requests", "129"}, {"keys", "3"}}},
        Case{"gc", {{"objects", "1"}}}, Case{"gc", {{"objects", "2"}, {"live_share", "0"}}},
        Case{"gc", {{"block", "1024"}}}, Case{"gc", {{"block", "32"}, {"objects", "65"}}},
        Case{"sssp", {{"edges", "0"}}}, Case{"sssp", {{"vertices", "16"}, {"edges", "16"}}},
        Case{"sssp", {{"block", "512"}, {"vertices", "513"}}},
        Case{"spmv", {{"row_entries", "1"}, {"half_bandwidth", "0"}}},
        Case{"spmv",
             {{"rows", "16"},
              {"row_entries", "1"},
              {"matrix", "rmat"},
              {"variant", "vector"},
              {"block", "32"}}},
        Case{"kmeans", {{"points", "1"}, {"clusters", "1"}, {"features", "1"}}},
        Case{"kmeans", {{"rounds", "100"}}}, Case{"kmeans", {{"block", "50"}}},
        Case{"kmeans", {{"unified", "true"}}},
        Case{"kmn", {{"points", "1"}, {"clusters", "1"}, {"features", "1"}}},
        Case{"kmn", {{"rounds", "100"}}}, Case{"kmn", {{"block", "50"}, {"features", "7"}}},
        Case{"libor", {{"rates", "2"}, {"steps", "1"}, {"paths", "1"}}},
        Case{"libor", {{"rates", "80"}, {"steps", "40"}}},
        Case{"libor", {{"paths", "200"}, {"blocks", "1"}}},  // more paths than threads
        Case{"raytrace", {{"width", "1"}, {"height", "1"}}},
        Case{"raytrace", {{"width", "39"}, {"height", "33"}}},
        Case{"digits", {{"maps", "1"}, {"hidden", "1"}, {"images", "3"}}},
        Case{"mum", {{"bases", "1"}, {"queries", "1"}, {"length", "1"}, {"least", "1"}}},
        Case{"mum", {{"planted", "1"}, {"least", "25"}, {"block", "33"}}},
        Case{"mum", {{"planted", "0"}, {"least", "1"}, {"bases", "26"}}},
        Case{"wsm5", {{"width", "1"}, {"depth", "1"}, {"levels", "2"}}},
        Case{"wsm5", {{"storm", "0"}, {"seconds", "10"}, {"depth", "9"}}},
        // Five minor steps, ice in parts, and a column at a limit.
        Case{"wsm5", {{"storm", "100"}, {"seconds", "600"}, {"width", "33"}, {"levels", "28"}}},
        Case{"fdtd", {{"rows", "2"}, {"columns", "2"}}},
        Case{"fdtd", {{"rows", "9"}, {"columns", "33"}, {"steps", "3"}, {"kernels", "ey"}}},
        Case{"sad", {{"width", "1"}, {"height", "1"}}}, Case{"sad", {{"height", "5"}}},
        Case{"btree", {{"keys", "1"}, {"queries", "1"}}},
        Case{"btree", {{"keys", "256"}, {"fill", "256"}, {"queries", "300"}}},
        Case{"btree", {{"keys", "65537"}, {"fill", "256"}}},
        Case{"btree", {{"keys", "100"}, {"fill", "2"}, {"present", "0"}, {"queries", "200"}}},
        Case{"bucketsort", {{"n", "1"}}}, Case{"bucketsort", {{"n", "4097"}}},
        Case{"lbm", {{"columns", "1"}, {"rows", "1"}, {"planes", "1"}}},
        Case{"lbm", {{"columns", "64"}, {"rows", "9"}, {"planes", "7"}, {"steps", "5"}}},
        Case{"lbm", {{"columns", "120"}, {"rows", "120"}, {"planes", "24"}, {"steps", "1"}}},
        Case{"spmv_jds", {{"rows", "1"}, {"row_entries", "1"}, {"half_bandwidth", "0"}}},
        Case{"spmv_jds", {{"row_entries", "2"}, {"run", "1"}, {"block", "32"}}},
        Case{"spmv_jds", {{"rows", "2177"}, {"run", "700"}, {"launches", "2"}}},
        Case{"tagged_histogram", {{"n", "1"}, {"blocks", "1"}}},
        Case{"tagged_histogram", {{"alike", "1"}}},
        Case{"tagged_histogram", {{"alike", "0.5"}, {"blocks", "64"}}},
        Case{"sgemm", {{"variant", "whole"}, {"m", "128"}, {"n", "32"}, {"k", "24"}}},
        Case{"btree_range", {{"keys", "1"}, {"queries", "1"}, {"longest", "1"}}},
        Case{"btree_range", {{"keys", "65537"}, {"fill", "256"}, {"longest", "65537"}}},
        Case{"byte_histogram", {{"kib", "1"}}}, Case{"byte_histogram", {{"kib", "61"}}},
        Case{"dct", {{"columns", "32"}, {"rows", "16"}}},
        Case{"quasirandom", {{"points", "1"}, {"blocks", "1"}}},
        Case{"quasirandom", {{"points", "777"}, {"blocks", "2"}}},
        Case{"sobol", {{"vectors", "1"}, {"dimensions", "1"}, {"blocks", "1"}}},
        Case{"sobol", {{"vectors", "999"}, {"dimensions", "2"}, {"blocks", "2"}}},
        Case{"polybench", {{"n", "1"}}}, Case{"polybench", {{"program", "bicg"}}},
        Case{"polybench", {{"program", "mvt"}, {"n", "33"}}},
        Case{"polybench", {{"program", "gesummv"}, {"n", "17"}}},
        Case{"polybench", {{"program", "gemm"}, {"n", "19"}}},
        Case{"polybench", {{"program", "conv2d"}, {"n", "37"}}},
        Case{"polybench", {{"program", "conv3d"}, {"n", "9"}}}, Case{"nn", {{"records", "10"}}},
        Case{"nn", {{"nearest", "1000"}, {"records", "1000"}}}),
    case_name);

class Refused : public ::testing::TestWithParam<std::pair<Case, std::string>> {};

TEST_P(Refused, SaysWhatContradicts) {
  const auto& [bad, message] = GetParam();
  auto workload = make_workload(bad.name, bad.parameters);
  EXPECT_THAT(workload->violations(), Contains(HasSubstr(message)));
}

INSTANTIATE_TEST_SUITE_P(
    Parameters, Refused,
    ::testing::Values(
        std::pair(Case{"bfs", {{"vertices", "100"}, {"edges", "626"}}},
                  "edges must not exceed vertices^2 / 16 = 625"),
        std::pair(Case{"sssp", {{"vertices", "100"}, {"edges", "626"}}},
                  "edges must not exceed vertices^2 / 16 = 625"),
        std::pair(Case{"bfs", {{"graph", "connected"}, {"edges", "997"}}},
                  "connected: edges must be even and at least 2 (vertices - 1) = 998, is 997"),
        std::pair(Case{"bfs", {{"targets", "true"}}}, "targets needs edge_words=1, is 2"),
        std::pair(Case{"kmeans", {{"square", "true"}}}, "square needs constant=true"),
        std::pair(Case{"gc", {{"block", "100"}}}, "block must be a multiple of 32"),
        std::pair(Case{"gc", {{"objects", "1000"}}}, "heap_kib must be at least 95 for 1000"),
        std::pair(Case{"spmv", {{"block", "100"}}}, "block must be a multiple of 32"),
        std::pair(Case{"spmv", {{"matrix", "rmat"}, {"rows", "64"}}},
                  "row_entries must not exceed"),
        std::pair(Case{"spmv", {{"half_bandwidth", "600"}}},
                  "half_bandwidth must be less than rows"),
        std::pair(Case{"spmv", {{"row_entries", "28"}}}, "row_entries * 3 / 2 = 42"),
        std::pair(Case{"spmv", {{"rows", "67108864"}, {"row_entries", "100"}}}, "2^30"),
        std::pair(Case{"spmv_jds", {{"block", "100"}}}, "block must be a multiple of 32"),
        std::pair(Case{"spmv_jds", {{"half_bandwidth", "350"}}}, "must not exceed rows"),
        std::pair(Case{"spmv_jds", {{"half_bandwidth", "8"}}}, "row_entries * 3 / 2 = 18"),
        std::pair(Case{"tagged_histogram", {{"n", "67108864"}, {"launches", "64"}}}, "2^32"),
        std::pair(Case{"kmeans", {{"points", "4"}}}, "clusters must not exceed points"),
        std::pair(Case{"kmeans", {{"points", "16777216"}, {"features", "256"}}}, "2^30"),
        std::pair(Case{"lbm", {{"columns", "97"}, {"rows", "4096"}, {"planes", "48"}}},
                  "must not exceed 2^29, is 545259520"),
        std::pair(Case{"kmn", {{"points", "4"}}}, "clusters must not exceed points"),
        std::pair(Case{"kmn", {{"points", "16777216"}, {"features", "256"}}}, "2^30"),
        std::pair(Case{"libor", {{"rates", "8"}}}, "rates must be 9 to 48 with 8 steps, is 8"),
        std::pair(Case{"mum", {{"least", "26"}}}, "least must not exceed length"),
        std::pair(Case{"mum", {{"bases", "24"}}}, "length must not exceed bases"),
        std::pair(Case{"mum", {{"bases", "1000"}, {"queries", "16777216"}, {"length", "1000"}}},
                  "queries * (length + 2) must be less than 2^31"),
        std::pair(Case{"scan", {{"algorithm", "naive"}, {"n", "2047"}, {"length", "2048"}}},
                  "naive: n must be a multiple of 2048, is 2047"),
        std::pair(Case{"scan", {{"algorithm", "naive"}, {"n", "512"}, {"length", "4"}}},
                  "naive: n must be a multiple of 1024, is 512"),
        std::pair(Case{"scan", {{"algorithm", "naive"}, {"n", "9216"}, {"length", "3072"}}},
                  "length must be a power of two, is 3072"),
        std::pair(Case{"walsh", {{"order", "10"}, {"block_order", "11"}}},
                  "block_order must not exceed order = 10, is 11"),
        std::pair(Case{"walsh", {{"kernel_order", "12"}}}, "kernel_order must not exceed order"),
        std::pair(Case{"sha1", {{"length", "54"}}}, "length must be a multiple of 4, is 54"),
        std::pair(Case{"sha1", {{"windows", "16777216"}, {"step", "128"}}}, "2^30"),
        std::pair(Case{"sha1", {{"length", "56"}}}, "length modulo 64 must not exceed 52"),
        std::pair(Case{"sad", {{"width", "1024"}, {"height", "47"}}}, "must be less than 2^30"),
        std::pair(Case{"btree", {{"keys", "2000000"}, {"fill", "2"}}},
                  "makes 2000007 nodes, more than 2^20"),
        std::pair(Case{"sgemm", {{"variant", "whole"}}},
                  "whole: m must be a multiple of 128, is 70"),
        std::pair(Case{"btree_range", {{"longest", "2001"}}},
                  "longest must not exceed keys = 2000"),
        std::pair(Case{"dct", {{"columns", "48"}}}, "columns must be a multiple of 32, is 48"),
        std::pair(Case{"sobol", {{"blocks", "3"}}}, "blocks must be a power of two, is 3"),
        std::pair(Case{"polybench", {{"program", "conv3d"}, {"n", "513"}}},
                  "n must not exceed 512 for conv3d, is 513"),
        std::pair(Case{"nn", {{"records", "9"}}}, "nearest must not exceed records = 9"),
        std::pair(Case{"pathfinder", {{"columns", "16777216"}, {"rows", "100"}}}, "2^30")));

TEST(Workloads, UnknownNameIsRefusedWithTheKnownOnes) {
  try {
    all_workloads().make("vecad");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(std::string(error.what()), HasSubstr("vecadd"));
  }
}

TEST(Workloads, BfsGridReachesEveryVertexAtItsDistance) {
  auto workload = make_workload("bfs", {{"graph", "grid"}, {"vertices", "49"}});
  WatchedDevice device;
  workload->run(device, 1);
  EXPECT_EQ(workload->check(), "");
  // A 7 x 7 grid has no two vertices further apart than 12: at most 13 levels find something or
  // end.
  EXPECT_LE(device.launches, 2u * 13);
  EXPECT_GE(device.launches, 2u * 7);
}

// 98 of 100 requests are answered; of the others half ask for what is not there, half for what has
// expired. An answer is 4 words, the first of them 1.
TEST(Workloads, MemcAnswersAsManyRequestsAsTheTraceHits) {
  auto workload = make_workload("memc", {{"requests", "20000"}, {"keys", "20000"}});
  WatchedDevice device;
  workload->run(device, 1);
  EXPECT_EQ(workload->check(), "");
  double found = 0;
  ASSERT_EQ(device.last_download.size(), 80'000u);
  for (std::size_t r = 0; r < 20'000; ++r) found += device.last_download[4 * r];
  EXPECT_NEAR(found / 20'000, 0.98, 0.01);
}

// The arena comes down before the answers; its items remember when they were last asked for.
TEST(Workloads, MemcChecksWhatItLeavesInTheItems) {
  auto workload = make_workload("memc", {});
  WatchedDevice device;
  device.corruption = Corruption{0, 17'000, 1};
  workload->run(device, 1);
  EXPECT_THAT(workload->check(), HasSubstr("arena[68000]: expected"));
}

TEST(Workloads, GcKeepsWhatLivesAndNothingElse) {
  for (const char* live : {"0", "0.5", "1"}) {
    auto workload =
        make_workload("gc", {{"objects", "4000"}, {"heap_kib", "512"}, {"live_share", live}});
    WatchedDevice device;
    workload->run(device, 1);
    EXPECT_EQ(workload->check(), "");
    // Objects have 8 words of 8 bytes on average and are packed at the front.
    auto last = std::find_if(device.last_download.rbegin(), device.last_download.rend(),
                             [](std::uint32_t word) { return word != 0; });
    auto words = static_cast<double>(device.last_download.rend() - last) / 2;
    EXPECT_NEAR(words / (4000 * 8), std::stod(live), 0.08) << live;
  }
}

TEST(Workloads, SsspWithWeightsOfOneGivesLevels) {
  auto distances = [](const char* name, Parameters parameters) {
    parameters.insert({{"graph", "small_world"}, {"vertices", "400"}});
    auto workload = make_workload(name, parameters);
    WatchedDevice device;
    workload->run(device, 1);
    EXPECT_EQ(workload->check(), "");
    std::sort(device.last_download.begin(), device.last_download.end());
    return device.last_download;
  };
  auto levels = distances("sssp", {{"weights", "1"}});
  EXPECT_EQ(levels[0], 0u);
  EXPECT_EQ(levels[8], 1u);  // eight neighbours
  EXPECT_EQ(levels[9], 2u);
  EXPECT_LE(levels.back(), 10u);
  EXPECT_GT(distances("sssp", {{"weights", "10"}}).back(), levels.back());
}

}  // namespace

}  // namespace raddle::runtime::workloads_test
