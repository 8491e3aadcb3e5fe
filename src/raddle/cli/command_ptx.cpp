// raddle ptx: what a PTX file holds, and whether all of it can be run.
#include <fmt/format.h>

#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "raddle/base/error.h"
#include "raddle/base/json.h"
#include "raddle/cli/commands.h"
#include "raddle/exec/program.h"
#include "raddle/ptx/analysis.h"
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

struct PtxCommand {
  std::string file;
  bool json = false;

  int operator()() const {
    const ptx::Module module = ptx::parse(runtime::read_ptx(file), file);
    Json out = {{"file", valid_utf8(file)},
                {"version", fmt::format("{}.{}", module.version_major, module.version_minor)},
                {"target", module.target}};
    out["kernels"] = Json::array();
    out["functions"] = Json::array();
    for (const ptx::Function& f : module.functions)
      if (!f.is_extern) out[f.is_entry ? "kernels" : "functions"].push_back(describe(module, f));
    out["unsupported"] = Json::array();
    for (const exec::Unsupported& u : exec::unsupported(module))
      out["unsupported"].push_back({{"function", u.function},
                                    {"instruction", u.instruction},
                                    {"line", u.line},
                                    {"column", u.column}});
    std::fputs((json ? out.dump(2) + "\n" : text(out)).c_str(), stdout);
    if (!json) std::fputs(errors(out).c_str(), stderr);
    return out["unsupported"].empty() ? 0 : 1;
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
            "  {} {} (line {}): {} instructions, {} registers, {} B shared, {} B local, {} "
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
      "ptx", "what a PTX file holds; exit status 0 only if all of it can be run");
  ptx->add_option("file", command->file, "PTX text")->required()->type_name("FILE.ptx");
  ptx->add_flag("--json", command->json, "as JSON");
  return {ptx, [command] { return (*command)(); }};
}

}  // namespace raddle::cli
