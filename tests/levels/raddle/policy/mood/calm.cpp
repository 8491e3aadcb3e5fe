#include "raddle/policy/mood/policy.h"
#include "raddle/policy/registry.h"

namespace raddle::policy {
namespace {

class Calm final : public MoodPolicy {
 public:
  using Params = NoParams;
  Calm(const Params&, const Context&) {}
  std::uint32_t complaints() override { return 0; }
};

}  // namespace

void add_mood_calm(Registry<MoodPolicy>& r) { r.add<Calm>("calm", "never complains"); }

}  // namespace raddle::policy
