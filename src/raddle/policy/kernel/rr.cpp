// Round robin over kernels: each in turn sends one block; one whose blocks fit nowhere is passed
// over. Shares the machine by number of blocks, whatever their size.
#include "raddle/policy/kernel/policy.h"
#include "raddle/policy/registry.h"

namespace raddle::policy {
namespace {

class RoundRobin final : public KernelPolicy {
 public:
  using Params = NoParams;
  RoundRobin(const Params&, const Context&) {}

  void on_launch(const KernelLaunch&) override { ++stats_.launches; }

  std::optional<unsigned> pick(const KernelView& view) override {
    const unsigned slot = view.fits.first_from((last_ + 1) % KernelSet::kSize);
    if (slot != last_) ++stats_.changes;
    last_ = slot;
    return slot;
  }
  void visit_statistics(FieldVisitor& v) override { stats_.visit(v); }

 private:
  struct Stats {
    std::uint64_t launches = 0, changes = 0;
    void visit(FieldVisitor& v) {
      v.field("launches", launches, {}, "launches", "kernels that took an entry");
      v.field("changes", changes, {}, "blocks", "blocks of another kernel than the one before");
    }
  };
  unsigned last_ = KernelSet::kSize - 1;  ///< slot of the block before
  Stats stats_;
};

}  // namespace

void add_kernel_rr(Registry<KernelPolicy>& r) {
  r.add<RoundRobin>("rr", "one block of each kernel in turn");
}

}  // namespace raddle::policy
