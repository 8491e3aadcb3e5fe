// How analyses are asked for: as text, and of which machine.
#pragma once
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "raddle/analysis/analyses.h"
#include "raddle/base/error.h"
#include "raddle/timing/spec/machine.h"

namespace raddle::sim {

/// "cache", "cache:size_kib=8,replacement=lru+belady", or with a label of its own
/// "small=cache:size_kib=8"; without one the label is the name. `origin` stands for the file in
/// errors. Throws InputError with everything that is wrong with it.
analysis::Request read_analysis(std::string_view text, const std::string& origin);

/// The requests that look at an SM's L1D in a timing run; the others look at its instructions, the
/// execution or its op streams.
std::vector<analysis::Request> l1_analyses(std::vector<analysis::Request> requests);

/// The requests with such options, with their labels. Throws InputError when a label of them is
/// there twice.
template <class Options>
std::vector<std::pair<std::string, Options>> requests_for(
    const std::vector<analysis::Request>& requests) {
  std::vector<std::pair<std::string, Options>> out;
  for (const analysis::Request& r : requests) {
    const auto* options = std::get_if<Options>(&r.what);
    if (options == nullptr) continue;
    if (std::ranges::count(requests, r.label, &analysis::Request::label) > 1)
      throw InputError("analysis " + r.label + ": is asked for twice; give one another label");
    out.emplace_back(r.label, *options);
  }
  return out;
}

/// What a report shows: source lines, with fewer looks than who asks for them alone, and traffic by
/// allocation, except of a co-run.
std::vector<analysis::Request> analyses_for_report(bool corun);

/// What analyses need to know of a machine's L1Ds.
analysis::L1Machine observed_l1(const timing::MachineSpec& machine);

}  // namespace raddle::sim
