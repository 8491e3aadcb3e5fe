#include "raddle/exec/decode/static_operands.h"

#include <algorithm>

#include "raddle/ptx/analysis.h"
#include "raddle/ptx/block_graph.h"

namespace raddle::exec {

namespace {

using u32 = std::uint32_t;

/// Known when the kernel is launched, so in the constant bank.
bool is_launch_constant(ptx::Special s) {
  switch (s) {
    case ptx::Special::NtidX:
    case ptx::Special::NtidY:
    case ptx::Special::NtidZ:
    case ptx::Special::NctaidX:
    case ptx::Special::NctaidY:
    case ptx::Special::NctaidZ:
    case ptx::Special::WarpSize:
    case ptx::Special::DynamicSmemSize:
    case ptx::Special::TotalSmemSize:
      return true;
    default:
      return false;
  }
}

class Lister {
 public:
  Lister(u32 first_register, std::vector<trace::Operand>& out)
      : first_register_(first_register), out_(out) {}

  void add(const ptx::Operand& operand, trace::Operand::Kind as) {
    using K = ptx::Operand::Kind;
    switch (operand.kind) {
      case K::Register:
      case K::Predicates:
        add_register(operand.reg, as);
        add_register(operand.reg2, as);
        break;
      case K::Integer:
      case K::Float32:
      case K::Float64:
        out_.push_back({trace::Operand::Kind::Immediate, trace::kNoRegister,
                        static_cast<std::int64_t>(operand.bits)});
        break;
      case K::Special:
        out_.push_back({trace::Operand::Kind::Special, trace::kNoRegister,
                        is_launch_constant(operand.special) ? 1 : 0});
        break;
      case K::Symbol:
        out_.push_back({trace::Operand::Kind::Other, trace::kNoRegister, 0});
        break;
      case K::Address:
        out_.push_back({trace::Operand::Kind::Address, numbered(operand.reg), operand.offset});
        for (const ptx::Operand& element : operand.elements)
          add(element, trace::Operand::Kind::Read);
        break;
      case K::Vector:
        for (const ptx::Operand& element : operand.elements) add(element, as);
        add_register(operand.reg2, as);
        break;
      case K::Label:
      case K::Sink:
        break;
    }
  }
  void add_register(u32 reg, trace::Operand::Kind as) {
    if (reg != ptx::kNoIndex) out_.push_back({as, numbered(reg), 0});
  }

 private:
  u32 numbered(u32 reg) const {
    return reg == ptx::kNoIndex ? trace::kNoRegister : first_register_ + reg;
  }
  const u32 first_register_;
  std::vector<trace::Operand>& out_;
};

bool is_in(const std::vector<u32>& all, u32 reg) {
  return std::find(all.begin(), all.end(), reg) != all.end();
}

/// Is the first operand written, as register_access() sees it?
bool writes_first(const ptx::Operand& o, const std::vector<u32>& writes) {
  if (o.kind == ptx::Operand::Kind::Vector)
    return std::any_of(o.elements.begin(), o.elements.end(),
                       [&](const ptx::Operand& e) { return is_in(writes, e.reg); });
  return is_in(writes, o.reg) || is_in(writes, o.reg2);
}

}  // namespace

void describe_operands(const ptx::Function& function, u32 index, FunctionBase base,
                       trace::StaticInst& out) {
  const ptx::Instruction& in = function.instructions[index];
  Lister list(base.registers, out.operands);
  list.add_register(in.guard, trace::Operand::Kind::Guard);
  if (in.call != ptx::kNoIndex) {
    const ptx::Call& call = function.calls[in.call];
    for (const ptx::Operand& o : call.returns) list.add(o, trace::Operand::Kind::Write);
    list.add(call.callee, trace::Operand::Kind::Read);
    for (const ptx::Operand& o : call.arguments) list.add(o, trace::Operand::Kind::Read);
  } else {
    ptx::RegisterAccess access;
    ptx::register_access(function, in, access);
    for (std::size_t k = 0; k < in.operands.size(); ++k)
      list.add(in.operands[k], k == 0 && writes_first(in.operands[0], access.writes)
                                   ? trace::Operand::Kind::Write
                                   : trace::Operand::Kind::Read);
    if (in.opcode == "wgmma" && in.has("mma_async"))
      list.add(in.operands[0], trace::Operand::Kind::Read);
  }
  std::vector<u32> next;
  ptx::successors_of(function, index, next);
  const auto end = static_cast<u32>(function.instructions.size());
  out.jumps = next.size() != 1 || next[0] != index + 1 || in.opcode == "bra";
  if (!out.jumps) return;
  for (u32 to : next)
    if (to != end) out.next.push_back(base.instructions + to);
}

}  // namespace raddle::exec
