#include "raddle/accelsim/code_table.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <tuple>

#include "raddle/base/error.h"
#include "raddle/trace/stream.h"

namespace raddle::accelsim {

namespace {

trace::OpKind kind_in(trace::OpKind kind, Space space) {
  using trace::OpKind;
  const bool shared = space == Space::Shared;
  switch (kind) {
    case OpKind::LoadGlobal:
      return shared ? OpKind::LoadShared : OpKind::LoadLocal;
    case OpKind::StoreGlobal:
      return shared ? OpKind::StoreShared : OpKind::StoreLocal;
    case OpKind::AtomicGlobal:  // local: nobody else's, so no atomic
      return shared ? OpKind::AtomicShared : OpKind::LoadLocal;
    default:
      return shared ? OpKind::AtomicShared : OpKind::StoreLocal;
  }
}

using Names = std::map<std::string, std::uint16_t>;

std::uint16_t opcode_number(const std::string& mnemonic, Names& names, trace::KernelCode& code) {
  const auto [name, fresh] = names.try_emplace(mnemonic, static_cast<std::uint16_t>(names.size()));
  if (!fresh) return name->second;
  if (names.size() > 0xffff) throw InputError("a kernel of more than 65535 different opcodes");
  code.opcode_names.push_back(mnemonic);
  return name->second;
}

trace::StaticInst hole(std::uint32_t line, Names& names, trace::KernelCode& code) {
  trace::StaticInst inst;
  inst.line = line;
  inst.opcode = opcode_number("NOP", names, code);
  return inst;
}

}  // namespace

std::uint32_t CodeTable::push(Entry entry) {
  if (entries_.size() == trace::kMaxInstructions)
    throw InputError("a kernel of more than " + std::to_string(trace::kMaxInstructions) +
                     " instructions");
  entries_.push_back(std::move(entry));
  return static_cast<std::uint32_t>(entries_.size() - 1);
}

std::uint32_t CodeTable::add(std::uint64_t pc, std::string_view text, unsigned source_line) {
  Entry entry;
  entry.line = read_static(pc, text, format_);
  entry.line.inst.line = source_line != 0 ? source_line : static_cast<std::uint32_t>(pc / 16 + 1);
  std::uint32_t last = first_of(pc);
  for (; last != kNone && entries_[last].next != kNone; last = entries_[last].next) ++entry.variant;
  if (last != kNone) ++entry.variant;
  const std::uint32_t at = push(std::move(entry));
  if (last != kNone) {
    entries_[last].next = at;
  } else if (pc % 16 == 0 && pc / 16 < kDense) {
    if (dense_.size() <= pc / 16) dense_.resize(pc / 16 + 1, kNone);
    dense_[pc / 16] = at;
  } else {
    sparse_[pc] = at;
  }
  return at;
}

std::uint32_t CodeTable::in_space(std::uint32_t at, Space space) {
  if (space == Space::Global) return at;
  RADDLE_ASSERT(space == Space::Shared || space == Space::Local);
  const bool shared = space == Space::Shared;
  if (const std::uint32_t known = shared ? entries_[at].shared : entries_[at].local; known != kNone)
    return known;
  const std::uint32_t made = push_alias(at, kind_in(entries_[at].line.inst.kind, space), space);
  (shared ? entries_[at].shared : entries_[at].local) = made;
  return made;
}

namespace {
bool is(const trace::StaticInst& inst, trace::OpKind kind, unsigned bytes, trace::CopyKind copy) {
  return inst.kind == kind && inst.bytes == bytes && inst.copy == copy;
}

void make(trace::StaticInst& inst, trace::OpKind kind, unsigned bytes, trace::CopyKind copy) {
  inst.kind = kind;
  inst.bytes = static_cast<std::uint16_t>(bytes);
  inst.copy = copy;
  inst.bypass_l1 = false;
  inst.op_class =
      kind == trace::OpKind::BarrierObject ? trace::OpClass::Barrier : trace::OpClass::Control;
  inst.reads.clear();
  inst.writes.clear();
}
}  // namespace

std::uint32_t CodeTable::as(std::uint32_t at, trace::OpKind kind, unsigned bytes,
                            trace::CopyKind copy) {
  for (const std::uint32_t other : entries_[at].others)
    if (is(entries_[other].line.inst, kind, bytes, copy)) return other;
  const std::uint32_t made = push_alias(at, kind, Space::None);
  make(entries_[made].line.inst, kind, bytes, copy);
  // A warp that issues a product goes straight on to the end of its group.
  entries_[made].follows = entries_[at].line.effect == Effect::Product;
  entries_[at].others.push_back(made);
  return made;
}

std::uint32_t CodeTable::become(std::uint32_t at, trace::OpKind kind, unsigned bytes) {
  trace::StaticInst& inst = entries_[at].line.inst;
  if (entries_[at].executed == 1) make(inst, kind, bytes, trace::CopyKind::None);
  if (is(inst, kind, bytes, trace::CopyKind::None)) return at;
  return as(at, kind, bytes);
}

std::uint32_t CodeTable::push_alias(std::uint32_t of, trace::OpKind kind, Space space) {
  RADDLE_ASSERT(of < entries_.size() && entries_[of].alias_of == kNone);
  Entry entry;
  entry.line = entries_[of].line;
  entry.line.inst.kind = kind;
  entry.line.space = space;
  entry.variant = entries_[of].variant;
  entry.alias_of = of;
  return push(std::move(entry));
}

trace::KernelCode CodeTable::finish(std::vector<std::uint32_t>& final_index) const {
  std::vector<std::uint32_t> order(entries_.size());
  std::iota(order.begin(), order.end(), 0u);
  // Aliases behind everything else, so that they part no straight run, but for those that belong
  // to one.
  auto key = [&](std::uint32_t i) {
    const Entry& entry = entries_[i];
    return std::tuple(entry.alias_of != kNone && !entry.follows, entry.variant, entry.line.pc, i);
  };
  std::ranges::sort(order, {}, key);
  final_index.assign(order.size(), 0);
  trace::KernelCode code;
  std::map<std::string, std::uint16_t> names;
  const Entry* before = nullptr;
  for (const std::uint32_t i : order) {
    const Entry& entry = entries_[i];
    // What was never executed is not in the trace, but jumping over it is a jump.
    if (before != nullptr && !entry.follows &&
        (entry.variant != before->variant || entry.line.pc != before->line.pc + 16))
      code.instructions.push_back(hole(before->line.inst.line, names, code));
    before = &entry;
    final_index[i] = static_cast<std::uint32_t>(code.instructions.size());
    trace::StaticInst inst = entry.line.inst;
    inst.opcode = opcode_number(entry.line.mnemonic, names, code);
    RADDLE_ASSERT(entry.alias_of == kNone ||
                  final_index[entry.alias_of] < code.instructions.size());
    if (entry.alias_of != kNone) inst.alias_of = final_index[entry.alias_of];
    code.instructions.push_back(std::move(inst));
  }
  if (code.instructions.size() > trace::kMaxInstructions)
    throw InputError("a kernel of more than " + std::to_string(trace::kMaxInstructions) +
                     " instructions");
  return code;
}

}  // namespace raddle::accelsim
