// Adaptive-Bind (LaPerm, section IV.C, figure 6): SMX-Bind, and an SM for which nothing is left, of
// its own or of the host's, takes blocks bound to another one. bound_queues.h has the rule.
#include "raddle/policy/dispatch/bound_policy.h"
#include "raddle/policy/registry.h"

namespace raddle::policy {
namespace {

enum class Backup : std::uint8_t { Next, Longest };
constexpr std::array<std::string_view, 2> kBackupNames = {"next", "longest"};

class AdaptiveBind final : public BoundPolicy {
 public:
  struct Params {
    BindParams bind;
    Backup backup = Backup::Next;
    void visit(FieldVisitor& v) {
      bind.visit(v);
      v.choice(
          "backup", backup, kBackupNames,
          "whose blocks an SM takes: the next SM's that has any, or those of the SM with most");
    }
  };
  AdaptiveBind(const Params& params, const Context& context)
      : BoundPolicy(rules(params, context.sms)) {}

 private:
  static BoundQueues::Rules rules(const Params& params, unsigned sms) {
    BoundQueues::Rules out = params.bind.rules(sms);
    out.adapts = true;
    out.longest = params.backup == Backup::Longest;
    return out;
  }
};

}  // namespace

void add_dispatch_adaptive_bind(Registry<DispatchPolicy>& r) {
  r.add<AdaptiveBind>("adaptive_bind", "smx_bind, and SMs without work take others' (LaPerm)");
}

}  // namespace raddle::policy
