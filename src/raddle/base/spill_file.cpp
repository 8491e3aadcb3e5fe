#include "raddle/base/spill_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "raddle/base/error.h"

namespace raddle {

SpillFile::SpillFile(std::string folder) : folder_(std::move(folder)) {
  if (!folder_.empty()) return;
  const char* wish = std::getenv("TMPDIR");
  folder_ = wish != nullptr && *wish != '\0' ? wish : "/tmp";
}

SpillFile::~SpillFile() {
  if (file_ >= 0) close(file_);
}

void SpillFile::fail(const char* what) const {
  throw RunError(std::string("cannot ") + what + " temporary data in " + folder_ + ": " +
                 std::strerror(errno) + " (TMPDIR names another folder)");
}

SpillFile::Place SpillFile::write(const void* data, std::size_t bytes) {
  Place place{0, static_cast<std::uint32_t>(bytes)};
  {
    const std::lock_guard lock(mutex_);
    if (file_ < 0) {
      std::string name = folder_ + "/raddle-XXXXXX";
      file_ = mkostemp(name.data(), O_CLOEXEC);
      if (file_ < 0) fail("keep");
      unlink(name.c_str());
    }
    place.offset = end_;
    end_ += bytes;
  }
  const char* from = static_cast<const char*>(data);
  for (std::size_t done = 0; done < bytes;) {
    const ssize_t n =
        pwrite(file_, from + done, bytes - done, static_cast<off_t>(place.offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) fail("keep");
    done += static_cast<std::size_t>(n);
  }
  return place;
}

void SpillFile::read(const Place& place, void* data) const {
  char* to = static_cast<char*>(data);
  for (std::size_t done = 0; done < place.bytes;) {
    const ssize_t n =
        pread(file_, to + done, place.bytes - done, static_cast<off_t>(place.offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) fail("read");
    done += static_cast<std::size_t>(n);
  }
}

}  // namespace raddle
