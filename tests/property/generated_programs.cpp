// Kernels made at random compute what their tree says, by an interpreter of its own
// (support/generated_program_value.h): in every build of the lane engine, and while they are timed.
// By hand, more of them: RADDLE_GENERATED="first count" test_property --gtest_filter='Generated*'.
#include <gtest/gtest.h>

#include <cstdlib>
#include <sstream>

#include "raddle/base/rng.h"
#include "support/generated_program_text.h"
#include "support/generated_program_value.h"
#include "support/whole.h"
#include "unit/exec/rig.h"

namespace raddle::test::generated_programs_test {
namespace {

struct Generated {
  GeneratedProgram program;
  std::string text;
  std::vector<std::uint32_t> before, after;
};
Generated generate(std::uint64_t seed) {
  Rng rng(seed, "generated program");
  Generated made;
  made.program = ProgramGenerator([&](std::uint32_t n) { return rng.below(n); }).make();
  made.text = ProgramText(made.program).text();
  const std::size_t threads = std::size_t{made.program.blocks} * made.program.threads;
  made.before.resize(kTableWords + kCounters + kResultWords * threads);
  for (std::size_t i = 0; i < kTableWords; ++i) {
    const auto word = static_cast<std::uint32_t>(rng.next());
    made.before[i] = word >> rng.below(32);  // small numbers are as likely as great ones
  }
  made.after = made.before;
  ProgramValue::run(made.program, made.after);
  return made;
}
/// "" or the first word that differs.
std::string difference(const Generated& made, const std::vector<std::uint32_t>& found) {
  for (std::size_t i = 0; i < made.after.size(); ++i) {
    if (found[i] == made.after[i]) continue;
    std::ostringstream out;
    const std::size_t result = i - kTableWords - kCounters;
    if (i < kTableWords + kCounters) out << "counter " << i - kTableWords;
    else out << "thread " << result / kResultWords << ", result " << result % kResultWords;
    out << std::hex << ": " << found[i] << ", expected " << made.after[i] << "\n" << made.text;
    return out.str();
  }
  return "";
}

struct Range {
  std::uint64_t first = 0, count = 0;
};
Range seeds(std::uint64_t count) {
  Range range{.first = 1, .count = count};
  if (const char* asked = std::getenv("RADDLE_GENERATED"))
    std::istringstream(asked) >> range.first >> range.count;
  return range;
}

TEST(GeneratedPrograms, ComputeWhatTheirTreeSays) {
  const Range range = seeds(400);
  const std::vector<std::string> builds = exec::test::lane_builds();
  for (std::uint64_t seed = range.first; seed < range.first + range.count; ++seed) {
    const Generated made = generate(seed);
    exec::test::use_lanes(builds[seed % builds.size()]);
    exec::test::Rig rig(made.text);
    const Address buffer = rig.upload(made.before);
    rig.run("generated", {made.program.blocks}, {made.program.threads}, buffer);
    unsetenv("RADDLE_LANES");
    const auto found = rig.download<std::uint32_t>(buffer, made.before.size());
    ASSERT_EQ(difference(made, found), "") << "seed " << seed;
  }
}

TEST(GeneratedPrograms, ComputeItWhileTheyAreTimed) {
  const Range range = seeds(40);
  const RunSpec machines[] = {
      {.gpu = "gtx480", .set = {"sm.count=2"}},
      {.gpu = "v100", .set = {"sm.count=2"}},
      {.gpu = "h100", .set = {"sm.count=2", "run.live=true"}},
      {.gpu = "gtx480", .set = {"sm.count=2", "run.live=true"}, .policy = {"warp=gto"}},
  };
  for (std::uint64_t seed = range.first; seed < range.first + range.count; ++seed) {
    const Generated made = generate(seed);
    PtxWorkload workload(exec::test::kHeader + made.text, "generated", {made.program.blocks},
                         {made.program.threads}, 0);
    workload.words = made.before;
    RunSpec spec = machines[seed % std::size(machines)];
    spec.options.audit = true;
    const sim::Result result = run_on(workload, "generated", spec);
    ASSERT_EQ(difference(made, workload.words), "") << "seed " << seed << " on " << spec.gpu;
    ASSERT_EQ(result.kernels.size(), 1u);
    EXPECT_GT(result.kernels[0].end, 0u);
  }
}

}  // namespace
}  // namespace raddle::test::generated_programs_test
