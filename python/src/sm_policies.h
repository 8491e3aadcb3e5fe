// Levels "warp", "migrate" and "scheme" in Python.
#pragma once
#include <algorithm>
#include <string>
#include <vector>

#include "policy_class.h"
#include "raddle/policy/migrate/policy.h"
#include "raddle/policy/scheme/policy.h"
#include "raddle/policy/warp/policy.h"

namespace raddle::python {

class WarpInPython final : public policy::WarpPolicy {
 public:
  WarpInPython(const PolicyClass& of, const Context& context)
      : self_(of, context_of(context)),
        pick_(self_.deciding_hook("pick")),
        on_warp_start_(self_.hook("on_warp_start")),
        on_warp_end_(self_.hook("on_warp_end")),
        may_decline_(self_.asked("may_decline").cast<bool>()) {}

  unsigned pick(const policy::WarpView& view) override {
    const WithPython lock;
    const auto loan = view_.lend(view);
    const py::object answer = call(pick_, view_.object());
    if (answer.is_none() && may_decline_) return kInvalidId;
    return std::min(number_of<unsigned>(answer, "a warp slot of pick()"), kInvalidId);
  }
  bool may_decline() const override { return may_decline_; }
  void on_warp_start(unsigned slot) override {
    if (!on_warp_start_) return;
    const WithPython lock;
    call(on_warp_start_, slot);
  }
  void on_warp_end(unsigned slot) override {
    if (!on_warp_end_) return;
    const WithPython lock;
    call(on_warp_end_, slot);
  }
  void visit_statistics(FieldVisitor& v) override { self_.visit_statistics(v); }

 private:
  static py::dict context_of(const Context& context) {
    py::dict out = new_record();
    out["sm"] = context.sm;
    out["scheduler"] = context.scheduler;
    out["first_slot"] = context.first_slot;
    out["slots"] = context.slots;
    out["seed"] = context.seed;
    return out;
  }
  Instance self_;
  Held pick_, on_warp_start_, on_warp_end_;
  bool may_decline_;
  Lender<const policy::WarpView> view_;
};

class MigrateInPython final : public policy::MigratePolicy {
 public:
  MigrateInPython(const PolicyClass& of, const Context& context)
      : self_(of, context_of(context)),
        look_(self_.deciding_hook("look")),
        settle_(self_.hook("settle")),
        passage_(passage_of(self_.asked("passage"))) {}

  policy::Passage passage() const override { return passage_; }
  Cycle look(policy::MigrateView& view) override {
    const WithPython lock;
    const auto loan = view_.lend(view);
    return cycle_of(call(look_, view_.object()), "a cycle or None of look()");
  }
  void settle(Cycle at) override {
    if (!settle_) return;
    const WithPython lock;
    call(settle_, at);
  }
  void visit_statistics(FieldVisitor& v) override { self_.visit_statistics(v); }

 private:
  static py::dict context_of(const Context& context) {
    py::dict out = new_record();
    out["warps"] = context.warps;
    out["mshrs"] = context.mshrs;
    out["merges"] = context.merges;
    py::list neighbours;
    for (const policy::Neighbours& of : context.neighbours) {
      py::list four;
      for (const std::uint32_t sm : of)
        four.append(sm == policy::kNoSm ? py::object(py::none()) : py::object(py::int_(sm)));
      neighbours.append(four);
    }
    out["neighbours"] = neighbours;
    out["seed"] = context.seed;
    return out;
  }
  /// From a dictionary with the names of Passage::visit().
  static policy::Passage passage_of(const py::object& answer);

  Instance self_;
  Held look_, settle_;
  policy::Passage passage_;
  Lender<policy::MigrateView> view_;
};

class SchemeInPython final : public policy::SchemePolicy {
 public:
  SchemeInPython(const PolicyClass& of, const Context& context)
      : self_(of, context_of(context)),
        look_(self_.deciding_hook("look")),
        wants_ipc_alone_(self_.asked("wants_ipc_alone").cast<bool>()),
        decides_after_(number_of<Cycle>(self_.asked("decides_after"), "decides_after()")) {}

  bool wants_ipc_alone() const override { return wants_ipc_alone_; }
  Cycle decides_after() const override { return decides_after_; }
  Cycle look(const policy::SchemeView& view, policy::Knobs& knobs) override {
    const WithPython lock;
    const auto loan = view_.lend(view);
    const auto given = knobs_.lend(knobs);
    return cycle_of(call(look_, view_.object(), knobs_.object()), "a cycle or None of look()");
  }
  void visit_statistics(FieldVisitor& v) override { self_.visit_statistics(v); }

 private:
  static py::dict context_of(const Context& context);

  Instance self_;
  Held look_;
  bool wants_ipc_alone_;
  Cycle decides_after_;
  Lender<const policy::SchemeView> view_;
  Lender<policy::Knobs> knobs_;
};

}  // namespace raddle::python
