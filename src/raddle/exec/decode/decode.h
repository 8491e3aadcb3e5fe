// From a parsed function to records.
#pragma once
#include <map>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "raddle/exec/decode/program.h"
#include "raddle/exec/isa/kernel.h"

namespace raddle::exec {

/// Addresses that instructions and initialisers may name. Shared ones are offsets into the block's
/// memory.
struct Layout {
  const ptx::Module* module = nullptr;
  std::vector<std::uint64_t> variables;  ///< by module variable
};
std::uint64_t function_address(std::uint32_t module_index);

/// Decodes an entry and what it calls. Throws InputError naming every unsupported instruction on
/// the way.
std::unique_ptr<Kernel> decode_kernel(const Layout& layout, std::uint32_t entry);
/// What decode_kernel would refuse in one function.
std::vector<Unsupported> refusals(const Layout& layout, std::uint32_t function);

/// The machine itself has what PTX declares by that name: printf, malloc, the device runtime.
bool machine_has(std::string_view function);

/// Per kernel: where its .shared variables lie.
struct SharedLayout {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> local;  ///< (function, variable)
  std::vector<std::uint32_t> module;                                       ///< by module variable
  std::uint32_t static_bytes = 0;
};

struct DecodeScope {
  const Layout* layout;
  const SharedLayout* shared;
  const ParameterLayout* parameters;  ///< of the entry
  std::uint32_t function = 0;         ///< module index
  std::uint32_t first_instruction = 0;
};

struct DecodedFunction {
  Code code;
  std::vector<trace::StaticInst> statics;  ///< by instruction
  /// What cannot be executed; the records of these instructions are absent.
  std::vector<Unsupported> refused;
  /// Module indices of the functions called; indirect calls may reach any whose address is taken.
  std::vector<std::uint32_t> callees;
  bool has_indirect_call = false;
  bool takes_stack = false;           ///< alloca
  bool addresses_parameters = false;  ///< generic addresses may mean those of the launch
  /// Instructions (function-local) that access generic addresses and need alias entries.
  std::vector<std::uint32_t> generic_accesses;
  std::vector<std::uint32_t> copies;  ///< likewise, those that tell barrier objects of their bytes
};
DecodedFunction decode_function(const DecodeScope& scope);

}  // namespace raddle::exec
