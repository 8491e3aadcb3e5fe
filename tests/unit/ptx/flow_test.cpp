// Successors and reconvergence points against their definitions.
#include <gmock/gmock.h>

#include <chrono>
#include <ctime>

#include "raddle/ptx/analysis.h"
#include "unit/ptx/graphs.h"
#include "unit/ptx/plain_reconvergence.h"

namespace raddle::ptx::test::flow_test {
namespace {

using testing::ElementsAre;

TEST(Successors, FollowEveryKindOfTransfer) {
  const Module module = parse_kernel(
      "mov.b32 %r1, 1;\n"  // 0
      "@%p1 bra L;\n"      // 1
      "bra.uni L;\n"       // 2
      "T: .branchtargets L, M, L;\n"
      "brx.idx %r1, T;\n"          // 3
      "@%p1 brx.idx %r1, T;\n"     // 4
      "L: @%p1 ret;\n"             // 5
      "@!%p1 exit;\n"              // 6
      "trap;\n"                    // 7
      "M: @%p1 mov.b32 %r1, 2;\n"  // 8
      "@%p1 bra N;\nN: ret;\n"     // 9, 10
      "bra.uni END;\nEND:");       // 11
  EXPECT_THAT(
      successors(module.functions[0]),
      ElementsAre(ElementsAre(1), ElementsAre(2, 5), ElementsAre(5), ElementsAre(5, 8),
                  ElementsAre(5, 8), ElementsAre(6, 12), ElementsAre(7, 12), ElementsAre(12),
                  ElementsAre(9), ElementsAre(10), ElementsAre(12), ElementsAre(12)));
}

std::vector<std::uint32_t> points_of(const std::string& body) {
  const Module module = parse_kernel(body);
  return reconvergence_points(module.functions[0]);
}

TEST(Reconvergence, OfAnEmptyFunctionIsEmpty) { EXPECT_THAT(points_of(""), ElementsAre()); }

TEST(Reconvergence, IfElseMeetsBehindBoth) {
  EXPECT_THAT(points_of("@%p1 bra ELSE;\nmov.b32 %r1, 1;\nbra END;\nELSE: mov.b32 %r1, 2;\n"
                        "END: mov.b32 %r2, 3;\nret;"),
              ElementsAre(4, 2, 4, 4, 5, 6));
}

TEST(Reconvergence, LoopMeetsBehindIt) {
  EXPECT_THAT(points_of("L: add.s32 %r1, %r1, 1;\n@%p1 bra L;\nret;"), ElementsAre(1, 2, 3));
}

TEST(Reconvergence, EarlyReturnMeetsAtTheExit) {
  EXPECT_THAT(points_of("@%p1 ret;\nmov.b32 %r1, 1;\nret;"), ElementsAre(3, 2, 3));
}

TEST(Reconvergence, WhoReturnsInsideALoopIsNotWaitedFor) {
  EXPECT_THAT(points_of("L: @%p1 bra OUT;\n@%p2 bra NEXT;\nbra L;\nNEXT: mov.b32 %r1, 1;\n"
                        "OUT: ret;"),
              ElementsAre(1, 3, 0, 4, 5))
      << "who leaves the loop meets behind it";
  EXPECT_THAT(points_of("L: @%p1 ret;\n@%p2 bra NEXT;\nbra L;\nNEXT: mov.b32 %r1, 1;\nret;"),
              ElementsAre(1, 3, 0, 4, 5));
}

TEST(Reconvergence, SidesMeetBehindABranchThatSomeReturnFrom) {
  for (const char* leave : {"bra OUT", "ret", "exit", "trap"})
    EXPECT_THAT(
        points_of("@%p1 bra ELSE;\n@%p2 " + std::string(leave) + ";\nbra END;\nELSE: @%p3 " +
                  leave + ";\nmov.b32 %r1, 2;\nEND: mov.b32 %r1, 1;\nOUT: ret;"),
        ElementsAre(5, 2, 5, 4, 5, 6, 7))
        << leave;
}

// However much there is to do on the way out: who waits for others goes on to where they wait.
TEST(Reconvergence, OfSeveralWaysOutTheMainOneHasTheBarriers) {
  EXPECT_THAT(points_of("L: @%p1 bra ERROR;\n@%p2 bra L;\nbar.sync 0;\nret;\n"
                        "ERROR: @%p3 bra B;\nmov.b32 %r2, 1;\nB: mov.b32 %r3, 1;\nret;"),
              ElementsAre(1, 2, 3, 8, 6, 6, 7, 8));
  EXPECT_THAT(points_of("L: @%p1 bra ERROR;\n@%p2 bra L;\nmov.b32 %r1, 1;\nret;\n"
                        "ERROR: @%p3 bra B;\nmov.b32 %r2, 1;\nB: mov.b32 %r3, 1;\nret;"),
              ElementsAre(4, 0, 3, 8, 6, 6, 7, 8))
      << "nobody waits: most of the code is beyond ERROR";
}

TEST(Reconvergence, CodeThatCannotReachTheExitMeetsThere) {
  EXPECT_THAT(points_of("@%p1 bra SPIN;\nret;\nSPIN: mov.b32 %r1, 1;\nbra SPIN;"),
              ElementsAre(1, 4, 4, 4))
      << "the branch itself: only the path that reaches the exit counts";
}

TEST(Reconvergence, BranchTableMeetsBehindAllCases) {
  EXPECT_THAT(points_of("T: .branchtargets A, B, C;\nbrx.idx %r1, T;\nA: mov.b32 %r1, 1;\n"
                        "B: mov.b32 %r1, 2;\nbra END;\nC: mov.b32 %r1, 3;\nEND: ret;"),
              ElementsAre(5, 2, 3, 5, 5, 6));
}

// By definition: d post-dominates i when without d the exit cannot be reached from i. The immediate
// one is post-dominated by all others.
class ByDefinition {
 public:
  explicit ByDefinition(const Function& function)
      : successors_(successors(function)), n_(static_cast<std::uint32_t>(successors_.size())) {}

