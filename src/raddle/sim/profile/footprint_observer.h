// The footprint analysis at what hands launches on: it reads the op streams of each tree.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "raddle/analysis/analyses.h"
#include "raddle/analysis/footprint.h"
#include "raddle/runtime/launch_sink.h"
#include "raddle/sim/result/result.h"

namespace raddle::sim {

class FootprintObserver {
 public:
  /// nullptr when none of the requests is for footprint. Throws InputError when a label of them is
  /// there twice, or for a line that is none.
  static std::unique_ptr<FootprintObserver> of(const std::vector<analysis::Request>& requests);
  /// Streams must be such as can be read several times: not live ones.
  void tree(const std::vector<runtime::LaunchedStream>& launches);
  /// The figures, under the label of each request.
  void fill(Result& result) const;

 private:
  struct Labelled {
    std::string label;
    analysis::SharedFootprint footprint;
  };
  std::vector<Labelled> all_;
};

}  // namespace raddle::sim
