// Files that are there whole or not at all, and folders that are gone afterwards.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace raddle {

/// Writes `text` to a temporary file beside `file`, then renames it: whoever reads `file` finds the
/// old content or the new, never a part. A device or a pipe is written to as it is. Throws RunError
/// with the system's reason; nothing is left behind then.
void write_file(const std::string& file, std::string_view text);

/// The whole file. Throws InputError when it cannot be read, is a folder or a device without an
/// end, or has more than `most` bytes, naming it and `what` was expected ("a PTX file").
std::string read_text(const std::string& file, std::uint64_t maximum, std::string_view what);

/// A new folder among the system's temporary ones, which only its owner may read; removed with all
/// that is in it at the end. Those of the same prefix whose owners were killed are removed first:
/// an owner holds a lock on its folder, which ends with it. Throws RunError when none can be made.
class TemporaryFolder {
 public:
  explicit TemporaryFolder(std::string_view prefix);
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  int lock_ = -1;
};

}  // namespace raddle
