#include "raddle/sim/profile/analysis.h"

#include <algorithm>
#include <cctype>

#include "raddle/config/reader.h"

namespace raddle::sim {

namespace {

bool is_label(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '-';
  });
}

/// Reads key=value,... into the options.
template <class Options>
Options read_options(std::string_view text, const std::string& origin) {
  config::Tree tree;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    tree.set_option(text.substr(0, comma), origin);
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  Options out;
  config::Reader reader(tree);
  out.visit(reader);
  reader.finish();
  return out;
}

/// An error of f with its place.
template <class F>
void check(F f, const std::string& origin) {
  try {
    f();
  } catch (const InputError& error) {
    throw InputError({origin}, error.what());
  }
}

}  // namespace

analysis::Request read_analysis(std::string_view text, const std::string& origin) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  const std::string_view head = text.substr(0, colon);
  const std::string_view options = text.substr(std::min(colon + 1, text.size()));
  const std::size_t equals = head.find('=');
  const std::string_view name = equals == std::string_view::npos ? head : head.substr(equals + 1);
  const std::string_view label = head.substr(0, equals);
  if (!is_label(label) || (colon != text.size() && options.empty()))
    throw InputError({origin},
                     "expected [LABEL=]NAME[:key=value,...] such as cache:size_kib=16, "
                     "found '" +
                         std::string(text) + "'");
  analysis::Request out{std::string(label), {}};
  if (name == analysis::CacheOptions::kName) {
    const auto cache = read_options<analysis::CacheOptions>(options, origin);
    check([&] { cache.replacements(); }, origin);
    out.what = cache;
  } else if (name == analysis::LocalityOptions::kName) {
    out.what = read_options<analysis::LocalityOptions>(options, origin);
  } else if (name == analysis::DependenciesOptions::kName) {
    out.what = read_options<analysis::DependenciesOptions>(options, origin);
  } else if (name == analysis::FootprintOptions::kName) {
    const auto footprint = read_options<analysis::FootprintOptions>(options, origin);
    check([&] { footprint.check(); }, origin);
    out.what = footprint;
  } else if (name == analysis::AllocationsOptions::kName) {
    out.what = read_options<analysis::AllocationsOptions>(options, origin);
  } else if (name == analysis::SourceOptions::kName) {
    out.what = read_options<analysis::SourceOptions>(options, origin);
  } else {
    throw InputError({origin}, "no analysis is called '" + std::string(name) +
                                   "'; known: allocations cache dependencies footprint "
                                   "locality source");
  }
  return out;
}

std::vector<analysis::Request> l1_analyses(std::vector<analysis::Request> requests) {
  std::erase_if(requests, [](const analysis::Request& r) {
    return !std::holds_alternative<analysis::CacheOptions>(r.what) &&
           !std::holds_alternative<analysis::LocalityOptions>(r.what);
  });
  return requests;
}

std::vector<analysis::Request> analyses_for_report(bool corun) {
  std::vector<analysis::Request> out = {
      {std::string(analysis::SourceOptions::kName), analysis::SourceOptions{256}}};
  if (!corun)
    out.push_back(
        {std::string(analysis::AllocationsOptions::kName), analysis::AllocationsOptions{}});
  return out;
}

analysis::L1Machine observed_l1(const timing::MachineSpec& machine) {
  const timing::L1dSpec& l1 = machine.sm.l1d;
  const unsigned sectors = machine.l2.line_bytes / machine.l2.sector_bytes;
  analysis::L1Rules rules;
  rules.line_bytes = machine.l2.line_bytes;
  rules.line_sectors = static_cast<std::uint8_t>((1u << sectors) - 1);
  rules.store_evicts = l1.write_policy == timing::WritePolicy::WriteEvict;
  rules.local_store_evicts = l1.local_write_policy == timing::WritePolicy::WriteEvict;
  rules.bypassing_load_evicts = l1.keeps_dirty() || l1.store_buffer != 0;
  return {machine.sm.count, l1.size_kib, l1.ways, rules};
}

}  // namespace raddle::sim
