#include "raddle/lab/host/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iterator>

#include "raddle/base/error.h"

namespace raddle::lab {

namespace fs = std::filesystem;

void write_whole(const fs::path& file, std::string_view text) {
  const std::string temporary = fmt::format("{}.tmp{}", file.string(), getpid());
  auto fail = [&](const char* what) {
    const int error = errno;
    unlink(temporary.c_str());
    throw RunError(fmt::format("{}: cannot be {} ({})", file.string(), what, std::strerror(error)));
  };
  const int out = open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (out < 0) fail("created");
  while (!text.empty()) {
    const ssize_t n = ::write(out, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      const int error = errno;
      close(out);
      errno = error;
      fail("written");
    }
    text.remove_prefix(static_cast<std::size_t>(n));
  }
  if (fsync(out) != 0 || close(out) != 0) fail("written");
  if (rename(temporary.c_str(), file.c_str()) != 0) fail("put in its place");
}

std::optional<std::string> read_whole(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) return std::nullopt;
  std::string out{std::istreambuf_iterator<char>(in), {}};
  return in.bad() ? std::nullopt : std::optional(std::move(out));
}

void make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error || !fs::is_directory(folder))
    throw InputError({folder.string()},
                     "cannot be made as a folder" + (error ? " (" + error.message() + ")" : ""));
  if (access(folder.c_str(), W_OK) != 0)
    throw InputError({folder.string()}, "cannot be written: no permission");
}

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text.data();
}

FolderLock::FolderLock(const fs::path& folder) {
  const std::string held = file(folder).string();
  descriptor_ = open(held.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor_ < 0)
    throw InputError({held}, std::string("cannot be opened: ") + std::strerror(errno));
  if (flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
    const std::string holder = read_whole(held).value_or("");
    close(descriptor_);
    throw InputError({folder.string()}, "is in use by another runner (" +
                                            (holder.empty() ? "unknown" : holder) +
                                            "); wait for it, or give another --results folder");
  }
  const std::string me = fmt::format("pid {} on {}", getpid(), host_name());
  if (ftruncate(descriptor_, 0) != 0 ||
      pwrite(descriptor_, me.data(), me.size(), 0) != static_cast<ssize_t>(me.size())) {
    close(descriptor_);
    throw RunError(held + ": cannot be written; is the disk full?");
  }
}

FolderLock::~FolderLock() {
  RADDLE_ASSERT(descriptor_ >= 0);
  // The words go, the file stays: removing it would let two hold one name.
  if (ftruncate(descriptor_, 0) != 0) errno = 0;
  close(descriptor_);
}

}  // namespace raddle::lab
