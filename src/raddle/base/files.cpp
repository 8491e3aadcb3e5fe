#include "raddle/base/files.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "raddle/base/error.h"

namespace raddle {

void write_file(const std::string& file, std::string_view text) {
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

}  // namespace raddle
