#include <fmt/format.h>

#include <string_view>

#include "raddle/base/error.h"
#include "raddle/base/json.h"
#include "raddle/report/json_member.h"
#include "raddle/report/kept.h"
#include "raddle/report/words.h"
#include "raddle/stats/metrics.h"

namespace raddle::report {

using Json = nlohmann::ordered_json;

namespace {

/// Faults beyond these say nothing new.
constexpr std::size_t kMaxFaults = 20;
/// So that no sum overflows: cycles times schedulers stay below 2^58, and a file has at most some
/// millions of launches.
constexpr double kMaxCycles = 0x1p42, kMaxSchedulers = 0x1p16, kMaxCount = 0x1p50;

std::string found_text(const Json& json) {
  std::string text = json_dump(json);
  if (text.size() > 60) text = text.substr(0, 57) + "...";
  return text;
}

/// Checks what the page and the explanation read of a result; what they do not read may be
/// anything.
class Checker {
 public:
  explicit Checker(const std::string& file) : file_(file) {}

  void result(const Json& json, const std::string& at) {
    if (!object(json, at.empty() ? "document" : at.substr(0, at.size() - 1))) return;
    if (member(json, "schema") != 1) fault(at + "schema", "1", member(json, "schema"));
    text(json, at, "raddle_version");
    object_in(json, at, "config");
    if (object_in(json, at, "workload")) workload(member(json, "workload"), at + "workload.");
    truth(json, at, "timed");
    totals(json, at, "totals");
    count(json, at, "schedulers", kMaxSchedulers);
    counts(json, at, "stalls");
    object_in(json, at, "details");
    list(json, at, "kernels", true, [&](const Json& k, const std::string& place) {
      kernel(k, place, stats::kLaunch);
      for (const char* cycle : {"start_cycle", "begin_cycle", "end_cycle"})
        count(k, place, cycle, kMaxCycles);
      for (const char* size : {"grid", "block"}) three(k, place, size);
    });
    list(json, at, "kernels_by_name", false, [&](const Json& k, const std::string& place) {
      kernel(k, place, stats::kGroup);
      count(k, place, "launches", kMaxCount);
    });
    if (object_or_null(json, at, "policies"))
      for (const auto& [level, policy] : member(json, "policies").items())
        if (object(policy, at + "policies." + level))
          text(policy, at + "policies." + level + ".", "name");
    if (object_or_null(json, at, "energy_pj")) numbers(json, at, "energy_pj");
    object_in(json, at, "host");
    if (member(json, "host").is_object()) numbers(json, at, "host");
    text(json, at, "state_hash");
    if (object_or_null(json, at, "analysis")) analysis(member(json, "analysis"), at + "analysis.");
    if (object_or_null(json, at, "sampling")) sampling(member(json, "sampling"), at + "sampling.");
    list(json, at, "tenants", false,
         [&](const Json& tenant, const std::string& place) { text(tenant, place, "name"); });
    object_or_null(json, at, "corun");
    if (object_or_null(json, at, "checks")) checks(member(json, "checks"), at + "checks.");
  }

  /// Members over_seeds and what_if of compare's document.
  void tables(const Json& json) {
    list(json, "", "over_seeds", false, [&](const Json& of, const std::string& place) {
      for (const char* key : {"workload", "policies", "over", "verdict"}) text(of, place, key);
      for (const char* key : {"same_input", "flips"}) truth(of, place, key);
      for (const char* key : {"cycles", "speedup"}) spread(of, place, key);
      object_or_null(of, place, "parameters");
      if (!member(of, "seeds").is_array()) fault(place + "seeds", "an array", member(of, "seeds"));
    });
    list(json, "", "what_if", false, [&](const Json& of, const std::string& place) {
      for (const char* key : {"workload", "item", "stream"}) text(of, place, key);
      for (const char* key : {"order", "order_as_it_is", "turned"})
        if (!member(of, key).is_array()) fault(place + key, "an array", member(of, key));
      object_or_null(of, place, "parameters");
      count(of, place, "instructions", kMaxCount);
      if (object_in(of, place, "changes"))
        for (const auto& [path, change] : member(of, "changes").items())
          object(change, place + "changes." + path);
      list(of, place, "policies", true, [&](const Json& policy, const std::string& at) {
        text(policy, at, "policies");
        spread(policy, at, "speedup");
      });
    });
  }

  void fault(const std::string& place, std::string_view expected, const Json& found) {
    if (faults_.size() < kMaxFaults)
      faults_.push_back(
          {{file_}, fmt::format("{}: expected {}, found {}", place, expected, found_text(found))});
  }

  bool object(const Json& json, const std::string& place) {
    if (!json.is_object()) fault(place, "an object", json);
    return json.is_object();
  }

  bool text(const Json& of, const std::string& at, const char* key) {
    const Json& value = member(of, key);
    if (!value.is_string()) fault(at + key, "a text", value);
    return value.is_string();
  }

  void end() {
    if (!faults_.empty()) throw InputError(std::move(faults_));
  }

 private:
  bool object_in(const Json& of, const std::string& at, const char* key) {
    return object(member(of, key), at + key);
  }

