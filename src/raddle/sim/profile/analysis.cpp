#include "raddle/sim/profile/analysis.h"

#include <algorithm>
#include <cctype>

#include "raddle/config/reader.h"
#include "raddle/config/said_once.h"
#include "raddle/config/spelling.h"

namespace raddle::sim {

namespace {

bool is_label(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '-';
  });
}

/// An error of f with its place.
template <class F>
void at_origin(F f, const std::string& origin) {
  try {
    f();
  } catch (const InputError& error) {
    if (origin.empty()) throw;
    throw InputError({origin}, error.what());
  }
}

}  // namespace

void refuse_analysis(const std::string& label, const std::string& why) {
  throw InputError("analysis " + label + ": " + why);
}

std::unique_ptr<AnalysisChoice> AnalysisRegistry::choose(std::string_view name) const {
  const auto found = makers_.find(name);
  if (found != makers_.end()) return found->second.make(found->first, found->second.doc);
  std::string known;
  for (const std::string& one : names()) known += " " + one;
  const std::string near = config::nearest(name, names());
  throw InputError("no analysis is called '" + std::string(name) + "'; known:" + known +
                   (near.empty() ? "" : "; did you mean '" + near + "'?"));
}

std::vector<std::string> AnalysisRegistry::names() const {
  std::vector<std::string> all;
  for (const auto& [name, maker] : makers_) all.push_back(name);
  return all;
}

AnalysisRequest request_analysis(const std::string& label, std::string_view name,
                                 const std::vector<std::string>& settings,
                                 const std::string& origin, const AnalysisRegistry& registry) {
  std::unique_ptr<AnalysisChoice> choice;
  at_origin([&] { choice = registry.choose(name); }, origin);
  config::Tree tree;
  config::SaidOnce said;
  for (const std::string& setting : settings) {
    tree.set_option(setting, origin);
    said.add_part(setting, origin);
  }
  config::Reader reader(tree);
  choice->visit(reader);
  reader.finish();
  at_origin([&] { choice->check(); }, origin);
  return {label, std::move(choice)};
}

AnalysisRequest read_analysis(std::string_view text, const std::string& origin,
                              const AnalysisRegistry& registry) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  const std::string_view head = text.substr(0, colon);
  std::string_view rest = text.substr(std::min(colon + 1, text.size()));
  const std::size_t equals = head.find('=');
  const std::string_view name = equals == std::string_view::npos ? head : head.substr(equals + 1);
  const std::string_view label = head.substr(0, equals);
  if (!is_label(label) || (colon != text.size() && rest.empty()))
    throw InputError({origin},
                     "expected [LABEL=]NAME[:key=value,...] such as cache:size_kib=16, "
                     "found '" +
                         std::string(text) + "'");
  std::vector<std::string> settings;
  while (!rest.empty()) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    settings.emplace_back(rest.substr(0, comma));
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  return request_analysis(std::string(label), name, settings, origin, registry);
}

std::vector<AnalysisRequest> analyses_for_report(bool corun) {
  std::vector<AnalysisRequest> out = {read_analysis("source:interval_cycles=256", "report")};
  if (!corun) out.push_back(read_analysis("allocations", "report"));
  return out;
}

}  // namespace raddle::sim
