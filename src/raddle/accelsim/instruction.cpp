#include "raddle/accelsim/instruction.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdio>
#include <vector>

#include "raddle/base/error.h"

namespace raddle::accelsim {

namespace {

using trace::OpKind;
constexpr unsigned kZeroRegister = 255, kMaxOperands = 16;

[[noreturn]] void bad(std::string_view what, std::string_view found) {
  throw InputError("expected " + std::string(what) + ", found " +
                   (found.empty() ? "the end of the line" : "'" + std::string(found) + "'"));
}

/// The opcode's modifiers, one after the other.
template <class F>
void each_modifier(std::string_view mnemonic, F f) {
  for (std::size_t dot = mnemonic.find('.'); dot != std::string_view::npos;) {
    const std::size_t next = mnemonic.find('.', dot + 1);
    f(mnemonic.substr(dot + 1, next == std::string_view::npos ? next : next - dot - 1));
    dot = next;
  }
}

/// Bytes per lane of a memory operand: .U8 .S16 .64 .128 .F64, else 4.
unsigned data_bytes(std::string_view mnemonic) {
  unsigned bytes = 0;
  each_modifier(mnemonic, [&](std::string_view m) {
    if (bytes != 0 || m.empty()) return;
    if (m[0] == 'U' || m[0] == 'S' || m[0] == 'F') m.remove_prefix(1);
    unsigned bits = 0;
    const auto [end, error] = std::from_chars(m.data(), m.data() + m.size(), bits);
    if (error != std::errc() || end != m.data() + m.size()) return;
    if (bits == 8 || bits == 16 || bits == 32 || bits == 64 || bits == 128 || bits == 256)
      bytes = bits / 8;
  });
  return bytes != 0 ? bytes : 4;
}

/// Registers of the result, the factors and the addend; PTX ISA, "Matrix Fragments".
std::array<unsigned, 4> matrix_registers(std::string_view mnemonic) {
  auto has = [&](std::string_view m) { return has_modifier(mnemonic, m); };
  const unsigned sum = has("F32") || mnemonic.starts_with('I') || mnemonic.starts_with('B') ? 4 : 2;
  if (mnemonic.starts_with('D')) return {4, 2, 2, 4};
  if (has("884")) return {2, 2, 2, 2};
  if (has("8816") || has("8832") || has("88128")) return {2, 1, 1, 2};
  if (has("16816") && mnemonic.starts_with('H')) return {sum, 4, 2, sum};
  if (has("1688") && has("TF32")) return {4, 4, 2, 4};
  if (has("16832") || has("16864") || has("168256")) return {sum, 4, 2, sum};
  return {sum, 2, 1, sum};  // 1688, 1684, 16816 of integers, 168128
}

/// Multiply-adds of f16 that take as long as the warp's part of a matrix instruction, by shape and
/// element type at A100's rates (as exec has it of PTX), in 64ths of the 4096 that a machine's cost
/// is stated for.
std::uint8_t matrix_work(std::string_view mnemonic) {
  struct Shape {
    std::string_view name;
    unsigned m, n, k;
  };
  static constexpr Shape kShapes[] = {
      {"884", 8, 8, 4},     {"1684", 16, 8, 4},     {"1688", 16, 8, 8},    {"16816", 16, 8, 16},
      {"16832", 16, 8, 32}, {"16864", 16, 8, 64},   {"8816", 8, 8, 16},    {"8832", 8, 8, 32},
      {"88128", 8, 8, 128}, {"168128", 16, 8, 128}, {"168256", 16, 8, 256}};
  auto has = [&](std::string_view m) { return has_modifier(mnemonic, m); };
  const bool narrow = has("S4") || has("U4");
  const unsigned sixteenths = mnemonic.starts_with('D')   ? 256
                              : mnemonic.starts_with('B') ? 1
                              : mnemonic.starts_with('I') ? (narrow ? 4 : 8)
                              : mnemonic.starts_with('Q') ? 8
                              : has("TF32")               ? 32
                                                          : 16;
  unsigned adds = 0;
  each_modifier(mnemonic, [&](std::string_view name) {
    for (const Shape& shape : kShapes)
      if (shape.name == name) adds = shape.m * shape.n * shape.k;
  });
  // Volta: four products of a warp in four steps, in two with sums of f16.
  if (mnemonic.starts_with("HMMA.884") && !has("F32")) adds *= 2;
  if (adds == 0) return 0;
  return static_cast<std::uint8_t>(std::clamp(adds * sixteenths / (4096 * 16 / 64), 1u, 255u));
}

/// Registers of operand `i` of `sources`, or of the result (i = -1).
unsigned registers_of(const StaticLine& line, int i, unsigned sources) {
  const unsigned data = std::max(1u, line.bytes / 4);
  const bool last = i + 1 == static_cast<int>(sources);
  switch (line.opcode == nullptr ? Width::Plain : line.opcode->width) {
    case Width::Plain:
      return 1;
    case Width::Double:
      return 2;
    case Width::Sized: {
      bool wide = false;
      each_modifier(line.mnemonic, [&](std::string_view m) { wide = wide || m.ends_with("64"); });
      return wide ? 2 : 1;
    }
    case Width::Wide:
      return (i == -1 || (last && sources == 3)) && has_modifier(line.mnemonic, "WIDE") ? 2 : 1;
    case Width::Matrix: {
      const auto registers = matrix_registers(line.mnemonic);
      return i < 3 ? registers[static_cast<unsigned>(i + 1)] : 1;
    }
    case Width::Data:
      break;
  }
  const bool load = line.inst.kind == OpKind::LoadGlobal || line.inst.kind == OpKind::LoadShared ||
                    line.inst.kind == OpKind::LoadLocal || line.inst.kind == OpKind::LoadConst;
  if (i == -1) return data;
  if (i == 0) return has_modifier(line.mnemonic, "E") ? 2 : 1;
  return load ? 1 : data;
}

void add_registers(std::vector<std::uint8_t>& to, unsigned first, unsigned count) {
  for (unsigned r = first; r < first + count && r < kZeroRegister; ++r)
    if (std::ranges::find(to, r) == to.end()) to.push_back(static_cast<std::uint8_t>(r));
}

/// The vector registers among those named; `named`: how many of any kind.
std::vector<unsigned> read_registers(Fields& fields, std::string_view what, bool version_6,
                                     std::uint8_t& named) {
  const std::int64_t n = fields.decimal(what);
  if (n < 0 || n > kMaxOperands) bad(what, std::to_string(n));
  named = static_cast<std::uint8_t>(n);
  std::vector<unsigned> out;
  for (std::int64_t i = 0; i < n; ++i) {
    const std::string_view word = fields.word();
    std::string_view digits = word;
    const bool uniform = version_6 && digits.starts_with('U');
    if (uniform) digits.remove_prefix(1);
    const bool vector = digits.starts_with('R'), predicate = version_6 && digits.starts_with('P');
    if (vector || predicate) digits.remove_prefix(1);
    unsigned r = 0;
    const char* end = digits.data() + digits.size();
    if ((!vector && !predicate) || digits.empty() ||
        std::from_chars(digits.data(), end, r).ptr != end || r > kZeroRegister)
      bad("a register R0 to R255", word);
    if (vector && !uniform) out.push_back(r);
  }
  return out;
}

/// What an instruction becomes whose opcode is not in the tables: what its operands say.
void guess(StaticLine& line, bool result) {
  line.inst.kind =
      line.has_addresses ? result ? OpKind::LoadGlobal : OpKind::StoreGlobal : OpKind::Alu;
  line.inst.op_class = line.has_addresses ? trace::OpClass::Memory : trace::OpClass::Int;
  line.space = line.has_addresses ? Space::Generic : Space::None;
}

/// From Volta on (.SC, .ALL) a MEMBAR waits only; where what others have written must be seen, a
/// CCTL.IVALL follows.
std::uint8_t fence_kind(std::string_view mnemonic) {
  if (has_modifier(mnemonic, "CTA")) return trace::kBlockScope;
  const bool waits_only = has_modifier(mnemonic, "SC") || has_modifier(mnemonic, "ALL") ||
                          has_modifier(mnemonic, "VIEW");  // a fence between proxies
  return waits_only ? trace::kReleaseOnly : trace::kFullFence;
}

/// As exec has bulk and tensor copies: pieces of 16 bytes, past the L1D. UBLKCP names destination
/// and source (S.G, G.S, S.S).
void set_copy(StaticLine& line) {
  trace::StaticInst& inst = line.inst;
  const std::string_view m = line.mnemonic;
  if (m.find(".S.S") != std::string_view::npos) inst.kind = OpKind::StoreShared;
  else if (m.starts_with("UBLKCP") && m.find(".G.S") != std::string_view::npos)
    inst.kind = OpKind::StoreGlobal;
  const bool global = inst.kind != OpKind::StoreShared;
  inst.bytes = 16;
  inst.bypass_l1 = global;
  if (global) inst.copy = m.starts_with("UBLK") ? trace::CopyKind::Bulk : trace::CopyKind::Tensor;
}

/// A product of a warpgroup, as exec has it of wgmma: 64 rows by N columns, and 256 bits of A along
/// K. Its sums are a register for two columns, of f16 one for four; A is in registers where two
/// operands are (the other is the sums), else in shared memory as B. False: the shape is unknown.
bool set_product(StaticLine& line, const std::vector<unsigned>& writes,
                 const std::vector<unsigned>& reads) {
  unsigned rows = 0, columns = 0, depth = 0;
  each_modifier(line.mnemonic, [&](std::string_view name) {
    unsigned m = 0, n = 0, k = 0;
    if (std::sscanf(std::string(name).c_str(), "%ux%ux%u", &m, &n, &k) != 3) return;
    rows = m;
    columns = n;
    depth = k;
  });
  if (rows != 64 || depth == 0 || columns < 8 || columns > 256 || columns % 8 != 0) return false;
  auto has = [&](std::string_view m) { return has_modifier(line.mnemonic, m); };
  const bool halves = has("F16") && !has("F32"), a_in_registers = reads.size() > 1;
  line.inst.bytes = static_cast<std::uint16_t>(4 * columns | trace::kWarpgroupProduct |
                                               (a_in_registers ? 0 : trace::kSharedA) |
                                               (has("SP") ? trace::kSparseA : 0));
  if (!writes.empty()) add_registers(line.inst.writes, writes[0], columns / (halves ? 4 : 2));
  if (a_in_registers) add_registers(line.inst.reads, reads[0], 4);
  return true;
}

/// An instruction of mbarrier's. What is written behind ARRIVE says how many arrivals (A) and bytes
/// (T) it brings: none, 1, or as many as the register (R); TX: bytes that have come. PTX's
/// mbarrier.arrive.expect_tx has no such word. False: another one.
bool set_object(StaticLine& line) {
  using Action = trace::ObjectAction;
  constexpr std::uint8_t kR = ObjectUse::kOfRegister;
  const std::string_view m = line.mnemonic;
  ObjectUse& use = line.object;
  if (m == "SYNCS.EXCH.64") use = {Action::Init, kR, 0};
  else if (m == "SYNCS.CCTL.IV") use = {Action::Init, 0, 0};
  else if (m == "SYNCS.PHASECHK.TRANS64" || m == "SYNCS.PHASECHK.TRANS64.TRYWAIT")
    use = {Action::Wait, 0, 0};
  else if (m == "ARRIVES.LDGSTSBAR.64.TRANSCNT") use = {Action::Copies, 1, 0};
  else if (m == "ARRIVES.LDGSTSBAR.64.ARVCNT") use = {Action::Copied, 1, 0};
  else if (m.starts_with("SYNCS.ARRIVE.TRANS64")) {
    static constexpr std::pair<std::string_view, ObjectUse> kForms[] = {
        {"", {Action::Arrive, 1, kR}},      {".A1TR", {Action::Arrive, 1, kR}},
        {".A1T0", {Action::Arrive, 1, 0}},  {".ART0", {Action::Arrive, kR, 0}},
        {".A0TR", {Action::Arrive, 0, kR}}, {".A0T1", {Action::Arrive, 0, 1}},
        {".A0TX", {Action::Come, 0, kR}}};
    std::string_view form = m.substr(std::string_view("SYNCS.ARRIVE.TRANS64").size());
    if (form.starts_with(".RED")) form.remove_prefix(4);
    const auto* found =
        std::ranges::find(kForms, form, &std::pair<std::string_view, ObjectUse>::first);
    if (found == std::end(kForms)) return false;
    use = found->second;
  } else {
    return false;
  }
  line.inst.kind = OpKind::BarrierObject;
  line.inst.bytes = static_cast<std::uint16_t>(use.action);
  return true;
}

/// What needs fields that older tracers do not write, or is not known, has no effect yet.
void set_effect(StaticLine& line, const LineFormat& format, const std::vector<unsigned>& writes,
                const std::vector<unsigned>& reads) {
  bool known = true;
  if (line.effect == Effect::Product) known = set_product(line, writes, reads);
  else if (line.effect == Effect::Copy) known = format.version_6;
  else if (line.effect == Effect::Object || line.effect == Effect::CopiesArrive)
    known = format.version_6 && format.generation == Generation::Hopper && line.addresses_follow &&
            set_object(line);
  if (line.effect == Effect::Copy && known) set_copy(line);
  if (known) return;
  line.effect = Effect::Untimed;
  if (line.inst.op_class != trace::OpClass::Tensor) line.inst.op_class = trace::OpClass::Control;
  line.inst.kind = OpKind::Alu;
}

void set_kind(StaticLine& line, bool result) {
  const Opcode& opcode = *line.opcode;
  trace::StaticInst& inst = line.inst;
  inst.kind = opcode.kind;
  inst.op_class = opcode.op_class;
  line.space = opcode.space;
  line.effect = opcode.effect;
  const std::string_view name = line.mnemonic;
  if (opcode.name == "IMAD" && has_modifier(name, "MOV")) inst.op_class = trace::OpClass::Move;
  if (inst.kind == OpKind::AtomicGlobal && !result) inst.kind = OpKind::ReduceGlobal;
  if (inst.kind == OpKind::Fence) inst.bytes = fence_kind(name);
  if (opcode.name == "CCTL" && has_modifier(name, "IVALL")) {
    inst.kind = OpKind::Fence;
    line.effect = Effect::None;
  }
  if (line.effect == Effect::EndsCopies || line.effect == Effect::EndsBulk) {
    inst.kind = OpKind::Fence;
    inst.bytes = line.effect == Effect::EndsCopies ? trace::kEndsGroup : trace::kEndsBulkGroup;
  }
  if (inst.op_class == trace::OpClass::Tensor) inst.bytes = matrix_work(name);
  if (line.space == Space::None) {
    line.has_addresses = false;
    return;
  }
  inst.bypass_l1 =
      has_modifier(name, "BYPASS") ||
      (has_modifier(name, "STRONG") && !has_modifier(name, "SM") && !has_modifier(name, "CTA"));
  if (opcode.name == "LDSM" || opcode.name == "STSM") {
    line.bytes = 16;  // a row of a matrix for each lane
    line.lanes = has_modifier(name, "4") ? kFullMask : has_modifier(name, "2") ? 0xffffu : 0xffu;
  }
  inst.bytes = static_cast<std::uint8_t>(line.bytes);
  if (line.has_addresses || line.space == Space::Const) return;
  // A memory instruction whose addresses the tracer did not see takes its place in the pipeline.
  inst.kind = OpKind::Alu;
  inst.op_class = trace::OpClass::Move;
  line.space = Space::None;
}

}  // namespace

bool has_modifier(std::string_view mnemonic, std::string_view modifier) {
  bool found = false;
  each_modifier(mnemonic, [&](std::string_view m) { found = found || m == modifier; });
  return found;
}

std::string_view Fields::word() {
  while (at_ != end_ && (*at_ == ' ' || *at_ == '\t' || *at_ == '\r')) ++at_;
  const char* begin = at_;
  while (at_ != end_ && *at_ != ' ' && *at_ != '\t' && *at_ != '\r') ++at_;
  return {begin, static_cast<std::size_t>(at_ - begin)};
}

std::string_view Fields::rest() {
  while (at_ != end_ && (*at_ == ' ' || *at_ == '\t' || *at_ == '\r')) ++at_;
  return {at_, static_cast<std::size_t>(end_ - at_)};
}

std::uint64_t Fields::hex(std::string_view what) {
  const std::string_view all = word();
  std::string_view digits = all;
  if (digits.starts_with("0x") || digits.starts_with("0X")) digits.remove_prefix(2);
  std::uint64_t out = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, out, 16);
  if (error != std::errc() || stop != end) bad(what, all);
  return out;
}

