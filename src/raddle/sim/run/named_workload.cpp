#include "raddle/sim/run/named_workload.h"

#include <fmt/format.h>

#include <algorithm>

#include "raddle/base/error.h"
#include "raddle/base/json.h"
#include "raddle/config/reader.h"
#include "raddle/config/spelling.h"
#include "raddle/config/writer.h"
#include "raddle/runtime/ptx_file.h"

namespace raddle::sim {

namespace {

/// Throws InputError, also for what is no workload but something else that can be run.
std::unique_ptr<runtime::Workload> named(const runtime::Workloads& workloads,
                                         const std::string& name) {
  const std::vector<std::string> all = workloads.names();
  if (std::ranges::binary_search(all, name)) return workloads.make(name);
  if (name.ends_with(".rdl") || name.ends_with(".g"))
    throw InputError("'" + name +
                     "' is a recording: for raddle replay, compare and analyze; in an experiment "
                     "an entry of workloads, or recording = \"FILE\"");
  if (name.find('/') != std::string::npos)
    throw InputError("'" + name +
                     "' is no workload; a CUDA program is for raddle exec, compare and analyze, "
                     "behind --; in an experiment \"-- ./PROGRAM ARGUMENT\" or program = [...]");
  const std::string near = config::nearest(name, all);
  std::string known;
  for (const std::string& one : all) known += " " + one;
  throw InputError("no workload is called '" + name + "'" +
                   (near.empty() ? "." : "; did you mean '" + near + "'?") + " Known:" + known);
}

}  // namespace

NamedWorkload make_workload(const runtime::Workloads& workloads, const std::string& name,
                            const config::Tree& parameters) {
  NamedWorkload out;
  const bool is_file = name.size() > 4 && name.ends_with(".ptx");
  if (is_file) out.workload = std::make_unique<runtime::PtxFileWorkload>(name);
  else out.workload = named(workloads, name);
  config::Reader reader(parameters);
  auto size = runtime::Size::Small;
  if (!is_file) reader.choice("size", size, runtime::kSizeNames, "set of parameters to start from");
  out.workload->set_size(size);
  out.workload->visit(reader);
  if (!reader.failed())
    for (const std::string& rule : out.workload->violations()) reader.fail(rule);
  reader.finish();

  config::JsonWriter writer;
  if (!is_file) writer.choice("size", size, runtime::kSizeNames, "");
  out.workload->visit(writer);
  out.info = {valid_utf8(name), writer.take()};
  for (auto& [key, value] : out.info.parameters.items())
    if (value.is_string()) value = valid_utf8(value.get_ref<const std::string&>());
  return out;
}

void check_capability(const runtime::Workload& workload, const std::string& name,
                      const std::string& machine, std::uint32_t found) {
  const std::uint32_t needed = workload.min_capability();
  if (needed > found)
    throw InputError(
        fmt::format("{} has instructions of compute capability {}.{}: expected a machine that has "
                    "them, found {} with {}.{}",
                    name, needed / 10, needed % 10, machine, found / 10, found % 10));
}

}  // namespace raddle::sim
