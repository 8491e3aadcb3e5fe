// Kernels for lowering, written by hand: registers by name, one line per instruction.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "raddle/trace/code.h"

namespace raddle::lowering {

/// Registers are named "r1" (4 bytes), "d1" (8), "p1" (predicate); "#" is an immediate, "%tid" and
/// "%ntid" special registers, "[d1]" an address, "@p1" the guard.
class CodeBuilder {
 public:
  /// op, destinations, sources.
  CodeBuilder& add(const std::string& op, std::vector<std::string> writes,
                   std::vector<std::string> reads = {}, trace::OpKind kind = trace::OpKind::Alu) {
    trace::StaticInst in;
    in.kind = kind;
    in.op_class = kind == trace::OpKind::Alu      ? trace::OpClass::Int
                  : kind == trace::OpKind::Branch ? trace::OpClass::Control
                                                  : trace::OpClass::Memory;
    in.opcode = static_cast<std::uint16_t>(code_.opcode_names.size());
    code_.opcode_names.push_back(op);
    using K = trace::Operand::Kind;
    for (const std::string& r : reads)
      if (r[0] == '@') in.operands.push_back({K::Guard, number(r.substr(1)), 0});
    for (const std::string& w : writes) in.operands.push_back({K::Write, number(w), 0});
    for (const std::string& r : reads) {
      if (r[0] == '@') continue;
      if (r == "#") in.operands.push_back({K::Immediate, trace::kNoRegister, 4});
      else if (r == "%tid") in.operands.push_back({K::Special, trace::kNoRegister, 0});
      else if (r == "%ntid") in.operands.push_back({K::Special, trace::kNoRegister, 1});
      else if (r[0] == '[')
        in.operands.push_back({K::Address, number(r.substr(1, r.size() - 2)), 0});
      else in.operands.push_back({K::Read, number(r), 0});
    }
    code_.instructions.push_back(in);
    return *this;
  }
  /// A branch to an instruction by number; with a guard it may fall through.
  CodeBuilder& branch(std::uint32_t to, const std::string& guard = "") {
    add(guard.empty() ? "bra.uni" : "bra", {},
        guard.empty() ? std::vector<std::string>{} : std::vector<std::string>{"@" + guard},
        trace::OpKind::Branch);
    trace::StaticInst& in = code_.instructions.back();
    in.jumps = true;
    in.next.push_back(to);
    if (!guard.empty() && to != code_.instructions.size())
      in.next.push_back(static_cast<std::uint32_t>(code_.instructions.size()));
    return *this;
  }
  std::uint32_t size() const { return static_cast<std::uint32_t>(code_.instructions.size()); }
  const trace::KernelCode& code() const { return code_; }

 private:
  std::uint32_t number(const std::string& name) {
    const auto [at, fresh] =
        numbers_.try_emplace(name, static_cast<std::uint32_t>(code_.register_bytes.size()));
    if (fresh) code_.register_bytes.push_back(name[0] == 'd' ? 8 : name[0] == 'r' ? 4 : 0);
    return at->second;
  }
  trace::KernelCode code_;
  std::map<std::string, std::uint32_t> numbers_;
};

}  // namespace raddle::lowering
