#include "raddle/sim/profile/dependence_observer.h"

#include "raddle/config/writer.h"
#include "raddle/sim/profile/analysis.h"

namespace raddle::sim {

std::unique_ptr<DependenceObserver> DependenceObserver::of(
    const std::vector<analysis::Request>& requests) {
  std::vector<std::string> labels;
  for (const auto& [label, options] : requests_for<analysis::DependenciesOptions>(requests))
    labels.push_back(label);
  if (labels.empty()) return nullptr;
  return std::unique_ptr<DependenceObserver>(new DependenceObserver(std::move(labels)));
}

void DependenceObserver::fill(Result& result) const {
  config::JsonWriter figures;
  all_.visit(figures);
  const nlohmann::ordered_json table = figures.take();
  for (const std::string& label : labels_) result.analysis[label] = table;
}

}  // namespace raddle::sim
