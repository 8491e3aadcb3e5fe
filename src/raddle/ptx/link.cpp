#include "raddle/ptx/link.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "raddle/base/error.h"
#include "raddle/ptx/cursor.h"

namespace raddle::ptx {
namespace {

using u32 = std::uint32_t;

/// "f in a.ptx:12"
std::string place_text(const std::string& file, unsigned line) {
  return file + ":" + std::to_string(line);
}

bool same_sizes(const std::vector<Variable>& a, const std::vector<Variable>& b) {
  return std::ranges::equal(a, b, {}, &Variable::size, &Variable::size);
}

class Linker {
 public:
  explicit Linker(std::vector<Module> modules) : modules_(std::move(modules)) {
    out_.text = modules_[0].text;
    out_.file = modules_[0].file;
    out_.source_files = modules_[0].source_files;
    out_.version_major = modules_[0].version_major;
    out_.version_minor = modules_[0].version_minor;
    out_.target = modules_[0].target;
    for (std::size_t m = 1; m < modules_.size(); ++m) {
      const Module& module = modules_[m];
      out_.linked.push_back({module.text, module.file, module.source_files});
      if (std::pair(module.version_major, module.version_minor) >
          std::pair(out_.version_major, out_.version_minor)) {
        out_.version_major = module.version_major;
        out_.version_minor = module.version_minor;
      }
    }
    functions_.resize(modules_.size());
    variables_.resize(modules_.size());
  }

  Module link() {
    for (std::size_t m = 0; m < modules_.size(); ++m) {
      for (Function& f : modules_[m].functions) f.source = static_cast<u32>(m);
      for (u32 f = 0; f < modules_[m].functions.size(); ++f) place_function(m, f);
      for (u32 v = 0; v < modules_[m].variables.size(); ++v) place_variable(m, v);
    }
    for (u32 v = 0; v < out_.variables.size(); ++v) {
      const Variable& variable = out_.variables[v];
      if (variable.is_extern && variable.space != Space::Shared)
        bad(file_of(variable_from_[v]), variable.line,
            "variable " + in_quotes(variable.name) + " is defined in none of the modules");
    }
    if (!broken_.empty()) throw InputError(std::move(broken_));
    // What was taken is now in its place, so only that is renumbered.
    for (u32 f = 0; f < out_.functions.size(); ++f) renumber(out_.functions[f]);
    for (u32 v = 0; v < out_.variables.size(); ++v)
      for (Relocation& r : out_.variables[v].relocations) renumber(variable_from_[v], r.symbol);
    return std::move(out_);
  }

 private:
  void bad(const std::string& file, unsigned line, const std::string& what) {
    broken_.push_back({{file, line, 0}, what});
  }
  const std::string& file_of(std::size_t module) const { return modules_[module].file; }

  void place_function(std::size_t m, u32 index) {
    Function& f = modules_[m].functions[index];
    const auto fresh = static_cast<u32>(out_.functions.size());
    // Entries have names that the host uses: there cannot be two.
    const bool global = f.is_extern || f.is_visible || f.is_weak || f.is_entry;
    const auto [known, inserted] = global ? function_names_.try_emplace(f.name, fresh)
                                          : std::pair(function_names_.end(), true);
    functions_[m].push_back(inserted ? fresh : known->second);
    if (inserted) {
      out_.functions.push_back(std::move(f));
      return;
    }
    Function& earlier = out_.functions[known->second];
    const std::string& file = file_of(m);
    if (earlier.is_entry != f.is_entry || !same_sizes(earlier.parameters, f.parameters) ||
        !same_sizes(earlier.returns, f.returns))
      return bad(file, f.line,
                 in_quotes(f.name) + " is declared otherwise in " +
                     place_text(file_of(earlier.source), earlier.line));
    if (f.is_extern) return;
    if (earlier.is_extern || (earlier.is_weak && !f.is_weak)) earlier = std::move(f);
    else if (!f.is_weak)
      bad(file, f.line,
          in_quotes(f.name) + " is defined in " +
              place_text(file_of(earlier.source), earlier.line) + " already");
  }

