// What a comparison with a profile says: as text, JSON and page.
#pragma once
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "raddle/report/validation_page.h"
#include "raddle/sim/validate/profile_pairs.h"

namespace raddle::cli {

class ProfileTable {
 public:
  /// `remarks`: what one must know to read the numbers, a sentence each.
  ProfileTable(const sim::Profile& profile, const sim::ProfileComparison& compared,
               std::map<std::string, std::string> simulated, std::vector<std::string> remarks);

  std::string text() const;
  nlohmann::ordered_json json() const;
  /// Without title, command and date.
  report::Validation page() const;

 private:
  /// Launches of a kernel, of those that pair.
  struct Kernel {
    std::string name;
    std::vector<const sim::ComparedLaunch*> launches;
  };

  std::vector<sim::Pair> pairs(sim::Metric metric) const;
  /// Means over the launches of which both sides are known.
  static sim::Pair mean(const Kernel& kernel, sim::Metric metric);
  /// "DRAM (87 %)"; "" where it cannot be said.
  static std::string limit(const Kernel& kernel, bool measured);
  std::string errors() const;
  std::string block(const Kernel& kernel) const;
  std::string not_paired() const;
  report::ValidationTable kernel_table() const;
  report::ValidationTable unpaired_table() const;

  const sim::Profile& profile_;
  const sim::ProfileComparison& compared_;
  std::map<std::string, std::string> simulated_;
  std::vector<std::string> remarks_;
  std::vector<Kernel> kernels_;  ///< the one with most measured time first
};

}  // namespace raddle::cli
