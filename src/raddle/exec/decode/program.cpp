// Loading a module: its variables into device memory, its kernels decoded when first asked for.
#include "raddle/exec/decode/program.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include "raddle/base/demangle.h"
#include "raddle/base/error.h"
#include "raddle/base/json.h"
#include "raddle/base/round_up.h"
#include "raddle/exec/decode/decode.h"
#include "raddle/exec/decode/static_operands.h"
#include "raddle/trace/stream.h"

namespace raddle::exec {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

template <class F>
void each_symbol(const ptx::Operand& operand, F f) {
  if (operand.symbol.scope != ptx::SymbolRef::Scope::None) f(operand.symbol);
  for (const ptx::Operand& e : operand.elements) each_symbol(e, f);
}

/// Device functions whose address is taken anywhere: what an indirect call may reach.
std::vector<u32> address_taken(const ptx::Module& module) {
  std::set<u32> taken;
  const auto note = [&](const ptx::SymbolRef& s) {
    if (s.scope == ptx::SymbolRef::Scope::Code) taken.insert(s.index);
  };
  for (const ptx::Function& f : module.functions)
    for (const ptx::Instruction& i : f.instructions)
      for (const ptx::Operand& o : i.operands) each_symbol(o, note);
  for (const ptx::Variable& v : module.variables)
    for (const ptx::Relocation& r : v.relocations) note(r.symbol);
  return {taken.begin(), taken.end()};
}

/// The entry first, then what it may call, in order of discovery.
std::vector<u32> reachable(const ptx::Module& module, u32 entry) {
  std::vector<u32> found{entry};
  const auto add = [&](u32 f) {
    if (!module.functions[f].is_extern && !module.functions[f].is_entry &&
        std::find(found.begin(), found.end(), f) == found.end())
      found.push_back(f);
  };
  for (std::size_t k = 0; k < found.size(); ++k)
    for (const ptx::Call& call : module.functions[found[k]].calls) {
      if (call.callee.kind == ptx::Operand::Kind::Symbol) add(call.callee.symbol.index);
      else
        for (u32 f : call.targets.empty() ? address_taken(module) : call.targets) add(f);
    }
  return found;
}

SharedLayout lay_out_shared(const ptx::Module& module, const std::vector<u32>& functions) {
  SharedLayout layout;
  layout.module.resize(module.variables.size());
  std::set<u32> used;
  for (u32 index : functions) {
    const ptx::Function& function = module.functions[index];
    const auto note = [&](const ptx::SymbolRef& s) {
      if (s.scope == ptx::SymbolRef::Scope::Module &&
          module.variables[s.index].space == ptx::Space::Shared)
        used.insert(s.index);
    };
    for (const ptx::Instruction& i : function.instructions)
      for (const ptx::Operand& operand : i.operands) each_symbol(operand, note);
  }
  u32 at = 0, dynamic_align = 0;
  const auto place = [&](const ptx::Variable& variable) {
    at = round_up(at, std::max(variable.align, 4u));
    const u32 here = at;
    at += static_cast<u32>(variable.size);
    return here;
  };
  const auto is_dynamic = [](const ptx::Variable& variable) {
    return variable.is_extern && variable.size == 0;
  };
  for (u32 variable : used) {
    if (is_dynamic(module.variables[variable]))
      dynamic_align = std::max({dynamic_align, module.variables[variable].align, 16u});
    else layout.module[variable] = place(module.variables[variable]);
  }
  for (u32 index : functions)
    for (u32 variable = 0; variable < module.functions[index].variables.size(); ++variable)
      if (module.functions[index].variables[variable].space == ptx::Space::Shared)
        layout.local[{index, variable}] = place(module.functions[index].variables[variable]);
  if (dynamic_align != 0) at = round_up(at, dynamic_align);
  for (u32 variable : used)
    if (is_dynamic(module.variables[variable])) layout.module[variable] = at;
  layout.static_bytes = at;
  return layout;
}

ParameterLayout lay_out_parameters(const ptx::Function& entry) {
  ParameterLayout layout;
  for (const ptx::Variable& v : entry.parameters) {
    layout.bytes = round_up(layout.bytes, std::max(v.align, 1u));
    layout.items.push_back({layout.bytes, static_cast<u32>(v.size)});
    layout.bytes += static_cast<u32>(v.size);
  }
  return layout;
}

/// Local bytes of the deepest chain of calls from `function`; nullopt when calls are recursive.
std::optional<u32> deepest(const Kernel& kernel, u32 function, std::vector<char>& on_path,
                           const std::vector<std::vector<u32>>& callees) {
  RADDLE_ASSERT(function < kernel.functions.size() && function < callees.size());
  if (on_path[function] != 0) return std::nullopt;
  on_path[function] = 1;
  u32 maximum = 0;
  for (u32 callee : callees[function]) {
    const auto below = deepest(kernel, kernel.function_of_module[callee], on_path, callees);
    if (!below) return std::nullopt;
    maximum = std::max(maximum, *below);
  }
  on_path[function] = 0;
  return kernel.functions[function].local_bytes + maximum;
}

[[noreturn]] void throw_refused(const ptx::Module& module, const std::string& kernel,
                                const std::vector<Unsupported>& refused) {
  std::vector<Diagnostic> all;
  for (const Unsupported& u : refused) {
    // What is quoted may be cut; the reason stays whole.
    const std::size_t end = std::min(u.instruction.find(" ("), u.instruction.size());
    all.push_back({{u.file.empty() ? module.file : u.file, u.line, u.column},
                   "kernel " + kernel + " needs '" + u.instruction.substr(0, end) + "'" +
                       u.instruction.substr(end) + ", which is not supported (in function " +
                       u.function + ")"});
  }
  throw InputError(std::move(all));
}

/// Registers that ptxas allows a thread: those that instructions can name, what the kernel's own
/// directives leave of the 65,536 of an SM. Warps get them in units of 8 a thread, and each of an
/// SM's four parts has as many (seen of ptxas 13: 168 for one block of 320 threads or four of 96).
u32 register_limit(const ptx::Function& entry) {
  constexpr u64 kOfSm = 65536, kParts = 4, kUnit = 8;
  u64 limit = 255;
  const auto& threads = entry.required_threads ? entry.required_threads : entry.max_threads;
  if (threads && threads->count() != 0) {
    const u64 blocks = std::max<u64>(entry.min_blocks_per_sm.value_or(1), 1);
    const u64 warps = (threads->count() + kLanes - 1) / kLanes * blocks;
    const u64 of_part = (warps + kParts - 1) / kParts;
    limit = std::min(limit, kOfSm / kParts / (of_part * kLanes) / kUnit * kUnit);
  }
  if (entry.max_registers && *entry.max_registers != 0)
    limit = std::min<u64>(limit, *entry.max_registers);
  return static_cast<u32>(std::max<u64>(limit, 16));  // what calls and addresses need at least
}

/// What .loc says of an instruction; nothing where the PTX was made without (nvcc -lineinfo).
trace::SourcePlace source_place(const ptx::SourceLine& at, const ptx::SourceFiles& files,
                                std::vector<std::string>& named) {
  const auto file = files.find(at.file);
  if (at.line == 0 || file == files.end()) return {};
  const std::string name = valid_utf8(file->second);  // results and recordings are JSON
  const auto known = std::ranges::find(named, name);
  const auto index = static_cast<u32>(known - named.begin());
  if (known == named.end()) named.push_back(name);
  return {index, at.line};
}

/// Numbers of the opcodes in KernelCode::opcode_names.
using Opcodes = std::map<std::string, std::uint16_t>;

/// What the timing model and lowering see of a function, behind what `code` has already.
void add_static_code(const ptx::SourceFiles& files, const ptx::Function& source,
                     std::vector<trace::StaticInst>& statics, Opcodes& opcodes,
                     trace::KernelCode& code) {
  RADDLE_ASSERT(statics.size() == source.instructions.size());
  const FunctionBase base{static_cast<u32>(code.register_bytes.size()),
                          static_cast<u32>(code.instructions.size())};
  for (const ptx::Register& reg : source.registers)
    code.register_bytes.push_back(
        static_cast<std::uint8_t>(reg.type == ptx::Type::Pred ? 0 : ptx::size_of(reg.type)));
  for (std::size_t i = 0; i < statics.size(); ++i) {
    const auto [at, fresh] = opcodes.try_emplace(source.instructions[i].text(),
                                                 static_cast<std::uint16_t>(opcodes.size()));
    if (fresh) code.opcode_names.push_back(at->first);
    statics[i].opcode = at->second;
    statics[i].source = source_place(source.instructions[i].source, files, code.source_files);
    describe_operands(source, static_cast<u32>(i), base, statics[i]);
    code.instructions.push_back(std::move(statics[i]));
  }
}

/// The same instruction where its generic addresses turn out to be shared or, behind that, local,
/// and, behind that, a load's of parameters, where the kernel takes addresses of them. Returns the
/// index of the first.
u32 add_aliases(u32 access, bool parameters, trace::KernelCode& code) {
  using K = trace::OpKind;
  RADDLE_ASSERT(access < code.instructions.size());
  const auto first = static_cast<u32>(code.instructions.size());
  trace::StaticInst inst = code.instructions[access];
  inst.alias_of = access;
  inst.acquires = inst.releases = false;
  const bool load = inst.kind == K::LoadGlobal, store = inst.kind == K::StoreGlobal;
  code.instructions.push_back(inst);
  code.instructions.back().kind = load ? K::LoadShared : store ? K::StoreShared : K::AtomicShared;
  code.instructions.push_back(inst);
  code.instructions.back().kind = load ? K::LoadLocal : K::StoreLocal;
  if (!parameters || !load) return first;
  code.instructions.push_back(inst);
  code.instructions.back().kind = K::LoadConst;
  return first;
}

/// What a copy does when its bytes have come: it tells its barrier objects. Returns the index.
u32 add_end_of_copy(u32 copy, trace::KernelCode& code) {
  RADDLE_ASSERT(copy < code.instructions.size());
  const auto first = static_cast<u32>(code.instructions.size());
  trace::StaticInst inst = code.instructions[copy];
  inst.alias_of = copy;
  inst.bypass_l1 = false;
  inst.writes.clear();
  inst.kind = trace::OpKind::BarrierObject;
  inst.op_class = trace::OpClass::Barrier;
  inst.bytes = static_cast<std::uint16_t>(trace::ObjectAction::Copied);
  code.instructions.push_back(inst);
  return first;
}

/// Local memory of a thread of a recursive kernel, as cudaLimitStackSize would give it.
constexpr u32 kRecursionBytes = 64 * 1024;

}  // namespace

