// Where this program finds what belongs to it besides itself: in a build tree beside it, installed
// in ../lib/raddle and ../share/raddle, wherever that was put.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace raddle::cli {

/// This program's file.
std::filesystem::path program_file();

/// A file that lies with the runtime libraries ("libcudart.so.13", "plugin.sh"); nothing where it
/// is missing.
std::optional<std::filesystem::path> find_support_file(std::string_view name);

/// "in FOLDER or FOLDER": where find_support_file() looks.
std::string support_folders_text();

}  // namespace raddle::cli
