// First ready, first come, first served, with an open-page policy (first_ready.h). Left out, as in
// its source: a cap on row hits. A steady stream of hits in a bank holds up the bank's other rows
// for as long as it lasts.
#include "raddle/policy/dram/first_ready.h"
#include "raddle/policy/registry.h"

namespace raddle::policy {
namespace {

class FrFcfs final : public DramPolicy {
 public:
  using Params = NoParams;
  FrFcfs(const Params&, const Context&) {}

  std::optional<unsigned> pick(const DramView& view) override {
    const std::optional<FirstReady> chosen = first_ready(view);
    if (!chosen) return std::nullopt;
    ++stats_.commands;
    if (chosen->row_hit) {
      ++stats_.row_hits;
      stats_.overtakes += view.age.any_older(view.candidates, chosen->slot);
    }
    return chosen->slot;
  }
  void visit_statistics(FieldVisitor& v) override { stats_.visit(v); }

 private:
  struct Stats {
    std::uint64_t commands = 0, row_hits = 0, overtakes = 0;
    void visit(FieldVisitor& v) {
      v.field("commands", commands, {}, "decisions", "commands chosen");
      v.field("row_hits", row_hits, {}, "decisions", "of these, for a request whose row was open");
      v.field("overtakes", overtakes, {}, "decisions", "row hits served before an older request");
    }
  };
  Stats stats_;
};

}  // namespace

void add_dram_frfcfs(Registry<DramPolicy>& r) {
  r.add<FrFcfs>("frfcfs", "first ready first served: row hits first, then in order of arrival");
}

}  // namespace raddle::policy
