#include "raddle/sim/validate/suite.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <sstream>

#include "raddle/base/error.h"

namespace raddle::sim {

namespace {

bool begins_with_word(std::string_view text, std::string_view word) {
  return text.starts_with(word) &&
         (text.size() == word.size() ||
          std::isalnum(static_cast<unsigned char>(text[word.size()])) == 0);
}

/// Does the convention begin with that word?
bool says(const MeasurementFile& file, const std::string& key, std::string_view word) {
  const auto found = file.conventions.find(key);
  return found != file.conventions.end() && begins_with_word(found->second, word);
}

/// "2701 cycles a launch ...".
Cycle overhead(const MeasurementFile& file) {
  const auto found = file.conventions.find("launch_overhead");
  if (found == file.conventions.end()) return 0;
  const std::string& text = found->second;
  Cycle cycles = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), cycles);
  if (error != std::errc() || !std::string_view(end).starts_with(" cycles"))
    throw InputError("launch_overhead: expected a number of cycles, found '" + text + "'");
  return cycles;
}

}  // namespace

std::vector<SuitePart> load_suite(const std::string& device) {
  std::vector<SuitePart> out;
  std::string known;
  for (const EmbeddedMeasurements& m : embedded_measurements()) {
    if (known.find(" " + std::string(m.device)) == std::string::npos)
      known += " " + std::string(m.device);
    if (m.device != device) continue;
    std::istringstream text{std::string(m.csv)};
    const std::string path = "data/silicon/" + device + "/" + std::string(m.name) + ".csv";
    SuitePart& part = out.emplace_back();
    part.name = m.name;
    part.file = read_measurements(text, path);
    for (std::size_t row = 0; row < part.file.rows.size(); ++row) part.half.push_back(half_of(row));
  }
  if (out.empty())
    throw InputError("--suite: no measurements of '" + device +
                     "' come with the program; known:" + known);
  return out;
}

bool with_launch_gap(const MeasurementFile& file) {
  const auto found = file.conventions.find("launch_gap");
  if (found == file.conventions.end()) return false;
  for (const char* without : {"excluded", "not included"})
    if (found->second.starts_with(without)) return false;
  if (!says(file, "launch_gap", "included"))
    throw InputError("# launch_gap: expected included or excluded, found '" + found->second + "'");
  return true;
}

Cycle gap_within(const MeasurementFile& file, const timing::MachineSpec& machine) {
  return (with_launch_gap(file) ? machine.kernels.gap_cycles : 0) + overhead(file);
}

bool cold_l2(const MeasurementFile& file) {
  const auto found = file.conventions.find("cache");
  if (found == file.conventions.end()) return false;
  for (const char* kept : {"none", "as"})
    if (begins_with_word(found->second, kept)) return false;
  if (!begins_with_word(found->second, "all"))
    throw InputError("# cache: expected all (emptied before each launch), none or as ..., found '" +
                     found->second + "'");
  return true;
}

}  // namespace raddle::sim
