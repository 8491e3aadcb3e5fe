// What policies in Python see, in the words of policy/*/policy.h.
#include <algorithm>
#include <limits>
#include <vector>

#include "policies.h"
#include "raddle/policy/block/policy.h"
#include "raddle/policy/dispatch/policy.h"
#include "raddle/policy/kernel/policy.h"
#include "raddle/policy/migrate/policy.h"
#include "raddle/policy/scheme/policy.h"
#include "raddle/policy/warp/policy.h"

namespace raddle::python {

namespace {

using policy::GridId;

// --- kernel, block and dispatch -----------------------------------------------------------------

void bind_block_views(py::module_& module) {
  using Blocks = Lent<const policy::BlockView>;
  py::class_<Blocks>(module, "BlockView")
      .def_property_readonly("free_sms", [](const Blocks& v) { return to_int(v.get().free_sms); })
      .def_property_readonly("now", [](const Blocks& v) { return v.get().now; })
      .def_property_readonly("slot", [](const Blocks& v) { return v.get().slot; });
  using Kernels = Lent<const policy::KernelView>;
  py::class_<Kernels>(module, "KernelView")
      .def_property_readonly("waiting", [](const Kernels& v) { return to_int(v.get().waiting); })
      .def_property_readonly("fits", [](const Kernels& v) { return to_int(v.get().fits); })
      .def_property_readonly("now", [](const Kernels& v) { return v.get().now; })
      .def("oldest", [](const Kernels& v, const py::int_& mask) {
        const auto set = set_of<kKernelSlots / 64>(mask);
        if (!set.any() || (set - v.get().waiting).any())
          throw py::value_error("oldest(): expected kernels that wait, at least one");
        return v.get().age.oldest(set);
      });
}

py::object grid_or_none(GridId grid) {
  return grid == policy::kNoGrid ? py::object(py::none()) : py::object(py::int_(grid));
}

template <class View>
const policy::GridState& state_of(const Lent<const View>& view, GridId grid) {
  if (grid >= view.get().grids.size())
    throw py::value_error("there is no grid " + std::to_string(grid));
  return view.get().grids[grid];
}

/// From the oldest on, those that are in its list.
template <class View>
std::vector<GridId> grids_of(const Lent<const View>& view) {
  std::vector<GridId> out;
  for (GridId at = view.get().oldest; at != policy::kNoGrid; at = view.get().after(at))
    out.push_back(at);
  return out;
}

void bind_dispatch_views(py::module_& module) {
  using Pending = Lent<const policy::PendingView>;
  py::class_<Pending>(module, "PendingView")
      .def_property_readonly("oldest", [](const Pending& v) { return v.get().oldest; })
      .def_property_readonly("count", [](const Pending& v) { return v.get().count; })
      .def_property_readonly("free_entries", [](const Pending& v) { return v.get().free_entries; })
      .def_property_readonly("now", [](const Pending& v) { return v.get().now; })
      .def_property_readonly("grids", [](const Pending& v) { return grids_of(v); })
      .def("after",
           [](const Pending& v, GridId grid) { return grid_or_none(state_of(v, grid).next); });
  using View = Lent<const policy::DispatchView>;
  py::class_<View>(module, "DispatchView")
      .def_property_readonly("oldest", [](const View& v) { return grid_or_none(v.get().oldest); })
      .def_property_readonly("served", [](const View& v) { return to_int(v.get().served); })
      .def_property_readonly("shared", [](const View& v) { return v.get().shared; })
      .def_property_readonly("now", [](const View& v) { return v.get().now; })
      .def_property_readonly("grids", [](const View& v) { return grids_of(v); })
      .def("after", [](const View& v, GridId grid) { return grid_or_none(state_of(v, grid).next); })
      .def("left", [](const View& v, GridId grid) { return state_of(v, grid).left; })
      .def("has_blocks", [](const View& v, GridId grid) { return state_of(v, grid).left != 0; })
      .def("free_sms", [](const View& v, GridId grid) {
        if (state_of(v, grid).left == 0)
          throw py::value_error("grid " + std::to_string(grid) + " has no blocks left");
        return to_int(v.get().free_sms(grid));
      });
}

// --- warp and migrate ---------------------------------------------------------------------------

void bind_warp_view(py::module_& module) {
  using View = Lent<const policy::WarpView>;
  py::class_<View>(module, "WarpView")
      .def_property_readonly("ready", [](const View& v) { return v.get().ready; })
      .def_property_readonly("resident", [](const View& v) { return v.get().resident; })
      .def_property_readonly("memory", [](const View& v) { return v.get().memory; })
      .def_property_readonly("now", [](const View& v) { return v.get().now; })
      .def_property_readonly("of_tenant", [](const View& v) { return v.get().of_tenant; })
      .def("oldest", [](const View& v, policy::WarpMask mask) {
        if (mask == 0 || (mask & ~v.get().age.members()) != 0)
          throw py::value_error("oldest(): expected slots with warps, at least one");
        return v.get().age.oldest(mask);
      });
}

/// The view that SMs and slots are checked against first: it does not expect what is not there.
const policy::MigrateView& checked(const Lent<policy::MigrateView>& view, unsigned sm,
                                   std::initializer_list<unsigned> slots = {}) {
  policy::MigrateView& of = view.get();
  if (sm >= of.mshrs().size()) throw py::value_error("there is no SM " + std::to_string(sm));
  for (const unsigned slot : slots)
    if (slot >= 64 || (of.resident(sm) >> slot & 1) == 0)
      throw py::value_error("slot " + std::to_string(slot) + " of SM " + std::to_string(sm) +
                            " holds no warp");
  return of;
}

void move(const Lent<policy::MigrateView>& view, unsigned sm, unsigned slot, unsigned to) {
  const policy::MigrateView& of = checked(view, sm, {slot});
  checked(view, to);
  const unsigned slots[] = {slot};
  if (!of.may_leave(sm, slot) || !of.fits(sm, slots, to))
    throw py::value_error("move(): warp " + std::to_string(slot) + " of SM " + std::to_string(sm) +
                          " may not leave, or does not fit SM " + std::to_string(to));
  view.get().move({sm, slot, to});
}

void bind_migrate_view(py::module_& module) {
  using View = Lent<policy::MigrateView>;
  py::class_<View>(module, "MigrateView")
      .def_property_readonly("now", [](const View& v) { return v.get().now(); })
      .def_property_readonly("mshrs",
                             [](const View& v) {
                               const auto all = v.get().mshrs();
                               return std::vector<unsigned>(all.begin(), all.end());
                             })
      .def_property_readonly("changed",
                             [](const View& v) {
                               const auto all = v.get().changed();
                               return std::vector<unsigned>(all.begin(), all.end());
                             })
      .def("resident",
           [](const View& v, Whole<unsigned> sm) { return checked(v, sm).resident(sm); })
      .def("outgoing",
           [](const View& v, Whole<unsigned> sm) { return checked(v, sm).outgoing(sm); })
      .def("warp",
           [](const View& v, Whole<unsigned> sm, Whole<unsigned> slot) {
             const policy::WarpState state = checked(v, sm, {slot}).warp(sm, slot);
             py::dict out = new_record();
             out["converged"] = state.converged;
             out["awaited"] = state.awaited;
             out["adopted"] = state.adopted;
             out["arrived"] = state.arrived;
             return out;
           })
      .def("may_leave",
           [](const View& v, Whole<unsigned> sm, Whole<unsigned> slot) {
             return checked(v, sm, {slot}).may_leave(sm, slot);
           })
      .def("fits",
           [](const View& v, Whole<unsigned> sm, const std::vector<Whole<unsigned>>& slots,
              Whole<unsigned> to) {
             const std::vector<unsigned> all(slots.begin(), slots.end());
             for (const unsigned slot : all) checked(v, sm, {slot});
             checked(v, to);
             return checked(v, sm).fits(sm, all, to);
           })
      .def(
          "miss",
          [](const View& v, Whole<unsigned> sm, const std::string& among, const std::string& from,
             Whole<unsigned> position) -> py::object {
            const auto at = [](const auto& names, const std::string& name) {
              const auto found = std::ranges::find(names, name);
              if (found == names.end())
                throw py::value_error("miss(): '" + name + "' is no choice");
              return static_cast<std::size_t>(found - names.begin());
            };
            policy::PendingMiss miss;
            const policy::MissPlace which{
                static_cast<policy::Misses>(at(policy::kMissesNames, among)),
                static_cast<policy::MissesFrom>(at(policy::kMissesFromNames, from)), position};
            if (!checked(v, sm).miss(sm, which, miss)) return py::none();
            py::dict out = new_record();
            out["waiting"] = miss.waiting;
            out["warps"] = miss.warps;
            out["only_loads"] = miss.only_loads;
            return out;
          },
          py::arg("sm"), py::arg("among") = "unsent", py::arg("from_") = "oldest",
          py::arg("position") = 0)
      .def(
          "move",
          [](const View& v, Whole<unsigned> sm, Whole<unsigned> slot, Whole<unsigned> to) {
            move(v, sm, slot, to);
          },
          py::arg("sm"), py::arg("slot"), py::arg("to"));
}

// --- scheme -------------------------------------------------------------------------------------

py::dict counts_of(const policy::TenantCounts& c) {
  py::dict out = new_record();
  const std::pair<const char*, std::uint64_t> all[] = {
      {"instructions", c.instructions},
      {"thread_instructions", c.thread_instructions},
      {"memory_instructions", c.memory_instructions},
      {"l1d_accesses", c.l1d_accesses},
      {"l1d_hits", c.l1d_hits},
      {"l1d_reservation_fails", c.l1d_reservation_fails},
      {"requests", c.requests},
      {"token_wait_cycles", c.token_wait_cycles},
      {"starved_intervals", c.starved_intervals},
      {"request_packets", c.request_packets},
      {"request_flits", c.request_flits},
      {"request_bytes", c.request_bytes},
      {"read_packets", c.read_packets},
      {"reply_packets", c.reply_packets},
      {"reply_flits", c.reply_flits},
      {"reply_bytes", c.reply_bytes},
      {"dram_accesses", c.dram_accesses},
      {"dram_reads", c.dram_reads},
      {"dram_writes", c.dram_writes},
      {"dram_bytes", c.dram_bytes},
      {"dram_busy_cycles", c.dram_busy_cycles},
      {"blocks_ended", c.blocks_ended}};
  for (const auto& [name, value] : all) out[name] = value;
  out["stall"] = c.stall;
  return out;
}

py::dict tenant_of(const policy::TenantView& tenant) {
  const auto list = [](std::span<const std::uint32_t> of) {
    return std::vector<std::uint32_t>(of.begin(), of.end());
  };
  py::dict out = new_record(), block = new_record();
  out["counts"] = counts_of(tenant.counts);
  out["resident_blocks"] = list(tenant.resident_blocks);
  out["resident_warps"] = list(tenant.resident_warps);
  block["threads"] = tenant.block.threads;
  block["warps"] = tenant.block.warps;
  block["registers"] = tenant.block.registers;
  block["shared_bytes"] = tenant.block.shared_bytes;
  out["block"] = block;
  out["max_blocks"] = tenant.max_blocks;
  return out;
}

/// One tenant's, for as long as all are lent.
struct KnobsOfTenant {
  py::object owner;
  const Lent<policy::Knobs>* lent;
  unsigned tenant;
  policy::TenantKnobs& get() const { return lent->get().tenant[tenant]; }
};

/// A limit; None where there is none.
template <std::uint32_t policy::TenantKnobs::*Member>
void bind_limit(py::class_<KnobsOfTenant>& of, const char* name) {
  of.def_property(
      name,
      [](const KnobsOfTenant& k) {
        return k.get().*Member == policy::kNoLimit ? std::optional<std::uint32_t>()
                                                   : k.get().*Member;
      },
      [](const KnobsOfTenant& k, std::optional<Whole<std::uint32_t>> value) {
        k.get().*Member = value ? value->value : policy::kNoLimit;
      });
}

template <auto Member>
void bind_number(py::class_<KnobsOfTenant>& of, const char* name) {
  using T = std::remove_cvref_t<decltype(std::declval<policy::TenantKnobs&>().*Member)>;
  of.def_property(
      name, [](const KnobsOfTenant& k) { return k.get().*Member; },
      [](const KnobsOfTenant& k, Given<T> value) { k.get().*Member = value; });
}

void bind_knobs_of_tenant(py::module_& module) {
  py::class_<KnobsOfTenant> of(module, "TenantKnobs");
  bind_limit<&policy::TenantKnobs::active_blocks>(of, "active_blocks");
  bind_limit<&policy::TenantKnobs::miss_queue>(of, "miss_queue");
  bind_limit<&policy::TenantKnobs::lsu_queue>(of, "lsu_queue");
  bind_limit<&policy::TenantKnobs::issue_quota>(of, "issue_quota");
  bind_number<&policy::TenantKnobs::request_tokens>(of, "request_tokens");
  bind_number<&policy::TenantKnobs::l1d_ways>(of, "l1d_ways");
  bind_number<&policy::TenantKnobs::l2_ways>(of, "l2_ways");
  bind_number<&policy::TenantKnobs::dram_rank>(of, "dram_rank");
  bind_number<&policy::TenantKnobs::priority>(of, "priority");
  // A list of Python's own: the one that is set is what counts, not one that is changed in place.
  of.def_property(
      "block_cap", [](const KnobsOfTenant& k) { return py::tuple(py::cast(k.get().block_cap)); },
      [](const KnobsOfTenant& k, const std::vector<Whole<std::uint32_t>>& caps) {
        k.get().block_cap.assign(caps.begin(), caps.end());
      });
}

void bind_scheme_views(py::module_& module) {
  using View = Lent<const policy::SchemeView>;
  py::class_<View>(module, "SchemeView")
      .def_property_readonly("now", [](const View& v) { return v.get().now; })
      .def_property_readonly("since", [](const View& v) { return v.get().since; })
      .def_property_readonly("present", [](const View& v) { return v.get().present; })
      .def_property_readonly("tenant",
                             [](const View& v) {
                               py::list out;
                               for (const auto& one : v.get().tenant) out.append(tenant_of(one));
                               return out;
                             })
      .def("has", [](const View& v, Whole<unsigned> tenant) {
        return tenant < kMaxTenants && v.get().has(tenant);
      });
  bind_knobs_of_tenant(module);
  using All = Lent<policy::Knobs>;
  py::class_<All> knobs(module, "Knobs");
  knobs.def_property_readonly("tenant", [](const py::object& self) {
    py::list out;
    const auto* lent = self.cast<const All*>();
    for (unsigned t = 0; t < lent->get().tenant.size(); ++t)
      out.append(KnobsOfTenant{self, lent, t});
    return out;
  });
  const auto whole = [&]<class T>(const char* name, T policy::Knobs::*member) {
    knobs.def_property(
        name, [member](const All& all) { return all.get().*member; },
        [member](const All& all, Given<T> value) { all.get().*member = value; });
  };
  whole("token_interval", &policy::Knobs::token_interval);
  whole("arbiter_cycles", &policy::Knobs::arbiter_cycles);
  whole("issue_epoch", &policy::Knobs::issue_epoch);
  whole("issue_by_all", &policy::Knobs::issue_by_all);
}

}  // namespace

void bind_views(py::module_& module) {
  bind_block_views(module);
  bind_dispatch_views(module);
  bind_warp_view(module);
  bind_migrate_view(module);
  bind_scheme_views(module);
}

}  // namespace raddle::python
