// Schemes for tests: one that does what the test says.
#pragma once
#include <functional>
#include <memory>
#include <utility>

#include "raddle/policy/registry.h"
#include "raddle/policy/scheme/policy.h"

namespace raddle::support {

/// A choice of scheme that is a function of the view. Outlives what it makes.
class ScriptedScheme final : public policy::Choice<policy::SchemePolicy> {
 public:
  using Script = std::function<Cycle(const policy::SchemeView&, policy::Knobs&)>;
  explicit ScriptedScheme(Script script) : script_(std::move(script)) {}
  std::string_view name() const override { return "scripted"; }
  std::string_view doc() const override { return "for tests"; }
  void visit(FieldVisitor&) override {}
  std::unique_ptr<policy::SchemePolicy> make(const Context&) const override {
    return std::make_unique<Instance>(*this);
  }
  /// It is in no registry.
  std::unique_ptr<Choice> fresh() const override { return nullptr; }

 private:
  class Instance final : public policy::SchemePolicy {
   public:
    explicit Instance(const ScriptedScheme& owner) : owner_(owner) {}
    Cycle look(const policy::SchemeView& view, policy::Knobs& knobs) override {
      return owner_.script_(view, knobs);
    }

   private:
    const ScriptedScheme& owner_;
  };
  Script script_;
};

/// The same knobs from the first cycle to the last.
inline std::unique_ptr<ScriptedScheme> constant_scheme(const policy::Knobs& knobs) {
  return std::make_unique<ScriptedScheme>([knobs](const policy::SchemeView&, policy::Knobs& set) {
    set = knobs;
    return kNever;
  });
}

}  // namespace raddle::support
