// Control flow, synchronisation and operations across the warp (PTX ISA 9.7.12, 9.7.13), and the
// table of all opcodes.
#include <algorithm>
#include <iterator>

#include "raddle/exec/decode/decode.h"

namespace raddle::exec {

using u32 = std::uint32_t;
using ptx::Type;
using trace::OpClass;
using trace::OpKind;
using Kind = ptx::Operand::Kind;

const std::map<std::string_view, Decoder::Handler> Decoder::kHandlers = {
    {"add", &Decoder::add_sub},
    {"sub", &Decoder::add_sub},
    {"addc", &Decoder::carry_add},
    {"subc", &Decoder::carry_add},
    {"mul", &Decoder::mul},
    {"mad", &Decoder::mad},
    {"madc", &Decoder::carry_mad},
    {"mul24", &Decoder::mul24},
    {"mad24", &Decoder::mul24},
    {"div", &Decoder::div_rem},
    {"rem", &Decoder::div_rem},
    {"neg", &Decoder::unary},
    {"abs", &Decoder::unary},
    {"not", &Decoder::unary},
    {"cnot", &Decoder::unary},
    {"min", &Decoder::min_max},
    {"max", &Decoder::min_max},
    {"and", &Decoder::logic},
    {"or", &Decoder::logic},
    {"xor", &Decoder::logic},
    {"shl", &Decoder::shift},
    {"shr", &Decoder::shift},
    {"shf", &Decoder::shift},
    {"popc", &Decoder::bits},
    {"clz", &Decoder::bits},
    {"bfind", &Decoder::bits},
    {"brev", &Decoder::bits},
    {"bfe", &Decoder::bit_field},
    {"bfi", &Decoder::bit_field},
    {"bmsk", &Decoder::bit_field},
    {"szext", &Decoder::bit_field},
    {"fns", &Decoder::bit_field},
    {"sad", &Decoder::bytes},
    {"prmt", &Decoder::bytes},
    {"lop3", &Decoder::bytes},
    {"dp4a", &Decoder::bytes},
    {"dp2a", &Decoder::bytes},
    {"fma", &Decoder::fma},
    {"rcp", &Decoder::float_unary},
    {"sqrt", &Decoder::float_unary},
    {"rsqrt", &Decoder::float_unary},
    {"ex2", &Decoder::float_unary},
    {"lg2", &Decoder::float_unary},
    {"sin", &Decoder::float_unary},
    {"cos", &Decoder::float_unary},
    {"tanh", &Decoder::float_unary},
    {"testp", &Decoder::testp},
    {"copysign", &Decoder::testp},
    {"setp", &Decoder::setp},
    {"set", &Decoder::set},
    {"selp", &Decoder::selp},
    {"slct", &Decoder::slct},
    {"mov", &Decoder::mov},
    {"cvt", &Decoder::cvt},
    {"cvta", &Decoder::cvta},
    {"isspacep", &Decoder::isspacep},
    {"ld", &Decoder::load},
    {"ldu", &Decoder::load},
    {"st", &Decoder::store},
    {"atom", &Decoder::atom},
    {"red", &Decoder::atom},
    {"bra", &Decoder::bra},
    {"brx", &Decoder::brx},
    {"call", &Decoder::call},
    {"ret", &Decoder::ret_exit},
    {"exit", &Decoder::ret_exit},
    {"trap", &Decoder::ret_exit},
    {"bar", &Decoder::bar},
    {"barrier", &Decoder::bar},
    {"membar", &Decoder::simple},
    {"fence", &Decoder::simple},
    {"nanosleep", &Decoder::simple},
    {"prefetch", &Decoder::simple},
    {"prefetchu", &Decoder::simple},
    {"pmevent", &Decoder::simple},
    {"vote", &Decoder::vote},
    {"match", &Decoder::match},
    {"shfl", &Decoder::shfl},
    {"redux", &Decoder::redux},
    {"activemask", &Decoder::activemask},
    {"wmma", &Decoder::wmma},
    {"mma", &Decoder::mma},
    {"ldmatrix", &Decoder::matrix_rows},
    {"stmatrix", &Decoder::matrix_rows},
    {"movmatrix", &Decoder::matrix_transpose},
    {"cp", &Decoder::async_copy},
    {"mbarrier", &Decoder::barrier_object},
    {"elect", &Decoder::elect},
    {"tex", &Decoder::texture},
    {"tld4", &Decoder::texture},
    {"txq", &Decoder::image_query},
    {"suq", &Decoder::image_query},
    {"suld", &Decoder::surface},
    {"sust", &Decoder::surface},
    {"mapa", &Decoder::mapa},
    {"getctarank", &Decoder::getctarank},
    {"createpolicy", &Decoder::create_policy},
    {"discard", &Decoder::simple},
    {"applypriority", &Decoder::simple},
    {"setmaxnreg", &Decoder::simple},
    {"griddepcontrol", &Decoder::simple},
    {"brkpt", &Decoder::ret_exit},
    {"alloca", &Decoder::stack},
    {"stacksave", &Decoder::stack},
    {"stackrestore", &Decoder::stack},
};

void Decoder::dispatch(const Inst& inst) {
  const auto found = kHandlers.find(inst.opcode);
  if (found == kHandlers.end() && inst.opcode[0] == 'v') return video(inst);
  if (found == kHandlers.end()) refuse();
  (this->*found->second)(inst);
}

void Decoder::bra(const Inst& inst) {
  if (operand(0).kind != Kind::Label) refuse("branch target");
  Record& r = emit(inst.guard != ptx::kNoIndex ? O_bra_if : O_bra);
  if (inst.guard != ptx::kNoIndex) {
    r.a = predicate_register(inst.guard);
    r.d = inst.guard_negated ? ~0u : 0u;
  }
  current_.kind = OpKind::Branch;
  op_class(OpClass::Control);
  fixes_.push_back({code_.records.size() - 1, operand(0).target, joins_[index_]});
}

void Decoder::brx(const Inst& inst) {
  const u32 index = source(operand(0), Type::U32);
  Record& r = emit_own(O_brx, OpKind::Branch);
  r.a = index;
  r.imm = static_cast<std::int32_t>(code_.branch_tables.size());
  code_.branch_tables.emplace_back(inst.branch_targets.begin(), inst.branch_targets.end());
  fixes_.push_back({code_.records.size() - 1, 0, joins_[index_]});
}

// --- calls ---------------------------------------------------------------------------------------
void Decoder::call(const Inst& inst) {
  const ptx::Call& call = function_.calls[inst.call];
  const ptx::Function* callee = nullptr;
  if (call.callee.kind == Kind::Symbol) {
    callee = &module_.functions[call.callee.symbol.index];
    if (host_call(call, *callee) || device_call(call, *callee)) return;
    if (callee->is_extern) refuse("function " + callee->name + " has no body here");
    callees_.push_back(call.callee.symbol.index);
  } else {
    if (call.prototype == ptx::kNoIndex) refuse("indirect call without a prototype");
    indirect_ = true;
    for (u32 target : call.targets) callees_.push_back(target);
  }
  const auto& formals =
      callee != nullptr ? callee->parameters : function_.prototypes[call.prototype].parameters;
  const auto& results =
      callee != nullptr ? callee->returns : function_.prototypes[call.prototype].returns;
  if (formals.size() != call.arguments.size() || results.size() != call.returns.size())
    refuse("number of arguments");
  CallSite site;
  site.arguments = places(call.arguments);
  site.returns = places(call.returns);
  for (std::size_t i = 0; i < formals.size(); ++i)
    if (site.arguments[i].is_register != (formals[i].space == ptx::Space::Reg))
      refuse("argument in another space than the parameter");
  if (callee != nullptr) site.callee = call.callee.symbol.index;
  const u32 target = callee == nullptr ? source(call.callee, Type::U64) : 0;
  Record& r = emit_own(callee != nullptr ? O_call : O_call_indirect, OpKind::Branch);
  r.a = target;
  r.imm = static_cast<std::int32_t>(code_.calls.size());
  code_.calls.push_back(std::move(site));
  if (callee == nullptr) fixes_.push_back({code_.records.size() - 1, index_ + 1, index_ + 1});
}

std::vector<ParameterPlace> Decoder::places(const std::vector<ptx::Operand>& operands) {
  std::vector<ParameterPlace> list;
  for (const ptx::Operand& o : operands) {
    if (o.kind == Kind::Symbol && o.symbol.scope == ptx::SymbolRef::Scope::Function) {
      const ptx::Variable& v = function_.variables[o.symbol.index];
      list.push_back({variable_at_[o.symbol.index], static_cast<u32>(v.size), false});
    } else if (o.kind == Kind::Symbol && !function_.is_entry &&
               o.symbol.scope == ptx::SymbolRef::Scope::Parameter) {
      list.push_back(code_.parameters[o.symbol.index]);
    } else if (o.kind == Kind::Register) {
      list.push_back({register_at_[o.reg], register_width(o.reg), true});
    } else {
      refuse("argument");
    }
  }
  return list;
}

bool Decoder::host_call(const ptx::Call& call, const ptx::Function& callee) {
  if (!callee.is_extern) return false;
  HostCall host;
  static constexpr struct {
    std::string_view name;
    HostFunction function;
    unsigned arguments;
  } kFunctions[] = {{"vprintf", HostFunction::Vprintf, 2},
                    {"__assertfail", HostFunction::AssertFail, 3},
                    {"malloc", HostFunction::Malloc, 1},
                    {"free", HostFunction::Free, 1}};
  const auto* known = std::find_if(std::begin(kFunctions), std::end(kFunctions),
                                   [&](const auto& f) { return f.name == callee.name; });
  if (known == std::end(kFunctions)) return false;
  host.function = known->function;
  host.arguments = places(call.arguments);
  host.returns = places(call.returns);
  if (host.arguments.size() < known->arguments) refuse("number of arguments");
  emit_own(O_host, OpKind::Branch).imm = static_cast<std::int32_t>(code_.host_calls.size());
  code_.host_calls.push_back(std::move(host));
  return true;
}

void Decoder::stack(const Inst& inst) {
  const Type t = type();
  const auto width = static_cast<u32>(ptx::size_of(t));
  HostCall call;
  call.function = HostFunction::StackSave;
  if (inst.opcode == "stackrestore") {
    call.function = HostFunction::StackRestore;
    call.arguments = {{source(operand(0), t), width, true}};
  } else {
    call.returns = {{destination(operand(0), t), width, true}};
  }
  if (inst.opcode == "alloca") {
    if (inst.operands.size() > 2 && (operand(2).kind != Kind::Integer || operand(2).bits > 16))
      refuse("alignment");
    call.function = HostFunction::StackAllocate;
    call.arguments = {{source(operand(1), t), width, true}};
    takes_stack_ = true;
  }
  op_class(OpClass::Int);
  emit_own(O_host, OpKind::Alu).imm = static_cast<std::int32_t>(code_.host_calls.size());
  code_.host_calls.push_back(std::move(call));
}

void Decoder::ret_exit(const Inst& inst) {
  if (inst.opcode == "trap" || inst.opcode == "brkpt") {  // there is no debugger to stop for
    op_class(OpClass::Control);
    emit(O_trap);
    return;
  }
  if (inst.opcode == "ret" && !function_.is_entry) emit_own(O_ret, OpKind::Branch);
  else emit_own(O_exit, OpKind::Exit);
}

// --- synchronisation -----------------------------------------------------------------------------
void Decoder::bar(const Inst& inst) {
  if (inst.has("cluster")) return cluster_barrier(inst);
  if (inst.has("warp")) return simple(inst);
  const bool red = inst.has("red"), arrive = inst.has("arrive");
  const std::size_t at = red ? 1 : 0, n = inst.operands.size();
  const u32 id = source(operand(at), Type::U32);
  const bool counted = n > at + (red ? 2u : 1u);
  const u32 count = counted ? source(operand(at + 1), Type::U32) : 0;
  const u32 p = red ? predicate_value(operand(n - 1)) : 0;
  BarOp op = arrive ? BarOp::Arrive : BarOp::Sync;
  u32 d = 0;
  if (red) {
    op = inst.has("popc") ? BarOp::Popc : inst.has("and") ? BarOp::And : BarOp::Or;
    d = op == BarOp::Popc ? destination(operand(0), Type::U32) : predicate(operand(0)).offset;
  }
  Record& r = emit_own(O_bar, OpKind::Barrier);
  r.a = id, r.b = count, r.c = p, r.d = d;
  r.imm = static_cast<std::int32_t>(op);
}

void Decoder::simple(const Inst& inst) {
  static constexpr std::string_view kWithoutEffect[] = {
      "prefetch",   "prefetchu",     "pmevent",       "discard",
      "setmaxnreg", "applypriority", "griddepcontrol"};
  if (std::find(std::begin(kWithoutEffect), std::end(kWithoutEffect), inst.opcode) !=
      std::end(kWithoutEffect)) {
    op_class(OpClass::Move);  // nothing that the machine models; grids of a stream do not overlap
    return;
  }
  if (inst.opcode == "bar" || inst.opcode == "barrier") {
    Record& r = emit_own(O_simple, OpKind::Barrier);
    op_class(OpClass::Control);  // WARPSYNC: no other warp is waited for
    r.b = 1;
    r.aux = static_cast<u32>(2) << 4;  // BarrierKind::Warp
    return;
  }
  if (inst.opcode == "nanosleep") {
    const u32 time = source(operand(0), Type::U32);
    Record& r = emit_own(O_simple, OpKind::Sleep);
    r.a = time, r.imm = 1;
    return;
  }
  // Proxies and barrier objects need no more than other accesses: all memory is one here.
  for (std::string_view word : inst.modifiers)
    if (word.substr(0, 16) == "proxy::tensormap") refuse();
  current_.bytes = inst.has("cta") ? trace::kBlockScope : 0;
  emit_own(O_simple, OpKind::Fence).flags = kVisible;
}

// --- across the warp -----------------------------------------------------------------------------
void Decoder::warp_op(WarpOp op, u32 d, u32 a, u32 mask) {
  emit(O_warp, d, a, mask, 0, static_cast<std::int32_t>(op));
}

void Decoder::vote(const Inst& inst) {
  op_class(OpClass::Int);
  const u32 a = predicate_value(operand(1));
  const u32 mask = inst.operands.size() > 2 ? source(operand(2), Type::U32) : constant(4, ~0u);
  if (inst.has("ballot"))
    return warp_op(WarpOp::Ballot, destination(operand(0), Type::B32), a, mask);
  const WarpOp op = inst.has("all")   ? WarpOp::VoteAll
                    : inst.has("any") ? WarpOp::VoteAny
                                      : WarpOp::VoteUni;
  warp_op(op, predicate(operand(0)).offset, a, mask);
}

void Decoder::match(const Inst& inst) {
  op_class(OpClass::Int);
  const Type t = type();
  const u32 a = source(operand(1), t), mask = source(operand(2), Type::U32);
  const ptx::Operand& d = operand(0);
  warp_op(inst.has("any") ? WarpOp::MatchAny : WarpOp::MatchAll, destination(d, Type::B32), a,
          mask);
  Record& r = code_.records.back();
  r.flags = ptx::size_of(t) == 8 ? 3 : 2;
  r.aux = d.kind == Kind::Predicates && d.reg2 != ptx::kNoIndex ? predicate_register(d.reg2) : 0;
}

void Decoder::shfl(const Inst& inst) {
  op_class(OpClass::Shuffle);
  const u32 a = source(operand(1), Type::B32), b = source(operand(2), Type::U32),
            c = source(operand(3), Type::U32);
  const ptx::Operand& d = operand(0);
  Record& r = emit(O_shfl, destination(d, Type::B32), a, b, c);
  r.imm = inst.has("up") ? 0 : inst.has("down") ? 1 : inst.has("bfly") ? 2 : 3;
  r.aux = d.kind == Kind::Predicates && d.reg2 != ptx::kNoIndex ? predicate_register(d.reg2) : 0;
}

void Decoder::redux(const Inst& inst) {
  op_class(OpClass::Int);
  const Type t = type();
  if (ptx::is_float(t)) refuse();
  const WarpOp op = inst.has("add")   ? WarpOp::ReduxAdd
                    : inst.has("min") ? WarpOp::ReduxMin
                    : inst.has("max") ? WarpOp::ReduxMax
                    : inst.has("and") ? WarpOp::ReduxAnd
                    : inst.has("or")  ? WarpOp::ReduxOr
                                      : WarpOp::ReduxXor;
  const u32 a = source(operand(1), t), mask = source(operand(2), Type::U32);
  warp_op(op, destination(operand(0), t), a, mask);
  code_.records.back().flags = ptx::is_signed(t) ? kSigned : 0;
}

/// Cache policies are values that nothing reads.
void Decoder::create_policy(const Inst& inst) {
  (void)inst;
  op_class(OpClass::Move);
  alu(O_mov_64, destination(operand(0), Type::B64), constant(8, 0));
}

void Decoder::activemask(const Inst& inst) {
  (void)inst;
  op_class(OpClass::Int);
  warp_op(WarpOp::Activemask, destination(operand(0), Type::B32), 0, 0);
}

}  // namespace raddle::exec