std::unique_ptr<Kernel> decode_kernel(const Layout& layout, u32 entry) {
  const ptx::Module& module = *layout.module;
  RADDLE_ASSERT(entry < module.functions.size() && module.functions[entry].is_entry);
  RADDLE_ASSERT(layout.variables.size() == module.variables.size());
  auto kernel = std::make_unique<Kernel>();
  kernel->name = module.functions[entry].name;
  kernel->title = short_name(kernel->name);
  kernel->module = &module;
  kernel->parameters = lay_out_parameters(module.functions[entry]);
  const std::vector<u32> functions = reachable(module, entry);
  const SharedLayout shared = lay_out_shared(module, functions);
  kernel->static_shared_bytes = shared.static_bytes;
  kernel->function_of_module.assign(module.functions.size(), ptx::kNoIndex);
  auto code = std::make_shared<trace::KernelCode>();
  code->name = kernel->name;
  code->file = module.source_of(module.functions[entry]).file;
  code->static_shared_bytes = shared.static_bytes;
  Opcodes opcodes;
  std::vector<Unsupported> refused;
  std::vector<std::vector<u32>> callees;
  std::vector<u32> generic, copies;
  bool takes_stack = false, addresses_parameters = false;
  for (u32 k = 0; k < functions.size(); ++k) {
    const u32 first = static_cast<u32>(code->instructions.size());
    kernel->function_of_module[functions[k]] = k;
    DecodedFunction decoded =
        decode_function({&layout, &shared, &kernel->parameters, functions[k], first});
    refused.insert(refused.end(), decoded.refused.begin(), decoded.refused.end());
    callees.push_back(decoded.callees);
    takes_stack |= decoded.takes_stack;
    addresses_parameters |= decoded.addresses_parameters;
    if (decoded.has_indirect_call) callees.back().assign(functions.begin() + 1, functions.end());
    for (u32 access : decoded.generic_accesses) generic.push_back(first + access);
    for (u32 copy : decoded.copies) copies.push_back(first + copy);
    add_static_code(module.source_of(module.functions[functions[k]]).source_files,
                    module.functions[functions[k]], decoded.statics, opcodes, *code);
    kernel->functions.push_back(std::move(decoded.code));
    code->registers_per_thread =
        std::max(code->registers_per_thread, kernel->functions.back().registers);
  }
  if (!refused.empty()) throw_refused(module, kernel->name, refused);
  code->registers_per_thread =
      std::min(code->registers_per_thread, register_limit(module.functions[entry]));
  code->compiled_registers = module.functions[entry].compiled_registers;
  kernel->aliases.resize(code->instructions.size());
  for (u32 access : generic)
    kernel->aliases[access] = add_aliases(access, addresses_parameters, *code);
  for (u32 copy : copies) kernel->aliases[copy] = add_end_of_copy(copy, *code);
  if (code->instructions.size() >= trace::kMaxInstructions)
    throw InputError({code->file, module.functions[entry].line, 0},
                     "kernel " + kernel->title + " has more than 1048575 instructions");
  std::vector<char> on_path(functions.size(), 0);
  const auto local = deepest(*kernel, 0, on_path, callees);
  kernel->recursive = !local || takes_stack;
  kernel->local_bytes = kernel->recursive ? kRecursionBytes : *local;
  code->local_bytes_per_thread = kernel->local_bytes;
  kernel->code = std::move(code);
  return kernel;
}

