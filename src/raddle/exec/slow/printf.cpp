// Functions of the CUDA run-time library that kernels call: vprintf, __assertfail, malloc, free.
// They run when the instruction does, lane after lane, so text comes out in the order of the
// functional execution.
#include <fmt/format.h>

#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "raddle/base/error.h"
#include "raddle/exec/run/runner.h"

namespace raddle::exec {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

/// One thread's view of memory, by generic address.
class ThreadMemory {
 public:
  ThreadMemory(const Context& c, unsigned lane) : c_(c), lane_(lane) {}
  /// False when the byte lies nowhere.
  bool read(u64 address, char* to) const {
    if (address >= DeviceMemory::kBase) {
      const u64 x = address - DeviceMemory::kBase;
      if (x >= c_.extent || (x & 127) >= c_.valid[x >> 7]) return false;
      *to = c_.global[x];
      return true;
    }
    if (address - kLocalWindow < c_.local_bytes) {
      const u64 x = address - kLocalWindow;
      *to = c_.warp->local[(x >> 2) * 128 + 4 * lane_ + (x & 3)];
      return true;
    }
    if (address - kSharedWindow < c_.shared_bytes) {
      *to = c_.shared[address - kSharedWindow];
      return true;
    }
    return false;
  }
  bool read(u64 address, void* to, unsigned bytes) const {
    for (unsigned i = 0; i < bytes; ++i)
      if (!read(address + i, static_cast<char*>(to) + i)) return false;
    return true;
  }
  std::string string(u64 address) const {
    std::string s;
    for (char ch = 0; s.size() < 65536; s += ch)
      if (!read(address + s.size(), &ch) || ch == 0) break;
    return s;
  }

 private:
  const Context& c_;
  unsigned lane_;
};

/// The one place where a conversion made at run time meets the C library. `spec` was checked by
/// format().
template <class T>
std::string convert(const std::string& spec, T value) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-security"
  const int n = std::snprintf(nullptr, 0, spec.c_str(), value);
  if (n <= 0) return {};
  std::string out(static_cast<std::size_t>(n) + 1, '\0');
  std::snprintf(out.data(), out.size(), spec.c_str(), value);
#pragma GCC diagnostic pop
  out.pop_back();
  return out;
}

/// Reads arguments from the buffer as the compiler laid them out: each at its own size's alignment,
/// floats as doubles.
class Arguments {
 public:
  Arguments(const ThreadMemory& memory, u64 at) : memory_(memory), at_(at) {}
  u64 take(unsigned bytes) {
    at_ = (at_ + bytes - 1) / bytes * bytes;
    u64 value = 0;
    memory_.read(at_, &value, bytes);
    at_ += bytes;
    ++taken_;
    return value;
  }
  u64 taken() const { return taken_; }

 private:
  const ThreadMemory& memory_;
  u64 at_, taken_ = 0;
};

std::string conversion(const std::string& flags, const std::string& length, char type,
                       Arguments& arguments, const ThreadMemory& memory) {
  const bool wide =
      length == "l" || length == "ll" || length == "j" || length == "z" || length == "t";
  switch (type) {
    case 'd':
    case 'i': {
      const u64 raw = arguments.take(wide ? 8 : 4);
      long long value = wide ? static_cast<long long>(raw) : static_cast<std::int32_t>(raw);
      if (length == "h") value = static_cast<std::int16_t>(raw);
      if (length == "hh") value = static_cast<std::int8_t>(raw);
      return convert(flags + "ll" + type, value);
    }
    case 'u':
    case 'x':
    case 'X':
    case 'o': {
      u64 value = arguments.take(wide ? 8 : 4);
      if (length == "h") value &= 0xffff;
      if (length == "hh") value &= 0xff;
      return convert(flags + "ll" + type, static_cast<unsigned long long>(value));
    }
    case 'c':
      return convert(flags + type, static_cast<int>(arguments.take(4)));
    case 'p':
      return convert(flags + "#llx", static_cast<unsigned long long>(arguments.take(8)));
    case 's':
      return convert(flags + type, memory.string(arguments.take(8)).c_str());
    default: {
      const u64 raw = arguments.take(8);
      double value = 0;
      std::memcpy(&value, &raw, 8);
      return convert(flags + type, value);
    }
  }
}

