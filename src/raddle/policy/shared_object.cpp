#include "raddle/policy/shared_object.h"

#include <elf.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "raddle/base/error.h"
#include "raddle/base/files.h"

namespace raddle::policy {

namespace {

#if defined(__aarch64__)
constexpr std::uint16_t kThisMachine = EM_AARCH64;
#elif defined(__riscv)
constexpr std::uint16_t kThisMachine = EM_RISCV;
#else
constexpr std::uint16_t kThisMachine = EM_X86_64;
#endif

struct Machine {
  std::uint16_t number;
  const char* name;
};
constexpr std::array kMachines = {
    Machine{EM_X86_64, "x86-64"},       Machine{EM_AARCH64, "AArch64"},
    Machine{EM_386, "x86 (32 bits)"},   Machine{EM_ARM, "ARM"},
    Machine{EM_RISCV, "RISC-V"},        Machine{EM_PPC64, "POWER"},
    Machine{EM_S390, "z/Architecture"}, Machine{EM_CUDA, "NVIDIA GPUs"}};

std::string name_of(std::uint16_t machine) {
  for (const Machine& known : kMachines)
    if (known.number == machine) return known.name;
  return "machine " + std::to_string(machine);
}

class SharedObject {
 public:
  explicit SharedObject(const std::string& file)
      : file_(file), in_(open_input(file, "a shared object")) {
    in_.seekg(0, std::ios::end);
    size_ = static_cast<std::uint64_t>(in_.tellg());
  }

  void check() {
    const auto header = at<Elf64_Ehdr>(0);
    if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) bad("is no shared object (no ELF file)");
    if (header.e_machine != kThisMachine || header.e_ident[EI_CLASS] != ELFCLASS64 ||
        header.e_ident[EI_DATA] != ELFDATA2LSB)
      bad("is for " + name_of(header.e_machine) + ", this program for " + name_of(kThisMachine));
    if (header.e_type != ET_DYN) bad("is no shared object (an ELF file of another kind)");
    if (header.e_phentsize != sizeof(Elf64_Phdr) ||
        (header.e_shnum != 0 && header.e_shentsize != sizeof(Elf64_Shdr)))
      bad("is damaged: its headers are of another size");
    for (unsigned i = 0; i < header.e_phnum; ++i) {
      const auto segment = at<Elf64_Phdr>(header.e_phoff + i * sizeof(Elf64_Phdr));
      inside(segment.p_offset, segment.p_filesz);
    }
    for (unsigned i = 0; i < header.e_shnum; ++i) {
      const auto section = at<Elf64_Shdr>(header.e_shoff + i * sizeof(Elf64_Shdr));
      if (section.sh_type != SHT_NOBITS) inside(section.sh_offset, section.sh_size);
    }
  }

 private:
  [[noreturn]] void bad(const std::string& why) const {
    throw InputError("plug-in " + file_ + ": " + why);
  }

  void inside(std::uint64_t offset, std::uint64_t bytes) const {
    if (offset > size_ || bytes > size_ - offset)
      bad("is cut off or damaged: its headers tell of more than its " + std::to_string(size_) +
          " bytes; make it again with `raddle plugin POLICY.cpp`");
  }

  template <class T>
  T at(std::uint64_t offset) {
    inside(offset, sizeof(T));
    T out;
    in_.seekg(static_cast<std::streamoff>(offset));
    in_.read(reinterpret_cast<char*>(&out), sizeof out);
    if (!in_) bad("cannot be read");
    return out;
  }

  std::string file_;
  std::ifstream in_;
  std::uint64_t size_ = 0;
};

}  // namespace

void check_shared_object(const std::string& file) { SharedObject(file).check(); }

}  // namespace raddle::policy