std::vector<Unsupported> refusals(const Layout& layout, u32 function) {
  const ptx::Module& module = *layout.module;
  const SharedLayout shared = lay_out_shared(module, {function});
  const ParameterLayout parameters = lay_out_parameters(module.functions[function]);
  return decode_function({&layout, &shared, &parameters, function, 0}).refused;
}

std::vector<Unsupported> unsupported(const ptx::Module& module) {
  Layout layout{&module, std::vector<u64>(module.variables.size(), DeviceMemory::kBase)};
  std::vector<Unsupported> all;
  for (u32 f = 0; f < module.functions.size(); ++f) {
    if (module.functions[f].is_extern) continue;
    const auto refused = refusals(layout, f);
    all.insert(all.end(), refused.begin(), refused.end());
  }
  return all;
}

std::vector<Diagnostic> unresolved(const ptx::Module& module) {
  std::set<u32> used;
  for (const u32 f : address_taken(module)) used.insert(f);
  for (const ptx::Function& function : module.functions)
    for (const ptx::Call& call : function.calls) {
      if (call.callee.kind == ptx::Operand::Kind::Symbol) used.insert(call.callee.symbol.index);
      used.insert(call.targets.begin(), call.targets.end());
    }
  const auto of_nvidia = [](std::string_view name) {
    return name.starts_with("cuda") || name.starts_with("__cuda");
  };
  std::vector<Diagnostic> all;
  for (const u32 f : used) {
    const ptx::Function& function = module.functions[f];
    if (!function.is_extern || machine_has(function.name) || of_nvidia(function.name)) continue;
    all.push_back({{module.source_of(function).file, function.line, 0},
                   "Unresolved extern function '" + function.name + "'"});
  }
  return all;
}

