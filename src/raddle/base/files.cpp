#include "raddle/base/files.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "raddle/base/error.h"

namespace raddle {

namespace {

/// /dev/null, a pipe: nothing to put in place of.
bool is_device(const std::string& file) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(file, error);
  return !error && std::filesystem::is_other(status);
}

}  // namespace

void write_file(const std::string& file, std::string_view text) {
  if (is_device(file)) {
    errno = 0;
    std::ofstream out(file, std::ios::binary);
    out << text;
    out.close();
    if (!out) throw RunError("cannot write " + file + ": " + std::strerror(errno));
    return;
  }
  const std::string temporary = file + ".tmp" + std::to_string(getpid());
  errno = 0;
  std::ofstream out(temporary, std::ios::binary);
  out << text;
  out.close();
  std::string reason = out ? "" : std::strerror(errno);
  std::error_code error;
  if (out) std::filesystem::rename(temporary, file, error);
  if (error) reason = error.message();
  if (reason.empty()) return;
  std::filesystem::remove(temporary, error);
  throw RunError("cannot write " + file + ": " + reason);
}

namespace {

/// What it is instead of something to read from; "" when that it is.
std::string_view other_kind(mode_t mode, Source source) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISSOCK(mode)) return "a socket";
  if (S_ISREG(mode) || source == Source::Stream) return "";
  return S_ISFIFO(mode) ? "a pipe" : "a device";
}

[[noreturn]] void cannot_be_read(const std::string& file) {
  throw InputError(Place{file.empty() ? "''" : file},
                   std::string("cannot be read: ") + std::strerror(errno));
}

}  // namespace

void check_readable(const std::string& file, std::string_view what, Source source) {
  struct stat info {};
  if (stat(file.c_str(), &info) != 0) cannot_be_read(file);
  if (const std::string_view other = other_kind(info.st_mode, source); !other.empty())
    throw InputError(Place{file}, "is " + std::string(other) + "; expected " + std::string(what));
  if (access(file.c_str(), R_OK) != 0) cannot_be_read(file);
}

std::ifstream open_input(const std::string& file, std::string_view what, Source source) {
  check_readable(file, what, source);
  errno = 0;
  std::ifstream in(file, std::ios::binary);
  if (!in) cannot_be_read(file);
  return in;
}

bool is_file(const std::filesystem::path& name) {
  std::error_code nowhere;
  return std::filesystem::is_regular_file(name, nowhere);
}

std::string read_text(const std::string& file, std::uint64_t maximum, std::string_view what) {
  constexpr std::size_t kTransaction = std::size_t{1} << 20;
  std::error_code ignored;
  std::ifstream in = open_input(file, what, Source::Stream);
  std::string out;
  const auto size = std::filesystem::file_size(file, ignored);
  if (!ignored && size <= maximum) out.reserve(size + 1);
  while (in) {
    const std::size_t before = out.size();
    out.resize(before + std::max<std::size_t>(kTransaction, out.capacity() - before));
    in.read(out.data() + before, static_cast<std::streamsize>(out.size() - before));
    out.resize(before + static_cast<std::size_t>(in.gcount()));
    if (out.size() > maximum)
      throw InputError(Place{file}, "is larger than " + std::to_string(maximum >> 20) +
                                        " MiB; expected " + std::string(what));
  }
  if (in.bad())
    throw InputError(Place{file}, std::string("cannot be read: ") + std::strerror(errno));
  return out;
}

namespace {

/// A lock on the folder, or -1 when somebody else holds it.
int locked(const std::string& folder) {
  const int descriptor = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (descriptor < 0 || flock(descriptor, LOCK_EX | LOCK_NB) == 0) return descriptor;
  close(descriptor);
  return -1;
}

/// Is it the name of a TemporaryFolder: prefix, process, six characters?
bool is_ours(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix) || name.size() < prefix.size() + 9) return false;
  name.remove_prefix(prefix.size());
  const std::string_view process = name.substr(1, name.size() - 8);
  return name.front() == '-' && name[name.size() - 7] == '-' &&
         process.find_first_not_of("0123456789") == std::string_view::npos;
}

/// Removes what killed processes have left: nobody holds its lock. A folder is locked a moment
/// after it is made, so the newest are let be.
void remove_abandoned(const std::filesystem::path& parent, std::string_view prefix) {
  using Clock = std::filesystem::file_time_type::clock;
  constexpr std::chrono::seconds kMoment{2};
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(parent, error)) {
    if (!is_ours(entry.path().filename().string(), prefix)) continue;
    const auto made = entry.last_write_time(error);
    if (error || Clock::now() - made < kMoment) continue;
    struct stat info {};
    if (lstat(entry.path().c_str(), &info) != 0 || info.st_uid != getuid()) continue;
    const int lock = locked(entry.path().string());
    if (lock < 0) continue;
    std::filesystem::remove_all(entry.path(), error);
    close(lock);
  }
}

/// $TMPDIR and its kin, or /tmp.
std::filesystem::path temporary_parent() {
  std::error_code error;
  std::filesystem::path parent = std::filesystem::temp_directory_path(error);
  if (!error) return parent;
  const char* const named = std::getenv("TMPDIR");
  throw InputError(std::string("there is no folder for temporary files: ") +
                   (named != nullptr ? "TMPDIR is " + std::string(named) + ", which is none"
                                     : "/tmp is none, and TMPDIR names no other"));
}

}  // namespace

TemporaryFolder::TemporaryFolder(std::string_view prefix) {
  const std::filesystem::path parent = temporary_parent();
  remove_abandoned(parent, prefix);
  std::string name = (parent / prefix).string() + "-" + std::to_string(getpid()) + "-XXXXXX";
  if (mkdtemp(name.data()) == nullptr)
    throw RunError("cannot make a folder in " + parent.string() + ": " + std::strerror(errno));
  path_ = name;
  lock_ = locked(name);
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
  if (lock_ >= 0) close(lock_);
}

}  // namespace raddle
