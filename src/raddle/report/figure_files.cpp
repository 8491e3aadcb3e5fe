#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <sstream>

#include "raddle/base/error.h"
#include "raddle/base/files.h"
#include "raddle/report/figure.h"

namespace raddle::report {

namespace fs = std::filesystem;

namespace {

constexpr const char* kConverter = "rsvg-convert";  // Debian: librsvg2-bin

/// The program's path, empty when it is not in the PATH.
std::string in_path(const std::string& program) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string file = (folder.empty() ? "." : folder) + "/" + program;
    std::error_code error;
    if (access(file.c_str(), X_OK) == 0 && fs::is_regular_file(file, error)) return file;
  }
  return "";
}

/// Exit status of the program, which gets no input and whose output is dropped; 127 when it could
/// not be started.
int run_silently(const std::string& program, std::vector<std::string> arguments) {
  std::vector<char*> argv;
  arguments.insert(arguments.begin(), program);
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    posix_spawn_file_actions_addopen(&actions, stream, "/dev/null", O_RDWR, 0);
  pid_t child = 0;
  const int started = posix_spawn(&child, program.c_str(), &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (started != 0) return 127;
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return 127;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

/// Twice the size of the SVG, as screens and printers want it.
bool convert(const std::string& converter, const fs::path& svg, const fs::path& png) {
  const std::string temporary = png.string() + ".tmp" + std::to_string(getpid());
  std::error_code error;
  if (run_silently(converter,
                   {"--zoom=2", "--format=png", "--output=" + temporary, svg.string()}) == 0)
    fs::rename(temporary, png, error);
  else error = std::make_error_code(std::errc::io_error);
  if (!error) return true;
  fs::remove(temporary, error);
  return false;
}

}  // namespace

Written write_figures(const nlohmann::ordered_json& json, const fs::path& folder) {
  const Document document = read_document(json);
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw RunError("cannot make folder " + folder.string() + ": " + error.message());
  Written out;
  const std::string converter = in_path(kConverter);
  if (converter.empty())
    out.note = fmt::format("no PNG files: there is no {} (Debian: librsvg2-bin)", kConverter);
  for (const Experiment& experiment : document.experiments)
    for (std::size_t i = 0; i < experiment.figures.size(); ++i) {
      const std::string name = experiment.figures.size() == 1
                                   ? experiment.id
                                   : fmt::format("{}.{}", experiment.id, i + 1);
      const auto write = [&](const std::string& file, const std::string& text) {
        write_file((folder / file).string(), text);
        out.names.push_back(file);
      };
      write(name + ".csv", figure_csv(experiment.figures[i]));
      write(name + ".svg", figure_svg(experiment.figures[i]));
      if (converter.empty()) continue;
      if (convert(converter, folder / (name + ".svg"), folder / (name + ".png")))
        out.names.push_back(name + ".png");
      else if (out.note.empty()) out.note = fmt::format("no {}.png: {} failed", name, kConverter);
    }
  return out;
}

}  // namespace raddle::report
