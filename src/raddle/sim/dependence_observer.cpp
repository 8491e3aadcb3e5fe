#include "raddle/sim/dependence_observer.h"

#include <algorithm>

#include "raddle/base/error.h"
#include "raddle/config/writer.h"

namespace raddle::sim {

namespace {
bool is_ours(const analysis::Request& r) {
  return std::holds_alternative<analysis::DependenciesOptions>(r.what);
}
}  // namespace

std::unique_ptr<DependenceObserver> DependenceObserver::of(
    const std::vector<analysis::Request>& requests) {
  std::vector<std::string> labels;
  for (const analysis::Request& r : requests) {
    if (!is_ours(r)) continue;
    if (std::ranges::count(requests, r.label, &analysis::Request::label) > 1)
      throw InputError("analysis " + r.label + ": is asked for twice; give one another label");
    labels.push_back(r.label);
  }
  if (labels.empty()) return nullptr;
  return std::unique_ptr<DependenceObserver>(new DependenceObserver(std::move(labels)));
}

std::vector<analysis::Request> DependenceObserver::others(std::vector<analysis::Request> requests) {
  std::erase_if(requests, is_ours);
  return requests;
}

void DependenceObserver::fill(Result& result) const {
  config::JsonWriter figures;
  all_.visit(figures);
  const nlohmann::ordered_json table = figures.take();
  for (const std::string& label : labels_) result.analysis[label] = table;
}

}  // namespace raddle::sim
