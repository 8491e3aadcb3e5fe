// raddle ptx: what a PTX file holds, and whether all of it can be run.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "raddle/base/error.h"
#include "raddle/base/json.h"
#include "raddle/cli/commands/commands.h"
#include "raddle/cli/shared/cuda_program.h"
#include "raddle/exec/decode/program.h"
#include "raddle/ptx/analysis.h"
#include "raddle/ptx/link.h"
#include "raddle/runtime/ptx_file.h"

namespace raddle::cli {

namespace {

using Json = nlohmann::ordered_json;

// Adds the shared variables of the module that an operand names.
void note_shared(const ptx::Module& module, const ptx::Operand& operand,
                 std::set<std::uint32_t>& named) {
  const ptx::SymbolRef& symbol = operand.symbol;
  if (symbol.scope == ptx::SymbolRef::Scope::Module &&
      module.variables[symbol.index].space == ptx::Space::Shared)
    named.insert(symbol.index);
  for (const ptx::Operand& element : operand.elements) note_shared(module, element, named);
}

Json describe(const ptx::Module& module, const ptx::Function& f) {
  std::map<std::string, std::uint64_t> mix;
  std::set<std::uint32_t> named;
  for (const ptx::Instruction& i : f.instructions) {
    ++mix[std::string(i.opcode)];
    for (const ptx::Operand& operand : i.operands) note_shared(module, operand, named);
  }
  std::uint64_t shared = 0, local = 0, parameters = 0;
  for (std::uint32_t v : named) shared += module.variables[v].size;
  for (const ptx::Variable& v : f.variables) {
    if (v.space == ptx::Space::Shared) shared += v.size;
    if (v.space == ptx::Space::Local) local += v.size;
  }
  for (const ptx::Variable& v : f.parameters) parameters += v.size;
  return {{"name", f.name},
          {"line", f.line},
          {"registers", ptx::assign_registers(f).registers},
          {"shared_bytes", shared},
          {"local_bytes", local},
          {"parameters", f.parameters.size()},
          {"parameter_bytes", parameters},
          {"instructions", f.instructions.size()},
          {"mix", mix}};
}

Json json_of(const exec::Unsupported& found) {
  return {{"function", found.function},
          {"instruction", found.instruction},
          {"line", found.line},
          {"column", found.column}};
}

Json describe(const ptx::Module& module, const std::string& name) {
  Json out = {{"file", valid_utf8(name)},
              {"version", fmt::format("{}.{}", module.version_major, module.version_minor)},
              {"target", module.target}};
  out["kernels"] = Json::array();
  out["functions"] = Json::array();
  for (const ptx::Function& f : module.functions)
    if (!f.is_extern) out[f.is_entry ? "kernels" : "functions"].push_back(describe(module, f));
  out["unsupported"] = Json::array();
  return out;
}

/// What cannot be run of the modules that a program links for one target: each is told where it
/// stands. A part of a program, whose other parts are elsewhere, is judged module by module.
void judge_linked(const std::vector<DevicePtx>& all, const std::string& target, Json& modules) {
  std::vector<ptx::SourceText> sources;
  std::vector<std::size_t> members;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i].link_target == target) {
      sources.push_back({all[i].text, all[i].name});
      members.push_back(i);
    }
  try {
    for (const exec::Unsupported& found : exec::unsupported(ptx::parse_and_link(sources))) {
      const auto owner =
          std::ranges::find(members, found.file, [&](std::size_t i) { return all[i].name; });
      modules[owner == members.end() ? members.front() : *owner]["unsupported"].push_back(
          json_of(found));
    }
  } catch (const InputError&) {
    for (std::size_t n = 0; n < members.size(); ++n)
      for (const exec::Unsupported& found :
           exec::unsupported(ptx::parse(sources[n].text, sources[n].file)))
        modules[members[n]]["unsupported"].push_back(json_of(found));
  }
}