  std::uint32_t immediate(std::uint32_t i) const {
    if (!reaches_exit(i, kNoIndex)) return n_;
    std::vector<std::uint32_t> strict;
    for (std::uint32_t d = 0; d < n_; ++d)
      if (d != i && !reaches_exit(i, d)) strict.push_back(d);
    for (std::uint32_t d : strict) {
      bool is_first = true;
      for (std::uint32_t other : strict) is_first &= other == d || !reaches_exit(d, other);
      if (is_first) return d;
    }
    return n_;
  }

  bool reaches(std::uint32_t from, std::uint32_t to) const {
    std::vector<bool> seen(n_ + 1, false);
    std::vector<std::uint32_t> work(successors_[from]);
    while (!work.empty()) {
      const std::uint32_t at = work.back();
      work.pop_back();
      if (at == to) return true;
      if (at == n_ || seen[at]) continue;
      seen[at] = true;
      work.insert(work.end(), successors_[at].begin(), successors_[at].end());
    }
    return false;
  }

 private:
  bool reaches_exit(std::uint32_t from, std::uint32_t without) const {
    std::vector<bool> seen(n_ + 1, false);
    std::vector<std::uint32_t> work{from};
    while (!work.empty()) {
      const std::uint32_t at = work.back();
      work.pop_back();
      if (at == n_) return true;
      if (seen[at] || at == without) continue;
      seen[at] = true;
      for (std::uint32_t next : successors_[at]) work.push_back(next);
    }
    return false;
  }

