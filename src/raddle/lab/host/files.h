// Files of the laboratory: written whole or not at all, and a folder that one runner holds.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace raddle::lab {

/// Beside the file first, then renamed; what was written is on the disk when this returns. Throws
/// RunError naming the file, and that the disk is full when it is.
void write_whole(const std::filesystem::path& file, std::string_view text);
/// Nothing when it cannot be read.
std::optional<std::string> read_whole(const std::filesystem::path& file);
/// Makes the folder and those above it. Throws InputError.
void make_folder(const std::filesystem::path& folder);
std::string host_name();
/// "2024-05-01T12:00:00Z"
std::string utc_now();

/// Holds a folder for this process until it ends, however it ends.
class FolderLock {
 public:
  static std::filesystem::path file(const std::filesystem::path& folder) { return folder / "lock"; }
  /// Throws InputError naming pid and host of who holds it.
  explicit FolderLock(const std::filesystem::path& folder);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int descriptor_ = -1;
};

}  // namespace raddle::lab