std::string format(const std::string& pattern, Arguments& arguments, const ThreadMemory& memory) {
  std::string out;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '%') {
      out += pattern[i];
      continue;
    }
    if (i + 1 < pattern.size() && pattern[i + 1] == '%') {
      out += '%';
      ++i;
      continue;
    }
    const std::size_t start = i;
    std::string flags = "%", length;
    for (++i; i < pattern.size() && std::strchr("-+ #0123456789.*", pattern[i]) != nullptr; ++i) {
      if (pattern[i] == '*') flags += std::to_string(static_cast<std::int32_t>(arguments.take(4)));
      else flags += pattern[i];
    }
    for (; i < pattern.size() && std::strchr("hljztL", pattern[i]) != nullptr; ++i)
      length += pattern[i];
    if (i < pattern.size() && std::strchr("diuxXocpsfFeEgGaA", pattern[i]) != nullptr)
      out += conversion(flags, length, pattern[i], arguments, memory);
    else if (i < pattern.size() && pattern[i] == '%') out += '%';  // "%5%": as the host's library
    else out += pattern.substr(start, i - start + 1);  // not a conversion: as written, as CUDA does
  }
  return out;
}

u64 argument(const char* frame, const ParameterPlace& place, unsigned lane) {
  u64 v = 0;
  if (place.is_register) {
    std::memcpy(&v, frame + place.offset + place.bytes * lane, place.bytes);
  } else {
    std::memcpy(&v, frame + place.offset + 4 * lane, 4);
    if (place.bytes == 8) {
      u32 high = 0;
      std::memcpy(&high, frame + place.offset + 128 + 4 * lane, 4);
      v |= u64{high} << 32;
    }
  }
  return v;
}

void put_result(char* frame, const ParameterPlace& place, unsigned lane, u64 value) {
  if (place.is_register) {
    std::memcpy(frame + place.offset + place.bytes * lane, &value, place.bytes);
    return;
  }
  for (u32 word = 0; word < place.bytes / 4; ++word) {
    const u32 part = static_cast<u32>(value >> 32 * word);
    std::memcpy(frame + place.offset + 128 * word + 4 * lane, &part, 4);
  }
}

/// Returns what CUDA's printf does: how many arguments it has taken, not characters; -1 without a
/// format (CUDA C++ Programming Guide, "Formatted Output").
u64 print(Runner& runner, const ThreadMemory& memory, u64 pattern, u64 first_argument) {
  if (pattern == 0) return ~u64{0};
  Arguments arguments(memory, first_argument);
  runner.print(format(memory.string(pattern), arguments, memory));
  return arguments.taken();
}

}  // namespace

void host_call(Context* context, const Record* ip, char* frame, u32 mask) {
  Runner& runner = *static_cast<Runner*>(context->owner);
  const Code& code = runner.running_code(static_cast<WarpState&>(*context->warp));
  RADDLE_ASSERT(static_cast<std::size_t>(ip->imm) < code.host_calls.size());
  const HostCall& call = code.host_calls[static_cast<std::size_t>(ip->imm)];
  if (call.function >= HostFunction::StackAllocate)
    return stack_call(context, ip, frame, mask, call);
  for (u32 left = mask; left != 0; left &= left - 1) {
    const unsigned lane = static_cast<unsigned>(__builtin_ctz(left));
    const ThreadMemory memory(*context, lane);
    const auto value = [&](std::size_t i) { return argument(frame, call.arguments[i], lane); };
    if (call.function == HostFunction::AssertFail)
      throw RunError(
          fmt::format("kernel {}: assertion failed: {}, {}:{}, at {}, {}", runner.kernel().title,
                      memory.string(value(0)), memory.string(value(1)), static_cast<u32>(value(2)),
                      runner.location(ip->inst), runner.thread_text(*context->warp, lane)));
    u64 result = 0;
    if (call.function == HostFunction::Vprintf) {
      result = print(runner, memory, value(0), value(1));
    } else if (call.function == HostFunction::Malloc) {
      result = runner.heap_allocate(value(0));
    } else if (!runner.heap_free(value(0))) {
      throw RunError(
          fmt::format("kernel {}: free of {:#x}, which malloc has not given out or which "
                      "is free already, at {}, {}",
                      runner.kernel().title, value(0), runner.location(ip->inst),
                      runner.thread_text(*context->warp, lane)));
    }
    for (const ParameterPlace& place : call.returns) put_result(frame, place, lane, result);
  }
}

}  // namespace raddle::exec
