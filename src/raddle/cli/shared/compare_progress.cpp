#include "raddle/cli/shared/compare_progress.h"

#include <fmt/format.h>

#include <cstdio>

#include "raddle/cli/shared/output.h"

namespace raddle::cli {

void CompareProgress::print(const std::string& what, double seconds) const {
  if (quiet_) return;
  clear_progress(quiet_);
  std::fputs(fmt::format("[{}/{}] {} {:.1f} s\n", done_, runs_, what, seconds).c_str(), stderr);
}

void CompareProgress::recorded(const std::string& work, double seconds) const {
  print("recording of " + work, seconds);
}

void CompareProgress::watch(const std::string& work, std::vector<std::size_t> variants,
                            sim::Options& options) {
  options.progress = progress_line(
      [this, work, variants](const sim::Progress& p) {
        return fmt::format("[{}/{}] {} under {}", done_, runs_, work,
                           labels_.at(variants.at(p.setup)));
      },
      quiet_);
  options.timed = [this, work, variants](std::size_t setup, double seconds) {
    ++done_;
    RADDLE_ASSERT(done_ <= runs_);
    print(work + " under " + labels_.at(variants.at(setup)), seconds);
  };
}

}  // namespace raddle::cli
