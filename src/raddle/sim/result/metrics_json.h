// Numbers of the result JSON, as src/raddle/stats/metrics.def names them.
#pragma once
#include <nlohmann/json.hpp>
#include <span>
#include <string_view>

#include "raddle/sim/result/result.h"
#include "raddle/stats/metrics.h"

namespace raddle::sim {

nlohmann::ordered_json to_json(const stats::Value& value);

/// Adds the part's numbers that are shown of `place` (one of the bits of stats::Shown).
void add_metrics(nlohmann::ordered_json& out, stats::Part part, stats::Shown place,
                 const stats::Counted& of);
/// What was timed of a run, which must outlive it.
stats::Counted counted_in(const Result& result);
/// details.noc
nlohmann::ordered_json noc_json(const stats::Counted& of);

/// Whose facts they are: lines RADDLE_FACT of metrics.def.
enum class FactOf : std::uint8_t {
  Launch,
  Group,
  Stream,
  Tenant,
  TenantShare,
  TenantAlone,  ///< where it has run alone, too
  Corun,
  Sharing,
  Run,
  Peaks,
  Host,
};

/// What facts are taken from; those of one kind need some of it only.
struct Subject {
  const Result* run = nullptr;
  const KernelResult* launch = nullptr;
  const KernelGroup* group = nullptr;
  const StreamResult* stream = nullptr;
  const CorunResult* corun = nullptr;
  const TenantResult* tenant = nullptr;
};

struct Fact {
  FactOf of = FactOf::Run;
  std::string_view name, unit, source, meaning;
  stats::Value (*value)(const Subject& subject) = nullptr;
};
std::span<const Fact> facts();
void add_facts(nlohmann::ordered_json& out, FactOf of, const Subject& subject);

}  // namespace raddle::sim