/// Modules as a program would load them: what must be linked is linked before it is judged.
Json describe(const std::vector<DevicePtx>& all) {
  Json out = Json::array();
  std::set<std::string> targets;
  for (const DevicePtx& one : all) {
    const ptx::Module module = ptx::parse(one.text, one.name);
    out.push_back(describe(module, one.name));
    if (ptx::is_device_runtime(module)) continue;  // never run: the machine is the runtime
    if (!one.link_target.empty()) targets.insert(one.link_target);
    else
      for (const exec::Unsupported& found : exec::unsupported(module))
        out.back()["unsupported"].push_back(json_of(found));
  }
  for (const std::string& target : targets) judge_linked(all, target, out);
  return out;
}

struct PtxCommand {
  std::string file;
  bool json = false, as_text = false;

  int operator()() const {
    const bool binary = may_hold_device_code(file);
    const std::vector<DevicePtx> all =
        binary ? device_ptx(file) : std::vector<DevicePtx>{{file, runtime::read_ptx(file)}};
    if (as_text) return print(all);
    Json modules = describe(all);
    bool whole = true;
    for (const Json& module : modules) {
      whole = whole && module["unsupported"].empty();
      if (json) continue;
      std::fputs(text(module).c_str(), stdout);
      std::fputs(errors(module).c_str(), stderr);
    }
    if (json && binary) modules = {{"file", valid_utf8(file)}, {"modules", modules}};
    else if (json) modules = Json(modules.front());
    if (json) std::fputs((json_dump(modules, 2) + "\n").c_str(), stdout);
    return whole ? 0 : 1;
  }

  static int print(const std::vector<DevicePtx>& all) {
    for (const DevicePtx& one : all) {
      if (all.size() > 1) std::fputs(("// " + valid_utf8(one.name) + "\n").c_str(), stdout);
      std::fputs((one.text + "\n").c_str(), stdout);
    }
    return 0;
  }

  static std::string errors(const Json& out) {
    std::string t;
    for (const Json& u : out["unsupported"])
      t += fmt::format("raddle: {}:{}:{}: {} cannot be executed yet: {}\n",
                       out["file"].get<std::string>(), u["line"].get<int>(), u["column"].get<int>(),
                       u["function"].get<std::string>(), u["instruction"].get<std::string>());
    return t;
  }

  static std::string text(const Json& out) {
    std::string t =
        fmt::format("{}: PTX {} for {}\n", out["file"].get<std::string>(),
                    out["version"].get<std::string>(), out["target"].get<std::string>());
    for (const char* group : {"kernels", "functions"})
      for (const Json& k : out[group]) {
        t += fmt::format(
            "  {} {} (line {}): {} instructions, about {} registers, {} B shared, {} B local, {} "
            "parameters\n   ",
            group[0] == 'k' ? "kernel" : "function", k["name"].get<std::string>(),
            k["line"].get<int>(), k["instructions"].get<int>(), k["registers"].get<int>(),
            k["shared_bytes"].get<int>(), k["local_bytes"].get<int>(), k["parameters"].get<int>());
        for (const auto& [opcode, count] : k["mix"].items())
          t += fmt::format(" {} {}", opcode, count.get<int>());
        t += "\n";
      }
    return t;
  }
};

}  // namespace

Command add_ptx(CLI::App& app) {
  auto command = std::make_shared<PtxCommand>();
  CLI::App* ptx = app.add_subcommand(
      "ptx",
      "what PTX holds, of a file or in a CUDA program; exit status 0 only if all of it can be run");
  ptx->add_option("file", command->file,
                  "PTX text; or a CUDA program, library or fat binary with PTX in it")
      ->required()
      ->type_name("FILE.ptx|PROGRAM|FILE.so|FILE.fatbin");
  CLI::Option* json = ptx->add_flag("--json", command->json, "as JSON");
  ptx->add_flag("--text", command->as_text, "the PTX itself")->excludes(json);
  return {ptx, [command] { return (*command)(); }};
}

}  // namespace raddle::cli
