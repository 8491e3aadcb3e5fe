// TCM: thread cluster memory scheduling. Kim, Papamichael, Mutlu, Harchol-Balter, MICRO 2010. In
// every quantum tenants are parted in two (thread_clusters.h). Requests of the latency cluster go
// first, those of the tenant that asks least before the others; they are few and their tenants wait
// for them. The tenants of the bandwidth cluster are ranked anew at random every `shuffle` cycles,
// so that each is first as often as the others. Inside a rank first ready, first come, first served
// (rank_first.h). In the first quantum nothing is known, and the order is that of frfcfs.
//
// Every channel ranks alike: all learn the same, and shuffle with one seed.
//
// Left out: the insertion shuffle, which keeps tenants that harm others (few banks, many row hits)
// in front for a shorter time and needs monitors of banks and rows; weights. Anything that keeps a
// tenant from starving: row hits of a rank are served for as long as they come, and the latency
// cluster before all others, also when it asks for more than in the quantum before.
#include "raddle/base/rng.h"
#include "raddle/policy/dram/first_ready.h"
#include "raddle/policy/dram/rank_first.h"
#include "raddle/policy/dram/thread_clusters.h"
#include "raddle/policy/registry.h"

namespace raddle::policy {
namespace {

class Tcm final : public DramPolicy {
 public:
  struct Params {
    std::uint32_t quantum = 100'000, shuffle = 800, latency_share = 20;
    void visit(FieldVisitor& v) {
      v.field("quantum", quantum, {100, 1'000'000'000}, "cycles", "tenants are parted this often");
      v.field("shuffle", shuffle, {1, 1'000'000'000}, "cycles",
              "the bandwidth cluster is ranked anew this often");
      v.field("latency_share", latency_share, {0, 100}, "%",
              "of the bytes of all: most that the latency cluster takes together");
    }
  };
  Tcm(const Params& params, const Context& context)
      : params_(params),
        shuffle_(std::max<std::uint64_t>(
            1, std::uint64_t{params.shuffle} * context.memory_mhz / context.core_mhz)),
        seed_(Rng(context.seed, "tcm").next()) {}

  Cycle wants_tenants_every() const override { return params_.quantum; }
  void learn(std::span<const TenantCounts, kMaxTenants> counts) override {
    clusters_ = thread_clusters(counts, params_.latency_share);
    shuffled_ = kNever;
    known_ = true;
    ++stats_.quanta;
    for (unsigned i = 0; i < clusters_.latency; ++i)
      stats_.in_latency_cluster += counts[clusters_.order[i]].dram_bytes != 0;
  }
  std::uint64_t changes_after(std::uint64_t now) const override {
    return known_ ? (now / shuffle_ + 1) * shuffle_ : kNever;
  }

  std::optional<unsigned> pick(const DramView& view) override {
    const std::optional<FirstReady> usual = first_ready(view);
    if (known_) rank(view.now / shuffle_);
    const std::optional<FirstReady> chosen =
        known_ ? pick_by_rank(
                     view, [this](const DramTag& tag) { return rank_[index(tag.tenant)]; },
                     first_ready)
               : usual;
    if (!chosen) return std::nullopt;
    ++stats_.commands;
    stats_.overtakes += !usual || usual->slot != chosen->slot;
    if (chosen->row_hit) {
      ++stats_.row_hits;
      const bool latency =
          known_ && rank_[index(view.tags[chosen->slot].tenant)] < clusters_.latency;
      ++(latency ? stats_.latency : stats_.bandwidth);
    }
    return chosen->slot;
  }
  void visit_statistics(FieldVisitor& v) override { stats_.visit(v); }

 private:
  struct Stats {
    std::uint64_t commands = 0, row_hits = 0, overtakes = 0, latency = 0, bandwidth = 0;
    std::uint64_t quanta = 0, in_latency_cluster = 0;
    void visit(FieldVisitor& v) {
      v.field("commands", commands, {}, "decisions", "commands chosen");
      v.field("row_hits", row_hits, {}, "decisions", "of these, for a request whose row was open");
      v.field("overtakes", overtakes, {}, "decisions",
              "of all: for another request than first ready first served would have chosen");
      v.field("latency", latency, {}, "requests", "served, of tenants in the latency cluster");
      v.field("bandwidth", bandwidth, {}, "requests", "served, of the others");
      v.field("quanta", quanta, {}, "", "quanta that are over, by channel");
      v.field("in_latency_cluster", in_latency_cluster, {}, "",
              "of these: tenants with traffic that were put into the latency cluster");
    }
  };

  /// Ranks of the `n`-th interval, whose order is the seed's and n's alone (Fisher and Yates).
  void rank(std::uint64_t n) {
    if (n == shuffled_) return;
    shuffled_ = n;
    std::array<std::uint8_t, kMaxTenants> order = clusters_.order;
    Rng rng(seed_ + n);
    for (unsigned left = kMaxTenants; left > clusters_.latency + 1; --left) {
      const unsigned other = clusters_.latency + rng.below(left - clusters_.latency);
      std::swap(order[left - 1], order[other]);
    }
    for (unsigned i = 0; i < kMaxTenants; ++i) rank_[order[i]] = static_cast<std::uint8_t>(i);
  }

  Params params_;
  std::uint64_t shuffle_, seed_;  // shuffle: in memory cycles
  ThreadClusters clusters_;
  std::array<std::uint8_t, kMaxTenants> rank_{};  // by tenant, in interval `shuffled_`
  std::uint64_t shuffled_ = kNever;
  bool known_ = false;
  Stats stats_;
};

}  // namespace

void add_dram_tcm(Registry<DramPolicy>& r) {
  r.add<Tcm>("tcm", "tenants that ask little of memory first, the others in turn (TCM)");
}

}  // namespace raddle::policy
