#include "raddle/trace/output_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include "raddle/base/error.h"

namespace raddle::trace {

namespace {

constexpr std::size_t kBufferBytes = std::size_t{32} << 10, kPinBytes = 1;
constexpr mode_t kAnybody = S_IRUSR | S_IWUSR | S_IRGRP | S_IWGRP | S_IROTH | S_IWOTH;

std::string reason() { return std::generic_category().message(errno); }

}  // namespace

OutputFile::OutputFile(std::string path)
    : path_(std::move(path)),
      temporary_(path_ + ".tmp" + std::to_string(getpid())),
      process_(getpid()) {
  buffer_.reserve(kBufferBytes);
  open();
  struct stat info {};
  if (descriptor_ < 0 || fstat(descriptor_, &info) != 0)
    throw InputError("cannot create " + path_ + ": " + reason());
  device_ = info.st_dev;
  number_ = info.st_ino;
  void* const page = mmap(nullptr, kPinBytes, PROT_READ, MAP_SHARED, descriptor_, 0);
  if (page != MAP_FAILED) pin_ = page;
}

OutputFile::~OutputFile() { abandon(); }

/// In the folder of the path, without a name where the file system has that: then it goes with this
/// process, however that ends.
void OutputFile::open() {
  const std::string folder = std::filesystem::path(path_).parent_path().string();
  descriptor_ =
      ::open(folder.empty() ? "." : folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, kAnybody);
  has_name_ = descriptor_ < 0;
  if (has_name_)
    descriptor_ = ::open(temporary_.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, kAnybody);
}

bool OutputFile::is_ours() const {
  struct stat now {};
  return getpid() == process_ && descriptor_ >= 0 && fstat(descriptor_, &now) == 0 &&
         now.st_dev == device_ && now.st_ino == number_;
}

/// Its size says whether anything else was written to the descriptor.
void OutputFile::check_ours() {
  if (getpid() != process_) fail("this process is a copy, made by fork, of the one that opened it");
  struct stat now {};
  if (!is_ours() || fstat(descriptor_, &now) != 0 ||
      static_cast<std::uint64_t>(now.st_size) != flushed_)
    fail("the program has closed its descriptor or has written to it");
}

void OutputFile::write(const void* data, std::size_t bytes) {
  buffer_.append(static_cast<const char*>(data), bytes);
  if (buffer_.size() >= kBufferBytes) flush();
}

void OutputFile::flush() {
  check_ours();
  for (std::size_t done = 0; done < buffer_.size();) {
    const ssize_t now = ::write(descriptor_, buffer_.data() + done, buffer_.size() - done);
    if (now < 0 && errno == EINTR) continue;
    if (now <= 0) fail(reason());
    done += static_cast<std::size_t>(now);
  }
  flushed_ += buffer_.size();
  buffer_.clear();
}

void OutputFile::give_name() {
  const std::string without = "/proc/self/fd/" + std::to_string(descriptor_);
  if (linkat(AT_FDCWD, without.c_str(), AT_FDCWD, temporary_.c_str(), AT_SYMLINK_FOLLOW) != 0)
    fail(reason());
  has_name_ = true;
}

void OutputFile::put_in_place() {
  flush();
  if (!has_name_) give_name();
  if (close(std::exchange(descriptor_, -1)) != 0) fail(reason());
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) fail(reason());
  has_name_ = false;
}

/// Leaves nothing of it; a copy of the process leaves it alone.
void OutputFile::abandon() {
  if (getpid() != process_) return;
  if (is_ours()) close(descriptor_);
  descriptor_ = -1;
  if (pin_ != nullptr) munmap(std::exchange(pin_, nullptr), kPinBytes);
  if (std::exchange(has_name_, false)) std::remove(temporary_.c_str());
}

void OutputFile::fail(const std::string& why) {
  abandon();
  throw RunError("cannot write " + path_ + ": " + why + "; nothing is left of it");
}

}  // namespace raddle::trace
