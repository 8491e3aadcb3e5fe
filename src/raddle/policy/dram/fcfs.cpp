// First come, first served: requests of a channel are served strictly in order of arrival; nothing
// overtakes, also not in another bank. The in-order baseline of Rixner et al., "Memory Access
// Scheduling", ISCA 2000, section 4.
#include "raddle/policy/dram/policy.h"
#include "raddle/policy/registry.h"

namespace raddle::policy {
namespace {

class Fcfs final : public DramPolicy {
 public:
  using Params = NoParams;
  Fcfs(const Params&, const Context&) {}

  std::optional<unsigned> pick(const DramView& view) override {
    const unsigned first = view.age.oldest(view.candidates);
    if (!view.issuable.test(first)) return std::nullopt;
    // Only answers are counted: how often the answer is "nothing" depends on how often we are
    // asked.
    ++stats_.commands;
    if (view.row_hits.test(first)) ++stats_.row_hits;
    return first;
  }
  void visit_statistics(FieldVisitor& v) override { stats_.visit(v); }

 private:
  struct Stats {
    std::uint64_t commands = 0, row_hits = 0;
    void visit(FieldVisitor& v) {
      v.field("commands", commands, {}, "decisions", "commands chosen");
      v.field("row_hits", row_hits, {}, "decisions", "of these, for a request whose row was open");
    }
  };
  Stats stats_;
};

}  // namespace

void add_dram_fcfs(Registry<DramPolicy>& r) { r.add<Fcfs>("fcfs", "strictly in order of arrival"); }

}  // namespace raddle::policy
