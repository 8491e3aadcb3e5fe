// A machine, setting by setting: each value with its meaning and with what the machine's file says
// of where it is from.
#pragma once
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace raddle::cli {

struct GpuSetting {
  std::string path, value;    ///< "sm.l1d.size_kib", "128", as in a machine file
  std::string unit, meaning;  ///< "" for what a policy has of its own
  std::string source;         ///< the comment behind it, or behind its table's name
  std::string file;           ///< "gpus/v100.toml": who says so
  unsigned line = 0;
};

struct GpuDescription {
  std::string name;
  std::vector<std::string> files;    ///< the machine's, then those of what it extends
  std::vector<std::string> heads;    ///< the comment at the head of each
  std::vector<GpuSetting> settings;  ///< in the order of `raddle list gpus`
  /// Every setting with its value, defaults too: what is simulated.
  std::map<std::string, std::string> resolved = {};
};

/// A name, or a machine file. Throws InputError as sim::load_gpu() does, and when the machine is
/// none that could be simulated.
GpuDescription describe_gpu(const std::string& name_or_file);

std::string gpu_text(const GpuDescription& gpu);
nlohmann::ordered_json gpu_json(const GpuDescription& gpu);

/// What one says and the other says otherwise or not at all; name and source are no differences.
std::string gpu_difference_text(const GpuDescription& a, const GpuDescription& b);
nlohmann::ordered_json gpu_difference_json(const GpuDescription& a, const GpuDescription& b);

}  // namespace raddle::cli
