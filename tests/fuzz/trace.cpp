// libFuzzer target: op-stream files. Random bytes rarely pass a checksum, so the input is a file
// laid open: magic, version, then (kind, bytes, payload unpacked) for each section; the target
// packs and seals it. Invariant: any file is read to its end or refused by InputError.
//   fuzz_trace --unpack FILE.rdl SEED   makes such an input of a recorded file
#include <sys/mman.h>
#include <unistd.h>
#include <zstd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

#include "raddle/base/error.h"
#include "raddle/trace/file.h"
#include "raddle/trace/file_sections.h"

namespace {

using namespace raddle::trace;
constexpr std::size_t kFront = kFileMagic.size() + sizeof(kFileVersion), kOpenHeader = 8;

std::string laid_open(std::string_view file) {
  std::string out(file.substr(0, kFront));
  for (std::size_t at = kFront; at + sizeof(SectionHeader) <= file.size();) {
    SectionHeader header;
    std::memcpy(&header, file.data() + at, sizeof header);
    at += sizeof header;
    std::string raw(header.raw_bytes, '\0');
    ZSTD_decompress(raw.data(), raw.size(), file.data() + at, header.packed_bytes);
    const std::uint32_t open[] = {header.kind, header.raw_bytes};
    out.append(reinterpret_cast<const char*>(open), sizeof open).append(raw);
    at += header.packed_bytes;
  }
  return out;
}

std::string sealed(std::string_view input) {
  std::string out(input.substr(0, kFront));
  for (std::size_t at = kFront; at + kOpenHeader <= input.size();) {
    std::uint32_t open[2];
    std::memcpy(open, input.data() + at, sizeof open);
    at += sizeof open;
    const std::string_view raw = input.substr(at, open[1]);
    at += raw.size();
    std::string packed(ZSTD_compressBound(raw.size()), '\0');
    packed.resize(ZSTD_compress(packed.data(), packed.size(), raw.data(), raw.size(), 1));
    const SectionHeader header =
        seal(static_cast<SectionKind>(open[0]), static_cast<std::uint32_t>(raw.size()), packed);
    out.append(reinterpret_cast<const char*>(&header), sizeof header).append(packed);
  }
  return out;
}

void read_all(const std::string& path) {
  const FileReader reader(path);
  for (std::size_t i = 0; i < reader.launches(); ++i) {
    const auto stream = reader.open(i);
    const LaunchShape& shape = stream->shape();
    for (std::uint32_t block = 0; block < shape.grid.count(); ++block) {
      for (unsigned w = 0; w < shape.warps_per_block(); ++w) {
        WarpCursor cursor = stream->open(block, w);
        if (cursor.at == cursor.end) std::abort();  // every warp has at least its exit
      }
      stream->close(block);
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  if (*argc != 4 || std::strcmp((*argv)[1], "--unpack") != 0) return 0;
  std::ifstream in((*argv)[2], std::ios::binary);
  const std::string file{std::istreambuf_iterator<char>(in), {}};
  std::ofstream((*argv)[3], std::ios::binary) << laid_open(file);
  std::exit(0);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string file = sealed({reinterpret_cast<const char*>(data), size});
  const int fd = memfd_create("trace", MFD_CLOEXEC);
  if (fd < 0 || write(fd, file.data(), file.size()) != static_cast<ssize_t>(file.size()))
    std::abort();
  try {
    read_all("/proc/self/fd/" + std::to_string(fd));
  } catch (const raddle::InputError&) {
  }
  close(fd);
  return 0;
}
