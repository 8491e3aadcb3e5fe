#include "raddle/accelsim/kernels_list.h"

#include <charconv>
#include <filesystem>
#include <string_view>

#include "raddle/accelsim/text.h"
#include "raddle/base/error.h"
#include "raddle/base/files.h"

namespace raddle::accelsim {

namespace {

constexpr std::string_view kCopy = "MemcpyHtoD";

template <class T>
bool read_number(std::string_view text, T& out, int base) {
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, out, base);
  return error == std::errc() && stop == end && !text.empty();
}

Command copy_of(const Text& text, std::string_view line) {
  Command out;
  const std::size_t first = line.find(','), second = line.find(',', first + 1);
  if (first == std::string_view::npos || second == std::string_view::npos ||
      line.find(',', second + 1) != std::string_view::npos || line.substr(0, first) != kCopy)
    text.fail("expected 'MemcpyHtoD,0xADDRESS,BYTES', found '" + std::string(line) + "'");
  std::string_view address = line.substr(first + 1, second - first - 1);
  if (address.starts_with("0x")) address.remove_prefix(2);
  if (!read_number(address, out.address, 16) ||
      !read_number(line.substr(second + 1), out.bytes, 10))
    text.fail("expected 'MemcpyHtoD,0xADDRESS,BYTES', found '" + std::string(line) + "'");
  return out;
}

Command kernel_of(const Text& text, std::string_view line) {
  Command out;
  const std::filesystem::path file(line);
  if (file.extension() == ".trace")
    text.fail("'" + std::string(line) +
              "' is a raw trace; Accel-Sim's post-traces-processing makes a .traceg of it");
  if (file.is_absolute()) out.kernel_file = file.string();
  else out.kernel_file = (std::filesystem::path(text.path()).parent_path() / file).string();
  try {
    check_readable(out.kernel_file, "a kernel's trace");
  } catch (const InputError& error) {
    text.fail(error.what());
  }
  return out;
}

}  // namespace

std::vector<Command> read_kernels_list(const std::string& path) {
  Text text(path);
  std::vector<Command> out;
  bool kernels = false;
  for (std::string_view line; text.next(line);) {
    while (!line.empty() && (line.back() == ' ' || line.back() == '\r')) line.remove_suffix(1);
    const bool copy = line.starts_with(kCopy), kernel = line.starts_with("kernel");
    if (!copy && !kernel) continue;
    out.push_back(copy ? copy_of(text, line) : kernel_of(text, line));
    out.back().line = text.line();
    kernels = kernels || kernel;
  }
  if (!kernels) text.fail("no line names a kernel (kernel-1.traceg ...)");
  return out;
}

bool is_kernels_list(const std::string& path) { return path.ends_with(".g"); }

}  // namespace raddle::accelsim
