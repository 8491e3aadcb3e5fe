#include "raddle/analysis/stream.h"

#include <zstd.h>

#include "raddle/base/error.h"

namespace raddle::analysis {

namespace {
constexpr int kCompressionLevel = 1;
}

void Stream::pack() {
  std::vector<char> packed(ZSTD_compressBound(open_.size() * sizeof(Record)));
  const std::size_t n = ZSTD_compress(packed.data(), packed.size(), open_.data(),
                                      open_.size() * sizeof(Record), kCompressionLevel);
  RADDLE_ASSERT(ZSTD_isError(n) == 0);
  packed_.push_back(spill_->write(packed.data(), n));
  open_.clear();
}

std::vector<Record> Stream::unpack(const SpillFile::Place& place) const {
  std::vector<char> packed(place.bytes);
  spill_->read(place, packed.data());
  std::vector<Record> out(kChunk);
  const std::size_t n =
      ZSTD_decompress(out.data(), out.size() * sizeof(Record), packed.data(), packed.size());
  RADDLE_ASSERT(n == out.size() * sizeof(Record));
  return out;
}

}  // namespace raddle::analysis
