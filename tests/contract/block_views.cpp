// The block suite: the real dispatcher, on whose SMs a few blocks run and end at random, some much
// more slowly; launches one after another, then several at once.
#include <vector>

#include "contract/seeded_views.h"
#include "raddle/base/error.h"
#include "raddle/base/rng.h"
#include "support/dispatch_rig.h"

namespace raddle::contract {

namespace {

using policy::BlockPolicy;
using support::PlannedLaunch;

/// What the suite is given, as a choice.
class Given final : public policy::Choice<BlockPolicy> {
 public:
  explicit Given(Make<BlockPolicy> make) : make_(std::move(make)) {}
  std::string_view name() const override { return "given"; }
  std::string_view doc() const override { return ""; }
  void visit(FieldVisitor&) override {}
  std::unique_ptr<BlockPolicy> make(const Context& context) const override {
    return make_(context);
  }
  /// It is in no registry.
  std::unique_ptr<Choice> fresh() const override { return nullptr; }

 private:
  Make<BlockPolicy> make_;
};

std::vector<PlannedLaunch> rounds_of_launches(Rng& rng) {
  std::vector<PlannedLaunch> launches;
  PlannedLaunch launch;
  launch.needs = {32, 1, 0, 0};
  for (unsigned round = 0; round < 12; ++round) {
    if (round != 0) launch.after = static_cast<std::uint32_t>(launches.size() - 1);
    for (unsigned n = round < 6 ? 1 : 1 + rng.below(3); n != 0; --n) {
      if (launches.size() % 4 != 1)  // now and then the same grid again
        launch.grid = {1 + rng.below(rng.below(3) == 0 ? 2 : 40), 1 + rng.below(5),
                       1 + rng.below(2)};
      launches.push_back(launch);
    }
  }
  return launches;
}

/// Returns the rule that was broken. Every decision is added to `log`.
std::string play_launches(const Make<BlockPolicy>& make, std::uint64_t seed, unsigned sms,
                          bool every_cycle, std::vector<std::uint32_t>& log) {
  Rng rng(seed, "launches");
  timing::MachineSpec machine = support::small_machine();
  machine.sm.count = sms;
  machine.sm.blocks = 1 + rng.below(8);
  machine.dispatch_latency_cycles = 5;
  const Given block(make);
  const policy::Registries all = policy::all_policies();
  const auto kernel = all.kernel.choose(seed % 2 == 0 ? "fcfs" : "rr");
  timing::Dispatcher dispatcher(
      machine, 5,
      all.dispatch.choose("two_step")
          ->make({sms, machine.kernels.entries, seed, kernel.get(), &block}),
      "two_step");
  support::DispatchRig rig(machine, dispatcher, 5, rounds_of_launches(rng), seed);
  std::string broken;
  try {
    broken = rig.run(every_cycle);
  } catch (const RunError& error) {
    broken = error.what();
  }
  for (const timing::BlockSpan& span : dispatcher.spans())
    log.insert(log.end(), {span.launch, span.block, span.sm});
  return broken.empty() ? "" : broken + " (" + std::to_string(sms) + " SMs)";
}

}  // namespace

std::string check_block(const Make<BlockPolicy>& make, std::uint64_t seed) {
  for (const unsigned sms : {1u, 2u, 15u, 64u, 132u, 256u}) {
    std::vector<std::uint32_t> first, second;
    if (std::string broken = play_launches(make, seed, sms, false, first); !broken.empty())
      return broken;
    if (std::string broken = play_launches(make, seed, sms, true, second); !broken.empty())
      return broken;
    if (first != second) return "the same history gave other decisions";
  }
  return "";
}

}  // namespace raddle::contract
