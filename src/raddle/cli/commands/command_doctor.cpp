// raddle doctor: what this machine has of what the commands need, and the line that mends what it
// lacks.
#include <elf.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "raddle/base/error.h"
#include "raddle/base/files.h"
#include "raddle/base/json.h"
#include "raddle/cli/commands/commands.h"
#include "raddle/cli/shared/installation.h"
#include "raddle/lab/host/command.h"
#include "raddle/lab/run/local_executor.h"
#include "raddle/report/page.h"
#include "raddle/sim/result/version.h"

namespace raddle::cli {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr double kGib = 1024.0 * 1024 * 1024;
/// Simulated memory is address space of which little is used (docs/cli.md, Hosts).
constexpr rlim_t kAddressSpace = rlim_t{20} << 30;
constexpr std::uint64_t kMinMemory = std::uint64_t{1} << 30;
constexpr rlim_t kFiles = 256;
constexpr std::uintmax_t kMinDisk = std::uintmax_t{1} << 30;

struct Finding {
  std::string what;    ///< "runtime library"
  std::string found;   ///< what is there, or why it is not
  std::string needed;  ///< by what
  std::string mend;    ///< the line that mends it; "" where all is well
  bool must = false;   ///< without it a command of this program does not do what it says
  bool well() const { return mend.empty(); }
};

std::string limit_text(rlim_t limit) {
  return limit == RLIM_INFINITY ? "no limit"
                                : fmt::format("{:.1f} GiB", static_cast<double>(limit) / kGib);
}

/// Address space, open files, memory that is free.
void check_limits(std::vector<Finding>& out) {
  rlimit limit{};
  getrlimit(RLIMIT_AS, &limit);
  const bool enough = limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= kAddressSpace;
  out.push_back({"address space", limit_text(limit.rlim_cur), "memory of simulated GPUs",
                 enough ? "" : "ulimit -v unlimited"});
  getrlimit(RLIMIT_NOFILE, &limit);
  out.push_back({"open files", fmt::format("{}", limit.rlim_cur), "sweeps",
                 limit.rlim_cur >= kFiles ? "" : fmt::format("ulimit -n {}", kFiles)});
  getrlimit(RLIMIT_FSIZE, &limit);
  out.push_back({"file size", limit_text(limit.rlim_cur), "recordings and results",
                 limit.rlim_cur == RLIM_INFINITY ? "" : "ulimit -f unlimited"});
  const std::uint64_t free = lab::available_memory();
  out.push_back({"free memory", fmt::format("{:.1f} GiB", static_cast<double>(free) / kGib),
                 "sweeps: a run takes 0.1 to 2 GiB",
                 free >= kMinMemory ? "" : "raddle sweep ... --jobs 1 --memory 0.5"});
  out.push_back({"cores", fmt::format("{}", lab::usable_cores()), "sweeps: a run for each", ""});
}

void check_folder(const std::string& what, const fs::path& folder, const std::string& mend,
                  std::vector<Finding>& out) {
  std::error_code error;
  const fs::space_info space = fs::space(folder, error);
  std::string found = folder.string(), line;
  if (access(folder.c_str(), W_OK | X_OK) != 0) {
    found += " cannot be written to";
    line = mend;
  } else if (!error) {
    found += fmt::format(", {:.1f} GiB free", static_cast<double>(space.available) / kGib);
    if (space.available < kMinDisk) line = mend;
  }
  out.push_back({what, found, "recordings and results", line, true});
}

/// Where it should be, although it may not be there.
fs::path temporary_folder() {
  std::error_code error;
  const fs::path folder = fs::temp_directory_path(error);
  const char* const named = std::getenv("TMPDIR");
  return !error ? folder : named != nullptr ? named : "/tmp";
}

/// A library that an interrupted copy or build has left is there, and no program starts with it.
bool is_whole(const fs::path& library) {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(library, error);
  Elf64_Ehdr head{};
  std::ifstream in(library, std::ios::binary);
  return !error && in.read(reinterpret_cast<char*>(&head), sizeof head) &&
         std::string_view(reinterpret_cast<const char*>(head.e_ident), SELFMAG) == ELFMAG &&
         head.e_shoff + std::uint64_t{head.e_shnum} * head.e_shentsize <= size;
}

void check_library(const char* what, const char* file, const char* needed,
                   std::vector<Finding>& out) {
  const auto library = find_support_file(file);
  const bool whole = library && is_whole(*library);
  const std::string found = !library ? "not " + support_folders_text()
                            : whole  ? library->string()
                                     : library->string() + " is no whole library";
  out.push_back(
      {what, found, needed, whole ? "" : "install the package again, or ./x build", true});
}

void check_own_files(std::vector<Finding>& out) {
  check_library("runtime library", "libcudart.so.13", "raddle exec", out);
  check_library("driver library", "libcuda.so.1", "raddle exec", out);
  check_library("cuBLAS library", "libcublas.so.13", "raddle exec", out);
  check_library("cuFFT library", "libcufft.so.12", "raddle exec", out);
  check_library("cuRAND library", "libcurand.so.10", "raddle exec", out);
  check_library("cuSPARSE library", "libcusparse.so.12", "raddle exec", out);
  const auto script = find_support_file("plugin.sh");
  out.push_back({"plug-in builder", script ? script->string() : "not " + support_folders_text(),
                 "raddle plugin", script ? "" : "install the package again, or ./x plugin"});
  const bool page = report::page_template(report::Page::index).find("without its report page") ==
                    std::string_view::npos;
  out.push_back({"report page", page ? "built in" : "only a notice is built in",
                 "--report, raddle report", page ? "" : "install npm, then ./x build"});
}

/// Programs that some commands call.
void check_programs(std::vector<Finding>& out) {
  struct Known {
    const char *program, *needed, *mend;
  };
  constexpr Known kPrograms[] = {
      {"g++", "raddle plugin", "apt-get install g++"},
      {"nvcc", "compiling CUDA programs for raddle exec",
       "install a CUDA toolkit (developer.nvidia.com/cuda-downloads), "
       "PATH=/usr/local/cuda/bin:$PATH"},
      {"rsvg-convert", "figures as PNG, raddle report", "apt-get install librsvg2-bin"},
      {"sbatch", "--executor slurm", "run on a login node of a Slurm cluster"},
      {"ccache", "building Raddle again", "apt-get install ccache"},
      {"node", "building Raddle's pages", "apt-get install nodejs npm"},
      {"chromium", "./x test report", "apt-get install chromium"}};
  for (const Known& one : kPrograms) {
    const bool there = lab::is_in_path(one.program);
    out.push_back(
        {one.program, there ? "in PATH" : "not in PATH", one.needed, there ? "" : one.mend});
  }
}

struct DoctorCommand {
  bool json = false;

