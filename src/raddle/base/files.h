// Files that are there whole or not at all, and folders that are gone afterwards.
#pragma once
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace raddle {

/// Writes `text` to a temporary file beside `file`, then renames it: whoever reads `file` finds the
/// old content or the new, never a part. A device or a pipe is written to as it is. Throws RunError
/// with the system's reason; nothing is left behind then.
void write_file(const std::string& file, std::string_view text);

/// What a reader takes: files only, or whatever bytes come from (a pipe, a device).
enum class Source : std::uint8_t { File, Stream };

/// Throws InputError naming `file` unless bytes can be read from it: with the reason (there is
/// none, a loop of symbolic links, no permission, a folder, a device), and `what` was expected ("a
/// recording"). Every path that a user gives to be read goes through here.
void check_readable(const std::string& file, std::string_view what, Source source = Source::File);

/// Opened, after check_readable().
std::ifstream open_input(const std::string& file, std::string_view what,
                         Source source = Source::File);

/// Does the name lead to a file? Never throws: what leads nowhere is none.
bool is_file(const std::filesystem::path& name);

/// The whole of it, a pipe included. Throws InputError as check_readable() does, and when there are
/// more than `maximum` bytes (a device without an end).
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
