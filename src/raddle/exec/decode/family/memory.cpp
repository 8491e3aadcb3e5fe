// Loads, stores, atomics (PTX ISA 9.7.9, 9.7.13). Parameters of calls are words of 32 lanes in the
// frame, so ld.param and st.param of them are moves; kernel parameters are registers filled before
// the warp starts.
#include <bit>

#include "raddle/base/error.h"
#include "raddle/exec/decode/address.h"
#include "raddle/exec/decode/atomic_words.h"
#include "raddle/exec/decode/bulk.h"
#include "raddle/exec/decode/decode_context.h"
#include "raddle/exec/slow/vector_atomic.h"

namespace raddle::exec {

using u32 = std::uint32_t;
using u64 = std::uint64_t;
using ptx::Space;
using ptx::Type;
using trace::OpKind;
using Kind = ptx::Operand::Kind;
using ptx::Instruction;

namespace {

/// The operations of one space: 4-byte elements in 32-bit registers, 8 in 64, and everything else.
struct Form {
  Space space;
  Op word, wide, any;
  OpKind kind;
};

struct Elements {
  std::vector<ptx::Operand> operands;
  std::array<u32, 4> at{};
  unsigned size = 0, width = 0;  ///< bytes of an element in memory, of its register
};

bool is_strong(const ptx::Instruction& inst) {
  return inst.has("volatile") || inst.has("relaxed") || inst.has("acquire") ||
         inst.has("release") || inst.has("mmio");
}
bool bypasses_l1(const ptx::Instruction& inst) {
  return is_strong(inst) || inst.has("cg") || inst.has("cv");
}
/// What an access of the cluster's scope or wider orders. Relaxed ones order nothing, and inside a
/// block nothing waits.
void set_order(trace::StaticInst& access, const ptx::Instruction& inst) {
  if (inst.has("cta")) return;
  access.acquires = inst.has("acquire") || inst.has("acq_rel");
  access.releases = inst.has("release") || inst.has("acq_rel");
}
unsigned log2_of(unsigned bytes) { return static_cast<unsigned>(std::countr_zero(bytes)); }

void place_address(Record& record, const SlowAddress& access) {
  record.a = access.at;
  record.imm = static_cast<std::int32_t>(access.offset);
  if (access.narrow) record.flags |= kNarrowAddress;
}

/// The frame area that ld.param and st.param of `address` mean; nullopt for the kernel's own
/// parameters.
std::optional<u32> parameter_area(const DecodeContext& ctx, const ptx::Operand& address) {
  using Scope = ptx::SymbolRef::Scope;
  const u32 index = address.symbol.index;
  if (address.reg != ptx::kNoIndex) return std::nullopt;
  if (address.symbol.scope == Scope::Function) return ctx.frame.variable_at(index);
  if (ctx.function.is_entry) return std::nullopt;
  if (address.symbol.scope == Scope::Parameter) {
    RADDLE_ASSERT(index < ctx.code().parameters.size());
    return ctx.code().parameters[index].offset;
  }
  if (address.symbol.scope == Scope::ReturnParameter) {
    RADDLE_ASSERT(index < ctx.code().returns.size());
    return ctx.code().returns[index].offset;
  }
  return std::nullopt;
}

/// The data registers of an access; their width is the same for all.
Elements elements(DecodeContext& ctx, const Instruction& inst, const ptx::Operand& data,
                  Type type) {
  Elements e;
  const unsigned size = ptx::size_of(type);
  if (data.kind == Kind::Vector) e.operands = data.elements;
  else e.operands = {data};
  if (e.operands.empty() || e.operands.size() > 4 || size * e.operands.size() > 16) refuse();
  e.size = size;
  ctx.out.current().bytes = static_cast<std::uint8_t>(size * e.operands.size());
  ctx.out.current().bypass_l1 = bypasses_l1(inst);
  set_order(ctx.out.current(), inst);
  return e;
}

void place_elements(DecodeContext& ctx, Elements& e, Type type, bool store) {
  if (type == Type::B128) {  // two elements, which are the halves of one register
    e.at = {ctx.in.wide_register(e.operands[0]), 0, 0, 0};
    e.at[1] = e.at[0] + FrameLayout::kUpperHalf;
    e.operands.push_back(e.operands[0]);
    e.size = e.width = 8;
    return;
  }
  for (std::size_t i = 0; i < e.operands.size(); ++i) {
    const ptx::Operand& o = e.operands[i];
    unsigned width = std::max(2u, e.size);
    if (o.kind == Kind::Register) {
      width = ctx.frame.register_width(o.reg);
      e.at[i] = ctx.frame.register_at(o.reg);
    } else if (store) {
      e.at[i] = ctx.in.source(o, type);
    } else if (o.kind == Kind::Sink) {
      e.at[i] = ctx.frame.trash();
    } else {
      refuse("destination");
    }
    if (width < e.size) refuse("register smaller than its type");
    if (width > 8) refuse("128-bit values");
    if (e.width != 0 && e.width != width) refuse("registers of different sizes");
    e.width = width;
  }
}

Record& emit_access(DecodeContext& ctx, const Form& form, const SlowAddress& access,
                    const Elements& e) {
  const bool plain = e.operands.size() == 1 && e.size == e.width;
  Record& r = ctx.out.emit_own(plain && e.size == 4   ? form.word
                               : plain && e.size == 8 ? form.wide
                                                      : form.any,
                               form.kind);
  place_address(r, access);
  r.d = e.at[0];
  r.b = e.at[1];
  r.c = e.at[2];
  r.aux = e.at[3];
  r.flags =
      static_cast<std::uint16_t>(r.flags | log2_of(e.size) | log2_of(e.width) << kRegisterShift |
                                 (e.operands.size() - 1) << kVectorShift);
  if (access.space == Space::Generic) ctx.out.generic_access();
  return r;
}

void load_kernel_parameter(DecodeContext& ctx, const Elements& e, Type t,
                           const ptx::Operand& address) {
  const unsigned size = e.size;
  const auto& into = e.operands;
  const auto at = ctx.in.symbol_value(address);
  const u64 bytes = ctx.scope.parameters->bytes;
  if (!at || *at > bytes || bytes - *at < size * into.size()) refuse("parameter offset");
  ctx.out.emit_own(O_note, OpKind::LoadConst).imm = 1;
  for (std::size_t i = 0; i < into.size(); ++i) {
    if (into[i].kind == Kind::Sink) continue;
    if (into[i].kind != Kind::Register) refuse("destination");
    const unsigned width = ctx.frame.register_width(into[i].reg);
    if (width < size) refuse("destination register smaller than its type");
    if (width > 8) refuse("128-bit values");
    const u32 from = ctx.frame.kernel_parameter(*at + i * size, width, size, ptx::is_signed(t));
    ctx.out.alu(width == 8   ? O_mov_64
                : width == 4 ? O_mov_32
                             : O_mov_16,
                ctx.frame.register_at(into[i].reg), from);
  }
}

void load_plane(DecodeContext& ctx, const ptx::Operand& to, Type type, u32 plane,
                std::int64_t offset) {
  if (to.kind == Kind::Sink) return;
  if (to.kind != Kind::Register || offset < 0) refuse("destination");
  const u32 d = ctx.frame.register_at(to.reg), word = plane + static_cast<u32>(offset / 4) * 128;
  const unsigned size = ptx::size_of(type), width = ctx.frame.register_width(to.reg);
  if (width > 8) refuse("128-bit values");
  if (size == 8 && width == 8) return ctx.out.alu(O_pack_64, d, word, word + 128);
  if (size == 4 && width == 4) return ctx.out.alu(O_mov_32, d, word);
  if (size > 4 || width < size) refuse("destination register size");
  u32 value = word;
  if (size < 4) {
    const bool sign = ptx::is_signed(type);
    const u32 t = ctx.frame.temporary(), cut = ctx.frame.temporary();
    ctx.out.alu(O_shr_u32, t, word, ctx.frame.constant(4, 8 * static_cast<u64>(offset % 4)));
    ctx.out.alu(sign ? O_sext_low_32 : O_low_32, cut, t, 0, 0, 32 - 8 * size);
    value = cut;
  }
  if (width == 4) ctx.out.alu(O_mov_32, d, value);
  else if (width == 2) ctx.out.alu(O_trunc_32_16, d, value);
  else ctx.out.alu(ptx::is_signed(type) ? O_sext_32_64 : O_zext_32_64, d, value);
}

void store_plane(DecodeContext& ctx, const ptx::Operand& from, Type type, u32 plane,
                 std::int64_t offset) {
  if (offset < 0) refuse("parameter offset");
  const u32 word = plane + static_cast<u32>(offset / 4) * 128;
  const unsigned size = ptx::size_of(type);
  if (size == 8) {
    const u32 value = ctx.in.source(from, type);
    ctx.out.alu(O_trunc_64_32, word, value);
    return ctx.out.alu(O_high_64, word + 128, value);
  }
  if (size == 4) return ctx.out.alu(O_mov_32, word, ctx.in.source(from, type));
  const u32 value = ctx.in.source(from, Type::B16);
  ctx.out.alu(size == 2 ? O_insert_32_16 : O_insert_32_8, word, word, value, 0,
              8 * static_cast<u32>(offset % 4));
}

void load(DecodeContext& ctx, const Instruction& inst) {
  static constexpr Form kForms[] = {
      {Space::Global, O_ld_global_32, O_ld_global_64, O_ld_global, OpKind::LoadGlobal},
      {Space::Shared, O_ld_shared_32, O_ld_shared, O_ld_shared, OpKind::LoadShared},
      {Space::Local, O_ld_local, O_ld_local, O_ld_local, OpKind::LoadLocal},
      {Space::Const, O_ld_const, O_ld_const, O_ld_const, OpKind::LoadConst},
      {Space::Param, O_ld_param, O_ld_param, O_ld_param, OpKind::LoadConst},
      {Space::Generic, O_ld_generic, O_ld_generic, O_ld_generic, OpKind::LoadGlobal},
  };
  const Type type = ctx.in.type();
  const ptx::Operand& address = ctx.in.operand(1);
  if (inst.has("unified") || ctx.in.operand(0).reg2 != ptx::kNoIndex) refuse();
  Elements data = elements(ctx, inst, ctx.in.operand(0), type);
  if (space_of(inst) == Space::Param && address.reg == ptx::kNoIndex) {
    const Space lies = ctx.in.symbol_space(address);
    if (lies != Space::Param && lies != Space::Generic)
      refuse("the variable lies in another state space");
    if (type == Type::B128) refuse("128-bit values");
    const auto area = parameter_area(ctx, address);
    if (!area) return load_kernel_parameter(ctx, data, type, address);
    ctx.out.op_class(trace::OpClass::Move);
    ctx.out.current().bytes = 0;
    for (std::size_t i = 0; i < data.operands.size(); ++i)
      load_plane(ctx, data.operands[i], type, *area,
                 address.offset + static_cast<std::int64_t>(i * data.size));
    return;
  }
  place_elements(ctx, data, type, false);
  const SlowAddress access = address_of(ctx, inst, address);
  for (const Form& form : kForms) {
    if (form.space != access.space) continue;
    Record& record = emit_access(ctx, form, access, data);
    if (ptx::is_signed(type)) record.flags |= kSigned;
    if (is_strong(inst) && access.space != Space::Shared) record.flags |= kVisible;
  }
}

void store(DecodeContext& ctx, const Instruction& inst) {
  static constexpr Form kForms[] = {
      {Space::Global, O_st_global_32, O_st_global_64, O_st_global, OpKind::StoreGlobal},
      {Space::Shared, O_st_shared_32, O_st_shared, O_st_shared, OpKind::StoreShared},
      {Space::Local, O_st_local, O_st_local, O_st_local, OpKind::StoreLocal},
      {Space::Generic, O_st_generic, O_st_generic, O_st_generic, OpKind::StoreGlobal},
  };
  const Type t = ctx.in.type();
  const ptx::Operand& address = ctx.in.operand(0);
  Elements e = elements(ctx, inst, ctx.in.operand(1), t);
  if (space_of(inst) == Space::Param) {
    const auto area = parameter_area(ctx, address);
    if (!area || t == Type::B128) refuse();
    ctx.out.op_class(trace::OpClass::Move);
    ctx.out.current().bytes = 0;
    for (std::size_t i = 0; i < e.operands.size(); ++i)
      store_plane(ctx, e.operands[i], t, *area,
                  address.offset + static_cast<std::int64_t>(i * e.size));
    return;
  }
  place_elements(ctx, e, t, true);
  const SlowAddress a = address_of(ctx, inst, address);
  for (const Form& form : kForms)
    if (form.space == a.space) {
      emit_access(ctx, form, a, e);
      return;
    }
  refuse();
}

void any_store(DecodeContext& ctx, const Instruction& inst) {
  if (inst.has("async")) return decode_remote_store(ctx, inst);
  if (inst.has("bulk")) return decode_bulk_clear(ctx, inst);
  store(ctx, inst);
}

/// atom and red of .v2, .v4, .v8 in global memory: each element by itself.
void vector_atom(DecodeContext& ctx, const Instruction& inst, u32 what, std::size_t at) {
  const Type t = ctx.in.type();
  const auto& elements = ctx.in.operand(at + 1).elements;
  const unsigned size = ptx::size_of(t), count = static_cast<unsigned>(elements.size());
  const bool returns = at == 1;
  if (!ptx::is_float(t) || size * count > 16 || (count != 2 && count != 4 && count != 8)) refuse();
  if (returns && ctx.in.operand(0).elements.size() != count) refuse("number of registers");
  auto made = std::make_unique<VectorAtomic>();
  made->address = slow_address(ctx, inst, ctx.in.operand(at));
  if (made->address.space == Space::Shared) refuse();
  made->address.space = Space::Global;
  made->what = what;
  made->size = size;
  for (unsigned i = 0; i < count; ++i) {
    made->operands.push_back(ctx.in.source(elements[i], t));
    made->results.push_back(returns ? ctx.in.destination(ctx.in.operand(0).elements[i], t)
                                    : ctx.frame.trash());
  }
  ctx.out.current().bytes = static_cast<std::uint8_t>(size * count);
  ctx.out.current().bypass_l1 = true;
  set_order(ctx.out.current(), inst);
  ctx.out.emit_slow_access(std::move(made), Space::Global, true);
  ctx.out.current().kind = returns ? OpKind::AtomicGlobal : OpKind::ReduceGlobal;
}

/// atom.cas and atom.exch of 128 bits (sm_90).
void wide_atom(DecodeContext& ctx, const Instruction& inst) {
  const bool compares = inst.has("cas");
  if (inst.opcode != "atom" || (!compares && !inst.has("exch"))) refuse();
  auto made = std::make_unique<WideAtomic>();
  made->address = slow_address(ctx, inst, ctx.in.operand(1));
  const Space space = made->address.space;
  if (space != Space::Global && space != Space::Shared && space != Space::Generic) refuse();
  made->compares = compares;
  made->result = ctx.in.wide_register(ctx.in.operand(0));
  const auto read = [&](std::size_t operand) {
    if (ctx.in.operand(operand).kind == Kind::Sink) refuse("operand");
    return ctx.in.wide_register(ctx.in.operand(operand));
  };
  if (compares) made->expected = read(2);
  made->desired = read(compares ? 3 : 2);
  ctx.out.current().bytes = 16;
  ctx.out.current().bypass_l1 = space != Space::Shared;
  ctx.out.emit_slow_access(std::move(made), space, true);
  ctx.out.current().kind = space == Space::Shared ? OpKind::AtomicShared : OpKind::AtomicGlobal;
}

void atom(DecodeContext& ctx, const Instruction& inst) {
  const Type type = ctx.in.type();
  const bool returns = inst.opcode == "atom";
  const std::size_t at = returns ? 1 : 0;
  if (inst.has("async") && !returns) return decode_remote_store(ctx, inst);
  if (inst.has("async")) refuse();
  if (type == Type::B128) return wide_atom(ctx, inst);
  const bool vector = ctx.in.operand(at + 1).kind == Kind::Vector;
  const std::optional<AtomOp> op = atomic_operation(inst);
  const std::optional<AtomType> as = atomic_type(type);
  const bool is_float = ptx::is_float(type);
  if (!op || !as) refuse();
  if (is_float && *op != AtomOp::Add && *op != AtomOp::Min && *op != AtomOp::Max) refuse();
  if (*as == AtomType::B16 && *op != AtomOp::Compare && *op != AtomOp::Exchange) refuse();
  const u32 what = static_cast<u32>(*op) | static_cast<u32>(*as) << 8;
  if (vector) return vector_atom(ctx, inst, what, at);
  const SlowAddress access = address_of(ctx, inst, ctx.in.operand(at));
  if (access.space != Space::Global && access.space != Space::Shared &&
      access.space != Space::Generic)
    refuse();
  const u32 value = ctx.in.source(at + 1, type);
  const u32 compared = *op == AtomOp::Compare ? ctx.in.source(at + 2, type) : 0;
  const u32 destination = returns ? ctx.in.destination(0, type) : ctx.frame.trash();
  const unsigned size = ptx::size_of(type);
  ctx.out.current().bytes = static_cast<std::uint8_t>(size);
  ctx.out.current().bypass_l1 = access.space != Space::Shared;
  if (access.space != Space::Shared) set_order(ctx.out.current(), inst);
  Record& record = ctx.out.emit_own(O_atom, access.space == Space::Shared ? OpKind::AtomicShared
                                            : returns                     ? OpKind::AtomicGlobal
                                                                          : OpKind::ReduceGlobal);
  place_address(record, access);
  record.d = destination;
  record.b = value;
  record.c = compared;
  record.flags = static_cast<std::uint16_t>(record.flags | log2_of(size) |
                                            log2_of(size) << kRegisterShift | kVisible);
  record.aux = what | static_cast<u32>(access.space) << 16 | (returns ? 1u << 24 : 0u);
  if (access.space == Space::Generic) ctx.out.generic_access();
}

}  // namespace

void add_decode_memory(Handlers& handlers) {
  handlers.add({"ld", "ldu"}, load);
  handlers.add({"st"}, any_store);
  handlers.add({"atom", "red"}, atom);
}

}  // namespace raddle::exec
