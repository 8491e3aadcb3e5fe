// libFuzzer: any bytes as a kernel's trace, packed, paged or not; what is read is opened and
// walked. The mutator unpacks a zstd frame or the pages of a .tracez, changes what is in it and
// packs it again, checksum and all: changed in place it would be refused before a line of it is
// read. InputError is the only way out.
#include <sys/mman.h>
#include <unistd.h>
#include <zstd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include "raddle/accelsim/import.h"
#include "raddle/base/error.h"
#include "raddle/base/rng.h"
#include "support/compressed_text.h"
#include "support/tracez_writer.h"

namespace {

using namespace raddle;

void walk(trace::KernelStream& stream) {
  for (std::uint32_t block = 0; block < stream.shape().grid.count(); ++block) {
    for (unsigned w = 0; w < stream.shape().warps_per_block(); ++w) {
      trace::WarpCursor cursor = stream.open(block, w);
      RADDLE_ASSERT(cursor.at != cursor.end);
      while (cursor.at != cursor.end) {
        const trace::Record r{cursor.at[0], cursor.at[1]};
        RADDLE_ASSERT(r.count() != 0 && r.inst() + r.count() <= stream.code().instructions.size());
        const bool transactions =
            trace::carries_transactions(stream.code().instructions[r.inst()].kind);
        cursor.at +=
            trace::kRecordWords + (transactions ? trace::kTransactionWords * r.transactions() : 0);
        RADDLE_ASSERT(cursor.at <= cursor.end);
      }
    }
    stream.close(block);
  }
}

/// What the pages of a .tracez hold; empty when it is damaged.
std::string unpaged(const std::uint8_t* data, std::size_t size) {
  const int fd = memfd_create("pages", MFD_CLOEXEC);
  if (fd < 0 || write(fd, data, size) != static_cast<ssize_t>(size)) std::abort();
  std::FILE* const file = fdopen(fd, "rb");
  std::string text;
  try {
    text = test::text_of_tracez(file);
  } catch (const InputError&) {
  }
  std::fclose(file);
  return text;
}

}  // namespace

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max);

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max, unsigned seed) {
  Rng rng(seed);
  const auto bytes = ZSTD_getFrameContentSize(data, size);
  const bool packed = bytes != ZSTD_CONTENTSIZE_UNKNOWN && bytes != ZSTD_CONTENTSIZE_ERROR;
  if (rng.below(8) == 0 || (packed && bytes > max)) return LLVMFuzzerMutate(data, size, max);
  std::string text(reinterpret_cast<const char*>(data), size);
  const bool paged = accelsim::TracezText::begins(text);
  if (paged) {
    text = unpaged(data, size);
    if (text.empty()) return LLVMFuzzerMutate(data, size, max);
  } else if (packed) {
    text.assign(bytes, '\0');
    if (ZSTD_isError(ZSTD_decompress(text.data(), text.size(), data, size)) != 0)
      return LLVMFuzzerMutate(data, size, max);
  }
  const std::size_t before = text.size();
  text.resize(before + 64);
  text.resize(LLVMFuzzerMutate(reinterpret_cast<std::uint8_t*>(text.data()), before, text.size()));
  const auto how = rng.below(8);
  if (paged || how < 2)
    text = test::tracez_of(text, {how % 2 == 0 ? text.substr(0, 64) : "", 1 + rng.below(8)});
  else if (how < 4) text = test::compressed(text);
  if (text.size() > max) return size;
  std::memcpy(data, text.data(), text.size());
  return text.size();
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const int fd = memfd_create("trace", MFD_CLOEXEC);
  if (fd < 0 || write(fd, data, size) != static_cast<ssize_t>(size)) std::abort();
  try {
    accelsim::Text text("/proc/self/fd/" + std::to_string(fd));
    const accelsim::KernelHeader header = accelsim::read_header(text);
    accelsim::Regions regions;
    accelsim::Notes notes;
    accelsim::LaunchStream stream(accelsim::import_launch(text, header, regions, notes));
    walk(stream);
  } catch (const InputError& error) {
    RADDLE_ASSERT(!error.diagnostics().empty() && error.diagnostics().front().place.line != 0);
  }
  close(fd);
  return 0;
}
