#include "raddle/sim/run/exec_job.h"

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "raddle/base/files.h"
#include "raddle/base/json.h"

namespace raddle::sim {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

namespace {

constexpr std::uint64_t kMaxBytes = std::uint64_t{256} << 20;

ordered_json read_json(const std::string& file) {
  return parse_json(read_text(file, kMaxBytes, "what exec has left"), file);
}

/// Calls f(key, member) for every member.
template <class Job, class F>
void each_member(Job& job, F f) {
  f("name", job.name);
  f("arguments", job.arguments);
  f("command", job.command);
  f("date", job.date);
  f("functional", job.functional);
  f("skip", job.skip);
  f("report", job.report);
  f("timeline", job.timeline);
  f("timeline_events", job.timeline_events);
  f("quiet", job.quiet);
  f("print_to_stderr", job.print_to_stderr);
  f("threads", job.threads);
  f("max_cycles", job.max_cycles);
  f("max_warp_instructions", job.max_warp_instructions);
  f("max_stream_bytes", job.max_stream_bytes);
  f("first_launches", job.first_launches);
  f("sample_interval", job.sample_interval);
  f("input_hash", job.input_hash);
  f("single_launches", job.single_launches);
  f("out_of_bounds", job.out_of_bounds);
  f("checks", job.checks);
}

}  // namespace

void ExecJob::write(const std::string& folder, const ordered_json& config) const {
  ordered_json json;
  each_member(*this, [&](const char* key, const auto& member) { json[key] = member; });
  json["record"] = std::vector<unsigned char>(record.begin(), record.end());  // any bytes
  write_file(config_file(folder), json_dump(config));
  write_file(folder + "/job.json", json_dump(json));
}

ExecJob ExecJob::read(const std::string& folder) {
  const std::string file = folder + "/job.json";
  const ordered_json json = read_json(file);
  ExecJob job;
  try {
    each_member(job, [&](const char* key, auto& member) { json.at(key).get_to(member); });
    const auto record = json.at("record").get<std::vector<unsigned char>>();
    job.record.assign(record.begin(), record.end());
  } catch (const ordered_json::exception& error) {
    throw InputError(Place{file}, error.what());
  }
  return job;
}

exec::OutOfBounds ExecJob::out_of_bounds_mode() const {
  const auto* const found = std::ranges::find(kOutOfBoundsNames, out_of_bounds);
  if (found == kOutOfBoundsNames.end()) throw InputError("out_of_bounds: " + out_of_bounds);
  return static_cast<exec::OutOfBounds>(found - kOutOfBoundsNames.begin());
}

std::string ExecOutcome::file(const std::string& folder, long process, const std::string& what) {
  return folder + "/" + std::to_string(process) + "." + what;
}

void ExecOutcome::write(const std::string& folder, long process) const {
  const ordered_json json = {{"failures", failures},
                             {"machine_code", machine_code},
                             {"nothing_launched", nothing_launched},
                             {"summary", summary},
                             {"has_result", has_result}};
  write_file(file(folder, process, "outcome"), json_dump(json));
}

ExecOutcome ExecOutcome::read(const std::string& folder, long process) {
  const std::string name = file(folder, process, "outcome");
  const ordered_json json = read_json(name);
  ExecOutcome out;
  try {
    json.at("failures").get_to(out.failures);
    json.at("machine_code").get_to(out.machine_code);
    json.at("nothing_launched").get_to(out.nothing_launched);
    json.at("summary").get_to(out.summary);
    json.at("has_result").get_to(out.has_result);
  } catch (const ordered_json::exception& error) {
    throw InputError(Place{name}, error.what());
  }
  return out;
}

std::vector<long> ExecOutcome::processes(const std::string& folder) {
  std::vector<long> out;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string what = entry.path().extension().string();
    if (what != ".started" && what != ".outcome") continue;
    const std::string stem = entry.path().stem().string();
    long process = 0;
    const auto [end, error] = std::from_chars(stem.data(), stem.data() + stem.size(), process);
    if (error == std::errc{} && end == stem.data() + stem.size()) out.push_back(process);
  }
  std::ranges::sort(out);
  out.erase(std::ranges::unique(out).begin(), out.end());
  return out;
}

}  // namespace raddle::sim
