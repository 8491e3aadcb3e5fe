// Which build of the lane engine a host runs, and what a wish for another one gets.
#include <algorithm>

#include "raddle/exec/run/runner.h"
#include "unit/exec/rig.h"

namespace raddle::exec::test::lane_build_test {
namespace {

TEST(LaneBuild, EveryBuildOfThisProcessorIsFoundByItsName) {
  for (const std::string& name : lane_builds()) {
    use_lanes(name);
    EXPECT_EQ(lane_engine().name, name);
  }
  unsetenv("RADDLE_LANES");
}

TEST(LaneBuild, WithoutAWishTheFastestOneRuns) {
  unsetenv("RADDLE_LANES");
  EXPECT_EQ(lane_engine().name, lane_builds().back());
  use_lanes("");
  EXPECT_EQ(lane_engine().name, lane_builds().back());
  unsetenv("RADDLE_LANES");
}

TEST(LaneBuild, AnUnknownNameIsRefusedWithThoseThatThereAre) {
  use_lanes("sse9");
  try {
    lane_engine();
    ADD_FAILURE() << "an unknown build is accepted";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("RADDLE_LANES=sse9: expected one"), std::string::npos)
        << error.what();
    EXPECT_NE(std::string(error.what()).find("(portable, avx2"), std::string::npos) << error.what();
  }
  unsetenv("RADDLE_LANES");
}

TEST(LaneBuild, ObserversHaveABuildOfTheirOwn) {
  EXPECT_STREQ(observed_lane_engine().name, "observed");
}

}  // namespace
}  // namespace raddle::exec::test::lane_build_test
