// libFuzzer target: recordings whose structure is changed and whose checksums are right. The input
// is a recording as sections (support/recording_mutator.h), laid open as fuzz_trace does it; the
// mutator drops, doubles, swaps and renames sections, changes JSON value by value and blocks word
// by word. Invariant: read and timed on a small machine, or refused by InputError or RunError in
// words that are ours.
//   fuzz_recording --seed FILE   makes such an input: two launches of a kernel that has everything
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

#include "support/broken_recordings.h"
#include "support/recording_mutator.h"

using namespace raddle;

namespace {

/// (kind, bytes, payload) for each section.
std::string laid_open(const std::vector<test::Section>& sections) {
  std::string out;
  for (const test::Section& s : sections) {
    const std::uint32_t head[] = {static_cast<std::uint32_t>(s.kind),
                                  static_cast<std::uint32_t>(s.raw.size())};
    out.append(reinterpret_cast<const char*>(head), sizeof head).append(s.raw);
  }
  return out;
}

std::vector<test::Section> sections_in(std::string_view input) {
  std::vector<test::Section> out;
  while (input.size() >= 8) {
    std::uint32_t head[2];
    std::memcpy(head, input.data(), sizeof head);
    input.remove_prefix(sizeof head);
    out.push_back(
        {static_cast<trace::SectionKind>(head[0]), std::string(input.substr(0, head[1]))});
    input.remove_prefix(out.back().raw.size());
  }
  return out;
}

}  // namespace

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max);

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max, unsigned seed) {
  Rng rng(seed);
  if (rng.below(32) == 0) return LLVMFuzzerMutate(data, size, max);
  std::vector<test::Section> sections = sections_in({reinterpret_cast<const char*>(data), size});
  test::mutate(sections, rng);
  const std::string out = laid_open(sections);
  if (out.size() > max) return size;
  std::memcpy(data, out.data(), out.size());
  return out.size();
}

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  if (*argc != 3 || std::strcmp((*argv)[1], "--seed") != 0) return 0;
  const std::string path = std::string((*argv)[2]) + ".rdl";
  test::record_small(path);
  std::ifstream in(path, std::ios::binary);
  const std::string file{std::istreambuf_iterator<char>(in), {}};
  std::ofstream((*argv)[2], std::ios::binary) << laid_open(test::sections_of(file));
  std::remove(path.c_str());
  std::exit(0);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string file = test::file_of(sections_in({reinterpret_cast<const char*>(data), size}));
  const int fd = memfd_create("recording", MFD_CLOEXEC);
  if (fd < 0 || write(fd, file.data(), file.size()) != static_cast<ssize_t>(file.size()))
    std::abort();
  const std::string notified = test::notified_of("/proc/self/fd/" + std::to_string(fd));
  close(fd);
  // Words of the library that parses; an error may quote those that the input itself has.
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  for (const std::string_view word : {"json.exception", "std::"})
    if (notified.find(word) != notified.npos && input.find(word) == input.npos) std::abort();
  return 0;
}
