#include "raddle/cli/shared/cuda_program.h"

#include <elf.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <span>
#include <sstream>
#include <string_view>

#include "raddle/base/error.h"
#include "raddle/base/files.h"
#include "raddle/fatbin/fatbin.h"

namespace raddle::cli {

namespace fs = std::filesystem;

namespace {

std::string path_of(const std::string& name) {
  const auto runs = [](const fs::path& path) {
    return is_file(path) && access(path.c_str(), X_OK) == 0;
  };
  if (name.find('/') != std::string::npos) {
    if (access(name.c_str(), F_OK) != 0 && errno == ENOENT)
      throw InputError("there is no program " + name);
    check_readable(name, "a program");
    if (!runs(name)) throw InputError(name + " is not an executable file");
    return name;
  }
  const char* const all = std::getenv("PATH");
  std::istringstream folders(all != nullptr ? all : "");
  for (std::string folder; std::getline(folders, folder, ':');)
    if (runs(fs::path(folder) / name)) return (fs::path(folder) / name).string();
  std::string hint;
  if (runs(name)) hint = "; write ./" + name + " for the one in this folder";
  throw InputError("there is no program " + name + " in PATH" + hint);
}

/// An ELF file in memory. Whatever it says of itself is checked against its size.
class Elf {
 public:
  explicit Elf(const std::string& path) {
    std::ifstream in = open_input(path, "a program");
    bytes_.assign(std::istreambuf_iterator<char>(in), {});
    const auto header = at<Elf64_Ehdr>(0);
    if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) {
      const bool script = bytes_.size() > 2 && bytes_[0] == '#' && bytes_[1] == '!';
      throw InputError(path + " is " + (script ? "a script" : "not a program (no ELF file)") +
                       "; give the CUDA program itself");
    }
    if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_machine != EM_X86_64 ||
        (header->e_type != ET_EXEC && header->e_type != ET_DYN))
      throw InputError(path + " is not a program for x86-64");
    header_ = *header;
  }

  /// Contents of the section; nullopt when there is none.
  std::optional<std::span<const std::byte>> section(std::string_view name) const {
    const auto names =
        at<Elf64_Shdr>(header_.e_shoff + std::uint64_t{header_.e_shstrndx} * sizeof(Elf64_Shdr));
    if (!names) return std::nullopt;
    for (unsigned i = 0; i < header_.e_shnum; ++i) {
      const auto s = at<Elf64_Shdr>(header_.e_shoff + i * sizeof(Elf64_Shdr));
      if (!s || text(names->sh_offset + s->sh_name) != name) continue;
      if (s->sh_offset > bytes_.size() || s->sh_size > bytes_.size() - s->sh_offset) break;
      return std::as_bytes(std::span(bytes_).subspan(s->sh_offset, s->sh_size));
    }
    return std::nullopt;
  }

  void read_dynamic(CudaProgram& program) const {
    const auto dynamic = section(".dynamic"), strings = section(".dynstr");
    if (!dynamic || !strings) return;
    for (std::size_t i = 0; i + sizeof(Elf64_Dyn) <= dynamic->size(); i += sizeof(Elf64_Dyn)) {
      Elf64_Dyn entry;
      std::memcpy(&entry, dynamic->data() + i, sizeof entry);
      if (entry.d_tag == DT_NULL) break;
      if (entry.d_tag == DT_RPATH) program.has_run_path = true;
      if (entry.d_tag != DT_NEEDED || entry.d_un.d_val >= strings->size()) continue;
      const char* const name = reinterpret_cast<const char*>(strings->data()) + entry.d_un.d_val;
      program.needed.emplace_back(name, strnlen(name, strings->size() - entry.d_un.d_val));
    }
  }

 private:
  template <class T>
  std::optional<T> at(std::uint64_t offset) const {
    if (offset > bytes_.size() || bytes_.size() - offset < sizeof(T)) return std::nullopt;
    T out;
    std::memcpy(&out, bytes_.data() + offset, sizeof out);
    return out;
  }
  std::string_view text(std::uint64_t offset) const {
    if (offset >= bytes_.size()) return {};
    return {bytes_.data() + offset, strnlen(bytes_.data() + offset, bytes_.size() - offset)};
  }
  std::vector<char> bytes_;
  Elf64_Ehdr header_;
};

