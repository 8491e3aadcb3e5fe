// What is wrong with --executor slurm is said before anything is written.
#include "cli/raddle.h"
#include "raddle_paths.h"

namespace raddle::test::bad_slurm_test {
namespace {

constexpr const char* kSweep = "sweep " RADDLE_SOURCE_DIR "/experiments/demo/warps.toml ";

/// PATH of a machine with an empty Slurm.
class BadSlurm : public testing::Test {
 protected:
  void install(std::vector<std::string> programs) const {
    for (const std::string& name : programs)
      std::filesystem::permissions(folder_.write(name, "#!/bin/sh\n"), std::filesystem::perms::all);
  }
  Outcome sweep(const std::vector<std::string>& more) const {
    std::vector<std::string> all = {"PATH=" + folder_.path().string(), RADDLE_PROGRAM};
    std::istringstream in(kSweep);
    for (std::string word; in >> word;) all.push_back(word);
    all.insert(all.end(), {"--results", folder_ / "results"});
    all.insert(all.end(), more.begin(), more.end());
    return run_process("/usr/bin/env", all);
  }
  void refused(const std::vector<std::string>& more, const std::vector<std::string>& words) const {
    expect_refused(sweep(more), words);
    EXPECT_FALSE(std::filesystem::exists(folder_ / "results"));
  }
  Folder folder_;
};

TEST_F(BadSlurm, NoSlurmHere) {
  refused({"--executor", "slurm"}, {"--executor: slurm needs sbatch, which is not in PATH"});
  install({"sbatch", "squeue"});
  refused({"--executor", "slurm"}, {"slurm needs scancel"});
}

TEST_F(BadSlurm, Options) {
  install({"sbatch", "squeue", "scancel", "scontrol"});
  refused({"--slurm-options", "-p short"},
          {"--slurm-options: expected with --executor slurm, found without"});
  refused({"--slurm-poll", "20"}, {"--slurm-poll: expected with --executor slurm, found without"});
  refused({"--executor", "slurm", "--slurm-options", "--comment='a"},
          {"--slurm-options: expected a closing '"});
  refused({"--executor", "slurm", "--slurm-options", "--array=1-3"}, {"--array is decided"});
  refused({"--executor", "pbs"}, {"--executor: pbs not in {local,slurm}"});
  refused({"--executor", "slurm", "--slurm-poll", "0"}, {"--slurm-poll"});
}

}  // namespace
}  // namespace raddle::test::bad_slurm_test
