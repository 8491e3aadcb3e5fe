#include "raddle/accelsim/text.h"

#include <lzma.h>
#include <xxhash.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <vector>

#include "raddle/accelsim/tracez.h"
#include "raddle/base/error.h"
#include "raddle/base/files.h"

namespace raddle::accelsim {

namespace {

constexpr std::size_t kBuffer = std::size_t{1} << 20;  // also the longest line
constexpr std::size_t kPacked = std::size_t{1} << 16;
constexpr std::uint64_t kMaxUnpackerBytes = std::uint64_t{1} << 30;
constexpr std::string_view kXz("\xfd\x37\x7a\x58\x5a\x00", 6), kZstd("\x28\xb5\x2f\xfd", 4);

}  // namespace

/// The file's bytes, unpacked.
struct Text::Input {
  enum class Packing : std::uint8_t { None, Xz, Zstd, Tracez } packing = Packing::None;
  std::vector<char> packed = std::vector<char>(kPacked);
  std::size_t at = 0, end = 0;
  bool ended = false;     // the file
  bool complete = false;  // the packed data
  lzma_stream xz = LZMA_STREAM_INIT;
  ZSTD_DStream* zstd = nullptr;
  std::unique_ptr<TracezText> tracez;
  struct FreeHash {
    void operator()(XXH64_state_t* state) const { XXH64_freeState(state); }
  };
  std::unique_ptr<XXH64_state_t, FreeHash> hash{XXH64_createState()};
  struct Close {
    void operator()(std::FILE* open) const { std::fclose(open); }
  };
  std::unique_ptr<std::FILE, Close> file;

  explicit Input(const std::string& path) {
    XXH64_reset(hash.get(), 0);
    check_readable(path, "a trace", Source::Stream);
    file.reset(std::fopen(path.c_str(), "rb"));
    if (file == nullptr)
      throw InputError({path}, std::string("cannot be read: ") + std::strerror(errno));
    more();
    const std::string_view front(packed.data(), end);
    if (front.starts_with(kXz)) {
      packing = Packing::Xz;
      RADDLE_ASSERT(lzma_stream_decoder(&xz, kMaxUnpackerBytes, LZMA_CONCATENATED) == LZMA_OK);
    } else if (front.starts_with(kZstd)) {
      packing = Packing::Zstd;
      zstd = ZSTD_createDStream();
      ZSTD_initDStream(zstd);
    } else if (TracezText::begins(front)) {
      packing = Packing::Tracez;
      tracez = std::make_unique<TracezText>(file.get());
    } else if (path.ends_with(".tracez")) {
      throw InputError({path},
                       "is no .tracez: a kernel's header that ends with a byte 0 is expected");
    }
  }
  ~Input() {
    lzma_end(&xz);
    ZSTD_freeDStream(zstd);
  }
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;

  void more() {
    at = 0;
    end = std::fread(packed.data(), 1, packed.size(), file.get());
    if (end == 0 && std::ferror(file.get()) != 0) throw InputError("cannot be read");
    ended = end == 0;
  }
  /// Up to `room` bytes, 0 at the end. Throws InputError without a place.
  std::size_t read(char* to, std::size_t room) {
    if (packing == Packing::Xz) return read_xz(to, room);
    if (packing == Packing::Zstd) return read_zstd(to, room);
    if (packing == Packing::Tracez) return tracez->read(to, room);
    if (at == end && !ended) more();
    const std::size_t n = std::min(room, end - at);
    std::memcpy(to, packed.data() + at, n);
    at += n;
    return n;
  }
  std::size_t read_xz(char* to, std::size_t room) {
    xz.next_out = reinterpret_cast<std::uint8_t*>(to);
    xz.avail_out = room;
    while (xz.avail_out == room && !complete) {
      if (at == end && !ended) more();
      xz.next_in = reinterpret_cast<std::uint8_t*>(packed.data() + at);
      xz.avail_in = end - at;
      const lzma_ret status = lzma_code(&xz, ended ? LZMA_FINISH : LZMA_RUN);
      at = end - xz.avail_in;
      complete = status == LZMA_STREAM_END;
      if (status == LZMA_BUF_ERROR && ended) throw InputError("the compressed data ends early");
      if (status == LZMA_MEMLIMIT_ERROR)
        throw InputError("unpacking this xz file takes more than 1 GiB of memory");
      if (status != LZMA_OK && status != LZMA_STREAM_END && status != LZMA_BUF_ERROR)
        throw InputError("the compressed data is damaged (xz)");
    }
    return room - xz.avail_out;
  }
  std::size_t read_zstd(char* to, std::size_t room) {
    ZSTD_outBuffer out{to, room, 0};
    while (out.pos == 0) {
      if (at == end && !ended) more();
      if (at == end) {
        if (!complete) throw InputError("the compressed data ends early");
        return 0;
      }
      ZSTD_inBuffer in{packed.data(), end, at};
      const std::size_t status = ZSTD_decompressStream(zstd, &out, &in);
      if (ZSTD_isError(status) != 0)
        throw InputError(std::string("the compressed data is damaged (zstd: ") +
                         ZSTD_getErrorName(status) + ")");
      at = in.pos;
      complete = status == 0;
    }
    return out.pos;
  }
};

Text::Text(std::string path)
    : path_(std::move(path)),
      input_(std::make_unique<Input>(path_)),
      buffer_(std::make_unique_for_overwrite<char[]>(kBuffer)) {
  at_ = end_ = buffer_.get();
}

Text::~Text() = default;

void Text::fail(const std::string& what) const {
  throw InputError({path_, std::max(line_, 1u)}, what);
}

std::uint64_t Text::hash() const { return XXH64_digest(input_->hash.get()); }

// Moves what is left to the front and reads behind it.
std::size_t Text::fill() {
  const auto left = static_cast<std::size_t>(end_ - at_);
  std::memmove(buffer_.get(), at_, left);
  at_ = buffer_.get();
  std::size_t n = 0;
  try {
    n = input_->read(buffer_.get() + left, kBuffer - left);
  } catch (const InputError& error) {
    throw InputError({path_, line_ + 1}, error.what());
  }
  XXH64_update(input_->hash.get(), buffer_.get() + left, n);
  bytes_ += n;
  end_ = at_ + left + n;
  return n;
}

bool Text::next_slowly(std::string_view& line) {
  while (std::memchr(at_, '\n', static_cast<std::size_t>(end_ - at_)) == nullptr) {
    if (static_cast<std::size_t>(end_ - at_) == kBuffer)
      throw InputError({path_, line_ + 1}, "a line beyond 1 MiB: not a trace");
    if (fill() > 0) continue;
    if (at_ == end_) return false;
    line = {at_, static_cast<std::size_t>(end_ - at_)};  // the last line without an end
    at_ = end_;
    ++line_;
    return true;
  }
  return next(line);
}

}  // namespace raddle::accelsim
