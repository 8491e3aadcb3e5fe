// Loads, stores, atomics (PTX ISA 9.7.9, 9.7.13). Parameters of calls are words of 32 lanes in the frame, so ld.param and
// st.param of them are moves; kernel parameters are registers filled before the warp starts.
#include <bit>

#include "raddle/exec/decode.h"

namespace raddle::exec {

using u32 = std::uint32_t;
using u64 = std::uint64_t;
using ptx::Space;
using ptx::Type;
using trace::OpKind;
using Kind = ptx::Operand::Kind;

struct Decoder::Access {
  Space space = Space::Generic;
  u32 address = 0;  ///< frame offset of the address register
  bool narrow = false;
  std::int64_t offset = 0;
};

namespace {
Space space_of(const ptx::Instruction& inst) {
  if (inst.has("global")) return Space::Global;
  if (inst.has("shared") || inst.has("shared::cta")) return Space::Shared;
  if (inst.has("local")) return Space::Local;
  if (inst.has("const")) return Space::Const;
  if (inst.has("param") || inst.has("param::entry") || inst.has("param::func"))
    return Space::Param;
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
  if (inst.has("shared::cluster")) refuse();
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
    if (a.space == Space::Generic && *value < DeviceMemory::kBase) refuse("generic address of a symbol");
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

/// A variable in param space that is not the kernel's own parameter; nullptr for those.
const ParameterPlace* Decoder::parameter_place(const ptx::Operand& address) const {
  using Scope = ptx::SymbolRef::Scope;
  if (function_.is_entry) return nullptr;
  if (address.symbol.scope == Scope::Parameter) return &code_.parameters[address.symbol.index];
  if (address.symbol.scope == Scope::ReturnParameter) return &code_.returns[address.symbol.index];
  return nullptr;
}

void Decoder::load(const Inst& inst) {
  const Type t = type();
  const ptx::Operand& to = operand(0);
  const ptx::Operand& address = operand(1);
  const unsigned size = ptx::size_of(t);
  std::vector<ptx::Operand> single{to};
  const auto& into = to.kind == Kind::Vector ? to.elements : single;
  if (size > 8 || into.empty() || into.size() > 4 || size * into.size() > 16) refuse();
  if (inst.has("unified") || to.reg2 != ptx::kNoIndex) refuse();
  current_.bytes = static_cast<std::uint8_t>(size * into.size());
  current_.bypass_l1 = bypasses_l1(inst);
  if (space_of(inst) == Space::Param && address.reg == ptx::kNoIndex) {
    u32 plane = 0;
    const ParameterPlace* place = parameter_place(address);
    if (address.symbol.scope == ptx::SymbolRef::Scope::Function)
      plane = variable_at_[address.symbol.index];
    else if (place != nullptr) plane = place->offset;
    else return load_kernel_parameter(inst, address);
    op_class(trace::OpClass::Move);
    current_.bytes = 0;
    for (std::size_t i = 0; i < into.size(); ++i)
      load_plane(into[i], t, plane, address.offset + static_cast<std::int64_t>(i * size));
    return;
  }
  const Access a = access(inst, address);
  u32 data[4] = {};
  unsigned width = 0;
  bool overlap = false;
  for (std::size_t i = 0; i < into.size(); ++i) {
    const bool sink = into[i].kind == Kind::Sink;
    if (!sink && into[i].kind != Kind::Register) refuse("destination");
    data[i] = sink ? trash_at_ : register_at_[into[i].reg];
    const unsigned w = sink ? std::max(2u, size) : register_width(into[i].reg);
    if (w < size) refuse("destination register smaller than its type");
    if (width != 0 && w != width) refuse("destination registers of different sizes");
    width = w;
    overlap |= data[i] < a.address + 256 && a.address < data[i] + 32 * w;
  }
  u32 in_place[4];
  std::copy(data, data + 4, in_place);
  const bool copies = a.space == Space::Generic && overlap;  // see generic_any
  if (copies)
    for (std::size_t i = 0; i < into.size(); ++i) data[i] = temporary();
  static constexpr struct {
    Space space;
    Op word, wide, any;
    OpKind kind;
  } kForms[] = {
      {Space::Global, O_ld_global_32, O_ld_global_64, O_ld_global, OpKind::LoadGlobal},
      {Space::Shared, O_ld_shared_32, O_ld_shared, O_ld_shared, OpKind::LoadShared},
      {Space::Local, O_ld_local, O_ld_local, O_ld_local, OpKind::LoadLocal},
      {Space::Const, O_ld_const, O_ld_const, O_ld_const, OpKind::LoadConst},
      {Space::Param, O_ld_param, O_ld_param, O_ld_param, OpKind::LoadConst},
      {Space::Generic, O_ld_generic, O_ld_generic, O_ld_generic, OpKind::LoadGlobal},
  };
  for (const auto& form : kForms) {
    if (form.space != a.space) continue;
    const bool plain = into.size() == 1 && size == width;
    Record& r = emit_own(plain && size == 4   ? form.word
                         : plain && size == 8 ? form.wide
                                              : form.any,
                         form.kind);
    place_address(r, a);
    r.d = data[0], r.b = data[1], r.c = data[2], r.aux = data[3];
    r.flags = static_cast<std::uint16_t>(
        r.flags | log2_of(size) | log2_of(width) << kRegisterShift |
        (into.size() - 1) << kVectorShift | (ptx::is_signed(t) ? kSigned : 0) |
        (is_strong(inst) && a.space != Space::Shared ? kVisible : 0));
    if (a.space == Space::Generic) generic_.push_back(index_);
    if (copies)
      for (std::size_t i = 0; i < into.size(); ++i)
        alu(width == 8 ? O_mov_64 : width == 4 ? O_mov_32 : O_mov_16, in_place[i], data[i]);
    return;
  }
  refuse();
}

void Decoder::store(const Inst& inst) {
  const Type t = type();
  const ptx::Operand& address = operand(0);
  const ptx::Operand& from = operand(1);
  const unsigned size = ptx::size_of(t);
  std::vector<ptx::Operand> single{from};
  const auto& values = from.kind == Kind::Vector ? from.elements : single;
  if (size > 8 || values.empty() || values.size() > 4 || size * values.size() > 16) refuse();
  current_.bytes = static_cast<std::uint8_t>(size * values.size());
  current_.bypass_l1 = bypasses_l1(inst);
  if (space_of(inst) == Space::Param) {
    if (address.reg != ptx::kNoIndex) refuse();
    u32 plane = 0;
    const ParameterPlace* place = parameter_place(address);
    if (address.symbol.scope == ptx::SymbolRef::Scope::Function)
      plane = variable_at_[address.symbol.index];
    else if (place != nullptr) plane = place->offset;
    else refuse();
    op_class(trace::OpClass::Move);
    current_.bytes = 0;
    for (std::size_t i = 0; i < values.size(); ++i)
      store_plane(values[i], t, plane, address.offset + static_cast<std::int64_t>(i * size));
    return;
  }
  const Access a = access(inst, address);
  u32 data[4] = {};
  unsigned width = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    unsigned w = std::max(2u, size);
    if (values[i].kind == Kind::Register) {
      w = register_width(values[i].reg);
      if (w < size) refuse("source register smaller than its type");
      data[i] = register_at_[values[i].reg];
    } else {
      data[i] = source(values[i], t);
    }
    if (width != 0 && w != width) refuse("source registers of different sizes");
    width = w;
  }
  static constexpr struct {
    Space space;
    Op word, wide, any;
    OpKind kind;
  } kForms[] = {
      {Space::Global, O_st_global_32, O_st_global_64, O_st_global, OpKind::StoreGlobal},
      {Space::Shared, O_st_shared_32, O_st_shared, O_st_shared, OpKind::StoreShared},
      {Space::Local, O_st_local, O_st_local, O_st_local, OpKind::StoreLocal},
      {Space::Generic, O_st_generic, O_st_generic, O_st_generic, OpKind::StoreGlobal},
  };
  for (const auto& form : kForms) {
    if (form.space != a.space) continue;
    const bool plain = values.size() == 1 && size == width;
    Record& r = emit_own(plain && size == 4   ? form.word
                         : plain && size == 8 ? form.wide
                                              : form.any,
                         form.kind);
    place_address(r, a);
    r.d = data[0], r.b = data[1], r.c = data[2], r.aux = data[3];
    r.flags = static_cast<std::uint16_t>(r.flags | log2_of(size) |
                                         log2_of(width) << kRegisterShift |
                                         (values.size() - 1) << kVectorShift);
    if (a.space == Space::Generic) generic_.push_back(index_);
    return;
  }
  refuse();
}

void Decoder::load_kernel_parameter(const Inst& inst, const ptx::Operand& address) {
  const Type t = type();
  const unsigned size = ptx::size_of(t);
  const ptx::Operand& to = inst.operands[0];
  std::vector<ptx::Operand> single{to};
  const auto& into = to.kind == Kind::Vector ? to.elements : single;
  const auto at = symbol_value(address);
  if (!at || *at + size * into.size() > scope_.parameters->bytes) refuse("parameter offset");
  emit_own(O_note, OpKind::LoadConst).imm = 1;
  for (std::size_t i = 0; i < into.size(); ++i) {
    if (into[i].kind == Kind::Sink) continue;
    const unsigned width = register_width(into[i].reg);
    if (width < size) refuse("destination register smaller than its type");
    const u64 from = *at + i * size;
    const bool sign = ptx::is_signed(t);
    auto [slot, fresh] = parameter_fills_.try_emplace(
        {from, u64{width} << 8 | size, sign}, code_.frame_bytes);
    if (fresh) {
      code_.fills.push_back({Fill::Kind::Parameter, static_cast<std::uint8_t>(width),
                             code_.frame_bytes, from, {}, static_cast<std::uint8_t>(size), sign});
      code_.frame_bytes += width == 8 ? 256 : 128;
    }
    alu(width == 8 ? O_mov_64 : width == 4 ? O_mov_32 : O_mov_16, register_at_[into[i].reg],
        slot->second);
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
      {"add", AtomOp::Add},      {"min", AtomOp::Min},      {"max", AtomOp::Max},
      {"inc", AtomOp::Inc},      {"dec", AtomOp::Dec},      {"and", AtomOp::And},
      {"or", AtomOp::Or},        {"xor", AtomOp::Xor},      {"exch", AtomOp::Exchange},
      {"cas", AtomOp::Compare}};
  static constexpr std::pair<Type, AtomType> kTypes[] = {
      {Type::U32, AtomType::U32},     {Type::B32, AtomType::U32},     {Type::S32, AtomType::S32},
      {Type::U64, AtomType::U64},     {Type::B64, AtomType::U64},     {Type::S64, AtomType::S64},
      {Type::F32, AtomType::F32},     {Type::F64, AtomType::F64},     {Type::F16, AtomType::F16},
      {Type::BF16, AtomType::BF16},   {Type::F16x2, AtomType::F16x2}, {Type::BF16x2, AtomType::BF16x2},
      {Type::B16, AtomType::B16}};
  const Type t = type();
  const bool returns = inst.opcode == "atom";
  const std::size_t at = returns ? 1 : 0;
  if (inst.has("v2") || inst.has("v4") || inst.has("v8") || inst.has("async")) refuse();
  if (operand(at + 1).kind == Kind::Vector) refuse();
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
  r.aux = static_cast<u32>(*op) | static_cast<u32>(*as) << 8 | static_cast<u32>(a.space) << 16 |
          (returns ? 1u << 24 : 0u);
  if (a.space == Space::Generic) generic_.push_back(index_);
}

}  // namespace raddle::exec