  bool object_or_null(const Json& of, const std::string& at, const char* key) {
    return !member(of, key).is_null() && object_in(of, at, key);
  }

  void spread(const Json& of, const std::string& at, const char* key) {
    if (!object_in(of, at, key)) return;
    const std::string place = at + key + ".";
    for (const char* end : {"mean", "deviation", "min", "max"})
      count(member(of, key), place, end, kMaxCount);
    for (const char* end : {"low", "high"})
      number_or_null(member(member(of, key), end), place + end);
  }

  void truth(const Json& of, const std::string& at, const char* key) {
    if (!member(of, key).is_boolean()) fault(at + key, "true or false", member(of, key));
  }

  void number_or_null(const Json& value, const std::string& place) {
    if (!value.is_null() && !value.is_number()) fault(place, "a number or null", value);
  }

  void number(const Json& value, const std::string& place, double maximum) {
    if (!value.is_number() || !(value.get<double>() >= 0) || value.get<double>() > maximum)
      fault(place, fmt::format("a number from 0 to {:g}", maximum), value);
  }

  void count(const Json& of, const std::string& at, const char* key, double maximum) {
    number(member(of, key), at + key, maximum);
  }

  /// An object of counts.
  void counts(const Json& of, const std::string& at, const char* key) {
    if (!object_in(of, at, key)) return;
    for (const auto& [name, value] : member(of, key).items())
      number(value, at + key + "." + name, kMaxCount);
  }

  void numbers(const Json& of, const std::string& at, const char* key) {
    for (const auto& [name, value] : member(of, key).items())
      number_or_null(value, at + key + "." + name);
  }

  void totals(const Json& of, const std::string& at, const char* key) {
    if (!object_in(of, at, key)) return;
    metrics(member(of, key), at + key + ".", stats::kRun);
  }

  void metrics(const Json& of, const std::string& at, stats::Shown place) {
    stats::each_number(stats::Part::Totals, place,
                       [&](const std::string& name, const stats::Metric&, unsigned) {
                         count(of, at, name.c_str(), name == "cycles" ? kMaxCycles : 1e300);
                       });
  }

  void three(const Json& of, const std::string& at, const char* key) {
    const Json& value = member(of, key);
    bool fine = value.is_array() && value.size() == 3;
    for (std::size_t i = 0; fine && i < 3; ++i) fine = value[i].is_number_unsigned();
    if (!fine) fault(at + key, "three counts", value);
  }

  template <class Each>
  void list(const Json& of, const std::string& at, const char* key, bool required, Each each) {
    const Json& items = member(of, key);
    if (items.is_null() && !required) return;
    if (!items.is_array()) return fault(at + key, "an array", items);
    for (std::size_t i = 0; i < items.size() && faults_.size() < kMaxFaults; ++i) {
      const std::string place = fmt::format("{}{}[{}]", at, key, i);
      if (object(items[i], place)) each(items[i], place + ".");
    }
  }

  void workload(const Json& json, const std::string& at) {
    text(json, at, "name");
    text(json, at, "result");
    object_or_null(json, at, "parameters");
  }

  void kernel(const Json& json, const std::string& at, stats::Shown place) {
    text(json, at, "name");
    if (json.contains("title")) text(json, at, "title");
    metrics(json, at, place);
    if (!member(json, "execution_cycles").is_null())
      count(json, at, "execution_cycles", kMaxCycles);
    if (!member(json, "stalls").is_null()) counts(json, at, "stalls");
    if (!object_or_null(json, at, "details")) return;
    const Json& details = member(json, "details");
    if (!member(details, "l1d_refused").is_null()) counts(details, at + "details.", "l1d_refused");
    for (const char* name : {"l1d_misses", "loads", "load_mean_cycles"})
      if (!member(details, name).is_null()) count(details, at + "details.", name, kMaxCount);
  }

  void sampling(const Json& json, const std::string& at) {
    for (const char* key :
         {"launches_timed", "launches_estimated", "cycles_half_width", "confidence"})
      count(json, at, key, kMaxCount);
    totals(json, at, "timed_totals");
  }

  void checks(const Json& json, const std::string& at) {
    for (const char* key : {"asked", "findings"})
      if (!member(json, key).is_array()) fault(at + key, "an array", member(json, key));
    list(json, at, "findings", true, [&](const Json& finding, const std::string& place) {
      for (const char* key : {"check", "kernel", "text"}) text(finding, place, key);
      count(finding, place, "times", kMaxCount);
    });
    count(json, at, "more", kMaxCount);
    object_in(json, at, "shared_memory_left_out");
  }

  void analysis(const Json& json, const std::string& at) {
    if (object_or_null(json, at, "source")) {
      const Json& source = member(json, "source");
      count(source, at + "source.", "looks", kMaxCount);
      if (object_in(source, at + "source.", "kernels"))
        for (const auto& [name, kernel] : member(source, "kernels").items())
          if (object(kernel, at + "source.kernels." + name))
            profile(kernel, at + "source.kernels." + name + ".");
    }
    if (!object_or_null(json, at, "allocations")) return;
    const Json& allocations = member(json, "allocations");
    truth(allocations, at + "allocations.", "known");
    list(allocations, at + "allocations.", "rows", true,
         [&](const Json& row, const std::string& place) { allocation(row, place); });
  }

