// libFuzzer: any bytes as a paper's file and an experiment's (a line "#### file ####" between
// them); what is sound becomes a grid of cells. InputError is the only way out.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "raddle/lab/evaluate/grid.h"
#include "raddle/lab/file/experiment_reader.h"

namespace {

constexpr std::string_view kBetween = "#### file ####\n";

void read(const std::string& text, raddle::lab::Scale scale) {
  using namespace raddle::lab;
  const std::size_t at = text.find(kBetween);
  std::optional<SourceFile> paper;
  if (at != std::string::npos) paper = SourceFile{"paper.toml", text.substr(0, at)};
  const std::string file = at == std::string::npos ? text : text.substr(at + kBetween.size());
  try {
    const Paper read = read_paper(paper, {{"fuzz.toml", file}}, "demo", scale);
    for (const Experiment& e : read.experiments) {
      const Grid grid(e);
      RADDLE_ASSERT(grid.cells().empty() == e.runs.empty());
    }
  } catch (const raddle::InputError& error) {
    RADDLE_ASSERT(!error.diagnostics().empty());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  read(text, raddle::lab::Scale::Quick);
  read(text, raddle::lab::Scale::Full);
  return 0;
}
