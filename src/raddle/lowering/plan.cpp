#include "raddle/lowering/plan.h"

#include <algorithm>
#include <array>

#include "raddle/lowering/liveness.h"
#include "raddle/lowering/rules.h"

namespace raddle::lowering {

namespace {

using trace::Operand;
using trace::OpKind;
using u32 = std::uint32_t;
using Kind = Operand::Kind;

bool is_source(const Operand& o) { return o.kind != Kind::Write && o.kind != Kind::Guard; }
bool has_register(const Operand& o) { return o.reg != trace::kNoRegister; }
bool takes_part(const trace::StaticInst& in) { return in.alias_of == trace::kNoRegister; }

bool starts(std::string_view text, std::string_view with) { return text.starts_with(with); }
bool is_any(std::string_view text, std::initializer_list<std::string_view> all) {
  return std::find(all.begin(), all.end(), text) != all.end();
}

/// Operations of 64 bits whose low half needs only low halves.
bool is_low_preserving(std::string_view op) {
  return is_any(op, {"add.s64", "add.u64", "sub.s64", "sub.u64", "mul.lo.s64", "mul.lo.u64",
                     "mad.lo.s64", "mad.lo.u64", "shl.b64", "and.b64", "or.b64", "xor.b64",
                     "not.b64", "mov.u64", "mov.b64", "mov.s64"}) ||
         starts(op, "cvta.");
}

bool is_logic(std::string_view op) {
  return is_any(op, {"and.b32", "or.b32", "xor.b32", "not.b32"});
}

bool is_narrow_space(OpKind k) {
  return k == OpKind::LoadShared || k == OpKind::StoreShared || k == OpKind::AtomicShared ||
         k == OpKind::LoadLocal || k == OpKind::StoreLocal;
}

bool is_global(OpKind k) {
  return k == OpKind::LoadGlobal || k == OpKind::StoreGlobal || k == OpKind::AtomicGlobal ||
         k == OpKind::ReduceGlobal;
}

}  // namespace

Plan::Plan(const trace::KernelCode& code, Generation generation, AddressBits address_bits)
    : code_(code), generation_(generation), address_bits_(address_bits) {
  for (const trace::StaticInst& in : code.instructions) size_ += takes_part(in) ? 1 : 0;
  removed_.resize(code.instructions.size());
  partner_.assign(code.instructions.size(), kNone);
  number_words();
  block_ = basic_blocks(code_);
  collect();
  fold_copies();
  find_narrow();
  fuse();
  join_phis();
  drop_branches();
}

void Plan::number_words() {
  values_.resize(code_.register_bytes.size());
  for (u32 reg = 0; reg < values_.size(); ++reg) {
    Value& v = values_[reg];
    v.bytes = code_.register_bytes[reg];
    v.first = words();
    for (unsigned w = 0; w < v.words(); ++w) {
      same_as_.push_back(words());
      predicate_.push_back(v.bytes == 0);
      owner_.push_back(reg);
    }
  }
}

void Plan::collect() {
  for (u32 i = 0; i < size_; ++i)
    for (const Operand& o : code_.instructions[i].operands) {
      if (!has_register(o)) continue;
      Value& v = values_[o.reg];
      (o.kind == Kind::Write ? v.writers : v.readers).push_back(i);
    }
}

Word Plan::word(u32 reg, unsigned w) const {
  if (w >= values_[reg].words()) return kConstant;
  Word at = values_[reg].first + w;
  while (at != kConstant && same_as_[at] != at) at = same_as_[at];
  return at;
}

const Operand* Plan::guard(u32 i) const {
  for (const Operand& o : code_.instructions[i].operands)
    if (o.kind == Kind::Guard) return &o;
  return nullptr;
}

std::vector<const Operand*> Plan::sources(u32 i) const {
  std::vector<const Operand*> out;
  u32 between = trace::kNoRegister;
  if (partner_[i] != kNone) {
    between = only_destination(partner_[i])->reg;
    for (const Operand& o : code_.instructions[partner_[i]].operands)
      if (is_source(o)) out.push_back(&o);
  }
  for (const Operand& o : code_.instructions[i].operands)
    if (is_source(o) && (between == trace::kNoRegister || o.reg != between)) out.push_back(&o);
  return out;
}

std::vector<const Operand*> Plan::destinations(u32 i) const {
  std::vector<const Operand*> out;
  for (const Operand& o : code_.instructions[i].operands)
    if (o.kind == Kind::Write) out.push_back(&o);
  return out;
}

const Operand* Plan::only_destination(u32 i) const {
  const Operand* found = nullptr;
  for (const Operand& o : code_.instructions[i].operands) {
    if (o.kind != Kind::Write) continue;
    if (found) return nullptr;
    found = &o;
  }
  return found;
}

bool Plan::is_immediate(u32 i) const {
  const auto& all = code_.instructions[i].operands;
  const Operand* last = nullptr;
  for (const Operand& o : all)
    if (is_source(o)) last = &o;
  return last && (!has_register(*last) || word(last->reg, 0) == kConstant);
}

bool Plan::is_written_between(u32 reg, u32 after, u32 before) const {
  return std::any_of(values_[reg].writers.begin(), values_[reg].writers.end(),
                     [&](u32 i) { return i > after && i < before; });
}

// --- copies and constants ------------------------------------------------------------------------

/// Results that are words of their sources, low word first.
bool Plan::is_copy(u32 i) const {
  const std::string_view op = opcode(i);
  if (code_.instructions[i].kind != OpKind::Alu || guard(i)) return false;
  if (starts(op, "mov.") || starts(op, "cvta.to.") || starts(op, "cvta.global")) return true;
  return is_any(op, {"cvt.u64.u32", "cvt.s64.u32", "cvt.u32.u64", "cvt.s32.u64", "cvt.u32.s64",
                     "cvt.s32.s64", "cvt.u16.u32", "cvt.u32.u16", "cvt.u16.u8", "cvt.u32.u8",
                     "cvt.u16.u64", "cvt.u64.u16", "cvt.s32.u16"});
}

bool Plan::reaches_memory(u32 reg, unsigned depth) const {
  constexpr unsigned kDeep = 8;
  if (depth == kDeep) return true;
  return std::any_of(values_[reg].readers.begin(), values_[reg].readers.end(), [&](u32 i) {
    if (code_.instructions[i].kind != OpKind::Alu) return true;
    const Operand* to = only_destination(i);
    return is_copy(i) && to && reaches_memory(to->reg, depth + 1);
  });
}

bool Plan::fold_constant(u32 i) {
  const trace::StaticInst& in = code_.instructions[i];
  const Operand* to = only_destination(i);
  if (!to || !writes_once(to->reg) || guard(i)) return false;
  bool constant = false;
  if (in.kind == OpKind::LoadConst)
    constant = generation_ != Generation::Hopper && starts(opcode(i), "ld.param");
  else if (in.kind == OpKind::Alu && starts(opcode(i), "mov."))
    for (const Operand& o : in.operands)
      if (is_source(o))
        constant = o.kind == Kind::Immediate || o.kind == Kind::Other ||
                   (o.kind == Kind::Special && o.value != 0);
  if (!constant || reaches_memory(to->reg)) return false;
  for (unsigned w = 0; w < values_[to->reg].words(); ++w)
    same_as_[values_[to->reg].first + w] = kConstant;
  return true;
}

bool Plan::fold_copy(u32 i) {
  if (!is_copy(i)) return false;
  std::vector<Word> from, to;
  for (const Operand& operand : code_.instructions[i].operands) {
    if (!has_register(operand)) {
      if (operand.kind == Kind::Special) return false;
      from.push_back(kConstant);
      continue;
    }
    const Value& value = values_[operand.reg];
    if (value.bytes < 4 && starts(opcode(i), "mov.") && code_.instructions[i].operands.size() > 2)
      return false;  // packs halves
    if (operand.kind == Kind::Write && !writes_once(operand.reg)) return false;
    const bool stable =
        writes_once(operand.reg) || [&] {  // every reader of the copy sees the same value
          const Operand* copy = only_destination(i);
          return copy && std::all_of(values_[copy->reg].readers.begin(),
                                     values_[copy->reg].readers.end(), [&](u32 r) {
                                       return r > i && block_[r] == block_[i] &&
                                              !is_written_between(operand.reg, i, r);
                                     });
        }();
    if (!stable) return false;
    for (unsigned part = 0; part < value.words(); ++part)
      (operand.kind == Kind::Write ? to : from)
          .push_back(operand.kind == Kind::Write ? value.first + part : word(operand.reg, part));
  }
  if (from.empty()) return false;
  from.resize(std::max(from.size(), to.size()), kConstant);  // widened with zeros
  for (std::size_t part = 0; part < to.size(); ++part) same_as_[to[part]] = from[part];
  return true;
}

void Plan::fold_copies() {
  for (u32 i = 0; i < size_; ++i) removed_[i] = fold_constant(i) || fold_copy(i);
}

// --- how much of a 64-bit value matters ----------------------------------------------------------

bool Plan::needs_wide(u32 reader, u32 reg) const {
  const trace::StaticInst& in = code_.instructions[reader];
  const std::string_view op = opcode(reader);
  const bool narrow_addresses =
      is_narrow_space(in.kind) || (address_bits_ == AddressBits::Bits32 && is_global(in.kind));
  if (narrow_addresses)
    return std::any_of(in.operands.begin(), in.operands.end(),
                       [&](const Operand& o) { return o.reg == reg && o.kind != Kind::Address; });
  const Operand* to = only_destination(reader);
  if (in.kind != OpKind::Alu || !to) return true;
  if (starts(op, "cvt.u32.") || starts(op, "cvt.s32.") || starts(op, "cvt.u16.")) return false;
  return !is_low_preserving(op) || !values_[to->reg].narrow;
}

void Plan::find_narrow() {
  for (Value& v : values_) v.narrow = v.bytes == 8;
  for (bool again = true; again;) {
    again = false;
    for (u32 reg = 0; reg < values_.size(); ++reg) {
      Value& v = values_[reg];
      if (!v.narrow) continue;
      if (std::none_of(v.readers.begin(), v.readers.end(),
                       [&](u32 r) { return needs_wide(r, reg); }) &&
          !v.readers.empty())
        continue;
      v.narrow = false;
      again = true;
    }
  }
}

// --- pairs ---------------------------------------------------------------------------------------

std::string Plan::pair_name(u32 first, u32 second) const {
  const std::string_view a = opcode(first), b = opcode(second);
  if (is_logic(a) && is_logic(b)) return "logic.b32 + logic.b32";
  if (starts(a, "setp.") && (b == "and.pred" || b == "or.pred")) return std::string(a);
  if (starts(a, "shl.") && code_.instructions[first].operands.back().kind != Kind::Immediate)
    return "";
  const auto as_add = [](std::string_view op) {
    return starts(op, "sub.") ? "add." + std::string(op.substr(4)) : std::string(op);
  };
  // A shift or a negated product cannot be subtracted from.
  if (starts(b, "sub.") && !starts(a, "add.") && !starts(a, "mul.f")) return "";
  return as_add(a) + " + " + as_add(b);
}

bool Plan::absorb(u32 first, u32 second) {
  if (first >= second || removed_[first] || removed_[second] || partner_[second] != kNone ||
      partner_[first] != kNone || guard(first) || guard(second) ||
      block_[first] != block_[second] || !runs_whenever(second, first))
    return false;
  for (const Operand& o : code_.instructions[first].operands) {
    if (!is_source(o) || !has_register(o)) continue;
    for (unsigned w = 0; w < values_[o.reg].words(); ++w) {
      const Word held = word(o.reg, w);
      if (held != kConstant && is_written_between(owner_[held], first, second)) return false;
    }
  }
  const std::string name = pair_name(first, second);
  if (name.empty()) return false;
  const bool compares = name.find(" + ") == name.npos;  // and takes the other predicate besides
  if (!compares && !find_rule(name, generation_, false, false)) return false;
  partner_[second] = first;
  removed_[first] = true;
  return true;
}

void Plan::fuse() {
  for (u32 i = 0; i < size_; ++i) {
    const Operand* to = only_destination(i);
    if (!to || code_.instructions[i].kind != OpKind::Alu || !writes_once(to->reg)) continue;
    const Value& v = values_[to->reg];
    if (v.readers.size() == 1 && code_.instructions[v.readers[0]].kind == OpKind::Alu)
      absorb(i, v.readers[0]);
  }
}

std::string Plan::rule_name(u32 i) const {
  if (partner_[i] == kNone) return std::string(opcode(i));
  return pair_name(partner_[i], i);
}

// --- moves at the ends of blocks -----------------------------------------------------------------

bool Plan::reads(u32 i, Word w) const {
  const auto holds = [&](const Operand& o) {
    if (!has_register(o)) return false;
    for (unsigned k = 0; k < values_[o.reg].words(); ++k)
      if (word(o.reg, k) == w) return true;
    return false;
  };
  const auto all = sources(i);
  const Operand* g = guard(i);
  return (g && holds(*g)) ||
         std::any_of(all.begin(), all.end(), [&](const Operand* o) { return holds(*o); });
}

/// mov d, s where s is made in the same block for d: s can live in d's register from the start when
/// nobody needs the old d in between and s is not needed once d changes again.
bool Plan::join_phi(u32 i) {
  if (removed_[i] || !starts(opcode(i), "mov.") || guard(i)) return false;
  const auto& operands = code_.instructions[i].operands;
  if (operands.size() != 2 || operands[1].kind != Kind::Read) return false;
  const u32 d = operands[0].reg, s = operands[1].reg;
  const Value &to = values_[d], &from = values_[s];
  if (!writes_once(s) || to.bytes != from.bytes || to.words() != from.words()) return false;
  const u32 made = from.writers[0];
  if (made > i || block_[made] != block_[i] || removed_[made] || guard(made) || d == s ||
      !runs_whenever(i, made) || !runs_whenever(made, i))
    return false;
  for (unsigned w = 0; w < from.words(); ++w)
    if (same_as_[from.first + w] != from.first + w || same_as_[to.first + w] != to.first + w)
      return false;
  if (is_written_between(d, made, i) ||
      std::find(to.writers.begin(), to.writers.end(), made) != to.writers.end())
    return false;
  for (u32 k = made + 1; k < i; ++k)
    for (unsigned w = 0; w < to.words(); ++w)
      if (!removed_[k] && reads(k, to.first + w)) return false;
  for (u32 r : from.readers)
    if (r < made || block_[r] != block_[i] || is_written_between(d, i, r)) return false;
  for (unsigned w = 0; w < from.words(); ++w) same_as_[from.first + w] = to.first + w;
  return true;
}

/// Has `one`, in the same block, run where `other` runs?
bool Plan::runs_whenever(u32 other, u32 one) const {
  const u32 predicate = code_.instructions[one].predicate;
  return predicate == trace::kNoRegister || predicate == code_.instructions[other].predicate;
}

void Plan::join_phis() {
  for (u32 i = 0; i < size_; ++i)
    if (join_phi(i)) removed_[i] = true;
}

// --- branches ------------------------------------------------------------------------------------

/// An unconditional branch goes when its target can stand right behind it: it is there already, or
/// nothing else leads there, or the conditional branch before it jumps over it and is turned round.
void Plan::drop_branches() {
  std::vector<u32> ways_in(size_ + 1);
  for (u32 i = 0; i < size_; ++i) {
    const trace::StaticInst& in = code_.instructions[i];
    if (!in.jumps && i + 1 < size_) ++ways_in[i + 1];
    for (u32 to : in.next) ++ways_in[to];
  }
  const auto is_branch = [&](u32 i) { return code_.instructions[i].kind == OpKind::Branch; };
  for (u32 i = 0; i < size_; ++i) {
    const trace::StaticInst& in = code_.instructions[i];
    if (!is_branch(i) || guard(i) || in.next.size() != 1 || !starts(opcode(i), "bra")) continue;
    const u32 to = in.next[0];
    const bool turned =
        i > 0 && is_branch(i - 1) && guard(i - 1) &&
        std::find(code_.instructions[i - 1].next.begin(), code_.instructions[i - 1].next.end(),
                  i + 1) != code_.instructions[i - 1].next.end();
    removed_[i] = to == i + 1 || ways_in[to] == 1 || turned;
  }
}

}  // namespace raddle::lowering
