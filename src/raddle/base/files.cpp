#include "raddle/base/files.h"

#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "raddle/base/error.h"

namespace raddle {

namespace {

/// /dev/null, a pipe: nothing to put in place of.
bool is_device(const std::string& file) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(file, error);
  return !error && std::filesystem::is_other(status);
}

}  // namespace

void write_file(const std::string& file, std::string_view text) {
  if (is_device(file)) {
    errno = 0;
    std::ofstream out(file, std::ios::binary);
    out << text;
    out.close();
    if (!out) throw RunError("cannot write " + file + ": " + std::strerror(errno));
    return;
  }
  const std::string temporary = file + ".tmp" + std::to_string(getpid());
  errno = 0;
  std::ofstream out(temporary, std::ios::binary);
  out << text;
  out.close();
  std::string reason = out ? "" : std::strerror(errno);
  std::error_code error;
  if (out) std::filesystem::rename(temporary, file, error);
  if (error) reason = error.message();
  if (reason.empty()) return;
  std::filesystem::remove(temporary, error);
  throw RunError("cannot write " + file + ": " + reason);
}

TemporaryFolder::TemporaryFolder(std::string_view prefix) {
  const std::filesystem::path parent = std::filesystem::temp_directory_path();
  std::string name = (parent / prefix).string() + "-XXXXXX";
  if (mkdtemp(name.data()) == nullptr)
    throw RunError("cannot make a folder in " + parent.string() + ": " + std::strerror(errno));
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace raddle
