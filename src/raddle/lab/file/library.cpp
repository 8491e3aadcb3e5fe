#include "raddle/lab/file/library.h"

#include <fmt/format.h>

#include <algorithm>

#include "raddle/base/files.h"
#include "raddle/base/json.h"
#include "raddle/config/spelling.h"
#include "raddle/lab/file/embedded.h"
#include "raddle/lab/host/files.h"

namespace raddle::lab {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kPaperFile = "paper.toml";
constexpr std::size_t kMaxFileBytes = std::size_t{4} << 20;

SourceFile read_source(const fs::path& path) {
  const std::string text = read_text(path.string(), kMaxFileBytes, "an experiment file");
  if (text.find('\0') != std::string::npos)
    throw InputError(
        {path.string()},
        fmt::format("is not a text file (byte 0 at offset {}); expected an experiment file",
                    text.find('\0')));
  return {valid_utf8(path.string()), text};
}

struct PaperSources {
  std::optional<SourceFile> paper;
  std::vector<SourceFile> experiments;
  void add(SourceFile file, std::string_view name) {
    if (name == kPaperFile) paper = std::move(file);
    else experiments.push_back(std::move(file));
  }
};

std::vector<fs::path> sorted_entries(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> out;
  for (const auto& entry : fs::directory_iterator(folder, error)) out.push_back(entry.path());
  if (error) throw InputError({folder.string()}, "cannot be read: " + error.message());
  std::ranges::sort(out);
  return out;
}

}  // namespace

std::vector<std::string> Library::papers() const {
  std::vector<std::string> out;
  if (folder_.empty()) {
    for (const EmbeddedExperiment& e : embedded_experiments())
      if (out.empty() || out.back() != e.paper) out.emplace_back(e.paper);
    return out;
  }
  for (const fs::path& entry : sorted_entries(folder_))
    if (std::error_code error; fs::is_directory(entry, error))
      out.push_back(entry.filename().string());
  return out;
}

Paper Library::paper(const std::string& name, Scale scale) const {
  const std::vector<std::string> known = papers();
  if (std::ranges::find(known, name) == known.end()) {
    std::string message = fmt::format("there are no experiments of a paper '{}'", name);
    const std::string near = config::nearest(name, known);
    if (!near.empty()) message += "; did you mean '" + near + "'?";
    else
      for (const std::string& paper : known)
        message += (paper == known.front() ? "; known: " : " ") + paper;
    throw InputError(message);
  }
  PaperSources sources;
  if (folder_.empty()) {
    for (const EmbeddedExperiment& e : embedded_experiments())
      if (e.paper == name)
        sources.add({fmt::format("experiments/{}/{}", e.paper, e.file), std::string(e.toml)},
                    e.file);
  } else {
    for (const fs::path& entry : sorted_entries(folder_ / name))
      if (entry.extension() == ".toml") sources.add(read_source(entry), entry.filename().string());
  }
  return read_paper(sources.paper, sources.experiments, name, scale);
}

Paper read_single(const fs::path& file, Scale scale) {
  const SourceFile source = read_source(file);
  const fs::path folder = fs::absolute(file).lexically_normal().parent_path();
  if (file.filename() == kPaperFile)
    throw InputError({file.string()}, "describes a paper; `raddle reproduce` runs all of it");
  std::optional<SourceFile> paper;
  if (const fs::path beside = file.parent_path() / kPaperFile; is_file(beside))
    paper = read_source(beside);
  return read_paper(paper, {source}, folder.filename().string(), scale);
}

std::vector<const Experiment*> select(const Paper& paper, const std::string& item) {
  std::vector<const Experiment*> out;
  std::vector<std::string> known;
  for (const Experiment& e : paper.experiments) {
    known.push_back(e.id);
    if (item.empty() || e.id == item || e.id.starts_with(item + ".")) out.push_back(&e);
  }
  if (!out.empty()) return out;
  std::string message = fmt::format("{} has no experiment '{}'", paper.id, item);
  const std::string near = config::nearest(item, known);
  if (!near.empty()) message += "; did you mean '" + near + "'?";
  else
    for (const std::string& id : known) message += (id == known.front() ? "; known: " : " ") + id;
  throw InputError(message);
}

}  // namespace raddle::lab