struct Program::Impl {
  ptx::Module module;
  DeviceMemory& memory;
  Layout layout;
  std::map<std::string, std::unique_ptr<Kernel>, std::less<>> kernels;

  Impl(ptx::Module m, DeviceMemory& mem) : module(std::move(m)), memory(mem) {
    layout.module = &module;
    layout.variables.resize(module.variables.size());
    for (u32 v = 0; v < module.variables.size(); ++v) allocate(v);
    for (u32 v = 0; v < module.variables.size(); ++v) initialise(v);
  }
  ~Impl() {
    for (u32 v = 0; v < module.variables.size(); ++v)
      if (in_memory(module.variables[v])) memory.free(layout.variables[v]);
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  static bool in_memory(const ptx::Variable& v) {
    // A texture or surface reference holds the handle of the object it is bound to.
    return (v.space == ptx::Space::Global || v.space == ptx::Space::Const) &&
           v.type != ptx::Type::SampRef;
  }
  /// Names that begin so are the compiler's: strings, tables of its mathematics.
  static DeviceMemory::Owner owner_of(const ptx::Variable& v) {
    using Kind = DeviceMemory::Owner::Kind;
    if (v.name.starts_with("$") || v.name.starts_with("__")) return {Kind::Internal};
    return {Kind::Variable, demangled(v.name)};
  }
  void allocate(u32 index) {
    const ptx::Variable& v = module.variables[index];
    if (!in_memory(v)) return;
    const auto at = memory.allocate(v.size, owner_of(v));
    if (!at)
      throw InputError({module.file, v.line, 0}, "no device memory left for variable " + v.name +
                                                     " of " + std::to_string(v.size) + " bytes");
    layout.variables[index] = *at;
  }
  void initialise(u32 index) {
    const ptx::Variable& v = module.variables[index];
    if (!in_memory(v) || v.size == 0) return;
    std::byte* to = memory.host(layout.variables[index]);
    std::memset(to, 0, v.size);
    if (!v.initial.empty()) std::memcpy(to, v.initial.data(), v.initial.size());
    for (const ptx::Relocation& r : v.relocations) {
      u64 value = static_cast<u64>(r.addend);
      if (r.symbol.scope == ptx::SymbolRef::Scope::Code) value += function_address(r.symbol.index);
      else if (r.symbol.scope == ptx::SymbolRef::Scope::Module &&
               in_memory(module.variables[r.symbol.index]))
        value += layout.variables[r.symbol.index];
      else
        throw InputError({module.file, v.line, 0}, "the initialiser of " + v.name +
                                                       " takes an address that is not in memory");
      value >>= r.shift;
      RADDLE_ASSERT(r.size <= sizeof value && r.offset + r.size <= v.size);
      std::memcpy(to + r.offset, &value, r.size);
    }
  }
};

Program::Program(ptx::Module module, DeviceMemory& memory)
    : impl_(std::make_unique<Impl>(std::move(module), memory)) {}
Program::~Program() = default;

const Kernel& Program::kernel(std::string_view name) {
  if (const auto found = impl_->kernels.find(name); found != impl_->kernels.end())
    return *found->second;
  const ptx::Module& module = impl_->module;
  for (u32 f = 0; f < module.functions.size(); ++f) {
    const ptx::Function& function = module.functions[f];
    if (!function.is_entry || function.is_extern || function.name != name) continue;
    auto kernel = decode_kernel(impl_->layout, f);
    kernel->memory = &impl_->memory;
    kernel->program = this;
    return *(impl_->kernels[std::string(name)] = std::move(kernel));
  }
  std::string known;
  for (const std::string& k : kernel_names()) known += (known.empty() ? "" : ", ") + k;
  throw InputError({module.file, 0, 0}, "there is no kernel '" + std::string(name) +
                                            "'; known: " + (known.empty() ? "none" : known));
}

std::vector<std::string> Program::kernel_names() const {
  std::vector<std::string> names;
  for (const ptx::Function& f : impl_->module.functions)
    if (f.is_entry && !f.is_extern) names.push_back(f.name);
  return names;
}
const ptx::Module& Program::module() const { return impl_->module; }
std::optional<Program::Symbol> Program::symbol(std::string_view name) const {
  for (u32 v = 0; v < impl_->module.variables.size(); ++v) {
    const ptx::Variable& variable = impl_->module.variables[v];
    if (variable.name == name && Impl::in_memory(variable))
      return Symbol{impl_->layout.variables[v], variable.size};
  }
  return std::nullopt;
}

const std::shared_ptr<const trace::KernelCode>& code_of(const Kernel& kernel) {
  return kernel.code;
}
const ParameterLayout& parameters_of(const Kernel& kernel) { return kernel.parameters; }

}  // namespace raddle::exec