std::int64_t Fields::decimal(std::string_view what) {
  const std::string_view all = word();
  std::int64_t out = 0;
  const char* end = all.data() + all.size();
  const auto [stop, error] = std::from_chars(all.data(), end, out);
  if (error != std::errc() || stop != end) bad(what, all);
  return out;
}

std::int64_t Fields::immediate() {
  if (at_end()) return 0;
  if (rest().starts_with("0x")) return static_cast<std::int64_t>(hex("the immediate"));
  if (rest().starts_with('-')) return decimal("the immediate");
  const std::string_view all = word();  // tracers write them without sign
  std::uint64_t out = 0;
  const char* end = all.data() + all.size();
  const auto [stop, error] = std::from_chars(all.data(), end, out);
  if (error != std::errc() || stop != end) bad("the immediate", all);
  return static_cast<std::int64_t>(out);
}

StaticLine read_static(std::uint64_t pc, std::string_view text, const LineFormat& format) {
  StaticLine line;
  line.pc = pc;
  Fields fields(text);
  const std::vector<unsigned> writes = read_registers(fields, "the number of destination registers",
                                                      format.version_6, line.destinations);
  line.mnemonic = fields.word();
  if (line.mnemonic.empty() || line.mnemonic[0] < 'A' || line.mnemonic[0] > 'Z')
    bad("an opcode", line.mnemonic);
  const std::vector<unsigned> reads =
      read_registers(fields, "the number of source registers", format.version_6, line.sources);
  line.opcode = find_opcode(format.generation, line.mnemonic);
  const Effect effect = line.opcode == nullptr ? Effect::None : line.opcode->effect;
  if (effect == Effect::Product && format.version_6) {
    const std::int64_t ends = fields.decimal("0 or 1, whether it ends a group");
    if (ends != 0 && ends != 1) bad("0 or 1, whether it ends a group", std::to_string(ends));
    line.ends_group = ends == 1;
  }
  const std::int64_t width = fields.decimal("the width of the memory operand");
  const bool copy = effect == Effect::Copy && format.version_6;
  if (width != 0 && (width < 0 || width > 1024 || !std::has_single_bit<std::uint64_t>(width)))
    bad("a width of 0, or a power of two up to 1024 bytes", std::to_string(width));
  line.addresses_follow = line.has_addresses = width != 0 && !copy;
  line.text = text.substr(0, text.size() - fields.rest().size());
  while (line.text.ends_with(' ') || line.text.ends_with('\t') || line.text.ends_with('\r'))
    line.text.pop_back();
  line.bytes = copy ? static_cast<unsigned>(width) : data_bytes(line.mnemonic);
  if (line.opcode == nullptr) guess(line, !writes.empty());
  else set_kind(line, !writes.empty());
  set_effect(line, format, writes, reads);
  if (line.effect == Effect::Product) return line;
  // Where several destinations are named, all of them are.
  for (const unsigned reg : writes)
    add_registers(line.inst.writes, reg, writes.size() == 1 ? registers_of(line, -1, 0) : 1);
  for (std::size_t i = 0; i < reads.size(); ++i)
    add_registers(line.inst.reads, reads[i],
                  registers_of(line, static_cast<int>(i), static_cast<unsigned>(reads.size())));
  // A store writes no register, whatever the trace says of a destination.
  if (line.inst.kind == OpKind::StoreGlobal || line.inst.kind == OpKind::StoreShared ||
      line.inst.kind == OpKind::StoreLocal || line.inst.kind == OpKind::ReduceGlobal ||
      line.effect == Effect::Copy)
    line.inst.writes.clear();
  // Uniform registers are not traced: nobody would wait for what such a load brings.
  if (line.inst.kind == OpKind::LoadConst && line.inst.writes.empty()) {
    line.inst.kind = OpKind::Alu;
    line.inst.op_class = trace::OpClass::Move;
    line.has_addresses = false;
    line.space = Space::None;
  }
  return line;
}

