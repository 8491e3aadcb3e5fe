// The catalogue of metrics has every number of a result, and its files are current.
#include "raddle/sim/result/catalogue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <set>
#include <sstream>

#include "raddle/base/error.h"
#include "raddle/base/files.h"
#include "raddle/sim/result/result.h"
#include "raddle_paths.h"

namespace raddle::sim::catalogue_test {
namespace {

using Json = nlohmann::ordered_json;
using testing::HasSubstr;

const std::vector<CatalogueEntry>& all() {
  static const std::vector<CatalogueEntry> kAll = catalogue(policy::all_policies());
  return kAll;
}

/// A run with two launches, one of which a kernel made.
Result run_of_two() {
  Result r;
  r.cycles = 1000;
  for (const char* name : {"a", "b"}) r.kernels.emplace_back().name = name;
  r.kernels[0].end = 500;
  r.kernels[1].parent = KernelParent{0, {}};
  r.kernels[1].stream = 2;
  return r;
}

Result corun_of_two() {
  Result r;
  CorunResult& corun = r.corun.emplace();
  corun.horizon = 1000;
  for (const char* name : {"a", "b"}) {
    TenantResult& tenant = corun.tenants.emplace_back();
    tenant.name = name;
    tenant.ipc_alone = 2;
    tenant.counters.sm.thread_instructions = 1000;
  }
  corun.sharing = Sharing{};
  return r;
}

/// Every number under `value`, by path.
void each_number_in(const Json& value, const std::string& path,
                    const std::function<void(const std::string&)>& f) {
  if (value.is_number()) f(path);
  if (!value.is_object()) return;
  for (const auto& [name, member] : value.items())
    each_number_in(member, path.empty() ? name : path + "." + name, f);
}

/// Numbers that say which launch or tenant something is, and what it asks of an SM.
bool identifies(const std::string& name) {
  return name == "stream" || name == "base_address" || name == "footprint_bytes" ||
         name.starts_with("block.") || name.starts_with("parent.") || name.starts_with("resident.");
}

/// Both ways: what is in `value` is in the catalogue as shown there, and the other way round.
void expect_the_same(const Json& value, stats::Shown place, const std::string& prefix) {
  std::set<std::string> known, there;
  for (const CatalogueEntry& entry : all())
    if ((entry.shown & place) != 0 && !entry.name.starts_with("policies."))
      known.insert(entry.name);
  each_number_in(value, "", [&](const std::string& path) {
    if (!identifies(path))
      there.insert(path.starts_with(prefix) ? path.substr(prefix.size()) : path);
  });
  EXPECT_THAT(there, testing::ContainerEq(known)) << stats::shown_text(place);
}

TEST(Catalogue, HasEveryNumberOfARun) {
  Json json = to_json(run_of_two());
  json.erase("schema");
  expect_the_same(json, stats::kRun, "totals.");
}

TEST(Catalogue, HasEveryNumberOfLaunchesKernelsAndStreams) {
  const Json json = to_json(run_of_two());
  for (const Json& launch : json["kernels"]) expect_the_same(launch, stats::kLaunch, "");
  for (const Json& stream : json["streams"]) expect_the_same(stream, stats::kStream, "");
  const Json many = to_json(run_of_two(), 0);
  for (const Json& kernel : many["kernels_by_name"]) expect_the_same(kernel, stats::kGroup, "");
}

TEST(Catalogue, HasEveryNumberOfACorunAndItsTenants) {
  Json json = to_json(corun_of_two());
  for (const Json& tenant : json["tenants"]) expect_the_same(tenant, stats::kTenant, "");
  json.erase("schema");
  expect_the_same(json, stats::kCorun, "totals.");
}

TEST(Catalogue, HasWhatPoliciesCount) {
  const auto found = find_metrics(all(), "policies.throttle.statistics.vta_hits");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].source, "policy throttle=ccws");
  EXPECT_FALSE(found[0].meaning.empty());
  for (const char* source : {"policy warp=gto", "policy dram=frfcfs", "policy coherence=denovo",
                             "policy dispatch=adaptive_bind", "policy migrate=latoa"})
    EXPECT_TRUE(std::ranges::any_of(all(), [&](const auto& e) { return e.source == source; }))
        << source;
}

TEST(Catalogue, AnEntryHasTheSixMembersOfTheContract) {
  const Json entry = to_json(find_metrics(all(), "warp_instructions").at(0));
  EXPECT_EQ(entry,
            Json::parse(R"({"name": "warp_instructions", "unit": "warp instructions",
    "meaning": )"
                        R"("instructions issued, each once for a warp; of the machine's code, )"
                        R"(or of PTX where it is not lowered",
    "source": "sm.issued", "shown": ["run", "co-run", "launch", "kernel", "stream", "tenant"],
    "ncu": "smsp__inst_executed.sum"})"));
  EXPECT_TRUE(to_json(find_metrics(all(), "ipc").at(0))["ncu"].is_null());
}

TEST(Catalogue, TermsHaveTheirOwnMeaning) {
  const auto found = find_metrics(all(), "details.l1d_refused.mshr");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_THAT(found[0].meaning, HasSubstr("no MSHR was free"));
  EXPECT_EQ(found[0].source, "sm.l1d_refused[mshr]");
}

TEST(Catalogue, ANameIsFoundWithoutWhatItIsAMemberOf) {
  EXPECT_EQ(find_metrics(all(), "l1d_misses").at(0).name, "details.l1d_misses");
  EXPECT_EQ(find_metrics(all(), "stalls.memory").size(), 2u) << "of schedulers, and of launches";
}

TEST(Catalogue, AnUnknownNameHasANearOne) {
  for (const auto& [wrong, near] : {std::pair{"l1d_hitrate", "l1d_hit_rate"},
                                    {"cycels", "cycles"},
                                    {"detials.loads", "details.loads"}})
    try {
      find_metrics(all(), wrong);
      ADD_FAILURE() << wrong;
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), HasSubstr(std::string("'") + wrong + "'; near: " + near + ";"));
    }
}

/// RADDLE_CATALOGUE=1 (./x verify sets it) writes the file instead of comparing it.
void expect_current(const std::string& name, const std::string& wanted) {
  const std::string path = RADDLE_SOURCE_DIR "/" + name;
  if (std::getenv("RADDLE_CATALOGUE") != nullptr) return write_file(path, wanted);
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  EXPECT_TRUE(text.str() == wanted) << name << " is old; write it with ./x verify";
}

TEST(CatalogueFiles, ThePageIsCurrent) { expect_current("docs/metrics.md", catalogue_page(all())); }
TEST(CatalogueFiles, TheTypeScriptIsCurrent) {
  expect_current("web/src/catalogue.ts", catalogue_typescript(all()));
}

}  // namespace
}  // namespace raddle::sim::catalogue_test
