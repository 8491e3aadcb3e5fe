// First ready, first come, first served, with an open-page policy: the oldest request whose row is
// open and can be accessed now; else the oldest whose row can be closed or opened now, but no row
// is closed while a waiting request still hits it. Rixner et al., "Memory Access Scheduling", ISCA
// 2000, section 4. Left out, as in the source: a cap on row hits. A steady stream of hits in a bank
// holds up the bank's other rows for as long as it lasts.
#include "raddle/policy/dram/policy.h"
#include "raddle/policy/registry.h"

namespace raddle::policy {
namespace {

class FrFcfs final : public DramPolicy {
 public:
  using Params = NoParams;
  FrFcfs(const Params&, const Context&) {}

  std::optional<unsigned> pick(const DramView& view) override {
    const Mask128 hits = view.row_hits & view.issuable;
    if (hits.any()) {
      const unsigned hit = view.age.oldest(hits);
      ++stats_.commands;
      ++stats_.row_hits;
      stats_.overtakes += view.age.any_older(view.candidates, hit);
      return hit;
    }
    const Mask128 others = view.issuable - view.closes_wanted_row;
    if (!others.any()) return std::nullopt;
    ++stats_.commands;
    return view.age.oldest(others);
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