  void place_variable(std::size_t number, u32 index) {
    Variable& variable = modules_[number].variables[index];
    const auto fresh = static_cast<u32>(out_.variables.size());
    const bool global = variable.is_extern || variable.is_visible || variable.is_weak;
    const auto [known, inserted] = global ? variable_names_.try_emplace(variable.name, fresh)
                                          : std::pair(variable_names_.end(), true);
    variables_[number].push_back(inserted ? fresh : known->second);
    if (inserted) {
      out_.variables.push_back(std::move(variable));
      variable_from_.push_back(number);
      return;
    }
    Variable& earlier = out_.variables[known->second];
    const std::size_t from = variable_from_[known->second];
    // ".extern .shared .b8 all[]": every module may take it for something else.
    if (variable.space == Space::Shared && earlier.space == Space::Shared && variable.is_extern &&
        earlier.is_extern) {
      earlier.align = std::max(earlier.align, variable.align);
      return;
    }
    const bool unsized =
        (variable.is_extern && variable.size == 0) || (earlier.is_extern && earlier.size == 0);
    if (variable.space != earlier.space || (variable.size != earlier.size && !unsized))
      return bad(file_of(number), variable.line,
                 in_quotes(variable.name) + " is declared otherwise in " +
                     place_text(file_of(from), earlier.line));
    if (variable.is_extern) return;
    if (!earlier.is_extern && !(earlier.is_weak && !variable.is_weak)) {
      if (!variable.is_weak)
        bad(file_of(number), variable.line,
            in_quotes(variable.name) + " is defined in " + place_text(file_of(from), earlier.line) +
                " already");
      return;
    }
    earlier = std::move(variable);
    variable_from_[known->second] = number;
  }

  // --- numbers -----------------------------------------------------------------------------------
  void renumber(std::size_t m, SymbolRef& symbol) const {
    RADDLE_ASSERT(m < functions_.size() && m < variables_.size());
    if (symbol.scope == SymbolRef::Scope::Code) symbol.index = functions_[m][symbol.index];
    if (symbol.scope == SymbolRef::Scope::Module) symbol.index = variables_[m][symbol.index];
  }
  void renumber(std::size_t m, Operand& operand) const {
    renumber(m, operand.symbol);
    for (Operand& element : operand.elements) renumber(m, element);
  }
  void renumber(Function& f) const {
    const std::size_t m = f.source;
    for (Instruction& i : f.instructions)
      for (Operand& operand : i.operands) renumber(m, operand);
    for (Call& call : f.calls) {
      renumber(m, call.callee);
      for (Operand& operand : call.returns) renumber(m, operand);
      for (Operand& operand : call.arguments) renumber(m, operand);
      for (u32& target : call.targets) target = functions_[m][target];
    }
    for (Variable& variable : f.variables)
      for (Relocation& r : variable.relocations) renumber(m, r.symbol);
  }

  std::vector<Module> modules_;
  Module out_;
  std::vector<std::vector<u32>> functions_, variables_;  // of each module: number in out_
  std::vector<std::size_t> variable_from_;               // module of each variable of out_
  std::map<std::string, u32, std::less<>> function_names_, variable_names_;
  std::vector<Diagnostic> broken_;
};

}  // namespace

bool is_device_runtime(const Module& module) {
  return std::ranges::any_of(module.functions, [](const Function& f) {
    return !f.is_extern && f.name == "__cudaCDP2LaunchDeviceV2";
  });
}

Module link(std::vector<Module> modules) {
  RADDLE_ASSERT(!modules.empty());
  Module first = modules.size() == 1 ? std::move(modules[0]) : Module();
  if (modules.size() == 1) return first;
  std::erase_if(modules, is_device_runtime);
  if (modules.empty()) throw InputError("there is nothing to link but the device runtime");
  if (modules.size() == 1) return std::move(modules[0]);
  return Linker(std::move(modules)).link();
}

Module parse_and_link(std::vector<SourceText> sources) {
  std::vector<Module> modules;
  for (SourceText& source : sources)
    modules.push_back(parse(std::move(source.text), std::move(source.file)));
  return link(std::move(modules));
}

}  // namespace raddle::ptx
