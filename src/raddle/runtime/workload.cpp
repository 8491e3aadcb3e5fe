#include "raddle/runtime/workload.h"

namespace raddle::runtime {

std::unique_ptr<Workload> Workloads::make(std::string_view name) const {
  if (auto found = makers_.find(name); found != makers_.end()) {
    std::unique_ptr<Workload> made = found->second.make();
    made->set_size(Size::Tiny);
    return made;
  }
  std::string known;
  for (const auto& [n, maker] : makers_) known += " " + n;
  throw InputError("no workload is called '" + std::string(name) + "'; known:" + known);
}

std::vector<std::string> Workloads::names() const {
  std::vector<std::string> all;
  for (const auto& [name, maker] : makers_) all.push_back(name);
  return all;
}

std::string_view Workloads::doc(std::string_view name) const {
  auto found = makers_.find(name);
  return found == makers_.end() ? std::string_view() : std::string_view(found->second.doc);
}

}  // namespace raddle::runtime
