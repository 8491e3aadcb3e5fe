#include "raddle/cli/shared/output.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <iterator>
#include <memory>

#include "raddle/accelsim/kernels_list.h"
#include "raddle/api/recording.h"
#include "raddle/base/compressed.h"
#include "raddle/base/demangle.h"
#include "raddle/base/error.h"
#include "raddle/base/files.h"
#include "raddle/base/json.h"
#include "raddle/base/shortened.h"
#include "raddle/lab/run/runner.h"
#include "raddle/lab/store/store.h"

namespace raddle::cli {

namespace fs = std::filesystem;

namespace {
// In memory a document takes up to 32 times the bytes of its text (base/json.h).
constexpr std::uint64_t kMaxDocumentBytes = std::uint64_t{256} << 20;
}  // namespace

void check_writable(const std::string& file) {
  std::error_code error;
  if (fs::is_directory(file, error))
    throw InputError("cannot write " + file + ": it is a directory");
  fs::path folder = fs::path(file).parent_path();
  if (folder.empty()) folder = ".";
  if (!fs::is_directory(folder, error))
    throw InputError("cannot write " + file + ": there is no folder " + folder.string());
  if (access(folder.c_str(), W_OK) != 0)
    throw InputError("cannot write " + file + ": no permission in " + folder.string());
}

void check_outputs(const std::vector<OutputOption>& outputs) {
  const auto place = [](const std::string& file) {
    std::error_code error;  // of a name that leads nowhere: told by check_writable
    return file == "-" ? fs::path(file) : fs::weakly_canonical(fs::absolute(file, error), error);
  };
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const auto& [option, file, folder_is_made] = outputs[i];
    if (file.empty()) continue;
    if (file != "-" && !folder_is_made) check_writable(file);
    std::error_code error;  // /dev/null takes all there is
    if (fs::exists(file, error) && !fs::is_regular_file(file, error)) continue;
    for (std::size_t j = 0; j < i; ++j)
      if (!outputs[j].file.empty() && place(outputs[j].file) == place(file))
        throw InputError(outputs[j].option + " and " + option + " both write " +
                         (file == "-" ? "to standard output" : file) +
                         "; expected a place for each");
  }
}

void keep_inputs(std::span<const std::string> words) {
  constexpr std::array kOutputs = {"--json", "--report", "--timeline",  "--csv",
                                   "-o",     "--output", "--export-csv"};
  const auto is_output = [&](std::string_view word) {
    return std::ranges::find(kOutputs, word) != kOutputs.end();
  };
  std::vector<OutputOption> outputs;
  std::vector<std::string> inputs;
  const auto own = std::ranges::find(words, "--") - words.begin();  // then a program's words follow
  for (std::ptrdiff_t i = 0; i < std::ssize(words); ++i) {
    const std::string& word = words[i];
    const std::size_t equals = word.find('=');
    const std::string option = i < own ? word.substr(0, equals) : "";
    if (i + 1 < own && is_output(word)) outputs.push_back({word, words[++i]});
    else if (equals == std::string::npos) inputs.push_back(word);
    else if (is_output(option)) outputs.push_back({option, word.substr(equals + 1)});
    else inputs.push_back(word.substr(equals + 1));
  }
  std::error_code error;  // of a name that leads nowhere: no file that could be lost
  for (std::size_t i = 0, asked = outputs.size(); i < asked; ++i)
    if (const OutputOption one = outputs[i]; one.option == "--export-csv")
      for (const std::string_view table : lab::Store::kExported)
        outputs.push_back({one.option, (fs::path(one.file) / table).string()});
  std::erase_if(outputs, [&](const auto& one) { return !fs::is_regular_file(one.file, error); });
  if (outputs.empty()) return;
  const std::size_t named = inputs.size();
  for (std::size_t i = 0; i < named; ++i) {
    if (inputs[i].ends_with(".toml") && fs::is_regular_file(inputs[i], error))
      std::ranges::copy(api::files_named_in(inputs[i]), std::back_inserter(inputs));
    if (fs::is_directory(inputs[i], error)) {  // such as that of --results
      inputs.push_back(lab::ResultsFolder{inputs[i]}.database().string());
      inputs.push_back(lab::FolderLock::file(inputs[i]).string());
    }
  }
  for (std::size_t i = 0, known = inputs.size(); i < known; ++i)
    if (accelsim::is_kernels_list(inputs[i]) && fs::is_regular_file(inputs[i], error))
      std::ranges::move(api::kernel_files_of(inputs[i]), std::back_inserter(inputs));
  for (const OutputOption& output : outputs)
    for (const std::string& input : inputs)
      if (fs::equivalent(output.file, input, error))
        throw InputError(output.option + " would write over " + shortened(input) +
                         ", which the command reads; expected another file");
}

