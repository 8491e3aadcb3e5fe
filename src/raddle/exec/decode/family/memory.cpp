// Loads, stores, atomics (PTX ISA 9.7.9, 9.7.13). Parameters of calls are words of 32 lanes in the
// frame, so ld.param and st.param of them are moves; kernel parameters are registers filled before
// the warp starts.
#include <bit>

#include "raddle/exec/decode/decode_slow.h"
#include "raddle/exec/slow/vector_atomic.h"

namespace raddle::exec {

using u32 = std::uint32_t;
using u64 = std::uint64_t;
using ptx::Space;
using ptx::Type;
using trace::OpKind;
using Kind = ptx::Operand::Kind;

/// The operations of one space: 4-byte elements in 32-bit registers, 8 in 64, and everything else.
struct Decoder::Form {
  Space space;
  Op word, wide, any;
  OpKind kind;
};

struct Decoder::Elements {
  std::vector<ptx::Operand> operands;
  std::array<u32, 4> at{};
  unsigned size = 0, width = 0;  ///< bytes of an element in memory, of its register
};

struct Decoder::Access {
  Space space = Space::Generic;
  u32 address = 0;  ///< frame offset of the address register
  bool narrow = false;
  std::int64_t offset = 0;
};

namespace {
Space space_of(const ptx::Instruction& inst) {
  if (inst.has("global")) return Space::Global;
  if (inst.has("shared::cluster")) return Space::Shared;
  if (inst.has("shared") || inst.has("shared::cta")) return Space::Shared;
  if (inst.has("local")) return Space::Local;
  if (inst.has("const")) return Space::Const;
  if (inst.has("param") || inst.has("param::entry") || inst.has("param::func")) return Space::Param;
  return Space::Generic;
}
bool is_strong(const ptx::Instruction& inst) {
  return inst.has("volatile") || inst.has("relaxed") || inst.has("acquire") ||
         inst.has("release") || inst.has("mmio");
}
bool bypasses_l1(const ptx::Instruction& inst) {
  return is_strong(inst) || inst.has("cg") || inst.has("cv");
}
unsigned log2_of(unsigned bytes) { return static_cast<unsigned>(std::countr_zero(bytes)); }
}  // namespace

Decoder::Access Decoder::access(const Inst& inst, const ptx::Operand& address) {
  if (address.kind != Kind::Address || !address.elements.empty()) refuse("address");
  Access a;
  a.space = space_of(inst);
  if (address.reg != ptx::kNoIndex) {
    a.address = register_at_[address.reg];
    const unsigned width = register_width(address.reg);
    a.narrow = width == 4;
    a.offset = address.offset;
    if (width == 2) refuse("16-bit address");
    const bool may_be_narrow = a.space == Space::Shared || a.space == Space::Local;
    if (a.narrow && !may_be_narrow) {
      a.address = resize(a.address, 4, 8, false);
      a.narrow = false;
    }
    if (a.offset != static_cast<std::int32_t>(a.offset)) refuse("address offset");
    return a;
  }
  if (address.symbol.scope == ptx::SymbolRef::Scope::None) {
    a.address = constant(8, static_cast<u64>(address.offset));
    return a;
  }
  if (const auto value = symbol_value(address)) {
    a.address = constant(8, *value);
    // A symbol without a space in the opcode: a generic access by name.
    if (a.space == Space::Generic && *value < DeviceMemory::kBase)
      refuse("generic address of a symbol");
    return a;
  }
  a.address = temporary();  // a local variable of a called function
  Record& r = emit(O_local_address, a.address);
  r.imm = static_cast<std::int32_t>(variable_at_[address.symbol.index] + address.offset);
  r.aux = 8;
  return a;
}

void Decoder::place_address(Record& record, const Access& access) {
  record.a = access.address;
  record.imm = static_cast<std::int32_t>(access.offset);
  if (access.narrow) record.flags |= kNarrowAddress;
}

SlowAddress Decoder::slow_address(const Inst& inst, const ptx::Operand& operand) {
  const Access a = access(inst, operand);
  if (a.space != Space::Global && a.space != Space::Shared && a.space != Space::Generic) refuse();
  return {a.space, a.address, a.narrow, a.offset};
}

/// The frame area that ld.param and st.param of `address` mean; nullopt for the kernel's own
/// parameters.
std::optional<u32> Decoder::parameter_area(const ptx::Operand& address) const {
  using Scope = ptx::SymbolRef::Scope;
  const u32 index = address.symbol.index;
  if (address.reg != ptx::kNoIndex) return std::nullopt;
  if (address.symbol.scope == Scope::Function) return variable_at_[index];
  if (function_.is_entry) return std::nullopt;
  if (address.symbol.scope == Scope::Parameter) return code_.parameters[index].offset;
  if (address.symbol.scope == Scope::ReturnParameter) return code_.returns[index].offset;
  return std::nullopt;
}

/// The data registers of an access; their width is the same for all.
Decoder::Elements Decoder::elements(const ptx::Operand& data, Type type) {
  Elements e;
  const unsigned size = ptx::size_of(type);
  if (data.kind == Kind::Vector) e.operands = data.elements;
  else e.operands = {data};
  if (size > 8 || e.operands.empty() || e.operands.size() > 4 || size * e.operands.size() > 16)
    refuse();
  e.size = size;
  current_.bytes = static_cast<std::uint8_t>(size * e.operands.size());
  current_.bypass_l1 = bypasses_l1(*inst_);
  return e;
}

void Decoder::place_elements(Elements& e, Type type, bool store) {
  for (std::size_t i = 0; i < e.operands.size(); ++i) {
    const ptx::Operand& o = e.operands[i];
    unsigned width = std::max(2u, e.size);
    if (o.kind == Kind::Register) {
      width = register_width(o.reg);
      e.at[i] = register_at_[o.reg];
    } else if (store) {
      e.at[i] = source(o, type);
    } else if (o.kind == Kind::Sink) {
      e.at[i] = trash_at_;
    } else {
      refuse("destination");
    }
    if (width < e.size) refuse("register smaller than its type");
    if (e.width != 0 && e.width != width) refuse("registers of different sizes");
    e.width = width;
  }
}

Record& Decoder::emit_access(const Form& form, const Access& access, const Elements& e) {
  const bool plain = e.operands.size() == 1 && e.size == e.width;
  Record& r = emit_own(plain && e.size == 4   ? form.word
                       : plain && e.size == 8 ? form.wide
                                              : form.any,
                       form.kind);
  place_address(r, access);
  r.d = e.at[0], r.b = e.at[1], r.c = e.at[2], r.aux = e.at[3];
  r.flags =
      static_cast<std::uint16_t>(r.flags | log2_of(e.size) | log2_of(e.width) << kRegisterShift |
                                 (e.operands.size() - 1) << kVectorShift);
  if (access.space == Space::Generic) generic_.push_back(index_);
  return r;
}

void Decoder::load(const Inst& inst) {
  static constexpr Form kForms[] = {
      {Space::Global, O_ld_global_32, O_ld_global_64, O_ld_global, OpKind::LoadGlobal},
      {Space::Shared, O_ld_shared_32, O_ld_shared, O_ld_shared, OpKind::LoadShared},
      {Space::Local, O_ld_local, O_ld_local, O_ld_local, OpKind::LoadLocal},
      {Space::Const, O_ld_const, O_ld_const, O_ld_const, OpKind::LoadConst},
      {Space::Param, O_ld_param, O_ld_param, O_ld_param, OpKind::LoadConst},
      {Space::Generic, O_ld_generic, O_ld_generic, O_ld_generic, OpKind::LoadGlobal},
  };
  const Type t = type();
  const ptx::Operand& address = operand(1);
  if (inst.has("unified") || operand(0).reg2 != ptx::kNoIndex) refuse();
  Elements e = elements(operand(0), t);
  if (space_of(inst) == Space::Param && address.reg == ptx::kNoIndex) {
    const auto area = parameter_area(address);
    if (!area) return load_kernel_parameter(e, t, address);
    op_class(trace::OpClass::Move);
    current_.bytes = 0;
    for (std::size_t i = 0; i < e.operands.size(); ++i)
      load_plane(e.operands[i], t, *area, address.offset + static_cast<std::int64_t>(i * e.size));
    return;
  }
  place_elements(e, t, false);
  const Access a = access(inst, address);
  for (const Form& form : kForms) {
    if (form.space != a.space) continue;
    Record& r = emit_access(form, a, e);
    if (ptx::is_signed(t)) r.flags |= kSigned;
    if (is_strong(inst) && a.space != Space::Shared) r.flags |= kVisible;
  }
}

void Decoder::store(const Inst& inst) {
  static constexpr Form kForms[] = {
      {Space::Global, O_st_global_32, O_st_global_64, O_st_global, OpKind::StoreGlobal},
      {Space::Shared, O_st_shared_32, O_st_shared, O_st_shared, OpKind::StoreShared},
      {Space::Local, O_st_local, O_st_local, O_st_local, OpKind::StoreLocal},
      {Space::Generic, O_st_generic, O_st_generic, O_st_generic, OpKind::StoreGlobal},
  };
  const Type t = type();
  const ptx::Operand& address = operand(0);
  Elements e = elements(operand(1), t);
  if (space_of(inst) == Space::Param) {
    const auto area = parameter_area(address);
    if (!area) refuse();
    op_class(trace::OpClass::Move);
    current_.bytes = 0;
    for (std::size_t i = 0; i < e.operands.size(); ++i)
      store_plane(e.operands[i], t, *area, address.offset + static_cast<std::int64_t>(i * e.size));
    return;
  }
  place_elements(e, t, true);
  const Access a = access(inst, address);
  for (const Form& form : kForms)
    if (form.space == a.space) {
      emit_access(form, a, e);
      return;
    }
  refuse();
}

void Decoder::load_kernel_parameter(const Elements& e, Type t, const ptx::Operand& address) {
  const unsigned size = e.size;
  const auto& into = e.operands;
  const auto at = symbol_value(address);
  const u64 bytes = scope_.parameters->bytes;
  if (!at || *at > bytes || bytes - *at < size * into.size()) refuse("parameter offset");
  emit_own(O_note, OpKind::LoadConst).imm = 1;
  for (std::size_t i = 0; i < into.size(); ++i) {
    if (into[i].kind == Kind::Sink) continue;
    if (into[i].kind != Kind::Register) refuse("destination");
    const unsigned width = register_width(into[i].reg);
    if (width < size) refuse("destination register smaller than its type");
    const u64 from = *at + i * size;
    const bool sign = ptx::is_signed(t);
    auto [slot, fresh] =
        parameter_fills_.try_emplace({from, u64{width} << 8 | size, sign}, code_.frame_bytes);
    if (fresh) {
      code_.fills.push_back({Fill::Kind::Parameter,
                             static_cast<std::uint8_t>(width),
                             code_.frame_bytes,
                             from,
                             {},
                             static_cast<std::uint8_t>(size),
                             sign});
      code_.frame_bytes += width == 8 ? 256 : 128;
    }
    alu(width == 8   ? O_mov_64
        : width == 4 ? O_mov_32
                     : O_mov_16,
        register_at_[into[i].reg], slot->second);
  }
}

void Decoder::load_plane(const ptx::Operand& to, Type type, u32 plane, std::int64_t offset) {
  if (to.kind == Kind::Sink) return;
  if (to.kind != Kind::Register || offset < 0) refuse("destination");
  const u32 d = register_at_[to.reg], word = plane + static_cast<u32>(offset / 4) * 128;
  const unsigned size = ptx::size_of(type), width = register_width(to.reg);
  if (size == 8 && width == 8) return alu(O_pack_64, d, word, word + 128);
  if (size == 4 && width == 4) return alu(O_mov_32, d, word);
  if (size > 4 || width < size) refuse("destination register size");
  u32 value = word;
  if (size < 4) {
    const bool sign = ptx::is_signed(type);
    const u32 t = temporary(), cut = temporary();
    alu(O_shr_u32, t, word, constant(4, 8 * static_cast<u64>(offset % 4)));
    alu(sign ? O_sext_low_32 : O_low_32, cut, t, 0, 0, 32 - 8 * size);
    value = cut;
  }
  if (width == 4) alu(O_mov_32, d, value);
  else if (width == 2) alu(O_trunc_32_16, d, value);
  else alu(ptx::is_signed(type) ? O_sext_32_64 : O_zext_32_64, d, value);
}

void Decoder::store_plane(const ptx::Operand& from, Type type, u32 plane, std::int64_t offset) {
  if (offset < 0) refuse("parameter offset");
  const u32 word = plane + static_cast<u32>(offset / 4) * 128;
  const unsigned size = ptx::size_of(type);
  if (size == 8) {
    const u32 value = source(from, type);
    alu(O_trunc_64_32, word, value);
    return alu(O_high_64, word + 128, value);
  }
  if (size == 4) return alu(O_mov_32, word, source(from, type));
  const u32 value = source(from, Type::B16);
  alu(size == 2 ? O_insert_32_16 : O_insert_32_8, word, word, value, 0,
      8 * static_cast<u32>(offset % 4));
}

void Decoder::atom(const Inst& inst) {
  static constexpr std::pair<std::string_view, AtomOp> kOpsByName[] = {
      {"add", AtomOp::Add},    {"min", AtomOp::Min}, {"max", AtomOp::Max},
      {"inc", AtomOp::Inc},    {"dec", AtomOp::Dec}, {"and", AtomOp::And},
      {"or", AtomOp::Or},      {"xor", AtomOp::Xor}, {"exch", AtomOp::Exchange},
      {"cas", AtomOp::Compare}};
  static constexpr std::pair<Type, AtomType> kTypes[] = {
      {Type::U32, AtomType::U32},     {Type::B32, AtomType::U32},
      {Type::S32, AtomType::S32},     {Type::U64, AtomType::U64},
      {Type::B64, AtomType::U64},     {Type::S64, AtomType::S64},
      {Type::F32, AtomType::F32},     {Type::F64, AtomType::F64},
      {Type::F16, AtomType::F16},     {Type::BF16, AtomType::BF16},
      {Type::F16x2, AtomType::F16x2}, {Type::BF16x2, AtomType::BF16x2},
      {Type::B16, AtomType::B16}};
  const Type t = type();
  const bool returns = inst.opcode == "atom";
  const std::size_t at = returns ? 1 : 0;
  if (inst.has("async")) refuse();
  const bool vector = operand(at + 1).kind == Kind::Vector;
  std::optional<AtomOp> op;
  std::optional<AtomType> as;
  for (const auto& [name, o] : kOpsByName)
    if (inst.has(name)) op = o;
  for (const auto& [from, a] : kTypes)
    if (from == t) as = a;
  const bool is_float = ptx::is_float(t);
  if (!op || !as) refuse();
  if (is_float && *op != AtomOp::Add && *op != AtomOp::Min && *op != AtomOp::Max) refuse();
  if (*as == AtomType::B16 && *op != AtomOp::Compare && *op != AtomOp::Exchange) refuse();
  const u32 what = static_cast<u32>(*op) | static_cast<u32>(*as) << 8;
  if (vector) return vector_atom(inst, what, at);
  const Access a = access(inst, operand(at));
  if (a.space != Space::Global && a.space != Space::Shared && a.space != Space::Generic) refuse();
  const u32 b = source(operand(at + 1), t);
  const u32 c = *op == AtomOp::Compare ? source(operand(at + 2), t) : 0;
  const u32 d = returns ? destination(operand(0), t) : trash_at_;
  const unsigned size = ptx::size_of(t);
  current_.bytes = static_cast<std::uint8_t>(size);
  current_.bypass_l1 = a.space != Space::Shared;
  Record& r = emit_own(O_atom, a.space == Space::Shared ? OpKind::AtomicShared
                               : returns                ? OpKind::AtomicGlobal
                                                        : OpKind::ReduceGlobal);
  place_address(r, a);
  r.d = d, r.b = b, r.c = c;
  r.flags = static_cast<std::uint16_t>(r.flags | log2_of(size) | log2_of(size) << kRegisterShift |
                                       kVisible);
  r.aux = what | static_cast<u32>(a.space) << 16 | (returns ? 1u << 24 : 0u);
  if (a.space == Space::Generic) generic_.push_back(index_);
}

/// atom and red of .v2, .v4, .v8 in global memory: each element by itself.
void Decoder::vector_atom(const Inst& inst, u32 what, std::size_t at) {
  const Type t = type();
  const auto& elements = operand(at + 1).elements;
  const unsigned size = ptx::size_of(t), count = static_cast<unsigned>(elements.size());
  const bool returns = at == 1;
  if (!ptx::is_float(t) || size * count > 16 || (count != 2 && count != 4 && count != 8)) refuse();
  if (returns && operand(0).elements.size() != count) refuse("number of registers");
  auto made = std::make_unique<VectorAtomic>();
  made->address = slow_address(inst, operand(at));
  if (made->address.space == Space::Shared) refuse();
  made->address.space = Space::Global;
  made->what = what;
  made->size = size;
  for (unsigned i = 0; i < count; ++i) {
    made->operands.push_back(source(elements[i], t));
    made->results.push_back(returns ? destination(operand(0).elements[i], t) : trash_at_);
  }
  current_.bytes = static_cast<std::uint8_t>(size * count);
  current_.bypass_l1 = true;
  emit_slow_access(std::move(made), Space::Global, true);
  current_.kind = returns ? OpKind::AtomicGlobal : OpKind::ReduceGlobal;
}

}  // namespace raddle::exec
