#include "raddle/report/launch_tree.h"

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

#include "raddle/base/demangle.h"
#include "raddle/base/error.h"
#include "raddle/base/stable_sort.h"
#include "raddle/report/launch_queue.h"

namespace raddle::report {

using Json = nlohmann::ordered_json;

namespace {

/// The blocks of a run, by launch and number.
class Spans {
 public:
  explicit Spans(const std::vector<timing::BlockSpan>& spans) {
    for (const timing::BlockSpan& span : spans) spans_.push_back(&span);
    std::ranges::sort(spans_, {}, key);
  }
  /// f(span) of each block of the launch.
  template <class F>
  void each(std::uint32_t launch, F f) const {
    auto at = std::ranges::lower_bound(spans_, std::pair(launch, 0u), {}, key);
    for (; at != spans_.end() && (*at)->launch == launch; ++at) f(**at);
  }
  /// nullptr: it was not seen to run.
  const timing::BlockSpan* find(std::uint32_t launch, std::uint32_t block) const {
    const auto at = std::ranges::lower_bound(spans_, std::pair(launch, block), {}, key);
    return at != spans_.end() && key(*at) == std::pair(launch, block) ? *at : nullptr;
  }

 private:
  static std::pair<std::uint32_t, std::uint32_t> key(const timing::BlockSpan* span) {
    return {span->launch, span->block};
  }
  std::vector<const timing::BlockSpan*> spans_;
};

std::vector<LaunchEdge> edges_of(const sim::Result& result, std::span<const DeviceLaunch> all) {
  std::map<std::tuple<std::uint32_t, std::string_view, std::string_view>, std::size_t> known;
  std::vector<LaunchEdge> out;
  std::vector<std::vector<Cycle>> waits;
  for (const DeviceLaunch& launch : all) {
    const std::string& parent = result.kernels[launch.parent].name;
    const std::string& child = result.kernels[launch.launch].name;
    const auto [at, fresh] = known.try_emplace({launch.depth, parent, child}, out.size());
    if (fresh) {
      out.push_back({.parent = parent, .child = child, .depth = launch.depth});
      waits.emplace_back();
    }
    LaunchEdge& edge = out[at->second];
    ++edge.launches;
    edge.blocks += launch.blocks;
    edge.on_parent_sm += launch.on_parent_sm;
    edge.entry_waits += launch.entry_wait();
    waits[at->second].push_back(launch.wait());
  }
  for (std::size_t i = 0; i < out.size(); ++i) out[i].waits = waits_of(std::move(waits[i]));
  sort_stably(out, &LaunchEdge::depth);
  return out;
}

// --- rows ---------------------------------------------------------------------------------------

class Rows {
 public:
  Rows(const sim::Result& result, std::span<const DeviceLaunch> all, Bundle bundle)
      : result_(result), bundle_(bundle) {
    std::vector<char> launches(result.kernels.size());
    for (const DeviceLaunch& launch : all) launches[launch.parent] = 1;
    row_of_.resize(result.kernels.size(), TreeRow::kNoParent);
    auto next = all.begin();
    for (std::uint32_t i = 0; i < result.kernels.size(); ++i) {
      if (next != all.end() && next->launch == i) add(*next++);
      else if (!result.kernels[i].parent && launches[i] != 0) add_host(i);
    }
  }
  std::size_t size() const { return rows_.size(); }
  /// The first `most`, each before its children and these in order of start.
  std::vector<TreeRow> take(std::size_t maximum) &&;

 private:
  /// Row, launch, block, name: as many of them as the bundle tells apart.
  using Key = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t, std::string_view>;
  TreeRow& row(const Key& key, std::uint32_t launch) {
    const auto [at, fresh] =
        rows_by_key_.try_emplace(key, static_cast<std::uint32_t>(rows_.size()));
    if (fresh) rows_.push_back({.parent = std::get<0>(key), .first_launch = launch});
    row_of_[launch] = at->second;
    return rows_[at->second];
  }
  void add_host(std::uint32_t i);
  void add(const DeviceLaunch& launch);

