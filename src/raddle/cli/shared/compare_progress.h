// How far raddle compare is: a line for each variant that has been timed, and on a terminal one
// that tells which is running.
#pragma once
#include <string>
#include <vector>

#include "raddle/sim/run/simulation.h"

namespace raddle::cli {

class CompareProgress {
 public:
  /// `labels`: of the variants.
  CompareProgress(std::size_t works, std::vector<std::string> labels, bool quiet)
      : labels_(std::move(labels)), runs_(works * labels_.size()), quiet_(quiet) {}
  /// A program has been recorded.
  void recorded(const std::string& work, double seconds) const;
  /// While options.progress and options.timed are called, `work` is what is timed under `variants`,
  /// and this must live.
  void watch(const std::string& work, std::vector<std::size_t> variants, sim::Options& options);

 private:
  void print(const std::string& what, double seconds) const;

  std::vector<std::string> labels_;
  std::size_t runs_, done_ = 0;
  bool quiet_;
};

}  // namespace raddle::cli