  void profile(const Json& json, const std::string& at) {
    text(json, at, "file");
    list(json, at, "lines", false, [&](const Json& line, const std::string& place) {
      for (const char* key : {"line", "issued", "thread_instructions", "memory_lines", "l1d_hits",
                              "l1d_pending_hits", "l1d_misses", "awaited"})
        count(line, place, key, kMaxCount);
      counts(line, place, "warps");
      if (!object_or_null(line, place, "source")) return;
      text(member(line, "source"), place + "source.", "file");
      count(member(line, "source"), place + "source.", "line", kMaxCount);
    });
  }

  void allocation(const Json& json, const std::string& at) {
    text(json, at, "name");
    figures(json, at);
    if (!member(json, "bytes").is_null()) count(json, at, "bytes", kMaxCount);
    if (object_in(json, at, "kernels"))
      for (const auto& [name, of] : member(json, "kernels").items())
        if (object(of, at + "kernels." + name)) figures(of, at + "kernels." + name + ".");
    if (!object_or_null(json, at, "arguments")) return;
    for (const auto& [kernel, numbers] : member(json, "arguments").items())
      if (!numbers.is_array()) fault(at + "arguments." + kernel, "an array", numbers);
  }

  void figures(const Json& json, const std::string& at) {
    for (const char* key :
         {"loads", "stores", "atomics", "l1d_hits", "l1d_pending_hits", "l1d_misses", "l2_hits",
          "l2_pending_hits", "l2_misses", "dram_read_bytes", "dram_written_bytes"})
      count(json, at, key, kMaxCount);
  }

  const std::string file_;
  std::vector<Diagnostic> faults_;
};

/// The label without the seed, by which a page knows works apart (seeds.h).
std::string without_seed(std::string label, const Json& result) {
  const Json& config = member(result, "config");
  const Json& seed = member(member(config, "run"), "seed");
  const std::string part = "run.seed=" + json_dump(seed);
  const std::size_t at = label.find(part);
  if (at == std::string::npos) return label;
  const std::size_t from = at == 0 ? at : at - 1;
  return label.erase(from, part.size() + (at == 0 ? 0 : 1));
}

std::string label_of(const Json& result) {
  return policy_label(member(result, "policies"), !member(result, "tenants").is_null());
}

/// What another command keeps, by what only it has.
std::string other_command(const Json& document) {
  if (member(document, "on") == "cuda") return "times of a GPU (run --on cuda)";
  if (member(document, "kind").is_string())
    return "a document of kind " + found_text(member(document, "kind"));
  return "";
}

KeptFile compared(const Json& document, const std::string& file) {
  Checker checker(file);
  if (!member(document, "runs").is_array()) {
    checker.fault("runs", "an array", member(document, "runs"));
    checker.end();
  }
  const bool seeds = document.contains("over_seeds");
  KeptFile out;
  for (std::size_t i = 0; i < member(document, "runs").size(); ++i) {
    const Json& run = member(document, "runs")[i];
    const std::string at = fmt::format("runs[{}]", i);
    if (!checker.object(run, at) || !checker.text(run, at + ".", "policies")) continue;
    checker.result(member(run, "result"), at + ".result.");
    out.runs.push_back({file, member(run, "policies").get<std::string>(), member(run, "result")});
    if (run.contains("what_if") && checker.text(run, at + ".", "what_if"))
      out.runs.back().what_if = run["what_if"].get<std::string>();
  }
  checker.tables(document);
  checker.end();
  for (KeptRun& run : out.runs) {
    if (seeds) run.label = without_seed(run.label, run.result);
    if (run.label.empty()) run.label = label_of(run.result);
  }
  if (seeds) out.over_seeds = document["over_seeds"];
  if (document.contains("what_if")) out.what_if = document["what_if"];
  return out;
}

}  // namespace

bool is_kept_result(const Json& document) {
  return document.is_object() && member(document, "kind").is_null();
}

KeptFile read_kept(const Json& document, const std::string& file) {
  Checker checker(file);
  if (!checker.object(document, "document")) checker.end();
  if (const std::string other = other_command(document); !other.empty())
    throw InputError({file},
                     "expected a result of run, replay, compare or exec (--json), found " + other);
  if (member(document, "schema") != 1) {
    checker.fault("schema", "1", member(document, "schema"));
    checker.end();
  }
  if (document.contains("runs")) return compared(document, file);
  if (!document.contains("totals"))
    throw InputError({file},
                     "expected a result of run, replay, compare or exec (--json), found neither "
                     "'totals' nor 'runs'");
  checker.result(document, "");
  checker.end();
  return {.runs = {{file, label_of(document), document}}};
}

std::string work_key(const Json& result) {
  const Json &workload = member(result, "workload"), &run = member(member(result, "config"), "run");
  return json_dump(
      Json{member(workload, "name"), member(workload, "parameters"), member(run, "seed")});
}

}  // namespace raddle::report
