#include "house/rules.h"

#include <array>
#include <map>
#include <set>
#include <sstream>
#include <string_view>

namespace raddle::house {

namespace {

// Straight arrows. A room may include what it can reach along them.
const std::map<std::string, std::set<std::string>>& arrows() {
  static const std::map<std::string, std::set<std::string>> kArrows = {
      {"base", {}},
      {"stats", {"base"}},
      {"trace", {"base"}},
      {"accelsim", {"trace"}},
      {"policy", {"base"}},
      {"ptx", {"base"}},
      {"fatbin", {"base"}},
      {"config", {"base"}},
      {"exec", {"ptx", "trace"}},
      {"runtime", {"exec"}},
      {"timing", {"policy", "trace", "stats"}},
      {"lowering", {"trace"}},
      {"energy", {"stats", "trace"}},
      {"analysis", {"policy", "trace"}},
      {"sim", {"runtime", "timing", "config", "lowering", "energy", "analysis"}},
      {"report", {"sim"}},
      {"lab", {"sim"}},
      {"workloads", {"runtime"}},
      {"cudart", {"report", "fatbin"}},
      {"cuda_library", {"cudart"}},
      {"cublas", {"cuda_library"}},
      {"cufft", {"cuda_library"}},
      {"curand", {"cuda_library"}},
      {"cusparse", {"cuda_library"}},
      {"api", {"report", "lab", "workloads", "accelsim"}},
      {"cli", {"api", "fatbin"}},
  };
  return kArrows;
}

// The folders of rooms that have some, from below. A file may include what lies in its own folder
// and in lower ones.
const std::map<std::string, std::map<std::string, unsigned>>& layers() {
  static const std::map<std::string, std::map<std::string, unsigned>> kLayers = {
      {"timing",
       {{"spec", 0},
        {"wire", 1},
        {"code", 2},
        {"cache", 2},
        {"noc", 3},
        {"dram", 3},
        {"mem", 4},
        {"sm", 4},
        {"gpu", 5}}},
      {"exec",
       {{"memory", 0},
        {"device", 1},
        {"isa", 2},
        {"lanes", 3},
        {"run", 4},
        {"slow", 5},
        {"decode", 6}}},
      {"sim",
       {{"setup", 0},
        {"sampling", 0},
        {"result", 1},
        {"profile", 2},
        {"analyses", 3},
        {"run", 3},
        {"corun", 4},
        {"validate", 4}}},
      {"lab",
       {{"host", 0},
        {"file", 1},
        {"evaluate", 2},
        {"plan", 3},
        {"store", 4},
        {"run", 5},
        {"verdict", 5}}},
      {"cli", {{"shared", 0}, {"commands", 1}, {"", 2}}},
  };
  return kLayers;
}

// The folder of its room that a path of a source or of an include lies in; "" = the room's own.
std::string layer_of(std::string_view path) {
  if (path.starts_with("src/")) path.remove_prefix(4);
  const std::string prefix = "raddle/" + room_of(std::string(path)) + "/";
  if (!path.starts_with(prefix)) return "";
  path.remove_prefix(prefix.size());
  const std::size_t end = path.find('/');
  return end == std::string_view::npos ? "" : std::string(path.substr(0, end));
}

void reach(const std::string& room, std::set<std::string>& reached) {
  for (const std::string& next : arrows().at(room))
    if (reached.insert(next).second) reach(next, reached);
}

std::string at(const SourceFile& file, unsigned line) {
  return file.path + ":" + std::to_string(line) + ": ";
}

// Lines that hold a comment of nothing but dashes: what is left of a wrapped section rule.
std::vector<unsigned> lines_of_dashes(const std::string& text) {
  std::vector<unsigned> out;
  std::istringstream lines(text);
  std::string line;
  for (unsigned number = 1; std::getline(lines, line); ++number) {
    const std::size_t slashes = line.find_first_not_of(" \t");
    if (slashes == std::string::npos || line.compare(slashes, 2, "//") != 0) continue;
    const bool dashed = line.find('-', slashes) != std::string::npos;
    if (dashed && line.find_first_not_of("-/ \t\r", slashes) == std::string::npos)
      out.push_back(number);
  }
  return out;
}

// snprintf and fmt::format make text without printing it; fprintf, fputs and fwrite print only
// where stdout or stderr is named.
constexpr std::array<std::string_view, 14> kPrinters = {
    "std::cout",  "std::cerr",    "std::clog", "std::print", "std::println",
    "fmt::print", "fmt::println", "printf",    "vprintf",    "puts",
    "putchar",    "perror",       "stdout",    "stderr"};

}  // namespace

std::string room_of(const std::string& path) {
  for (const std::string_view prefix : {"src/raddle/", "raddle/"}) {
    if (!path.starts_with(prefix)) continue;
    const std::size_t end = path.find('/', prefix.size());
    return end == std::string::npos ? "" : path.substr(prefix.size(), end - prefix.size());
  }
  return path.starts_with("workloads/") ? "workloads" : "";
}

Findings forbidden_includes(const SourceFile& file) {
  const std::string room = room_of(file.path);
  if (!arrows().contains(room))
    return {at(file, 1) + "'" + room +
            "' is no room of the house (tests/house/rules.cpp names them)"};
  std::set<std::string> allowed = {room};
  reach(room, allowed);
  Findings out;
  for (const Include& include : includes_of(file.text)) {
    const std::string target = room_of(include.path);
    if (include.path.starts_with(".."))
      out.push_back(at(file, include.line) + "relative include of " + include.path);
    else if (!target.empty() && !allowed.contains(target))
      out.push_back(at(file, include.line) + room + " must not include " + include.path);
  }
  return out;
}

Findings forbidden_layers(const SourceFile& file) {
  const std::string room = room_of(file.path);
  const auto of_room = layers().find(room);
  if (of_room == layers().end()) return {};
  const auto& folders = of_room->second;
  const std::string folder = layer_of(file.path);
  const auto own = folders.find(folder);
  if (own == folders.end())
    return {at(file, 1) + "'" + folder + "' is no layer of " + room +
            " (tests/house/rules.cpp names them)"};
  Findings out;
  for (const Include& include : includes_of(file.text)) {
    if (room_of(include.path) != room) continue;
    const std::string target = layer_of(include.path);
    if (target == folder) continue;
    const auto other = folders.find(target);
    if (other == folders.end() || other->second >= own->second)
      out.push_back(at(file, include.line) + room + "/" + folder + " must not include " +
                    include.path);
  }
  return out;
}

Findings whole_machine(const SourceFile& file) {
  static const std::set<std::string> kWholeLayers = {"", "spec", "gpu"};
  if (room_of(file.path) != "timing" || kWholeLayers.contains(layer_of(file.path))) return {};
  Findings out;
  for (const unsigned line : lines_with(code_of(file.text), "MachineSpec"))
    out.push_back(at(file, line) + "MachineSpec: a component takes its part (timing/spec/parts.h)");
  for (const Include& include : includes_of(file.text))
    if (include.path == "raddle/timing/spec/machine.h")
      out.push_back(at(file, include.line) + "the whole machine: include timing/spec/parts.h");
  return out;
}

Findings forbidden_output(const SourceFile& file) {
  const std::string room = room_of(file.path);
  Findings out;
  if (room == "report" || room == "cli" || room == "cudart" ||
      file.path == "src/raddle/base/error.cpp")
    return out;
  const std::string code = code_of(file.text);
  for (const std::string_view printer : kPrinters)
    for (const unsigned line : lines_with(code, printer))
      out.push_back(at(file, line) + std::string(printer) +
                    ": nothing below report and cli prints");
  for (const Include& include : includes_of(file.text))
    if (include.path == "iostream")
      out.push_back(at(file, include.line) + "<iostream>: nothing below report and cli prints");
  return out;
}

Findings untidiness(const SourceFile& file) {
  Findings out;
  const bool header = file.path.ends_with(".h");
  const std::string code = code_of(file.text);
  if (header && code.find("#pragma once") == std::string::npos)
    out.push_back(at(file, 1) + "no #pragma once");
  if (header && file.path.starts_with("src/"))
    for (const unsigned line : lines_with(code, "using namespace"))
      out.push_back(at(file, line) + "using namespace in a header");
  const std::string builtin =
      "__builtin_pre"
      "fetch";
  if (file.path != "src/raddle/base/prefetch.h")
    for (const unsigned line : lines_with(code, builtin))
      out.push_back(at(file, line) + builtin +
                    ": prefetch() of base/prefetch.h; gcc removes calls");
  for (const std::string space : {"std", "ranges"})
    for (const unsigned line : lines_with(code, space + "::stable_"
                                                        "sort"))
      out.push_back(at(file, line) +
                    "sort_stably() of base/stable_sort.h, or the place as a key: " +
                    "clang refuses libstdc++'s own");
  // Comments count here; the words are put together so that this file does not find itself.
  for (const std::string& word :
       {std::string("TO") + "DO", std::string("FIX") + "ME", std::string("XX") + "X"})
    for (const unsigned line : lines_with(file.text, word))
      out.push_back(at(file, line) + word + ": finished work only");
  for (const unsigned line : lines_of_dashes(file.text))
    out.push_back(at(file, line) + "a comment of dashes; a rule has its title: // --- title ---");
  return out;
}

}  // namespace raddle::house
