// Past the L1D goes what it could not take at once: the bypassing half of MRPB (Jia, Shaw,
// Martonosi, "MRPB: Memory Request Prioritization for Massively Parallel Processors", HPCA 2014),
// which sends requests past the cache where they would stall for its resources. Which of these
// count is a choice: by default all that a miss may lack; with `ways_only` the paper's first cause
// alone, a set of which every way is taken (sm.l1d.reserve_on_miss).
//
// Left out: the other half, the queue that puts requests of the same warps together.
#include "raddle/policy/bypass/policy.h"
#include "raddle/policy/registry.h"

namespace raddle::policy {
namespace {

class Stalled final : public BypassPolicy {
 public:
  struct Params {
    bool ways_only = false;
    void visit(FieldVisitor& v) {
      v.field("ways_only", ways_only, "only for want of a way, not of an MSHR or a merge slot");
    }
  };
  Stalled(const Params& params, const Context&) : params_(params) {}

 private:
  bool goes_past(const BypassView& view) override {
    return params_.ways_only ? view.lacks_way : view.refused;
  }

  Params params_;
};

}  // namespace

void add_bypass_stalled(Registry<BypassPolicy>& r) {
  r.add<Stalled>("stalled", "loads for which the L1D has no MSHR, merge slot or way (MRPB)");
}

}  // namespace raddle::policy
