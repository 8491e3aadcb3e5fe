#include "raddle/analysis/analyses.h"

#include <algorithm>
#include <set>

#include "raddle/analysis/figures.h"
#include "raddle/analysis/footprint.h"
#include "raddle/base/error.h"

namespace raddle::analysis {

namespace {

/// Events per thousand instructions.
void rate(FieldVisitor& v, std::string_view name, std::uint64_t events, std::uint64_t instructions,
          std::string_view doc) {
  double value = instructions == 0
                     ? 0
                     : 1000.0 * static_cast<double>(events) / static_cast<double>(instructions);
  v.field(name, value, {}, "per 1000 instructions", doc);
}

void visit_classes(FieldVisitor& v, const HitClasses& c, const Instructions& n) {
  figure(v, "intra_thread_hits", c.intra_thread,
         "by the warp that brought the line, with a lane that has touched it");
  figure(v, "inter_thread_hits", c.inter_thread,
         "by the warp that brought the line, with other lanes");
  figure(v, "inter_warp_hits", c.inter_warp, "by another warp");
  rate(v, "intra_thread_pki", c.intra_thread, n.thread, "per 1000 thread instructions");
  rate(v, "inter_thread_pki", c.inter_thread, n.thread, "per 1000 thread instructions");
  rate(v, "inter_warp_pki", c.inter_warp, n.thread, "per 1000 thread instructions");
}

void visit_misses(FieldVisitor& v, std::uint64_t misses, std::uint64_t accesses,
                  const Instructions& n) {
  figure(v, "misses", misses, "loads of lines that ask the L2");
  ratio(v, "miss_rate", misses, accesses, "misses / accesses");
  rate(v, "mpki", misses, n.thread, "misses per 1000 thread instructions");
  rate(v, "warp_mpki", misses, n.warp, "misses per 1000 warp instructions");
}

void visit_replay(FieldVisitor& v, const ReplayCounts& c, const Instructions& n) {
  figure(v, "accesses", c.accesses, "loads of lines");
  figure(v, "hits", c.hits, "");
  visit_misses(v, c.misses, c.accesses, n);
  visit_classes(v, c.classes, n);
}

void visit_locality(FieldVisitor& v, const LocalityCounts& c, const Instructions& n) {
  figure(v, "accesses", c.accesses, "loads of lines");
  figure(v, "hits", c.hits.total(), "");
  figure(v, "pending_hits", c.pending_hits, "loads that wait for a miss under way");
  visit_misses(v, c.misses, c.accesses, n);
  rate(v, "pending_hit_pki", c.pending_hits, n.thread, "per 1000 thread instructions");
  visit_classes(v, c.hits, n);
  v.enter("pending", "classes of the pending hits");
  visit_classes(v, c.pending, n);
  v.leave();
  figure(v, "warps", c.warps, "warps that ran");
  ratio(v, "lines_per_warp", c.warp_lines, c.warps, "distinct lines that a warp loads, mean");
}

[[noreturn]] void refuse(const Request& r, const std::string& why) {
  throw InputError("analysis " + r.label + ": " + why);
}

}  // namespace

void CacheOptions::visit(FieldVisitor& v) {
  v.field("replacement", replacement, "any of lru, belady and unbounded, joined by +");
  v.field("size_kib", size_kib, {0, 65536}, "KiB", "capacity; 0 = as the machine's L1D");
  v.field("ways", ways, {0, 65536}, "", "lines of a set; 0 = as the machine's L1D");
}

std::vector<Replacement> CacheOptions::replacements() const {
  std::vector<Replacement> out;
  for (std::size_t at = 0; at <= replacement.size();) {
    const std::size_t end = std::min(replacement.find('+', at), replacement.size());
    const std::string name = replacement.substr(at, end - at);
    const auto known = std::ranges::find(kReplacementNames, name);
    if (known == kReplacementNames.end())
      throw InputError("replacement: expected lru, belady or unbounded, found '" + name + "'");
    const auto one = static_cast<Replacement>(known - kReplacementNames.begin());
    if (std::ranges::find(out, one) != out.end())
      throw InputError("replacement: '" + name + "' is there twice");
    out.push_back(one);
    at = end + 1;
  }
  return out;
}

void FootprintOptions::visit(FieldVisitor& v) {
  v.field("line_bytes", line_bytes, {}, "bytes", "of a line: a power of two from 4 to 4096");
}

void SourceOptions::visit(FieldVisitor& v) {
  v.field("interval_cycles", interval_cycles, {1, 1'000'000}, "cycles",
          "between looks at where warps stand, in the mean");
}

void FootprintOptions::check() const {
  if (!SharedFootprint::valid_line(line_bytes))
    throw InputError("line_bytes: expected a power of two from 4 to 4096, found " +
                     std::to_string(line_bytes));
}

Analyses::Analyses(std::vector<Request> requests, const L1Machine& machine)
    : requests_(std::move(requests)), machine_(machine) {
  std::set<std::string_view> labels;
  for (const Request& r : requests_) {
    if (!labels.insert(r.label).second) refuse(r, "is asked for twice; give one another label");
    if (machine.size_kib == 0) refuse(r, "the machine has no L1D (sm.l1d.size_kib = 0)");
    if (const auto* cache = std::get_if<CacheOptions>(&r.what)) {
      geometry(r, *cache);
      if (recorders_.empty())
        for (unsigned sm = 0; sm < machine.sms; ++sm)
          recorders_.push_back(std::make_unique<Recorder>(spill_));
    } else if (std::holds_alternative<LocalityOptions>(r.what) && localities_.empty()) {
      for (unsigned sm = 0; sm < machine.sms; ++sm)
        localities_.push_back(std::make_unique<LocalityObserver>());
    }
  }
}

Geometry Analyses::geometry(const Request& request, const CacheOptions& options) const {
  try {
    options.replacements();
  } catch (const InputError& error) {
    refuse(request, error.what());
  }
  const std::uint64_t size = options.size_kib == 0 ? machine_.size_kib : options.size_kib;
  const std::uint32_t ways = options.ways == 0 ? machine_.ways : options.ways;
  const std::uint64_t set = std::uint64_t{ways} * machine_.rules.line_bytes;
  if (size * 1024 % set != 0)
    refuse(request, "size_kib = " + std::to_string(size) + " is not a whole number of sets of " +
                        std::to_string(ways) + " ways x " +
                        std::to_string(machine_.rules.line_bytes) + " bytes");
  return {static_cast<std::uint32_t>(size * 1024 / set), ways};
}

/// By request; none for other requests than cache.
std::vector<std::vector<Analyses::Replay>> Analyses::replays() const {
  std::vector<std::vector<Replay>> out(requests_.size());
  for (std::size_t i = 0; i < requests_.size(); ++i)
    if (const auto* cache = std::get_if<CacheOptions>(&requests_[i].what))
      for (const Replacement r : cache->replacements())
        out[i].push_back({r, geometry(requests_[i], *cache), {}});
  for (const auto& recorder : recorders_) {
    Accesses accesses(recorder->stream(), machine_.rules);
    for (auto& of_request : out)
      for (Replay& r : of_request) r.counts += replay(accesses, r.replacement, r.geometry);
  }
  return out;
}

void Analyses::visit(const Instructions& instructions, FieldVisitor& v) const {
  LocalityCounts locality;
  for (const auto& observer : localities_) locality += observer->counts();
  const auto replayed = replays();
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    v.enter(requests_[i].label, "");
    if (std::holds_alternative<LocalityOptions>(requests_[i].what)) {
      visit_locality(v, locality, instructions);
    } else {
      const Geometry& g = replayed[i].front().geometry;
      figure(v, "size_kib", std::uint64_t{g.sets} * g.ways * machine_.rules.line_bytes / 1024,
             "capacity of one SM's cache");
      figure(v, "ways", g.ways, "lines of a set");
      figure(v, "line_bytes", machine_.rules.line_bytes, "");
      for (const Replay& r : replayed[i]) {
        v.enter(kReplacementNames[static_cast<unsigned>(r.replacement)], "");
        visit_replay(v, r.counts, instructions);
        v.leave();
      }
    }
    v.leave();
  }
}

}  // namespace raddle::analysis
