#include "raddle/base/compressed.h"

#include <zstd.h>

#include <memory>
#include <string_view>

#include "raddle/base/error.h"

namespace raddle {

namespace {

constexpr std::string_view kMagic("\x28\xb5\x2f\xfd", 4);

struct FreeStream {
  void operator()(ZSTD_DStream* stream) const { ZSTD_freeDStream(stream); }
};

}  // namespace

std::string decompressed(std::string bytes, std::uint64_t maximum, const std::string& file) {
  if (!bytes.starts_with(kMagic)) return bytes;
  const std::unique_ptr<ZSTD_DStream, FreeStream> stream(ZSTD_createDStream());
  RADDLE_ASSERT(stream != nullptr);
  std::string transaction(ZSTD_DStreamOutSize(), '\0');
  std::string out;
  ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
  // 0 after the last byte of a frame; a file may hold several.
  for (std::size_t left = 1; in.pos < in.size || left != 0;) {
    ZSTD_outBuffer to{transaction.data(), transaction.size(), 0};
    const std::size_t before = in.pos;
    left = ZSTD_decompressStream(stream.get(), &to, &in);
    if (ZSTD_isError(left) != 0)
      throw InputError(Place{file}, std::string("the compressed data is damaged (zstd: ") +
                                        ZSTD_getErrorName(left) + ")");
    if (in.pos == before && to.pos == 0)
      throw InputError(Place{file}, "the compressed data ends early");
    out.append(transaction, 0, to.pos);
    if (out.size() > maximum)
      throw InputError(Place{file}, "holds more than " + std::to_string(maximum >> 20) +
                                        " MiB once decompressed");
  }
  return out;
}

}  // namespace raddle
