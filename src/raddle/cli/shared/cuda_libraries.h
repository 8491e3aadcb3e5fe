// Shared libraries of CUDA programs, as the loader would find them.
#pragma once
#include <span>
#include <string>
#include <vector>

namespace raddle::cli {

/// Names that programs of CUDA 11 to 13 ask for, and the library of ours that answers to them.
struct OwnLibrary {
  const char *name, *file;
};
std::span<const OwnLibrary> own_libraries();

struct Library {
  std::string name;
  bool found = false;
  std::string file = {};  ///< where it was found
};

/// All that the program loads when it starts in `folder` ("": ours), libraries of libraries among
/// them, with `library_path` in front of the usual places. Nothing of the program runs. Empty when
/// the loader does not say.
std::vector<Library> libraries_of(const std::string& program, const std::string& library_path,
                                  const std::string& folder = "");

/// The files of those that are neither ours nor of the system or the CUDA toolkit: they are as much
/// the user's as the program.
std::vector<std::string> user_libraries(const std::vector<Library>& libraries);

/// What the user should know before the program starts: a sentence for each library of CUDA that
/// brings machine code only. Throws InputError when a library is missing, naming it.
std::vector<std::string> library_warnings(const std::string& program,
                                          const std::vector<Library>& libraries);

}  // namespace raddle::cli
