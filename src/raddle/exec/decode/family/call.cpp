// Calls (PTX ISA 9.7.12): of functions, of those that the machine has itself (printf, malloc), of
// the device runtime (__cudaCDP2X and the older cudaX), and the local stack.
#include <algorithm>
#include <iterator>

#include "raddle/base/error.h"
#include "raddle/exec/decode/decode_context.h"

namespace raddle::exec {

using u32 = std::uint32_t;
using ptx::Instruction;
using ptx::Type;
using trace::OpClass;
using trace::OpKind;
using Kind = ptx::Operand::Kind;

namespace {

/// What a call hands over, or gets: a parameter of the caller's, or a register.
struct Actual {
  Type type = Type::None;
  std::uint64_t bytes = 0;
  bool is_array = false;
};

std::string text_of(const Actual& actual) {
  const std::string type = "." + std::string(ptx::name_of(actual.type));
  return actual.is_array ? std::to_string(actual.bytes) + " bytes of " + type : type;
}

Actual actual_of(const DecodeContext& ctx, const ptx::Operand& operand) {
  if (operand.kind == Kind::Register) {
    const Type type = ctx.function.registers[operand.reg].type;
    return {type, ptx::size_of(type), false};
  }
  using Scope = ptx::SymbolRef::Scope;
  const bool own = operand.kind == Kind::Symbol && operand.symbol.scope == Scope::Function;
  const bool handed_on = operand.kind == Kind::Symbol && operand.symbol.scope == Scope::Parameter;
  if (!own && !handed_on) refuse("argument");
  const ptx::Variable& variable = own ? ctx.function.variables[operand.symbol.index]
                                      : ctx.function.parameters[operand.symbol.index];
  return {variable.type, variable.size, variable.is_array};
}

/// Arguments are bytes that the callee reads as it declares them. Alignments may differ: nothing
/// here depends on them.
void check_arguments(const DecodeContext& ctx, const std::vector<ptx::Variable>& formals,
                     const std::vector<ptx::Operand>& actuals, const std::string& what) {
  for (std::size_t i = 0; i < std::min(formals.size(), actuals.size()); ++i) {
    const Actual wanted{formals[i].type, formals[i].size, formals[i].is_array};
    const Actual found = actual_of(ctx, actuals[i]);
    const bool fits = wanted.is_array
                          ? found.is_array && found.bytes == wanted.bytes
                          : !found.is_array && register_fits(found.type, wanted.type, false);
    if (!fits)
      refuse(what + " " + std::to_string(i + 1) + ": expected " + text_of(wanted) + ", found " +
             text_of(found));
  }
}

struct HostFunctionInfo {
  std::string_view name;
  HostFunction function;
  unsigned arguments;
};

/// nullptr: none of the machine's own.
const HostFunctionInfo* host_function(std::string_view name) {
  static constexpr HostFunctionInfo kFunctions[] = {{"vprintf", HostFunction::Vprintf, 2},
                                                    {"__assertfail", HostFunction::AssertFail, 3},
                                                    {"malloc", HostFunction::Malloc, 1},
                                                    {"free", HostFunction::Free, 1}};
  const auto* const found = std::ranges::find(std::begin(kFunctions), std::end(kFunctions), name,
                                              &HostFunctionInfo::name);
  return found != std::end(kFunctions) ? found : nullptr;
}

bool host_call(DecodeContext& ctx, const ptx::Call& call, const ptx::Function& callee) {
  if (!callee.is_extern) return false;
  HostCall host;
  const HostFunctionInfo* const known = host_function(callee.name);
  if (known == nullptr) return false;
  host.function = known->function;
  host.arguments = ctx.in.places(call.arguments);
  host.returns = ctx.in.places(call.returns);
  if (host.arguments.size() < known->arguments) refuse("number of arguments");
  ctx.out.emit_own(O_host, OpKind::Branch).imm =
      static_cast<std::int32_t>(ctx.code().host_calls.size());
  ctx.code().host_calls.push_back(std::move(host));
  return true;
}

/// What a call is to the timing model.
OpKind kind_of(DeviceFunction function) {
  switch (function) {
    case DeviceFunction::LaunchDeviceV2:
    case DeviceFunction::LaunchDevice:
      return OpKind::Launch;
    case DeviceFunction::GetParameterBufferV2:
    case DeviceFunction::GetParameterBuffer:
      return OpKind::LaunchBuffer;
    case DeviceFunction::StreamCreateWithFlags:
      return OpKind::LaunchStream;
    default:
      return OpKind::Branch;
  }
}

bool device_call(DecodeContext& ctx, const ptx::Call& call, const ptx::Function& callee) {
  if (!callee.is_extern || !is_device_function(callee.name)) return false;
  if (callee.name.find("DeviceSynchronize") != std::string::npos)
    refuse("kernels cannot wait for what they launch: CUDA 12 has removed that");
  const DeviceFunctionInfo* info = device_function(callee.name);
  if (info == nullptr) refuse("the device runtime here has no " + callee.name);
  DeviceCall made{info->function, ctx.in.places(call.arguments), ctx.in.places(call.returns)};
  std::size_t expected = 0;
  while (expected < info->parameters.size() && info->parameters[expected] != 0) ++expected;
  bool same = made.arguments.size() == expected && made.returns.size() == 1 &&
              made.returns[0].bytes == info->result;
  for (std::size_t i = 0; same && i < expected; ++i)
    same = made.arguments[i].bytes == info->parameters[i];
  if (!same) refuse("arguments of " + callee.name);
  const OpKind kind = kind_of(info->function);
  Record& r = ctx.out.emit_own(kind == OpKind::Launch ? O_launch : O_device, kind);
  r.imm = static_cast<std::int32_t>(ctx.code().device_calls.size());
  ctx.code().device_calls.push_back(std::move(made));
  return true;
}

void call(DecodeContext& ctx, const Instruction& inst) {
  RADDLE_ASSERT(inst.call < ctx.function.calls.size());
  const ptx::Call& call = ctx.function.calls[inst.call];
  const ptx::Function* callee = nullptr;
  if (call.callee.kind == Kind::Symbol) {
    RADDLE_ASSERT(call.callee.symbol.index < ctx.module.functions.size());
    callee = &ctx.module.functions[call.callee.symbol.index];
    check_arguments(ctx, callee->parameters, call.arguments, "argument");
    check_arguments(ctx, callee->returns, call.returns, "return value");
    if (host_call(ctx, call, *callee) || device_call(ctx, call, *callee)) return;
    if (callee->is_extern) refuse("function " + callee->name + " has no body here");
    ctx.result.callees.push_back(call.callee.symbol.index);
  } else {
    if (call.prototype == ptx::kNoIndex) refuse("indirect call without a prototype");
    const auto& prototype = ctx.function.prototypes[call.prototype];
    check_arguments(ctx, prototype.parameters, call.arguments, "argument");
    check_arguments(ctx, prototype.returns, call.returns, "return value");
    ctx.result.has_indirect_call = true;
    for (u32 target : call.targets) ctx.result.callees.push_back(target);
  }
  const auto& formals =
      callee != nullptr ? callee->parameters : ctx.function.prototypes[call.prototype].parameters;
  const auto& results =
      callee != nullptr ? callee->returns : ctx.function.prototypes[call.prototype].returns;
  if (formals.size() != call.arguments.size() || results.size() != call.returns.size())
    refuse("number of arguments");
  CallSite site;
  site.arguments = ctx.in.places(call.arguments);
  site.returns = ctx.in.places(call.returns);
  for (std::size_t i = 0; i < formals.size(); ++i)
    if (site.arguments[i].is_register != (formals[i].space == ptx::Space::Reg))
      refuse("argument in another space than the parameter");
  if (callee != nullptr) site.callee = call.callee.symbol.index;
  const u32 target = callee == nullptr ? ctx.in.source(call.callee, Type::U64) : 0;
  Record& record = ctx.out.emit_own(callee != nullptr ? O_call : O_call_indirect, OpKind::Branch);
  record.a = target;
  record.imm = static_cast<std::int32_t>(ctx.code().calls.size());
  ctx.code().calls.push_back(std::move(site));
  if (callee == nullptr) ctx.out.jump(ctx.out.index() + 1, ctx.out.index() + 1);
}

void stack(DecodeContext& ctx, const Instruction& inst) {
  const Type t = ctx.in.type();
  const auto width = static_cast<u32>(ptx::size_of(t));
  HostCall call;
  call.function = HostFunction::StackSave;
  if (inst.opcode == "stackrestore") {
    call.function = HostFunction::StackRestore;
    call.arguments = {{ctx.in.source(0, t), width, true}};
  } else {
    call.returns = {{ctx.in.destination(0, t), width, true}};
  }
  if (inst.opcode == "alloca") {
    if (inst.operands.size() > 2 &&
        (ctx.in.operand(2).kind != Kind::Integer || ctx.in.operand(2).bits > 16))
      refuse("alignment");
    call.function = HostFunction::StackAllocate;
    call.arguments = {{ctx.in.source(1, t), width, true}};
    ctx.result.takes_stack = true;
  }
  ctx.out.op_class(OpClass::Int);
  ctx.out.emit_own(O_host, OpKind::Alu).imm =
      static_cast<std::int32_t>(ctx.code().host_calls.size());
  ctx.code().host_calls.push_back(std::move(call));
}

}  // namespace

bool machine_has(std::string_view function) {
  return host_function(function) != nullptr || is_device_function(function);
}

void add_decode_call(Handlers& handlers) {
  handlers.add({"call"}, call);
  handlers.add({"alloca", "stacksave", "stackrestore"}, stack);
}

}  // namespace raddle::exec
