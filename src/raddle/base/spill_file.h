// Data that is too much for memory and not worth a name.
#pragma once
#include <cstdint>
#include <mutex>
#include <string>

namespace raddle {

/// A temporary file that has no name and ends with the object. Several threads may write; each
/// reads back what it is told where to find.
class SpillFile {
 public:
  struct Place {
    std::uint64_t offset = 0;
    std::uint32_t bytes = 0;
  };
  /// `folder`: "" is $TMPDIR, or else /tmp. Nothing is opened before the first write.
  explicit SpillFile(std::string folder = "");
  ~SpillFile();
  SpillFile(const SpillFile&) = delete;
  SpillFile& operator=(const SpillFile&) = delete;

  /// Throws RunError naming the folder when there is no room or no such folder.
  Place write(const void* data, std::size_t bytes);
  void read(const Place& place, void* data) const;
  std::uint64_t size() const { return end_; }

 private:
  [[noreturn]] void fail(const char* what) const;
  std::string folder_;
  std::mutex mutex_;
  int file_ = -1;
  std::uint64_t end_ = 0;
};

}  // namespace raddle
