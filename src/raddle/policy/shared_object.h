// What a shared object must be before it is given to the loader.
#pragma once
#include <string>

namespace raddle::policy {

/// Throws InputError with file and reason unless it is an ELF shared object for this machine whose
/// headers lie, and whose segments and sections end, inside the file. The loader maps what the
/// headers say: of a file that is cut off it would read pages that do not exist, which ends the
/// process (SIGBUS).
void check_shared_object(const std::string& file);

}  // namespace raddle::policy
