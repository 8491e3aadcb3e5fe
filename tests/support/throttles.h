// Throttles for tests: one that does what the test says and writes down what it is told.
#pragma once
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "raddle/policy/registry.h"
#include "raddle/policy/throttle/policy.h"

namespace raddle::support {

struct Notified {
  enum class What { Start, End, Issue, Load, LoadDone, Barrier, Kernel } what;
  Cycle at;       ///< Issue: 0, is not told
  unsigned slot;  ///< Start, End, Issue; Load, LoadDone: the tenant
  bool operator==(const Notified&) const = default;
};

/// A choice of throttle whose answers are a function of the view. Outlives what it makes.
class ScriptedThrottle final : public policy::Choice<policy::ThrottlePolicy> {
 public:
  using Script = std::function<policy::Admission(const policy::ThrottleView&)>;
  explicit ScriptedThrottle(Script script) : script_(std::move(script)) {}
  std::string_view name() const override { return "scripted"; }
  std::string_view doc() const override { return "for tests"; }
  void visit(FieldVisitor&) override {}
  std::unique_ptr<policy::ThrottlePolicy> make(const Context&) const override {
    return std::make_unique<Instance>(*this);
  }
  /// It is in no registry.
  std::unique_ptr<Choice> fresh() const override { return nullptr; }
  mutable std::vector<Notified> notified;
  mutable std::vector<Cycle> asked;

 private:
  class Instance final : public policy::ThrottlePolicy {
   public:
    explicit Instance(const ScriptedThrottle& owner) : owner_(owner) {}
    void on_warp_start(Cycle now, unsigned w) override { note(Notified::What::Start, now, w); }
    void on_warp_end(Cycle now, unsigned w) override { note(Notified::What::End, now, w); }
    void on_issue(unsigned w) override { note(Notified::What::Issue, 0, w); }
    void on_load(Cycle now, TenantId t) override { note(Notified::What::Load, now, index(t)); }
    void on_load_done(Cycle now, TenantId t) override {
      note(Notified::What::LoadDone, now, index(t));
    }
    void on_barrier(Cycle now) override { note(Notified::What::Barrier, now, 0); }
    void on_kernel_start(Cycle now) override { note(Notified::What::Kernel, now, 0); }

   private:
    policy::Admission admit(const policy::ThrottleView& view) override {
      owner_.asked.push_back(view.now);
      return owner_.script_(view);
    }
    void note(Notified::What what, Cycle at, unsigned w) {
      owner_.notified.push_back({what, at, w});
    }
    const ScriptedThrottle& owner_;
  };
  Script script_;
};

}  // namespace raddle::support
