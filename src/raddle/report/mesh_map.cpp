#include "raddle/report/mesh_map.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace raddle::report {

using Json = nlohmann::ordered_json;
using timing::MeshCounts;

namespace {

constexpr const char* kColumns[] = {"start", "length",  "requests", "replies", "issued", "memory",
                                    "idle",  "relaxed", "critical", "moved",   "moves"};

/// Of counts that may have been taken a little behind the end of the run.
unsigned thousandths(std::uint64_t before, std::uint64_t after, std::uint64_t whole) {
  if (after <= before || whole == 0) return 0;
  return static_cast<unsigned>(
      std::min<std::uint64_t>(1000, (1000 * (after - before) + whole / 2) / whole));
}

Json differences(const std::vector<std::uint64_t>& before,
                 const std::vector<std::uint64_t>& after) {
  Json out = Json::array();
  for (std::size_t i = 0; i < after.size(); ++i)
    out.push_back(after[i] - (before.empty() ? 0 : before[i]));
  return out;
}

/// [from, to, warps, from, to, warps ...]
Json max_moves(std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> warps) {
  std::vector<std::pair<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t>> all;
  for (const auto& pair : warps)
    if (pair.second != 0) all.push_back(pair);
  // Of as many warps, in order of the SMs.
  std::ranges::sort(all, [](const auto& a, const auto& b) {
    return std::tie(b.second, a.first) < std::tie(a.second, b.first);
  });
  all.resize(std::min(all.size(), kMaxMovesOfColumn));
  Json out = Json::array();
  for (const auto& [from_to, count] : all)
    for (const std::uint64_t n :
         {std::uint64_t{from_to.first}, std::uint64_t{from_to.second}, count})
      out.push_back(n);
  return out;
}

class MeshMap {
 public:
  MeshMap(const sim::Result& result, const timing::MeshRecord& record)
      : record_(record),
        schedulers_(result.schedulers / std::max<std::size_t>(record.places.sms.size(), 1)) {
    const timing::MeshPlaces& places = record.places;
    out_ = {{"columns", places.columns},
            {"rows", places.rows},
            {"sms", places.sms},
            {"slices", places.slices},
            {"controllers", places.controllers},
            {"from", Json::array()},
            {"to", Json::array()}};
    for (const timing::MeshLink& link : places.links) {
      out_["from"].push_back(link.from);
      out_["to"].push_back(link.to);
    }
    for (const char* member : kColumns) out_[member] = Json::array();
  }
  /// Numbers of a column, without moves.
  std::size_t cells() const {
    return 2 * record_.places.links.size() + 5 * record_.places.sms.size();
  }
  void add_column(const MeshCounts& before, const MeshCounts& after) {
    const Cycle length = after.at - before.at;
    out_["start"].push_back(before.at);
    out_["length"].push_back(length);
    out_["requests"].push_back(differences(before.requests, after.requests));
    out_["replies"].push_back(differences(before.replies, after.replies));
    add_shares(before, after, length);
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> warps;
    for (const timing::WarpMoves& m : after.moves) warps[{m.from, m.to}] += m.warps;
    for (const timing::WarpMoves& m : before.moves) warps[{m.from, m.to}] -= m.warps;
    std::uint64_t moved = 0;
    for (const auto& pair : warps) moved += pair.second;
    out_["moved"].push_back(moved);
    out_["moves"].push_back(max_moves(std::move(warps)));
  }
  Json take() { return std::move(out_); }

 private:
  void add_shares(const MeshCounts& before, const MeshCounts& after, Cycle length) {
    Json issued = Json::array(), memory = Json::array(), idle = Json::array();
    for (std::size_t sm = 0; sm < after.sms.size(); ++sm) {
      const MeshCounts::Sm from = before.sms.empty() ? MeshCounts::Sm{} : before.sms[sm];
      const MeshCounts::Sm& to = after.sms[sm];
      const std::uint64_t whole = length * schedulers_;
      issued.push_back(thousandths(from.issued, to.issued, whole));
      memory.push_back(thousandths(from.memory, to.memory, whole));
      idle.push_back(thousandths(from.idle, to.idle, whole));
    }
    out_["issued"].push_back(std::move(issued));
    out_["memory"].push_back(std::move(memory));
    out_["idle"].push_back(std::move(idle));
    if (after.states.empty()) return;
    Json relaxed = Json::array(), critical = Json::array();
    for (std::size_t sm = 0; sm < after.states.size(); ++sm) {
      const policy::StateCycles from =
          before.states.empty() ? policy::StateCycles{} : before.states[sm];
      relaxed.push_back(thousandths(from[0], after.states[sm][0], length));
      critical.push_back(thousandths(from[2], after.states[sm][2], length));
    }
    out_["relaxed"].push_back(std::move(relaxed));
    out_["critical"].push_back(std::move(critical));
  }
  const timing::MeshRecord& record_;
  std::uint64_t schedulers_;  // of an SM
  Json out_;
};

}  // namespace

Json mesh_json(const sim::Result& result, std::size_t max_cells) {
  if (!result.mesh) return {};
  const std::vector<MeshCounts>& counts = result.mesh->counts;
  MeshMap map(result, *result.mesh);
  const std::size_t columns = std::clamp<std::size_t>(
      max_cells / std::max<std::size_t>(map.cells(), 1), 1, kMaxMeshColumns);
  const std::size_t group = (counts.size() + columns - 1) / columns;
  const MeshCounts nothing;
  for (std::size_t first = 0; first < counts.size(); first += group)
    map.add_column(first == 0 ? nothing : counts[first - 1],
                   counts[std::min(first + group, counts.size()) - 1]);
  return map.take();
}

}  // namespace raddle::report