namespace {
/// A GPU's addresses have 49 bits.
std::uint64_t address(std::uint64_t value) {
  constexpr unsigned kBits = 49;
  if (value >> kBits != 0) {
    char found[32];
    std::snprintf(found, sizeof found, "%#llx", static_cast<unsigned long long>(value));
    bad("addresses of 49 bits", found);
  }
  return value;
}
}  // namespace

void read_addresses(Fields& fields, LaneMask mask, Addresses& out) {
  const std::string_view mode = fields.word();
  if (mode == "0") {
    for (LaneMask m = mask; m != 0; m &= m - 1)
      out[static_cast<unsigned>(std::countr_zero(m))] =
          address(fields.hex("an address of each lane"));
    return;
  }
  if (mode != "1" && mode != "2") bad("an address mode 0, 1 or 2", mode);
  std::uint64_t at = fields.hex("a base address");
  if (mode == "1") {
    const auto stride = static_cast<std::uint64_t>(fields.decimal("a stride"));
    const LaneMask run = mask == 0 ? 0 : mask >> std::countr_zero(mask);
    if ((run & (run + 1)) != 0) throw InputError("addresses by stride need lanes in one run");
    for (LaneMask m = mask; m != 0; m &= m - 1, at += stride)
      out[static_cast<unsigned>(std::countr_zero(m))] = address(at);
    return;
  }
  for (LaneMask m = mask; m != 0; m &= m - 1) {
    out[static_cast<unsigned>(std::countr_zero(m))] = address(at);
    if ((m & (m - 1)) != 0)
      at += static_cast<std::uint64_t>(fields.decimal("an address difference for each lane"));
  }
}

