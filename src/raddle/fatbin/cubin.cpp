#include "raddle/fatbin/cubin.h"

#include <elf.h>
#include <fmt/format.h>

#include <cstring>
#include <optional>

#include "raddle/base/error.h"

namespace raddle::fatbin {

namespace {

using u64 = std::uint64_t;

class Cubin {
 public:
  Cubin(std::string_view bytes, const std::string& name) : bytes_(bytes), name_(name) {
    header_ = at<Elf64_Ehdr>(bytes_, 0, "its header");
    if (std::memcmp(header_.e_ident, ELFMAG, SELFMAG) != 0 || header_.e_machine != EM_CUDA ||
        header_.e_ident[EI_CLASS] != ELFCLASS64)
      bad("no cubin: expected a 64-bit ELF file for CUDA");
    if (header_.e_shentsize != sizeof(Elf64_Shdr))
      bad(fmt::format("section headers of {} bytes, expected {}", header_.e_shentsize,
                      sizeof(Elf64_Shdr)));
  }

  [[noreturn]] void bad(const std::string& what) const { throw InputError({name_}, what); }

  std::string_view part(std::string_view of, u64 from, u64 size, const char* what) const {
    if (from > of.size() || of.size() - from < size)
      bad(fmt::format("the cubin ends within {}", what));
    return of.substr(from, size);
  }
  template <class T>
  T at(std::string_view of, u64 from, const char* what) const {
    T value;
    std::memcpy(&value, part(of, from, sizeof value, what).data(), sizeof value);
    return value;
  }
  /// The text that begins at `from` and ends with a zero byte.
  std::string_view text(std::string_view table, u64 from) const {
    const std::size_t end = from < table.size() ? table.find('\0', from) : std::string_view::npos;
    if (end == std::string_view::npos) bad("a name of the cubin has no end");
    return table.substr(from, end - from);
  }
  Elf64_Shdr section(unsigned i) const {
    if (i >= header_.e_shnum) bad(fmt::format("section {} of {}", i, header_.e_shnum));
    return at<Elf64_Shdr>(bytes_, header_.e_shoff + u64{i} * sizeof(Elf64_Shdr),
                          "its section headers");
  }
  std::string_view content(const Elf64_Shdr& section) const {
    return part(bytes_, section.sh_offset, section.sh_size, "a section");
  }
  /// The first section of that name.
  std::optional<Elf64_Shdr> find(std::string_view name) const {
    if (header_.e_shnum == 0) return std::nullopt;
    const std::string_view names = content(section(header_.e_shstrndx));
    for (unsigned i = 0; i < header_.e_shnum; ++i)
      if (const Elf64_Shdr each = section(i); text(names, each.sh_name) == name) return each;
    return std::nullopt;
  }

 private:
  std::string_view bytes_;
  const std::string& name_;
  Elf64_Ehdr header_;
};

/// Records of ".nv.info" are words; those of kSized have so many bytes behind them.
struct Attribute {
  std::uint8_t format, number;
  std::uint16_t bytes;
};
static_assert(sizeof(Attribute) == 4);
constexpr std::uint8_t kSized = 4, kRegisters = 0x2f;

struct RegisterCount {
  std::uint32_t symbol, registers;
};

}  // namespace

std::map<std::string, std::uint32_t> registers_of(std::string_view bytes, const std::string& name) {
  const Cubin cubin(bytes, name);
  const auto info = cubin.find(".nv.info"), symbols = cubin.find(".symtab");
  if (!info || !symbols) return {};
  const std::string_view records = cubin.content(*info), table = cubin.content(*symbols),
                         names = cubin.content(cubin.section(symbols->sh_link));
  std::map<std::string, std::uint32_t> out;
  for (u64 i = 0; i < records.size();) {
    const auto record = cubin.at<Attribute>(records, i, "a record");
    i += sizeof record;
    if (record.format != kSized) continue;
    const std::string_view value = cubin.part(records, i, record.bytes, "a record");
    i += record.bytes;
    if (record.number != kRegisters) continue;
    const auto count = cubin.at<RegisterCount>(value, 0, "a count of registers");
    const auto symbol =
        cubin.at<Elf64_Sym>(table, u64{count.symbol} * sizeof(Elf64_Sym), "its symbols");
    if (count.registers > 255)
      cubin.bad(fmt::format("{} registers of a thread, expected at most 255", count.registers));
    out.emplace(cubin.text(names, symbol.st_name), count.registers);
  }
  return out;
}

}  // namespace raddle::fatbin
