// What compiling at run time says to the program that asked for it (CUjit_option).
#pragma once
#include <string>
#include <string_view>

#include "raddle/base/error.h"
#include "raddle/cudart/driver.h"

namespace raddle::cudart {

/// As a program gives them with a call. Throws Failure where a list is missing.
inline JitOptions jit_options(unsigned count, const int* options, void** values) {
  listed(options, count);
  listed(values, count);
  return {count, options, values};
}

/// Writes what was wrong into the error log, as far as one was given; what is written to the others
/// is that there is nothing to say.
void write_jit_log(const JitOptions& options, std::string_view error);
/// Throws the failure; the run fails, too, where it is for something that we do not have.
[[noreturn]] void refuse_image(Context& c, const Failure& failure);
/// A module that a program loads is judged as a whole, as by NVIDIA's compiler; one that is a part
/// of the program may name what only kernels call that are never used. Throws InputError.
void check_resolved(const ptx::Module& module);
/// Throws Failure.
std::string bytes_of_file(const char* name);

/// Does `load`, and writes what it says to the log.
template <class F>
Error logged(Context& c, const JitOptions& options, F load) {
  try {
    load();
    write_jit_log(options, "");
    return kSuccess;
  } catch (const InputError& error) {
    write_jit_log(options, error.what());
    refuse_image(c, {kInvalidPtx, error.what()});
  } catch (const Failure& failure) {
    write_jit_log(options, failure.message);
    refuse_image(c, failure);
  }
}

}  // namespace raddle::cudart
