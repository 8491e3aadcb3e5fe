#include "policies.h"

#include <utility>

#include "block_policies.h"
#include "dispatch_policy.h"
#include "sm_policies.h"

namespace raddle::python {

namespace {

template <class Policy, class Interface>
void add_to(policy::Registry<Interface>& registry, PolicyClass of, bool replace) {
  if (replace) registry.remove(of.name);
  registry.add(std::make_unique<ChoiceOfClass<Interface, Policy>>(std::move(of)));
}

}  // namespace

void add_policy(policy::Registries& all, const std::string& level, const py::object& type,
                bool replace) {
  PolicyClass of(type);
  if (level == "block") add_to<BlockInPython>(all.block, std::move(of), replace);
  else if (level == "kernel") add_to<KernelInPython>(all.kernel, std::move(of), replace);
  else if (level == "dispatch") add_to<DispatchInPython>(all.dispatch, std::move(of), replace);
  else if (level == "migrate") add_to<MigrateInPython>(all.migrate, std::move(of), replace);
  else if (level == "scheme") add_to<SchemeInPython>(all.scheme, std::move(of), replace);
  else if (level == "warp") add_to<WarpInPython>(all.warp, std::move(of), replace);
  else throw InputError("level '" + level + "' is asked too often for a policy in Python");
}

// --- what has to be made of a class's answers ----------------------------------------------------

policy::Passage MigrateInPython::passage_of(const py::object& answer) {
  policy::Passage out;
  for (const auto& [key, value] : answer.cast<py::dict>()) {
    const auto name = key.cast<std::string>();
    const auto position = [&](const auto& names) {
      const auto at = std::ranges::find(names, value.cast<std::string>());
      if (at == names.end())
        throw py::value_error("passage(): '" + value.cast<std::string>() + "' is no " + name);
      return static_cast<std::size_t>(at - names.begin());
    };
    using P = policy::Passage;
    if (name == "signal_cycles")
      out.signal_cycles = number_of<std::uint32_t>(value, "cycles of signal_cycles");
    else if (name == "transfer")
      out.transfer = static_cast<P::Transfer>(position(P::kTransferNames));
    else if (name == "shared") out.shared = static_cast<P::Shared>(position(P::kSharedNames));
    else if (name == "registers")
      out.registers = static_cast<P::Registers>(position(P::kRegistersNames));
    else if (name == "orphans")
      out.unclaimed = static_cast<P::Unclaimed>(position(P::kUnclaimedNames));
    else throw py::value_error("passage(): there is no '" + name + "'");
  }
  return out;
}

py::dict SchemeInPython::context_of(const Context& context) {
  py::dict out = new_record(), sm = new_record(), bandwidth = new_record();
  out["sms"] = context.sms;
  out["l1d_ways"] = context.l1d_ways;
  out["l2_ways"] = context.l2_ways;
  out["seed"] = context.seed;
  sm["threads"] = context.sm.all.threads;
  sm["warps"] = context.sm.all.warps;
  sm["registers"] = context.sm.all.registers;
  sm["shared_bytes"] = context.sm.all.shared_bytes;
  sm["blocks"] = context.sm.blocks;
  out["sm"] = sm;
  out["miss_queue"] = context.miss_queue;
  out["lsu_queue"] = context.lsu_queue;
  bandwidth["cycles"] = context.bandwidth.cycles;
  bandwidth["reply_bytes"] = context.bandwidth.reply_bytes;
  bandwidth["dram_bytes"] = context.bandwidth.dram_bytes;
  bandwidth["read_reply_bytes"] = context.bandwidth.read_reply_bytes;
  bandwidth["dram_access_bytes"] = context.bandwidth.dram_access_bytes;
  out["bandwidth"] = bandwidth;
  out["ipc_alone"] = context.ipc_alone;
  return out;
}

}  // namespace raddle::python
