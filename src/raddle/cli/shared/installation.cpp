#include "raddle/cli/shared/installation.h"

#include <array>

namespace raddle::cli {

namespace fs = std::filesystem;

namespace {

std::array<fs::path, 2> support_folders() {
  const fs::path own = program_file().parent_path();
  return {own, own.parent_path() / "lib" / "raddle"};
}

}  // namespace

fs::path program_file() { return fs::read_symlink("/proc/self/exe"); }

std::optional<fs::path> find_support_file(std::string_view name) {
  for (const fs::path& folder : support_folders()) {
    std::error_code ignored;  // a folder that may not be entered has nothing for us
    if (fs::exists(folder / name, ignored)) return folder / name;
  }
  return std::nullopt;
}

std::string support_folders_text() {
  const auto [beside, installed] = support_folders();
  return "in " + beside.string() + " or " + installed.string();
}

}  // namespace raddle::cli