void read_copy(Fields& fields, CopyLine& out) {
  constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 20;  // more than shared memory has
  const auto number = [&](std::string_view what, std::uint64_t maximum) {
    const std::int64_t n = fields.decimal(what);
    if (n < 0 || static_cast<std::uint64_t>(n) > maximum) bad(what, std::to_string(n));
    return static_cast<std::uint64_t>(n);
  };
  out.object = fields.hex("the address of a barrier object");
  out.blocks.reset();
  if (number("0 or 1, whether it is a multicast", 1) == 1) {
    const std::uint64_t mask = fields.hex("a mask of 16 blocks");
    if (mask > 0xffff) bad("a mask of 16 blocks", std::to_string(mask));
    out.blocks = static_cast<std::uint32_t>(mask);
  }
  out.bytes = number("bytes of a copy, at most 1048576", kMaxBytes);
  out.outside = number("bytes outside of the tensor, at most 1048576", kMaxBytes);
  const std::string_view mode = fields.word();
  if (mode != "3" && mode != "4") bad("an address mode 3 or 4", mode);
  std::uint64_t at = mode == "4" ? fields.hex("a base address") : 0;
  const std::uint64_t count = number("the number of addresses, at most 1048576", kMaxBytes);
  out.elements.clear();
  for (std::uint64_t i = 0; i < count; ++i) {
    if (mode == "3") at = fields.hex("an address of the copy");
    else if (i != 0) at += static_cast<std::uint64_t>(fields.decimal("an address difference"));
    out.elements.push_back(address(at));
  }
}

Tail read_tail(Fields& fields, bool version_6) {
  Tail out;
  if (!version_6) {
    if (fields.at_end()) return out;
    out.first = fields.immediate();
    if (!fields.at_end()) bad("the end of the line", fields.rest().substr(0, 80));
    return out;
  }
  const auto is_number = [&] {
    const std::string_view rest = fields.rest();
    return !rest.empty() && (rest[0] == '-' || (rest[0] >= '0' && rest[0] <= '9'));
  };
  if (is_number()) out.first = fields.immediate();
  if (is_number()) out.second = fields.immediate();
  out.values = fields.word() == "Val";
  return out;
}

std::array<std::uint64_t, kLanes> read_values(Fields& fields, unsigned wanted) {
  std::array<std::uint64_t, kLanes> out{};
  for (unsigned i = 0; i <= wanted; ++i) {
    const std::int64_t count = fields.decimal("1 or 32 values of a register");
    if (count != 1 && count != kLanes) bad("1 or 32 values of a register", std::to_string(count));
    for (unsigned lane = 0; lane < kLanes; ++lane)
      if (lane == 0 || count != 1) out[lane] = fields.hex("a value of a register");
      else out[lane] = out[0];
  }
  return out;
}

}  // namespace raddle::accelsim
