// Small modules for the tests of ptx.
#pragma once
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "raddle/base/error.h"
#include "raddle/ptx/module.h"

namespace raddle::ptx::test {

inline const std::string kHeader = ".version 7.2\n.target sm_70\n.address_size 64\n";

/// Module-level text after the header; its first line is line 4.
inline Module parse_module(const std::string& text) { return parse(kHeader + text, "k.ptx"); }

/// A kernel k(u64 a, u32 b, b8 s[24]) with registers %p %rs %r %rd %f %fd; the body's first line is
/// line 13.
inline std::string kernel_text(const std::string& body) {
  return kHeader +
         ".visible .entry k(.param .u64 a, .param .u32 b, .param .align 8 .b8 s[24])\n{\n"
         ".reg .pred %p<10>;\n.reg .b16 %rs<20>;\n.reg .b32 %r<100>;\n.reg .b64 %rd<100>;\n"
         ".reg .f32 %f<100>;\n.reg .f64 %fd<20>;\n\n" +
         body + "\n}\n";
}
inline Module parse_kernel(const std::string& body) { return parse(kernel_text(body), "k.ptx"); }

/// The first instruction of such a kernel.
struct One {
  Module module;
  const Function& function;
  const Instruction& instruction;
  const Operand& operand(std::size_t i) const { return instruction.operands.at(i); }
  const std::string& register_name(std::uint32_t index) const {
    return function.registers.at(index).name;
  }
};
inline One parse_one(const std::string& body) {
  Module module = parse_kernel(body);
  const Function& function = module.functions.at(0);
  const Instruction& instruction = function.instructions.at(0);
  return {std::move(module), function, instruction};
}

/// What parsing complains about; a failure when it does not.
inline std::string error_of(const std::string& text) {
  try {
    parse(text, "k.ptx");
  } catch (const InputError& error) {
    return error.what();
  }
  ADD_FAILURE() << "no InputError";
  return {};
}
inline std::string module_error(const std::string& text) { return error_of(kHeader + text); }
inline std::string kernel_error(const std::string& body) { return error_of(kernel_text(body)); }

/// Initial bytes, as numbers.
inline std::vector<unsigned> bytes_of(const Variable& variable) {
  return {variable.initial.begin(), variable.initial.end()};
}

}  // namespace raddle::ptx::test
