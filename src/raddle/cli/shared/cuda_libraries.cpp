#include "raddle/cli/shared/cuda_libraries.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <sstream>
#include <string_view>

#include "raddle/base/error.h"

namespace raddle::cli {

namespace {

constexpr const char* kLoader = "/lib64/ld-linux-x86-64.so.2";

/// What `command` writes to its standard output, whatever its end: the loader fails where it does
/// not find a library.
std::string output_of(const std::vector<std::string>& command, const std::string& library_path,
                      const std::string& folder) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return "";
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDOUT_FILENO);
    if (const int nowhere = open("/dev/null", O_WRONLY); nowhere >= 0) dup2(nowhere, STDERR_FILENO);
    if (!folder.empty() && chdir(folder.c_str()) != 0) _exit(127);
    setenv("LD_LIBRARY_PATH", library_path.c_str(), 1);
    // Its option --list ends at the first library that is missing; this, which ldd uses, does not.
    setenv("LD_TRACE_LOADED_OBJECTS", "1", 1);
    std::vector<char*> argv;
    for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    execv(argv[0], argv.data());
    _exit(127);
  }
  close(ends[1]);
  std::string out;
  std::array<char, 4096> some{};
  for (;;) {
    const ssize_t n = read(ends[0], some.data(), some.size());
    if (n > 0) out.append(some.data(), static_cast<std::size_t>(n));
    else if (n == 0 || errno != EINTR) break;
  }
  close(ends[0]);
  int status = 0;
  while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return out;
}

constexpr OwnLibrary kOwnLibraries[] = {
    {"libcudart.so.11.0", "libcudart.so.13"},  {"libcudart.so.12", "libcudart.so.13"},
    {"libcudart.so.13", "libcudart.so.13"},    {"libcuda.so.1", "libcudart.so.13"},
    {"libcuda.so", "libcudart.so.13"},         {"libcublas.so.11", "libcublas.so.13"},
    {"libcublas.so.12", "libcublas.so.13"},    {"libcublas.so.13", "libcublas.so.13"},
    {"libcublasLt.so.11", "libcublas.so.13"},  {"libcublasLt.so.12", "libcublas.so.13"},
    {"libcublasLt.so.13", "libcublas.so.13"},  {"libcufft.so.10", "libcufft.so.12"},
    {"libcufft.so.11", "libcufft.so.12"},      {"libcufft.so.12", "libcufft.so.12"},
    {"libcurand.so.10", "libcurand.so.10"},    {"libcusparse.so.11", "libcusparse.so.12"},
    {"libcusparse.so.12", "libcusparse.so.12"}};

bool holds_machine_code(std::string_view name) {
  if (std::ranges::any_of(kOwnLibraries, [&](const OwnLibrary& l) { return l.name == name; }))
    return false;
  constexpr std::array<std::string_view, 10> kLibraries = {
      "libcublas", "libcufft", "libcurand",   "libcusparse", "libcusolver",
      "libcudnn",  "libnccl.", "libcutensor", "libnpp",      "libnvjpeg"};
  return std::ranges::any_of(kLibraries, [&](std::string_view l) { return name.starts_with(l); });
}

}  // namespace

std::span<const OwnLibrary> own_libraries() { return kOwnLibraries; }

std::vector<Library> libraries_of(const std::string& program, const std::string& library_path,
                                  const std::string& folder) {
  std::istringstream lines(output_of({kLoader, program}, library_path, folder));
  std::vector<Library> all;
  for (std::string line; std::getline(lines, line);) {
    // "\tlibx.so => /a/libx.so (0x7f...)", "\tlibx.so => not found"; without an arrow when the name
    // is a path already, or nothing that lies in a file.
    const std::string said = line.substr(std::min(line.find_first_not_of(" \t"), line.size()));
    const std::size_t arrow = said.find(" => "), end = said.rfind(" (0x");
    const std::string name = said.substr(0, std::min(arrow, end));
    const std::size_t at = arrow == std::string::npos ? 0 : arrow + 4;
    if (end == std::string::npos || end < at) {
      if (arrow != std::string::npos) all.push_back({name, false});
    } else if (arrow != std::string::npos || name.find('/') != std::string::npos) {
      all.push_back({name, true, said.substr(at, end - at)});
    }
  }
  return all;
}

std::vector<std::string> user_libraries(const std::vector<Library>& libraries) {
  constexpr std::array<std::string_view, 6> kOthers = {
      "/lib/", "/lib64/", "/usr/lib/", "/usr/lib32/", "/usr/lib64/", "/usr/local/cuda"};
  std::vector<std::string> files;
  for (const Library& library : libraries) {
    const bool other =
        library.file.empty() ||
        std::ranges::any_of(kOthers,
                            [&](std::string_view at) { return library.file.starts_with(at); }) ||
        std::ranges::any_of(kOwnLibraries,
                            [&](const OwnLibrary& own) { return own.name == library.name; });
    if (!other) files.push_back(library.file);
  }
  return files;
}

std::vector<std::string> library_warnings(const std::string& program,
                                          const std::vector<Library>& libraries) {
  std::vector<std::string> warnings;
  for (const Library& library : libraries) {
    if (!library.found)
      throw InputError(program + " needs " + library.name + ", which the loader does not find" +
                       (holds_machine_code(library.name)
                            ? "; and what that library computes would not be simulated "
                              "(docs/cuda.md)"
                            : ""));
    if (holds_machine_code(library.name))
      warnings.push_back(program + " loads " + library.name +
                         ", which brings machine code only: what it is asked for is not computed "
                         "(docs/cuda.md)");
  }
  return warnings;
}

}  // namespace raddle::cli
