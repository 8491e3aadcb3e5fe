// Modules that programs load by themselves, as both interfaces do.
#include "raddle/cudart/modules.h"

#include <algorithm>

#include "raddle/base/error.h"
#include "raddle/cudart/reset.h"

namespace raddle::cudart {

namespace {

/// What calls and declares no function has nothing to resolve, and is parsed only once.
void check_sources(const std::vector<ptx::SourceText>& sources) {
  const auto has_functions = [](const ptx::SourceText& source) {
    return source.text.find(".func") != std::string::npos;
  };
  if (std::ranges::any_of(sources, has_functions)) check_resolved(ptx::parse_and_link(sources));
}

}  // namespace

Module& load_module(Context& c, Image image) {
  check_sources(image.sources);
  const runtime::ModuleId id = c.device().load(std::move(image.sources), image.registers);
  Module* const module = c.modules.make();
  module->id = id;
  keep_initial(c, *module);
  return *module;
}

Error load_data(Context& c, Module** to, const void* data, const JitOptions& log) {
  required(to) = nullptr;
  if (data == nullptr) throw Failure{kInvalidValue};
  return logged(c, log, [&] {
    *to = &load_module(c, image_of_data(data, c.seen(), c.program() + ": a module of its own"));
  });
}

Error load_file(Context& c, Module** to, const char* name, const JitOptions& log) {
  required(to) = nullptr;
  const std::string bytes = bytes_of_file(name);
  return logged(c, log, [&] { *to = &load_module(c, image_of_bytes(bytes, c.seen(), name)); });
}

/// What loading it has come to.
Error of_library(Module** to, Error loaded) {
  if (loaded == kSuccess) required(required(to)).library = true;
  return loaded;
}

Module& usable_module(Context& c, const Module* handle) {
  Module& module = c.modules.get(handle);
  if (module.unloaded) throw Failure{kInvalidHandle, "the module is unloaded"};
  return module;
}

Error unload(Context& c, const Module* handle) {
  Module& module = usable_module(c, handle);
  if (module.wrapper != nullptr) throw Failure{kInvalidHandle};  // the runtime's
  c.device().synchronize();
  module.unloaded = true;
  return kSuccess;
}

namespace {

const ptx::Module& parsed(Context& c, Module& module) { return c.device().module(c.load(module)); }

bool is_kernel(const ptx::Function& function) { return function.is_entry && !function.is_extern; }

Kernel* handle_of(Context& c, Module& module, const std::string& name) {
  Kernel*& kernel = module.kernels[name];
  if (kernel == nullptr) kernel = c.kernels.make(&module, name);
  return kernel;
}

}  // namespace

Error get_kernel(Context& c, Kernel** to, const Module* handle, const char* name) {
  Module& module = usable_module(c, handle);
  required(to) = nullptr;
  const auto is_named = [&](const ptx::Function& f) { return is_kernel(f) && f.name == name; };
  if (name == nullptr) throw Failure{kInvalidValue};
  if (std::ranges::none_of(parsed(c, module).functions, is_named)) throw Failure{kNotFound};
  *to = handle_of(c, module, name);
  return kSuccess;
}

Error count_kernels(Context& c, unsigned* count, const Module* handle) {
  const auto& functions = parsed(c, usable_module(c, handle)).functions;
  required(count) = static_cast<unsigned>(std::ranges::count_if(functions, is_kernel));
  return kSuccess;
}

Error list_kernels(Context& c, Kernel** to, unsigned count, const Module* handle) {
  Module& module = usable_module(c, handle);
  if (count != 0) required(to);
  unsigned listed = 0;
  for (const ptx::Function& function : parsed(c, module).functions)
    if (is_kernel(function) && listed < count) to[listed++] = handle_of(c, module, function.name);
  return kSuccess;
}

Error get_global(Context& c, Address* address, std::size_t* bytes, const Module* handle,
                 const char* name) {
  Module& module = usable_module(c, handle);
  if (name == nullptr) throw Failure{kInvalidValue};
  const auto& variables = parsed(c, module).variables;
  const auto found = std::ranges::find(variables, name, &ptx::Variable::name);
  if (found == variables.end()) throw Failure{kNotFound};
  if (address != nullptr) *address = c.device().symbol(*module.id, name);
  if (bytes != nullptr) *bytes = found->size;
  return kSuccess;
}
}  // namespace raddle::cudart
