#include "raddle/sim/result/metrics_json.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace raddle::sim {

using Json = nlohmann::ordered_json;

namespace {

using stats::ratio;

template <class Number>
constexpr stats::Value as_value(Number number) {
  if constexpr (std::is_floating_point_v<Number>) return static_cast<double>(number);
  else return static_cast<std::uint64_t>(number);
}

std::uint64_t dram_bytes(const CorunResult& run) {
  std::uint64_t sum = 0;
  for (const TenantResult& tenant : run.tenants) sum += tenant.counters.dram.bytes;
  return sum;
}

// clang-format off
#define RADDLE_FACT(of_, name_, unit_, expression, meaning_) \
  Fact{.of = FactOf::of_, .name = name_, .unit = unit_, \
       .source = #expression, .meaning = meaning_, \
       .value = [](const Subject& subject) { \
         [[maybe_unused]] const auto& [run, launch, group, stream, corun, tenant] = subject; \
         return as_value(expression); \
       }},
constexpr auto kFacts = std::to_array<Fact>({
#include "raddle/stats/metrics.def"
});
// clang-format on
static_assert(std::ranges::all_of(kFacts, [](const Fact& f) { return stats::is_unit(f.unit); }));

/// The member of that name; "a.b": member b of member a.
Json& member(Json& of, std::string_view name) {
  const std::size_t dot = name.find('.');
  if (dot == std::string_view::npos) return of[std::string(name)];
  return member(of[std::string(name.substr(0, dot))], name.substr(dot + 1));
}

}  // namespace

Json to_json(const stats::Value& value) {
  if (const auto* number = std::get_if<double>(&value))
    return std::isnan(*number) ? Json() : Json(*number);
  return std::get<std::uint64_t>(value);
}

void add_metrics(Json& out, stats::Part part, stats::Shown place, const stats::Counted& of) {
  stats::each_number(part, place,
                     [&](const std::string& name, const stats::Metric& metric, unsigned index) {
                       member(out, name) = to_json(metric.value(of, index));
                     });
}

Json noc_json(const stats::Counted& of) {
  Json out;
  stats::each_noc_number([&](const std::string& name, const stats::Metric& metric, unsigned index) {
    member(out, name) = to_json(metric.value(of, index));
  });
  return out;
}

std::span<const Fact> facts() { return kFacts; }

void add_facts(Json& out, FactOf of, const Subject& subject) {
  for (const Fact& fact : kFacts)
    if (fact.of == of) out[std::string(fact.name)] = to_json(fact.value(subject));
}

}  // namespace raddle::sim
