// Levels "block" and "kernel" in Python.
#pragma once
#include <optional>

#include "policy_class.h"
#include "raddle/policy/block/policy.h"
#include "raddle/policy/kernel/policy.h"

namespace raddle::python {

/// A parent as attributes; None for a launch of the host.
inline py::object parent_of(const policy::DeviceParent& parent) {
  if (parent.depth == 0) return py::none();
  py::dict out = new_record();
  out["sequence"] = parent.sequence;
  out["block"] = parent.block;
  out["sm"] = parent.sm;
  out["depth"] = parent.depth;
  return out;
}

class BlockInPython final : public policy::BlockPolicy {
 public:
  BlockInPython(const PolicyClass& of, const Context& context)
      : self_(of, context_of(context)),
        pick_(self_.deciding_hook("pick")),
        on_launch_(self_.hook("on_launch")),
        on_block_done_(self_.hook("on_block_done")),
        on_progress_(self_.hook("on_progress")),
        on_kernel_end_(self_.hook("on_kernel_end")),
        waits_until_(self_.hook("waits_until")),
        blocks_per_cycle_(
            number_of<unsigned>(self_.asked("blocks_per_cycle"), "blocks_per_cycle()")) {}

  unsigned blocks_per_cycle() const override { return blocks_per_cycle_; }
  void on_launch(const policy::BlockLaunch& launch) override {
    if (!on_launch_) return;
    const WithPython lock;
    py::dict out = new_record();
    out["sequence"] = launch.sequence;
    out["kernel"] = launch.kernel;
    out["grid"] = to_python(launch.grid);
    out["blocks"] = launch.blocks;
    out["slot"] = launch.slot;
    out["parent"] = parent_of(launch.parent);
    out["max_on_sm"] = launch.max_on_sm;
    call(on_launch_, out);
  }
  std::optional<policy::BlockChoice> pick(const policy::BlockView& view) override {
    const WithPython lock;
    const auto loan = view_.lend(view);
    const py::object answer = call(pick_, view_.object());
    if (answer.is_none()) return std::nullopt;
    constexpr const char* kExpected = "(sm, block), (sm, block, stolen) or None of pick()";
    if (!py::isinstance<py::tuple>(answer) || py::len(answer) < 2 || py::len(answer) > 3)
      throw py::type_error(std::string("expected ") + kExpected + ", found " +
                           py::repr(answer).cast<std::string>());
    const auto parts = py::reinterpret_borrow<py::tuple>(answer);
    return policy::BlockChoice{number_of<std::uint32_t>(parts[0], kExpected),
                               number_of<std::uint32_t>(parts[1], kExpected),
                               parts.size() == 3 && parts[2].cast<bool>()};
  }
  void on_block_done(std::uint32_t sm, std::uint32_t block, unsigned slot) override {
    if (!on_block_done_) return;
    const WithPython lock;
    call(on_block_done_, sm, block, slot);
  }
  bool wants_progress() const override { return static_cast<bool>(on_progress_); }
  void on_progress(std::uint32_t sm, unsigned slot, const policy::BlockProgress& p) override {
    const WithPython lock;
    py::dict out = new_record();
    out["issued"] = p.issued;
    out["others"] = p.others;
    call(on_progress_, sm, slot, out);
  }
  void on_kernel_end(unsigned slot) override {
    if (!on_kernel_end_) return;
    const WithPython lock;
    call(on_kernel_end_, slot);
  }
  Cycle waits_until(Cycle now) const override {
    if (!waits_until_) return kNever;
    const WithPython lock;
    return cycle_of(call(waits_until_, now), "a cycle or None of waits_until()");
  }
  void visit_statistics(FieldVisitor& v) override { self_.visit_statistics(v); }

 private:
  static py::dict context_of(const Context& context) {
    py::dict out = new_record();
    out["sms"] = context.sms;
    out["seed"] = context.seed;
    return out;
  }
  Instance self_;
  Held pick_, on_launch_, on_block_done_, on_progress_, on_kernel_end_, waits_until_;
  unsigned blocks_per_cycle_;
  Lender<const policy::BlockView> view_;
};

class KernelInPython final : public policy::KernelPolicy {
 public:
  KernelInPython(const PolicyClass& of, const Context& context)
      : self_(of, context_of(context)),
        pick_(self_.deciding_hook("pick")),
        on_launch_(self_.hook("on_launch")),
        on_end_(self_.hook("on_end")),
        waits_until_(self_.hook("waits_until")) {}

  void on_launch(const policy::KernelLaunch& launch) override {
    if (!on_launch_) return;
    const WithPython lock;
    py::dict out = new_record();
    out["sequence"] = launch.sequence;
    out["kernel"] = launch.kernel;
    out["stream"] = index(launch.stream);
    out["blocks"] = launch.blocks;
    out["slot"] = launch.slot;
    out["parent"] = parent_of(launch.parent);
    call(on_launch_, out);
  }
  std::optional<unsigned> pick(const policy::KernelView& view) override {
    const WithPython lock;
    const auto loan = view_.lend(view);
    const py::object answer = call(pick_, view_.object());
    if (answer.is_none()) return std::nullopt;
    return number_of<unsigned>(answer, "a slot or None of pick()");
  }
  void on_end(unsigned slot) override {
    if (!on_end_) return;
    const WithPython lock;
    call(on_end_, slot);
  }
  Cycle waits_until(Cycle now) const override {
    if (!waits_until_) return kNever;
    const WithPython lock;
    return cycle_of(call(waits_until_, now), "a cycle or None of waits_until()");
  }
  void visit_statistics(FieldVisitor& v) override { self_.visit_statistics(v); }

 private:
  static py::dict context_of(const Context& context) {
    py::dict out = new_record();
    out["seed"] = context.seed;
    return out;
  }
  Instance self_;
  Held pick_, on_launch_, on_end_, waits_until_;
  Lender<const policy::KernelView> view_;
};

}  // namespace raddle::python
