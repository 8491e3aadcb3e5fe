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
bool has_modifier(std::string_view mnemonic, std::string_view modifier) {
  bool found = false;
  each_modifier(mnemonic, [&](std::string_view m) { found = found || m == modifier; });
  return found;
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
    unsigned rows = 0, columns = 0, depth = 0;  // 64x128x16: of four warps
    if (std::sscanf(std::string(name).c_str(), "%ux%ux%u", &rows, &columns, &depth) == 3 &&
        std::max({rows, columns, depth}) <= 1024)
      adds = rows * columns * depth / 4;
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

std::vector<unsigned> read_registers(Fields& fields, std::string_view what) {
  const std::int64_t n = fields.decimal(what);
  if (n < 0 || n > kMaxOperands) bad(what, std::to_string(n));
  std::vector<unsigned> out;
  for (std::int64_t i = 0; i < n; ++i) {
    const std::string_view word = fields.word();
    unsigned r = 0;
    const char* end = word.data() + word.size();
    if (word.size() < 2 || word[0] != 'R' || std::from_chars(word.data() + 1, end, r).ptr != end ||
        r > kZeroRegister)
      bad("a register R0 to R255", word);
    out.push_back(r);
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
  const bool waits_only = has_modifier(mnemonic, "SC") || has_modifier(mnemonic, "ALL");
  return waits_only ? trace::kReleaseOnly : trace::kFullFence;
}

void set_kind(StaticLine& line, bool result) {
  const Opcode& opcode = *line.opcode;
  trace::StaticInst& inst = line.inst;
  inst.kind = opcode.kind;
  inst.op_class = opcode.op_class;
  line.space = opcode.space;
  const std::string_view m = line.mnemonic;
  if (opcode.name == "IMAD" && has_modifier(m, "MOV")) inst.op_class = trace::OpClass::Move;
  if (inst.kind == OpKind::AtomicGlobal && !result) inst.kind = OpKind::ReduceGlobal;
  if (inst.kind == OpKind::Fence) inst.bytes = fence_kind(m);
  if (opcode.name == "CCTL" && has_modifier(m, "IVALL")) inst.kind = OpKind::Fence;
  if (inst.op_class == trace::OpClass::Tensor) inst.bytes = matrix_work(m);
  if (line.space == Space::None) {
    line.has_addresses = false;
    return;
  }
  inst.bypass_l1 = has_modifier(m, "BYPASS") ||
                   (has_modifier(m, "STRONG") && !has_modifier(m, "SM") && !has_modifier(m, "CTA"));
  if (opcode.name == "LDSM" || opcode.name == "STSM") {
    line.bytes = 16;  // a row of a matrix for each lane
    line.lanes = has_modifier(m, "4") ? kFullMask : has_modifier(m, "2") ? 0xffffu : 0xffu;
  }
  inst.bytes = static_cast<std::uint8_t>(line.bytes);
  if (line.has_addresses || line.space == Space::Const) return;
  // A memory instruction whose addresses the tracer did not see takes its place in the pipeline.
  inst.kind = OpKind::Alu;
  inst.op_class = trace::OpClass::Move;
  line.space = Space::None;
}

}  // namespace

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
  const bool is_hex = rest().starts_with("0x");
  return is_hex ? static_cast<std::int64_t>(hex("the immediate")) : decimal("the immediate");
}

StaticLine read_static(std::uint64_t pc, std::string_view text, Generation generation) {
  StaticLine line;
  line.pc = pc;
  Fields fields(text);
  const std::vector<unsigned> writes =
      read_registers(fields, "the number of destination registers");
  line.mnemonic = fields.word();
  if (line.mnemonic.empty() || line.mnemonic[0] < 'A' || line.mnemonic[0] > 'Z')
    bad("an opcode", line.mnemonic);
  const std::vector<unsigned> reads = read_registers(fields, "the number of source registers");
  const std::int64_t width = fields.decimal("the width of the memory operand");
  if (width != 0 && (width < 0 || width > 1024 || !std::has_single_bit<std::uint64_t>(width)))
    bad("a width of 0, or a power of two up to 1024 bytes", std::to_string(width));
  line.addresses_follow = line.has_addresses = width != 0;
  line.text = text.substr(0, text.size() - fields.rest().size());
  while (line.text.ends_with(' ') || line.text.ends_with('\t') || line.text.ends_with('\r'))
    line.text.pop_back();
  line.opcode = find_opcode(generation, line.mnemonic);
  line.bytes = data_bytes(line.mnemonic);
  if (line.opcode == nullptr) guess(line, !writes.empty());
  else set_kind(line, !writes.empty());
  // Where several destinations are named, all of them are.
  for (const unsigned reg : writes)
    add_registers(line.inst.writes, reg, writes.size() == 1 ? registers_of(line, -1, 0) : 1);
  for (std::size_t i = 0; i < reads.size(); ++i)
    add_registers(line.inst.reads, reads[i],
                  registers_of(line, static_cast<int>(i), static_cast<unsigned>(reads.size())));
  // A store writes no register, whatever the trace says of a destination.
  if (line.inst.kind == OpKind::StoreGlobal || line.inst.kind == OpKind::StoreShared ||
      line.inst.kind == OpKind::StoreLocal || line.inst.kind == OpKind::ReduceGlobal)
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

}  // namespace raddle::accelsim
