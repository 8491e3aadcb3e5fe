// Level "dispatch" in Python.
#pragma once
#include <optional>
#include <string>

#include "block_policies.h"
#include "raddle/policy/dispatch/policy.h"

namespace raddle::python {

class DispatchInPython final : public policy::DispatchPolicy {
 public:
  DispatchInPython(const PolicyClass& of, const Context& context)
      : self_(of, context_of(context)),
        on_grid_(self_.hook("on_grid")),
        join_(self_.hook("join")),
        admit_(self_.hook("admit")),
        search_cycles_(self_.hook("search_cycles")),
        on_enter_(self_.hook("on_enter")),
        on_begin_(self_.hook("on_begin")),
        access_(self_.hook("access")),
        on_fetched_(self_.hook("on_fetched")),
        pick_(self_.deciding_hook("pick")),
        on_block_end_(self_.hook("on_block_end")),
        on_block_progress_(self_.hook("on_block_progress")),
        on_grid_end_(self_.hook("on_grid_end")),
        waits_until_(self_.hook("waits_until")),
        refusals_(self_.hook("refusals")),
        blocks_per_cycle_(
            number_of<unsigned>(self_.asked("blocks_per_cycle"), "blocks_per_cycle()")) {}

  void on_grid(const policy::GridInfo& grid) override { notify(on_grid_, grid); }
  std::optional<unsigned> join(const policy::GridInfo& grid, const KernelSet& entries) override {
    if (!join_) return std::nullopt;
    const WithPython lock;
    const py::object answer = call(join_, info(grid), to_int(entries));
    if (answer.is_none()) return std::nullopt;
    return number_of<unsigned>(answer, "an entry or None of join()");
  }
  std::optional<policy::GridId> admit(const policy::PendingView& view) override {
    if (!admit_) return view.oldest;
    const WithPython lock;
    const auto loan = pending_.lend(view);
    return grid_of(call(admit_, pending_.object()), view.grids.size(), "admit()");
  }
  Cycle search_cycles(const policy::GridInfo& grid) const override {
    if (!search_cycles_) return 0;
    const WithPython lock;
    return number_of<Cycle>(call(search_cycles_, info(grid)), "cycles of search_cycles()");
  }
  void on_enter(const policy::GridInfo& grid) override { notify(on_enter_, grid); }
  void on_begin(policy::GridId grid, Cycle now) override {
    if (!on_begin_) return;
    const WithPython lock;
    call(on_begin_, grid, now);
  }
  std::optional<policy::QueueAccess> access() override {
    if (!access_) return std::nullopt;
    const WithPython lock;
    const py::object answer = call(access_);
    if (answer.is_none()) return std::nullopt;
    constexpr const char* kExpected = "(grid, sm, place, fetch) or None of access()";
    const auto parts = tuple_of(answer, 4, 4, kExpected);
    return policy::QueueAccess{number_of<policy::GridId>(parts[0], kExpected),
                               number_of<std::uint32_t>(parts[1], kExpected),
                               number_of<std::uint32_t>(parts[2], kExpected),
                               parts[3].cast<bool>()};
  }
  void on_fetched(policy::GridId grid, Cycle now) override {
    if (!on_fetched_) return;
    const WithPython lock;
    call(on_fetched_, grid, now);
  }
  unsigned blocks_per_cycle() const override { return blocks_per_cycle_; }
  std::optional<policy::BlockDispatch> pick(const policy::DispatchView& view) override {
    const WithPython lock;
    const auto loan = view_.lend(view);
    const py::object answer = call(pick_, view_.object());
    if (answer.is_none()) return std::nullopt;
    constexpr const char* kExpected = "(grid, block, sm), with stolen behind it, or None of pick()";
    const auto parts = tuple_of(answer, 3, 4, kExpected);
    return policy::BlockDispatch{*grid_of(parts[0], view.grids.size(), "pick()"),
                                 number_of<std::uint32_t>(parts[1], kExpected),
                                 number_of<std::uint32_t>(parts[2], kExpected),
                                 parts.size() == 4 && parts[3].cast<bool>()};
  }
  void on_block_end(policy::GridId grid, std::uint32_t block, std::uint32_t sm) override {
    if (!on_block_end_) return;
    const WithPython lock;
    call(on_block_end_, grid, block, sm);
  }
  bool wants_progress() const override { return static_cast<bool>(on_block_progress_); }
  void on_block_progress(policy::GridId grid, std::uint32_t sm,
                         const policy::BlockProgress& progress) override {
    const WithPython lock;
    py::dict out = new_record();
    out["issued"] = progress.issued;
    out["others"] = progress.others;
    call(on_block_progress_, grid, sm, out);
  }
  void on_grid_end(policy::GridId grid) override {
    if (!on_grid_end_) return;
    const WithPython lock;
    call(on_grid_end_, grid);
  }
  Cycle waits_until(Cycle now) const override {
    if (!waits_until_) return kNever;
    const WithPython lock;
    return cycle_of(call(waits_until_, now), "a cycle or None of waits_until()");
  }
  std::string refusals() const override {
    if (!refusals_) return {};
    const WithPython lock;
    return call(refusals_).cast<std::string>();
  }
  void visit_statistics(FieldVisitor& v) override { self_.visit_statistics(v); }

 private:
  static py::dict context_of(const Context& context) {
    py::dict out = new_record();
    out["sms"] = context.sms;
    out["entries"] = context.entries;
    out["seed"] = context.seed;
    return out;
  }
  static py::dict info(const policy::GridInfo& grid) {
    py::dict out = new_record();
    out["id"] = grid.id;
    out["sequence"] = grid.sequence;
    out["kernel"] = grid.kernel;
    out["stream"] = index(grid.stream);
    out["grid"] = to_python(grid.grid);
    out["blocks"] = grid.blocks;
    out["priority"] = grid.priority;
    out["parent"] = parent_of(grid.parent);
    out["tenant"] = index(grid.tenant);
    out["entry"] = grid.entry;
    out["max_on_sm"] = grid.max_on_sm;
    return out;
  }
  static void notify(const Held& hook, const policy::GridInfo& grid) {
    if (!hook) return;
    const WithPython lock;
    call(hook, info(grid));
  }
  static py::tuple tuple_of(const py::object& answer, std::size_t minimum, std::size_t maximum,
                            const char* expected) {
    if (!py::isinstance<py::tuple>(answer) || py::len(answer) < minimum ||
        py::len(answer) > maximum)
      throw py::type_error(std::string("expected ") + expected + ", found " +
                           py::repr(answer).cast<std::string>());
    return py::reinterpret_borrow<py::tuple>(answer);
  }
  /// The owner looks ids up before it checks what they are for.
  static std::optional<policy::GridId> grid_of(py::handle answer, std::size_t grids,
                                               const char* hook) {
    if (answer.is_none()) return std::nullopt;
    const auto grid = number_of<policy::GridId>(answer, "a grid");
    if (grid >= grids)
      throw py::value_error(std::string(hook) + ": there is no grid " + std::to_string(grid));
    return grid;
  }

  Instance self_;
  Held on_grid_, join_, admit_, search_cycles_, on_enter_, on_begin_, access_, on_fetched_, pick_,
      on_block_end_, on_block_progress_, on_grid_end_, waits_until_, refusals_;
  unsigned blocks_per_cycle_;
  Lender<const policy::PendingView> pending_;
  Lender<const policy::DispatchView> view_;
};

}  // namespace raddle::python