void warn_of_refusals(const sim::Result& result) {
  if (const std::string refused = report::refused_launches(result); !refused.empty())
    std::fprintf(stderr, "raddle: %s\n", refused.c_str());
}

void write_file(const std::string& file, std::string_view text) {
  if (file == "-") {
    // What was lost the end of the program tells (cli.cpp).
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fputc('\n', stdout);
    return;
  }
  raddle::write_file(file, text);
}

nlohmann::ordered_json read_json(const std::string& file) {
  std::string bytes = read_text(file, kMaxDocumentBytes, "a document");
  return parse_json(decompressed(std::move(bytes), kMaxDocumentBytes, file), file);
}

std::string cut(std::string text, std::size_t widest) {
  if (text.size() <= widest) return text;
  std::size_t end = widest - 3;
  while (end != 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return text.substr(0, end) + "...";
}

std::string size_line(const std::string& file, std::uint64_t issued) {
  const auto bytes = std::filesystem::file_size(file);
  return fmt::format(
      "  {}: {} bytes, {:.3f} per warp instruction\n", file, bytes,
      static_cast<double>(bytes) / static_cast<double>(std::max<std::uint64_t>(issued, 1)));
}

std::string import_summary(const nlohmann::ordered_json& trailer) {
  std::string out;
  if (trailer.contains("import_cost")) {
    const nlohmann::ordered_json& cost = trailer.at("import_cost");
    const double seconds = std::max(cost.at("seconds").get<double>(), 1e-9);
    const double megabytes = cost.at("bytes").get<double>() / 1e6;
    out += fmt::format(
        "  {:<20} {:.1f} MB of text in {:.2f} s: {:.0f} MB/s, {:.2f} M warp instructions/s\n",
        "trace", megabytes, seconds, megabytes / seconds,
        cost.at("warp_instructions").get<double>() / 1e6 / seconds);
  }
  if (!trailer.contains("import")) return out;
  const nlohmann::ordered_json& import = trailer.at("import");
  auto list = [&](const char* key, std::string_view name, std::string_view what) {
    const auto counts = import.value(key, nlohmann::ordered_json::object());  // of a .rdl of before
    if (counts.empty()) return;
    out += fmt::format("  {:<20} {}\n", name, what);
    for (const auto& [opcode, count] : counts.items())
      out += fmt::format("    {:<30} {:>14}\n", opcode, grouped(count.get<std::uint64_t>()));
  };
  list("unknown_opcodes", "unknown opcodes", "timed after their operands; warp instructions:");
  list("without_addresses", "without addresses",
       "memory operations timed as moves; warp instructions:");
  list("without_effect", "without effect",
       "take a turn to issue and do nothing yet; warp instructions:");
  if (const auto unended = import.value("unended_waits", std::uint64_t{0}); unended != 0)
    out += fmt::format(
        "  {:<20} {} for barrier objects, which nothing in the trace ends: not waited\n", "waits",
        grouped(unended));
  for (const nlohmann::ordered_json& rule : import.value("rules", nlohmann::ordered_json::array()))
    out += fmt::format("  {:<20} {}\n", "taken to be so", rule.get<std::string>());
  return out;
}

std::function<void(const sim::Progress&)> progress_line(const std::string& what, bool quiet) {
  return progress_line([what](const sim::Progress&) { return what; }, quiet);
}

std::function<void(const sim::Progress&)> progress_line(
    std::function<std::string(const sim::Progress&)> what, bool quiet) {
  if (quiet || isatty(STDERR_FILENO) == 0) return {};
  auto last = std::make_shared<std::chrono::steady_clock::time_point>();
  return [what = std::move(what), last](const sim::Progress& p) {
    const auto now = std::chrono::steady_clock::now();
    if (now - *last < std::chrono::milliseconds(100)) return;
    *last = now;
    std::string line = fmt::format("{}: launch {} ({}), cycle {}", what(p), p.launches + 1,
                                   short_name(p.kernel), grouped(p.cycles));
    if (p.executing != nullptr)
      line = fmt::format("{}: {}, block {} of {}, {} warp instructions executed", what(p), p.kernel,
                         p.executing->block + 1, p.executing->blocks,
                         grouped(p.executing->warp_instructions));
    std::fprintf(stderr, "\r\033[K%.110s", line.c_str());
  };
}

void clear_progress(bool quiet) {
  if (!quiet && isatty(STDERR_FILENO) != 0) std::fputs("\r\033[K", stderr);
}

}  // namespace raddle::cli
