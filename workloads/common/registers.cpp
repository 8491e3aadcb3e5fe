// workloads/registers.csv, read.
#include <algorithm>
#include <charconv>

#include "raddle/runtime/workload.h"

namespace raddle::runtime {

namespace {

/// "a,b,c" -> a; `line` keeps what is behind the comma.
std::string_view next_cell(std::string_view& line) {
  const std::string_view cell = line.substr(0, line.find(','));
  line.remove_prefix(std::min(cell.size() + 1, line.size()));
  return cell;
}

std::uint32_t whole_number(std::string_view text) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  RADDLE_ASSERT(error == std::errc() && end == text.data() + text.size());
  return value;
}

}  // namespace

ptx::KernelRegisters registers_of(std::string_view workload) {
  constexpr std::string_view kGpu = "sm_";
  ptx::KernelRegisters out;
  std::vector<std::uint32_t> gpus;
  std::string_view rest = embedded_registers();
  for (bool head = true; !rest.empty(); head = false) {
    std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    const std::string_view of = next_cell(line), kernel = next_cell(line);
    if (!head && of != workload) continue;
    for (std::size_t i = 0; !line.empty(); ++i) {
      const std::string_view cell = next_cell(line);
      if (cell.empty()) continue;  // a GPU that lacks the kernel's instructions
      if (!head) out[std::string(kernel)][gpus.at(i)] = whole_number(cell);
      else gpus.push_back(whole_number(cell.substr(kGpu.size())));
    }
  }
  return out;
}

}  // namespace raddle::runtime
