// A file that is written from front to back, in a process whose host code need not be ours.
#pragma once
#include <sys/types.h>

#include <cstdint>
#include <string>

namespace raddle::trace {

/// A file that is put in its place whole, or not at all. `raddle record` writes it inside of the
/// user's program, which may close descriptors that it has not opened, get their numbers for files
/// of its own, and fork. So nothing is left to the buffers of the C library, which a copy of the
/// process writes as well, and nothing is written before it is sure that it goes to this file.
class OutputFile {
 public:
  /// Throws InputError when it cannot be created.
  explicit OutputFile(std::string path);
  ~OutputFile();  ///< without put_in_place(): nothing is left
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// Bytes so far.
  std::uint64_t at() const { return flushed_ + buffer_.size(); }
  // Both throw RunError when the file cannot be written.
  void write(const void* data, std::size_t bytes);
  void put_in_place();

 private:
  void open();
  /// The descriptor leads to the file, and this is the process that opened it.
  bool is_ours() const;
  void check_ours();
  void flush();
  void give_name();
  void abandon();
  [[noreturn]] void fail(const std::string& why);

  std::string path_, temporary_, buffer_;
  std::uint64_t flushed_ = 0;
  pid_t process_;
  int descriptor_ = -1;  // -1: closed
  dev_t device_ = 0;
  ino_t number_ = 0;
  void* pin_ = nullptr;  // a page of it, mapped: no other file gets its number while it is
  bool has_name_ = false;
};

}  // namespace raddle::trace
