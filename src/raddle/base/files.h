// Files that are there whole or not at all, and folders that are gone afterwards.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>

namespace raddle {

/// Writes `text` to a temporary file beside `file`, then renames it: whoever reads `file` finds the
/// old content or the new, never a part. A device or a pipe is written to as it is. Throws RunError
/// with the system's reason; nothing is left behind then.
void write_file(const std::string& file, std::string_view text);

/// A new folder among the system's temporary ones, which only its owner may read; removed with all
/// that is in it at the end. Throws RunError when none can be made.
class TemporaryFolder {
 public:
  explicit TemporaryFolder(std::string_view prefix);
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace raddle
