#include "raddle/sim/named_workload.h"

#include "raddle/base/json.h"
#include "raddle/config/reader.h"
#include "raddle/config/writer.h"
#include "raddle/runtime/ptx_file.h"

namespace raddle::sim {

NamedWorkload make_workload(const runtime::Workloads& workloads, const std::string& name,
                            const config::Tree& parameters) {
  NamedWorkload out;
  const bool is_file = name.size() > 4 && name.ends_with(".ptx");
  if (is_file) out.workload = std::make_unique<runtime::PtxFileWorkload>(name);
  else out.workload = workloads.make(name);
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

}  // namespace raddle::sim