constexpr std::array<const char*, 2> kDeviceCode = {".nv_fatbin", "__nv_relfatbin"};

/// False when the containers are readable and hold no PTX; whether what cannot be read is needed,
/// only the running program shows.
bool may_have_ptx(const Elf& elf, const std::string& path) {
  bool empty = true;
  for (const char* name : kDeviceCode) {
    const auto bytes = elf.section(name);
    if (!bytes) continue;
    try {
      for (const fatbin::Entry& entry : fatbin::read(*bytes, path)) {
        if (entry.kind == fatbin::Kind::Ptx) return true;
        empty = false;
      }
    } catch (const InputError&) {
      return true;
    }
  }
  return empty;
}

}  // namespace

CudaProgram find_program(const std::string& name) {
#if !defined(__x86_64__)
  throw InputError("CUDA programs run on x86-64 hosts only, for which " + name +
                   " and the runtime library are made; a recording can be replayed here");
#endif
  CudaProgram program;
  program.path = path_of(name);
  const Elf elf(program.path);
  elf.read_dynamic(program);
  program.has_device_code = elf.section(".nvFatBinSegment").has_value();
  const bool shared = std::ranges::any_of(
      program.needed, [](const std::string& n) { return n.starts_with("libcudart.so"); });
  if (program.has_device_code && !shared)
    throw InputError(name +
                     " has the CUDA runtime linked into it; rebuild it with nvcc -cudart shared");
  if (program.has_device_code && !may_have_ptx(elf, program.path))
    throw InputError(name +
                     " holds no PTX, only machine code of other GPUs; rebuild it with "
                     "-gencode arch=compute_80,code=compute_80");
  return program;
}

namespace {

/// What a file begins with.
std::array<char, 4> magic_of(const std::string& file) {
  std::array<char, 4> out{};
  open_input(file, "PTX, or what holds it").read(out.data(), out.size());
  return out;
}

bool is_container(const std::array<char, 4>& magic) {
  std::uint32_t number = 0;
  std::memcpy(&number, magic.data(), sizeof number);
  return number == fatbin::kMagic;
}

void add_ptx(std::vector<DevicePtx>& out, std::span<const std::byte> bytes,
             const std::string& file) {
  constexpr std::uint64_t kMaxPtx = std::uint64_t{1} << 30;  // held at once
  std::uint64_t all = 0;
  for (const fatbin::Entry& entry : fatbin::read(bytes, file)) {
    if (entry.kind != fatbin::Kind::Ptx) continue;
    std::string name = file + ", " + entry.target() + (entry.name.empty() ? "" : ", ") + entry.name;
    const auto same = [&](const DevicePtx& other) { return other.name == name; };
    const std::string plain = name;
    for (unsigned n = 2; std::ranges::any_of(out, same); ++n)
      name = plain + " (" + std::to_string(n) + ")";
    all += entry.text_bytes;
    if (all > kMaxPtx) throw InputError(file + " holds more than 1 GiB of PTX");
    out.push_back({std::move(name), entry.text(), entry.relocatable() ? entry.target() : ""});
  }
}

}  // namespace

bool may_hold_device_code(const std::string& file) {
  if (!is_file(file)) return false;  // of a pipe nothing may be taken
  const std::array<char, 4> magic = magic_of(file);
  return is_container(magic) || std::memcmp(magic.data(), ELFMAG, SELFMAG) == 0;
}

std::vector<DevicePtx> device_ptx(const std::string& file) {
  std::vector<DevicePtx> out;
  if (is_container(magic_of(file))) {
    std::ifstream in = open_input(file, "a fat binary");
    const std::vector<char> bytes(std::istreambuf_iterator<char>(in), {});
    add_ptx(out, std::as_bytes(std::span(bytes)), file);
  } else {
    const Elf elf(file);
    for (const char* name : kDeviceCode)
      if (const auto bytes = elf.section(name)) add_ptx(out, *bytes, file);
  }
  if (out.empty())
    throw InputError(file +
                     " holds no PTX: expected PTX text, or a CUDA program, "
                     "library or fat binary that was built with it");
  return out;
}

}  // namespace raddle::cli