  const sim::Result& result_;
  Bundle bundle_;
  std::vector<TreeRow> rows_;  // each after its parent
  std::vector<std::uint32_t> row_of_;
  std::map<Key, std::uint32_t> rows_by_key_;
};

void Rows::add_host(std::uint32_t i) {
  const sim::KernelResult& kernel = result_.kernels[i];
  const std::uint32_t own = bundle_ == Bundle::Path ? 0 : i;
  TreeRow& r = row({TreeRow::kNoParent, own, 0, kernel.name}, i);
  ++r.launches;
  r.blocks += kernel.grid.count();
  r.start = std::min(r.start, kernel.start);
  r.first = std::min(r.first, kernel.begin);
  r.end = std::max(r.end, kernel.end);
}

void Rows::add(const DeviceLaunch& launch) {
  const std::uint32_t parent = row_of_[launch.parent];
  if (parent == TreeRow::kNoParent) return;  // of an ancestor no block was seen
  Key key{parent, 0, 0, result_.kernels[launch.launch].name};
  if (bundle_ == Bundle::Launch) std::get<1>(key) = launch.launch;
  if (bundle_ == Bundle::Siblings) {
    std::get<1>(key) = launch.parent;
    std::get<2>(key) = launch.parent_block;
  }
  TreeRow& r = row(key, launch.launch);
  r.depth = launch.depth;
  ++r.launches;
  r.blocks += launch.blocks;
  r.on_parent_sm += launch.on_parent_sm;
  r.start = std::min(r.start, launch.start);
  if (launch.first < r.first) {
    r.first = launch.first;
    r.first_sm = launch.first_sm;
  }
  r.end = std::max(r.end, launch.end);
  r.waits += launch.wait();
  r.longest = std::max(r.longest, launch.wait());
  r.sms.insert(launch.sms.begin(), launch.sms.end());
}

std::vector<TreeRow> Rows::take(std::size_t maximum) && {
  rows_.resize(std::min(rows_.size(), maximum));
  std::vector<std::uint32_t> roots, open;
  std::vector<std::vector<std::uint32_t>> children(rows_.size());
  for (std::uint32_t i = 0; i < rows_.size(); ++i)
    (rows_[i].parent == TreeRow::kNoParent ? roots : children[rows_[i].parent]).push_back(i);
  const auto later_first = [&](std::uint32_t i) {
    return std::pair(~rows_[i].start, ~rows_[i].first_launch);
  };
  const auto push = [&](std::vector<std::uint32_t>& siblings) {
    std::ranges::sort(siblings, {}, later_first);
    open.insert(open.end(), siblings.begin(), siblings.end());
  };
  push(roots);
  std::vector<TreeRow> out;
  std::vector<std::uint32_t> place(rows_.size());
  while (!open.empty()) {
    const std::uint32_t i = open.back();
    open.pop_back();
    place[i] = static_cast<std::uint32_t>(out.size());
    TreeRow& r = out.emplace_back(std::move(rows_[i]));
    if (r.parent != TreeRow::kNoParent) r.parent = place[r.parent];
    push(children[i]);
  }
  return out;
}

LaunchTree tree_of(const sim::Result& result, std::span<const DeviceLaunch> all,
                   std::size_t max_rows) {
  RADDLE_ASSERT(max_rows > 0);
  LaunchTree out;
  out.launches = all.size();
  out.edges = edges_of(result, all);
  out.longest.resize(std::min(all.size(), kMaxLongest));
  const auto longest_first = [](const DeviceLaunch& launch) {
    return std::pair(~launch.wait(), launch.launch);
  };
  std::ranges::partial_sort_copy(all, out.longest, {}, longest_first, longest_first);
  for (const Bundle bundle : {Bundle::Launch, Bundle::Siblings, Bundle::Path}) {
    Rows rows(result, all, bundle);
    if (rows.size() > max_rows && bundle != Bundle::Path) continue;
    out.bundle = bundle;
    out.rows_left_out = rows.size() - std::min(rows.size(), max_rows);
    out.rows = std::move(rows).take(max_rows);
    break;
  }
  return out;
}

// --- JSON ---------------------------------------------------------------------------------------

/// "0-3, 7"
std::string ranges(const std::set<std::uint32_t>& numbers) {
  std::string out;
  for (auto at = numbers.begin(); at != numbers.end();) {
    const std::uint32_t from = *at;
    std::uint32_t to = from;
    while (++at != numbers.end() && *at == to + 1) ++to;
    out += (out.empty() ? "" : ", ") + std::to_string(from);
    if (to > from) out += "-" + std::to_string(to);
  }
  return out;
}

Json waits_json(const Waits& w) {
  return {{"mean", w.mean},
          {"median", w.median},
          {"p90", w.p90},
          {"longest", w.longest},
          {"bins", w.bins}};
}

Json edges_json(const LaunchTree& tree) {
  Json out = Json::array();
  for (const LaunchEdge& edge : tree.edges)
    out.push_back({{"parent", short_name(edge.parent)},
                   {"child", short_name(edge.child)},
                   {"depth", edge.depth},
                   {"launches", edge.launches},
                   {"blocks", edge.blocks},
                   {"on_parent_sm", edge.on_parent_sm},
                   {"mean_entry_wait", edge.entry_waits / edge.launches},
                   {"waits", waits_json(edge.waits)}});
  return out;
}

Json longest_json(const LaunchTree& tree, const sim::Result& result) {
  Json out = Json::array();
  for (const DeviceLaunch& launch : tree.longest)
    out.push_back({{"launch", launch.launch},
                   {"kernel", short_name(result.kernels[launch.launch].name)},
                   {"parent", launch.parent},
                   {"parent_block", launch.parent_block},
                   {"parent_sm", launch.parent_sm},
                   {"depth", launch.depth},
                   {"start", launch.start},
                   {"wait", launch.wait()},
                   {"entry_wait", launch.entry_wait()},
                   {"blocks", launch.blocks},
                   {"on_parent_sm", launch.on_parent_sm},
                   {"sms", ranges(launch.sms)}});
  return out;
}

/// One array per member. Kernels are numbers into `kernels`.
Json rows_json(const LaunchTree& tree, const sim::Result& result) {
  std::map<std::string_view, std::size_t> numbers;
  Json out = {{"kernels", Json::array()}};
  for (const TreeRow& r : tree.rows) {
    const std::string& name = result.kernels[r.first_launch].name;
    const auto [at, fresh] = numbers.try_emplace(name, numbers.size());
    if (fresh) out["kernels"].push_back(short_name(name));
    out["kernel"].push_back(at->second);
    out["parent"].push_back(r.parent == TreeRow::kNoParent ? Json() : Json(r.parent));
    out["depth"].push_back(r.depth);
    out["first_launch"].push_back(r.first_launch);
    out["launches"].push_back(r.launches);
    out["blocks"].push_back(r.blocks);
    out["on_parent_sm"].push_back(r.on_parent_sm);
    out["start"].push_back(r.start);
    out["first"].push_back(r.first);
    out["end"].push_back(r.end);
    out["mean_wait"].push_back(r.waits / r.launches);
    out["longest_wait"].push_back(r.longest);
    out["first_sm"].push_back(r.first_sm);
    out["sms"].push_back(ranges(r.sms));
  }
  return out;
}

constexpr std::size_t kIntervals = 240;  // of the queue: as many as a chart of the page can show
constexpr std::string_view kBundleNames[] = {"launch", "siblings", "path"};

}  // namespace

std::vector<DeviceLaunch> device_launches(const sim::Result& result) {
  const Spans spans(result.blocks);
  std::vector<DeviceLaunch> out;
  for (std::uint32_t i = 0; i < result.kernels.size(); ++i) {
    const sim::KernelResult& kernel = result.kernels[i];
    if (!kernel.parent) continue;
    DeviceLaunch launch;
    launch.launch = i;
    launch.parent = static_cast<std::uint32_t>(kernel.parent->kernel);
    launch.parent_block = kernel.parent->origin.block;
    launch.depth = kernel.parent->origin.depth;
    RADDLE_ASSERT(launch.parent < i);
    const timing::BlockSpan* parent = spans.find(launch.parent, launch.parent_block);
    if (parent == nullptr) continue;
    launch.parent_sm = parent->sm;
    launch.start = kernel.start;
    launch.begin = kernel.begin;
    launch.end = kernel.end;
    launch.first = kNever;
    spans.each(i, [&](const timing::BlockSpan& span) {
      ++launch.blocks;
      launch.on_parent_sm += span.sm == launch.parent_sm;
      if (span.start < launch.first) {
        launch.first = span.start;
        launch.first_sm = span.sm;
      }
      launch.sms.insert(span.sm);
    });
    if (launch.blocks == 0) continue;
    RADDLE_ASSERT(launch.start <= launch.begin && launch.begin <= launch.first);
    out.push_back(std::move(launch));
  }
  return out;
}

Waits waits_of(std::vector<Cycle> cycles) {
  RADDLE_ASSERT(!cycles.empty());
  std::ranges::sort(cycles);
  const auto rank = [&](std::size_t percent) {
    return cycles[(cycles.size() * percent + 99) / 100 - 1];
  };
  Waits out{std::accumulate(cycles.begin(), cycles.end(), Cycle{0}) / cycles.size(),
            rank(50),
            rank(90),
            cycles.back(),
            {}};
  out.bins.resize(static_cast<std::size_t>(std::bit_width(cycles.back())) + 1);
  for (const Cycle wait : cycles) ++out.bins[static_cast<std::size_t>(std::bit_width(wait))];
  return out;
}

LaunchTree launch_tree(const sim::Result& result, std::size_t max_rows) {
  return tree_of(result, device_launches(result), max_rows);
}

Json launch_tree_json(const sim::Result& result, std::size_t max_rows) {
  if (!result.timed) return {};
  const std::vector<DeviceLaunch> all = device_launches(result);
  const LaunchTree tree = tree_of(result, all, max_rows);
  if (tree.launches == 0) return {};
  return {{"launches", tree.launches},
          {"edges", edges_json(tree)},
          {"longest", longest_json(tree, result)},
          {"bundle", kBundleNames[static_cast<unsigned>(tree.bundle)]},
          {"rows_left_out", tree.rows_left_out},
          {"rows", rows_json(tree, result)},
          {"queue", to_json(launch_queue(all, result.cycles, kIntervals))}};
}

}  // namespace raddle::report
