#include "raddle/runtime/ptx_file.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <type_traits>

#include "raddle/base/files.h"
#include "raddle/base/json.h"

namespace raddle::runtime {

namespace {

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> out;
  for (std::size_t at = 0; at <= text.size() && !text.empty();) {
    const std::size_t end = std::min(text.find(separator, at), text.size());
    out.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

template <class T>
T number(const std::string& text, const std::string& whole) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range && std::is_integral_v<T> && text[0] == '-')
    throw InputError("'" + whole + "': " + text + " is too small; the smallest is " +
                     std::to_string(std::numeric_limits<T>::min()));
  if (error == std::errc::result_out_of_range && std::is_integral_v<T>)
    throw InputError("'" + whole + "': " + text + " is too large; the largest is " +
                     std::to_string(std::numeric_limits<T>::max()));
  if (error == std::errc::result_out_of_range)
    throw InputError("'" + whole + "': " + text +
                     (std::abs(std::strtold(text.c_str(), nullptr)) < 1 ? " is too near to 0"
                                                                        : " is too large"));
  if (error != std::errc{} || end != text.data() + text.size() || text.empty())
    throw InputError("'" + whole + "' holds no number where one was expected: '" + text + "'");
  return value;
}

Dim3 dimensions(const std::string& name, const std::string& text) {
  const auto parts = split(text, 'x');
  if (parts.empty() || parts.size() > 3)
    throw InputError(name + " must be N, NxN or NxNxN, not '" + text + "'");
  Dim3 d;
  d.x = number<std::uint32_t>(parts[0], text);
  if (parts.size() > 1) d.y = number<std::uint32_t>(parts[1], text);
  if (parts.size() > 2) d.z = number<std::uint32_t>(parts[2], text);
  return d;
}

// The largest files that compilers make have some ten million characters.
constexpr std::uint64_t kMaxPtxBytes = std::uint64_t{256} << 20;
constexpr std::uint64_t kMaxArgumentBytes = std::uint64_t{4} << 30;

}  // namespace

std::string read_ptx(const std::string& path) {
  return read_text(path, kMaxPtxBytes, "a PTX file");
}

PtxFileWorkload::PtxFileWorkload(std::string path)
    : path_(std::move(path)), text_(read_ptx(path_)) {}

void PtxFileWorkload::visit(FieldVisitor& v) {
  v.field("kernel", kernel_, "name of the .entry to launch");
  v.field("grid", grid_, "blocks: N, NxN or NxNxN");
  v.field("block", block_, "threads per block: N, NxN or NxNxN");
  v.field("args", args_, "comma-separated: 4:u32, 1.5:f32, buf:BYTES (zeroed), file:PATH");
  v.field("shared_bytes", shared_bytes_, {0, 1 << 20}, "B", "dynamic shared memory per block");
  v.field("pending_launches", pending_launches_, {0, std::uint64_t{1} << 32}, "launches",
          "launches by kernels that may be pending (cudaLimitDevRuntimePendingLaunchCount)");
  v.field("repeat", repeat_, {1, 1'000'000}, "launches", "how often to launch");
}

void PtxFileWorkload::add_argument(Device& device, Arguments& out, const std::string& text) const {
  const std::size_t colon = text.find(':');
  const std::string value = text.substr(0, colon);
  const std::string type = colon == std::string::npos ? "" : text.substr(colon + 1);
  if (value == "buf") {
    const auto bytes = number<std::uint64_t>(type, text);
    if (bytes == 0) throw InputError("'" + text + "': expected a buffer of at least 1 byte");
    const Address at = device.allocate(bytes);
    out.add(at);
  } else if (value == "file") {
    const std::string bytes = read_text(type, kMaxArgumentBytes, "the bytes of an argument");
    const Address at = device.allocate(bytes.size());
    device.copy_to_device(at, bytes.data(), bytes.size());
    out.add(at);
  } else if (type == "u32") out.add(number<std::uint32_t>(value, text));
  else if (type == "s32") out.add(number<std::int32_t>(value, text));
  else if (type == "u64") out.add(number<std::uint64_t>(value, text));
  else if (type == "s64") out.add(number<std::int64_t>(value, text));
  else if (type == "u16") out.add(number<std::uint16_t>(value, text));
  else if (type == "u8") out.add(number<std::uint8_t>(value, text));
  else if (type == "f32") out.add(number<float>(value, text));
  else if (type == "f64") out.add(number<double>(value, text));
  else
    throw InputError("argument '" + text +
                     "' is none of VALUE:u8|u16|u32|s32|u64|s64|f32|f64, buf:BYTES, file:PATH");
}

void PtxFileWorkload::run(Device& device, std::uint64_t) {
  hash_ = XXH64(text_.data(), text_.size(), 0) ^ XXH64(args_.data(), args_.size(), 1);
  const Dim3 grid = dimensions("grid", grid_), block = dimensions("block", block_);
  const ModuleId module = device.load(text_, valid_utf8(path_));
  if (kernel_.empty()) throw InputError("say which kernel of " + path_ + " to launch: kernel=NAME");
  const KernelId kernel = device.kernel(module, kernel_);
  if (pending_launches_ != exec::kPendingLaunches) device.limit_pending_launches(pending_launches_);
  Arguments arguments;
  for (const std::string& text : split(args_, ',')) add_argument(device, arguments, text);
  for (std::uint32_t i = 0; i < repeat_; ++i)
    device.launch(kernel, grid, block, arguments, shared_bytes_);
  device.synchronize();
}

}  // namespace raddle::runtime
