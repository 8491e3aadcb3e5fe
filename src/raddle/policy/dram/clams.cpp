// CLAMS: requests of critical cores first. Jog, Kayiran, Pattnaik, Kandemir, Mutlu, Iyer, Das,
// "Exploiting Core Criticality for Enhanced GPU Performance", SIGMETRICS 2016, as the LATOA paper
// sums it up (Bitalebi et al., GPGPU 2023, section 5); docs/mechanisms/latoa.md has the rules and
// what is our reading.
//
// A core is the more critical, the fewer of its warps are ready: it has the least to do while it
// waits. Each request tells how that was when it left its core. Ranges of that rank go one after
// the other, the critical ones first (rank_first.h), and inside a range first ready, first come,
// first served. Variant "dynamic": where half of the requests that wait or more are critical,
// putting some first helps nobody, and row hits go first.
//
// Left out, as in the sources: anything that keeps requests of cores with much to do from starving.
// A stream of better ranks holds them up for as long as it lasts.
#include <algorithm>

#include "raddle/policy/dram/first_ready.h"
#include "raddle/policy/dram/rank_first.h"
#include "raddle/policy/registry.h"

namespace raddle::policy {
namespace {

enum class Mode : std::uint8_t { Range8, Range4, Range2, Dynamic };
constexpr std::array<std::string_view, 4> kModeNames = {"range8", "range4", "range2", "dynamic"};

class Clams final : public DramPolicy {
 public:
  struct Params {
    Mode mode = Mode::Range8;
    std::uint32_t threshold = 50;
    void visit(FieldVisitor& v) {
      v.choice("mode", mode, kModeNames,
               "ranges of a core's rank, critical ones first; dynamic: 8, or none where many "
               "requests are critical");
      v.field("threshold", threshold, {0, 100}, "%",
              "dynamic: critical requests go first while fewer than so many of those that wait are "
              "critical (rank < 1/8)");
    }
  };
  Clams(const Params& params, const Context&)
      : threshold_(params.mode == Mode::Dynamic ? params.threshold : kAlways),
        shift_(params.mode == Mode::Range4   ? 1
               : params.mode == Mode::Range2 ? 2
                                             : 0) {}

  bool wants_core_ranks() const override { return true; }

  std::optional<unsigned> pick(const DramView& view) override {
    const std::optional<FirstReady> locality = first_ready(view);
    const bool by_rank = few_critical(view);
    const std::optional<FirstReady> chosen =
        by_rank ? pick_by_rank(
                      view, [this](const DramTag& tag) { return range_of(tag); }, first_ready)
                : locality;
    if (!chosen) return std::nullopt;
    ++stats_.commands;
    ++(by_rank ? stats_.by_rank : stats_.by_row);
    stats_.overtakes += !locality || locality->slot != chosen->slot;
    if (chosen->row_hit) {
      ++stats_.row_hits;
      ++stats_.served[range_of(view.tags[chosen->slot])];
    }
    return chosen->slot;
  }
  void visit_statistics(FieldVisitor& v) override { stats_.visit(v); }

 private:
  static constexpr std::uint32_t kAlways = ~std::uint32_t{0};
  struct Stats {
    std::uint64_t commands = 0, row_hits = 0, overtakes = 0, by_rank = 0, by_row = 0;
    std::array<std::uint64_t, kCoreRanks> served{};
    void visit(FieldVisitor& v) {
      v.field("commands", commands, {}, "decisions", "commands chosen");
      v.field("row_hits", row_hits, {}, "decisions", "of these, for a request whose row was open");
      v.field("overtakes", overtakes, {}, "decisions",
              "of all: for another request than first ready first served would have chosen");
      v.field("by_rank", by_rank, {}, "decisions", "of all: critical requests first");
      v.field("by_row", by_row, {}, "decisions", "of all: row hits first (mode = dynamic)");
      for (unsigned i = 0; i < served.size(); ++i)
        v.field("range" + std::to_string(i), served[i], {}, "requests",
                "served, of that range; 0 is the most critical");
    }
  };

  unsigned range_of(const DramTag& tag) const { return tag.core_rank >> shift_; }

  /// Whether critical requests go first.
  bool few_critical(const DramView& view) const {
    if (threshold_ == kAlways) return true;
    unsigned critical = 0;
    view.candidates.each([&](unsigned e) { critical += view.tags[e].core_rank == 0; });
    return 100 * critical < threshold_ * view.candidates.count();
  }

  std::uint32_t threshold_;  // percent
  unsigned shift_;
  Stats stats_;
};

}  // namespace

void add_dram_clams(Registry<DramPolicy>& r) {
  r.add<Clams>("clams", "requests of cores with few ready warps first, then as frfcfs (CLAMS)");
}

}  // namespace raddle::policy
