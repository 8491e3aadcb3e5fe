#include "raddle/sim/profile/footprint_observer.h"

#include "raddle/config/writer.h"
#include "raddle/sim/profile/analysis.h"

namespace raddle::sim {

std::unique_ptr<FootprintObserver> FootprintObserver::of(
    const std::vector<analysis::Request>& requests) {
  auto out = std::make_unique<FootprintObserver>();
  for (const auto& [label, options] : requests_for<analysis::FootprintOptions>(requests)) {
    try {
      options.check();
    } catch (const InputError& error) {
      throw InputError("analysis " + label + ": " + error.what());
    }
    out->all_.push_back({label, analysis::SharedFootprint(options.line_bytes)});
  }
  return out->all_.empty() ? nullptr : std::move(out);
}

void FootprintObserver::tree(const std::vector<runtime::LaunchedStream>& launches) {
  std::vector<analysis::SharedFootprint::Launch> tree;
  tree.reserve(launches.size());
  for (const auto& [stream, record] : launches)
    tree.push_back({stream.get(), record.origin ? &*record.origin : nullptr});
  for (Labelled& one : all_) one.footprint.tree(tree);
}

void FootprintObserver::fill(Result& result) const {
  for (const Labelled& one : all_) {
    config::JsonWriter figures;
    one.footprint.visit(figures);
    result.analysis[one.label] = figures.take();
  }
}

}  // namespace raddle::sim
