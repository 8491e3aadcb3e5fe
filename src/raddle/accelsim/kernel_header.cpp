#include "raddle/accelsim/kernel_header.h"

#include <array>
#include <charconv>
#include <functional>
#include <limits>
#include <set>

#include "raddle/base/error.h"

namespace raddle::accelsim {

namespace {

std::string_view trimmed(std::string_view s) {
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  while (!s.empty() && blank(s.front())) s.remove_prefix(1);
  while (!s.empty() && blank(s.back())) s.remove_suffix(1);
  return s;
}

/// A value of the header; throws InputError without a place.
struct Value {
  std::string_view key, text;

  [[noreturn]] void bad(std::string_view expected) const {
    throw InputError("'" + std::string(key) + "': expected " + std::string(expected) + ", found '" +
                     std::string(text) + "'");
  }
  std::uint64_t number(std::uint64_t minimum, std::uint64_t maximum) const {
    std::string_view digits = text;
    const bool hex = digits.starts_with("0x");
    if (hex) digits.remove_prefix(2);
    std::uint64_t out = 0;
    const char* end = digits.data() + digits.size();
    const auto [stop, error] = std::from_chars(digits.data(), end, out, hex ? 16 : 10);
    if (error != std::errc() || stop != end || out < minimum || out > maximum)
      bad(maximum == std::numeric_limits<std::uint64_t>::max()
              ? "a number"
              : "a number of " + std::to_string(minimum) + " to " + std::to_string(maximum));
    return out;
  }
  std::uint32_t small(std::uint32_t minimum, std::uint32_t maximum) const {
    return static_cast<std::uint32_t>(number(minimum, maximum));
  }
  std::uint64_t any() const { return number(0, std::numeric_limits<std::uint64_t>::max()); }
  Dim3 extent() const {
    std::array<std::uint32_t, 3> n{};
    const char *at = text.data(), *end = at + text.size();
    for (unsigned i = 0; i < 3; ++i) {
      const char opening = i == 0 ? '(' : ',';
      if (at == end || *at++ != opening) bad("(x,y,z)");
      const auto [stop, error] = std::from_chars(at, end, n[i]);
      if (error != std::errc() || n[i] == 0) bad("(x,y,z), none of them 0");
      at = stop;
    }
    if (at + 1 != end || *at != ')') bad("(x,y,z)");
    return {n[0], n[1], n[2]};
  }
};

struct Key {
  std::string_view name;
  bool required;
  std::function<void(KernelHeader&, const Value&)> set;
};

const std::array<Key, 13>& keys() {
  using H = KernelHeader;
  static const std::array<Key, 13> kKeys = {{
      {"kernel name", true, [](H& h, const Value& v) { h.name = v.text; }},
      {"kernel id", false, [](H&, const Value& v) { v.any(); }},
      {"grid dim", true, [](H& h, const Value& v) { h.grid = v.extent(); }},
      {"block dim", true, [](H& h, const Value& v) { h.block = v.extent(); }},
      {"shmem base_addr", false, [](H& h, const Value& v) { h.shared_base = v.any(); }},
      {"shmem", true, [](H& h, const Value& v) { h.shared_bytes = v.small(0, 1u << 28); }},
      {"nregs", true, [](H& h, const Value& v) { h.registers = v.small(0, 255); }},
      {"binary version", true,
       [](H& h, const Value& v) {
         h.binary_version = v.small(0, 1000);
         h.format.generation = generation_of(h.binary_version);
       }},
      {"cuda stream id", false, [](H& h, const Value& v) { h.cuda_stream = v.any(); }},
      {"local mem base_addr", false, [](H& h, const Value& v) { h.local_base = v.any(); }},
      {"nvbit version", false, [](H&, const Value&) {}},
      {"accelsim tracer version", true,
       [](H& h, const Value& v) {
         const std::uint32_t version = v.small(0, 6);
         h.format.block_first = version < 3;
         h.format.version_6 = version >= 6;
       }},
      {"enable lineinfo", false,
       [](H& h, const Value& v) { h.format.lineinfo = v.number(0, 1) == 1; }},
  }};
  return kKeys;
}

void check(const KernelHeader& header) {
  if (header.block.count() > 1024)
    throw InputError("a block of " + std::to_string(header.block.count()) +
                     " threads; the most is 1024");
  const std::uint64_t maximum = std::numeric_limits<std::uint32_t>::max();
  // In this order the product cannot overflow.
  if (std::uint64_t{header.grid.x} * header.grid.y > maximum ||
      std::uint64_t{header.grid.x} * header.grid.y * header.grid.z > maximum)
    throw InputError("a grid of more than 4294967295 blocks");
}

}  // namespace

KernelHeader read_header(Text& text) {
  KernelHeader header;
  std::set<std::string_view> seen;
  std::string_view line;
  while (true) {
    if (!text.next(line)) text.fail("the file ends in its header: no line '#traces format ...'");
    line = trimmed(line);
    if (line.empty()) continue;
    if (line.front() == '#') break;
    if (line.front() != '-') text.fail("expected '-key = value' or a line that begins with '#'");
    line.remove_prefix(1);
    const std::size_t equal = line.find('=');
    if (equal == std::string_view::npos) text.fail("expected '-key = value'");
    const Value value{trimmed(line.substr(0, equal)), trimmed(line.substr(equal + 1))};
    for (const Key& key : keys()) {
      if (key.name != value.key) continue;
      try {
        key.set(header, value);
      } catch (const InputError& error) {
        text.fail(error.what());
      }
      if (!seen.insert(key.name).second) text.fail("'" + std::string(key.name) + "' twice");
    }
  }
  for (const Key& key : keys())
    if (key.required && !seen.contains(key.name))
      text.fail("the header has no '" + std::string(key.name) + "'");
  try {
    check(header);
  } catch (const InputError& error) {
    text.fail(error.what());
  }
  return header;
}

}  // namespace raddle::accelsim
