// Oldest first: always the oldest ready warp. One of the variants of GTO that Rogers, O'Connor,
// Aamodt, "Cache-Conscious Wavefront Scheduling", MICRO 2012, compare; docs/mechanisms/ccws.md.
#include "raddle/policy/registry.h"
#include "raddle/policy/warp/policy.h"

namespace raddle::policy {
namespace {

class Oldest final : public WarpPolicy {
 public:
  using Params = NoParams;
  Oldest(const Params&, const Context&) {}

  unsigned pick(const WarpView& view) override {
    const unsigned warp = view.age.oldest(view.ready);
    ++stats_.picks;
    if ((view.age.older_than(warp) & view.resident) == 0) ++stats_.oldest_resident;
    return warp;
  }
  void visit_statistics(FieldVisitor& v) override { stats_.visit(v); }

 private:
  struct Stats {
    std::uint64_t picks = 0, oldest_resident = 0;
    void visit(FieldVisitor& v) {
      v.field("picks", picks, {}, "decisions", "asked which warp issues");
      v.field("oldest_resident", oldest_resident, {}, "decisions",
              "the oldest warp of the scheduler was ready");
    }
  };
  Stats stats_;
};

}  // namespace

void add_warp_oldest(Registry<WarpPolicy>& r) {
  r.add<Oldest>("oldest", "oldest first: always the oldest ready warp");
}

}  // namespace raddle::policy
