// First come, first served: blocks of the oldest kernel leave until none is left, then those of the
// next one fill what room remains. A kernel whose block fits nowhere is not overtaken. What
// hardware does ("leftover").
#include "raddle/policy/kernel/policy.h"
#include "raddle/policy/registry.h"

namespace raddle::policy {
namespace {

class Fcfs final : public KernelPolicy {
 public:
  using Params = NoParams;
  Fcfs(const Params&, const Context&) {}

  void on_launch(const KernelLaunch&) override { ++stats_.launches; }

  std::optional<unsigned> pick(const KernelView& view) override {
    const unsigned slot = view.age.oldest(view.waiting);
    if (!view.fits.test(slot)) {
      ++stats_.held;
      return std::nullopt;
    }
    return slot;
  }
  void visit_statistics(FieldVisitor& v) override { stats_.visit(v); }

 private:
  struct Stats {
    std::uint64_t launches = 0, held = 0;
    void visit(FieldVisitor& v) {
      v.field("launches", launches, {}, "launches", "kernels that took an entry");
      v.field("held", held, {}, "cycles",
              "a block of a younger kernel would have fitted, none of the oldest did");
    }
  };
  Stats stats_;
};

}  // namespace

void add_kernel_fcfs(Registry<KernelPolicy>& r) {
  r.add<Fcfs>("fcfs", "oldest kernel first, leftover room to the next");
}

}  // namespace raddle::policy
