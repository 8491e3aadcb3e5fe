// Lines of a file, a piece at a time; it may be compressed (xz or zstd) or paged (tracez.h).
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace raddle::accelsim {

class Text {
 public:
  /// What it is is told from the first bytes. Throws InputError when the file cannot be read.
  explicit Text(std::string path);
  ~Text();
  Text(const Text&) = delete;
  Text& operator=(const Text&) = delete;

  /// The next line without its end, valid until the next call; false at the end of the file.
  /// Throws InputError naming file and line when the compressed data is damaged or ends early, or
  /// a line is beyond 1 MiB.
  bool next(std::string_view& line) {
    const char* begin = at_;
    const auto* end = static_cast<const char*>(
        __builtin_memchr(begin, '\n', static_cast<std::size_t>(end_ - at_)));
    if (end == nullptr) return next_slowly(line);
    at_ = end + 1;
    ++line_;
    line = {begin, static_cast<std::size_t>(end - begin)};
    return true;
  }
  /// Number of the line last given, from 1.
  unsigned line() const { return line_; }
  const std::string& path() const { return path_; }
  /// Unpacked bytes read so far, and their xxh64.
  std::uint64_t bytes() const { return bytes_; }
  std::uint64_t hash() const;
  /// Throws InputError at the line last given.
  [[noreturn]] void fail(const std::string& what) const;

 private:
  struct Input;
  bool next_slowly(std::string_view& line);
  std::size_t fill();

  std::string path_;
  std::unique_ptr<Input> input_;
  std::unique_ptr<char[]> buffer_;  // not cleared: a trace of many small kernels opens many
  const char *at_ = nullptr, *end_ = nullptr;  // what is left of the buffer
  unsigned line_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace raddle::accelsim