  std::vector<std::vector<std::uint32_t>> successors_;
  std::uint32_t n_;
};

TEST(Reconvergence, IsTheImmediatePostDominatorOnRandomGraphs) {
  std::mt19937 random(1);
  unsigned branches = 0, unreachable_exits = 0, nearer = 0;
  for (unsigned round = 0; round < 400; ++round) {
    const GraphShape shape{1 + round % 14, 4, 2};
    const std::string body = random_body(random, shape);
    const Module module = parse_kernel(body);
    const ByDefinition expected(module.functions[0]);
    const std::vector<std::uint32_t> points = reconvergence_points(module.functions[0]);
    for (std::uint32_t i = 0; i < points.size(); ++i) {
      const std::uint32_t all = expected.immediate(i);
      if (points[i] != all) {  // some leave before: the others meet on the way there
        ASSERT_LT(points[i], points.size()) << "instruction " << i << " of\n" << body;
        ASSERT_TRUE(expected.reaches(i, points[i])) << "instruction " << i << " of\n" << body;
        ASSERT_TRUE(all == points.size() || expected.reaches(points[i], all))
            << "instruction " << i << " of\n"
            << body;
        ++nearer;
      }
      branches += points[i] != i + 1;
      unreachable_exits += points[i] == points.size() && i + 1 != points.size();
    }
  }
  EXPECT_GT(branches, 500u) << "the graphs must branch for this to mean anything";
  EXPECT_GT(unreachable_exits, 100u);
  EXPECT_GT(nearer, 100u);
}

/// Lines of `body` with collectives and ways out between them, which decide where lanes meet.
std::string with_ways_out(std::mt19937& random, const std::string& body) {
  constexpr std::array<const char*, 6> kMore = {"bar.sync 0;\n",        "@%p1 ret;\n",
                                                "@%p2 exit;\n",         "activemask.b32 %r1;\n",
                                                "@!%p3 bra RETURNS;\n", "@%p4 bra ALSO_RETURNS;\n"};
  std::istringstream lines(body);
  std::string out;
  for (std::string line; std::getline(lines, line);) {
    out += line + "\n";
    if (random() % 4 == 0) out += kMore.at(random() % kMore.size());
  }
  return out + "@%p1 bra RETURNS;\nret;\nRETURNS: ret;\nALSO_RETURNS: ret;\n";
}

TEST(Reconvergence, IsWhatFollowingEachWayOutByItselfGives) {
  std::mt19937 random(2);
  std::size_t nearer = 0;
  for (unsigned round = 0; round < 600; ++round) {
    const GraphShape shape{1 + round % 40 * (round % 50 == 0 ? 10 : 1), 4, 2};
    const std::string body = with_ways_out(random, random_body(random, shape));
    const Module module = parse_kernel(body);
    const std::vector<std::uint32_t> points = reconvergence_points(module.functions[0]);
    ASSERT_EQ(points, plain::plain_points(module.functions[0])) << body;
    nearer += static_cast<std::size_t>(
        std::ranges::count_if(points, [&](std::uint32_t point) { return point != points.size(); }));
  }
  EXPECT_GT(nearer, 1000u);
}

/// Guarded returns one after the other, and ones that lie behind a branch each.
std::string many_returns(unsigned count) {
  std::string body;
  for (unsigned i = 0; i < count; ++i) {
    const std::string n = std::to_string(i);
    body += "add.s32 %r1, %r1, 1;\nsetp.eq.s32 %p1, %r1, " + n + ";\n@%p1 ret;\n";
    if (i % 2 == 0) body += "@%p2 bra B" + n + ";\n@%p3 ret;\nB" + n + ": bar.sync 0;\n";
  }
  return body + "ret;";
}

TEST(Reconvergence, ManyWaysOutTakeAFractionOfASecond) {
  const Module module = parse_kernel(many_returns(20'000));
  const std::clock_t start = std::clock();
  EXPECT_EQ(reconvergence_points(module.functions[0]).size(), 90'001u);
  const double taken = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  EXPECT_LT(taken, 3.0) << "followed by itself each way takes half a minute; loose for sanitizers";
}

std::string ladder(unsigned blocks) {
  std::string body;
  for (unsigned b = 0; b < blocks; ++b) {
    const std::string n = std::to_string(b);
    body += "L" + n + ": add.s32 %r1, %r1, 1;\nadd.s32 %r" + std::to_string(b % 90) +
            ", %r2, 1;\nsetp.eq.s32 %p1, %r1, " + n + ";\n@%p1 bra L" +
            std::to_string(b % 7 == 0 && b > 20 ? b - 20 : std::min(b + 5, blocks - 1)) + ";\n";
  }
  return body + "ret;";
}

TEST(Reconvergence, LongKernelsTakeAFractionOfASecond) {
  const Module module = parse_kernel(ladder(12'500));
  const Function& function = module.functions[0];
  ASSERT_EQ(function.instructions.size(), 50'001u);
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(reconvergence_points(function).size(), 50'001u);
  EXPECT_LE(assign_registers(function).registers, 100u);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  EXPECT_LT(taken.count(), 5.0) << "about 0.06 s in a release build; loose for sanitizers";
}

}  // namespace
}  // namespace raddle::ptx::test::flow_test