  int operator()() const {
    std::vector<Finding> all;
    check_own_files(all);
    check_folder("temporary files", temporary_folder(), "export TMPDIR=FOLDER", all);
    check_folder("this folder", fs::current_path(), "cd to another, or --results FOLDER", all);
    check_limits(all);
    check_programs(all);
    bool well = true;
    for (const Finding& one : all) well = well && (one.well() || !one.must);
    std::fputs((json ? as_json(all, well) : as_text(all, well)).c_str(), stdout);
    return well ? 0 : 1;
  }

  static std::string as_text(const std::vector<Finding>& all, bool well) {
    std::string out = fmt::format("raddle {} at {}\n", sim::version(), program_file().string());
    for (const Finding& one : all) {
      const char* const verdict = one.well() ? "ok" : one.must ? "BAD" : "lacks";
      out += fmt::format("{:<6} {:<16} {} (for: {})\n", verdict, one.what, one.found, one.needed);
      if (!one.well()) out += fmt::format("{:<23} {}\n", "", one.mend);
    }
    return out + (well ? "nothing is wrong; what is lacking is needed only where it says so\n"
                       : "what is BAD keeps commands from working\n");
  }

  static std::string as_json(const std::vector<Finding>& all, bool well) {
    Json findings = Json::array();
    for (const Finding& one : all)
      findings.push_back({{"what", one.what},
                          {"found", one.found},
                          {"for", one.needed},
                          {"ok", one.well()},
                          {"must", one.must},
                          {"mend", one.mend}});
    return json_dump(Json{{"version", sim::version()}, {"ok", well}, {"findings", findings}}, 2) +
           "\n";
  }
};

}  // namespace

Command add_doctor(CLI::App& app) {
  auto command = std::make_shared<DoctorCommand>();
  CLI::App* doctor = app.add_subcommand(
      "doctor", "what this machine has of what the commands need, and what mends the rest");
  doctor->add_flag("--json", command->json, "as JSON");
  doctor->footer("Exit status 1 where something is missing that a command cannot do without.");
  return {doctor, [command] { return (*command)(); }};
}

}  // namespace raddle::cli
