#include "raddle/report/kept_tables.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <utility>

#include "raddle/base/json.h"
#include "raddle/report/json_member.h"

namespace raddle::report {

using Json = nlohmann::ordered_json;

namespace {

/// Columns that say which row of which list it is.
using Place = std::vector<std::pair<std::string, Json>>;

bool is_plain(const Json& value) { return !value.is_object() && !value.is_array(); }

bool has_objects(const Json& list) {
  return !list.empty() && std::ranges::all_of(list, [](const Json& of) { return of.is_object(); });
}

/// Objects whose members have names of the program's, not of ours.
bool is_by_name(const std::string& key, const Json& value) {
  return key == "kernels" && value.is_object() && has_objects(value);
}
bool is_kept_as_text(const std::string& key) {
  return key == "arguments" || key == "shared_memory_left_out";
}

class Builder {
 public:
  /// A new row of a table.
  void add(const std::string& name, const Place& place, const Json& of) {
    const std::size_t row = start(name, place);
    fill(name, row, place, "", of);
  }

  std::size_t start(const std::string& name, const Place& place) {
    const auto [at, fresh] = places_.try_emplace(name, tables_.size());
    if (fresh) {
      tables_.push_back({name, {}, {}});
      columns_.emplace_back();
    }
    tables_[at->second].rows.emplace_back();
    const std::size_t row = tables_[at->second].rows.size() - 1;
    for (const auto& [column, value] : place) set(name, row, column, value);
    return row;
  }

  /// Members of `of` into the row, and its lists into tables of their own.
  void fill(const std::string& name, std::size_t row, const Place& place, const std::string& prefix,
            const Json& of) {
    for (const auto& [key, value] : of.items()) {
      const std::string path = prefix + key, list = name.empty() ? path : name + "_" + path;
      if (key == "meaning") continue;  // words, the same in every result
      if (is_plain(value)) set(name, row, path, value);
      else if (is_kept_as_text(key)) set(name, row, path, json_dump(value));
      else if (is_by_name(key, value)) add_by_name(list, place, value);
      else if (value.is_object()) fill(name, row, place, path + "_", value);
      else if (has_objects(value)) add_list(list, place, value);
      else set(name, row, path, json_dump(value));
    }
  }

  void add_list(const std::string& name, const Place& place, const Json& list) {
    for (std::size_t i = 0; i < list.size(); ++i)
      add(name, within(place, name + "_at", i), list[i]);
  }

  void add_by_name(const std::string& name, const Place& place, const Json& all) {
    for (const auto& [key, value] : all.items())
      add(name, within(place, name + "_name", key), value);
  }

  std::vector<KeptTable> take() {
    for (KeptTable& table : tables_)
      for (std::vector<Json>& row : table.rows) row.resize(table.columns.size());
    return std::move(tables_);
  }

 private:
  static Place within(Place place, std::string column, Json value) {
    place.emplace_back(std::move(column), std::move(value));
    return place;
  }

  /// SQL takes names for one that differ in case alone; a second one of a row gets a number.
  void set(const std::string& name, std::size_t row, std::string column, const Json& value) {
    const std::size_t table = places_.at(name);
    std::vector<Json>& values = tables_[table].rows[row];
    for (char& c : column) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    const std::string wanted = column;
    for (unsigned number = 2;; ++number) {
      const auto [at, fresh] = columns_[table].try_emplace(column, tables_[table].columns.size());
      if (fresh) tables_[table].columns.push_back(column);
      if (values.size() <= at->second) values.resize(at->second + 1);
      if (values[at->second].is_null()) {
        values[at->second] = value;
        return;
      }
      column = wanted + "_" + std::to_string(number);
    }
  }

  std::vector<KeptTable> tables_;
  std::map<std::string, std::size_t> places_;
  std::vector<std::map<std::string, std::size_t>> columns_;  // by table
};

void add_kernel_stalls(Builder& tables, std::size_t run, const Json& result) {
  const Json& by_name = member(result, "kernels_by_name");
  for (const Json& kernel : by_name.is_null() ? member(result, "kernels") : by_name) {
    if (!member(kernel, "stalls").is_object()) continue;
    for (const auto& [reason, cycles] : member(kernel, "stalls").items())
      tables.start("kernel_stalls", {{"run", run},
                                     {"kernel", member(kernel, "name")},
                                     {"reason", reason},
                                     {"scheduler_cycles", cycles}});
  }
}

void add_run(Builder& tables, std::size_t number, const KeptRun& run) {
  const Place place = {{"run", number}};
  const std::size_t row = tables.start(
      "runs",
      {{"run", number}, {"file", run.file}, {"policies", run.label}, {"what_if", run.what_if}});
  Json plain = Json::object();
  for (const auto& [key, value] : run.result.items())
    if (is_plain(value) || key == "workload") plain[key] = value;
  tables.fill("runs", row, place, "", plain);
  tables.fill("runs", row, place, "", member(run.result, "totals"));
  for (const auto& [key, value] : run.result.items()) {
    if (plain.contains(key) || key == "totals") continue;
    if (key == "analysis" && value.is_object())
      for (const auto& [analysis, of] : value.items()) tables.add(analysis, place, of);
    else if (value.is_object()) tables.add(key, place, value);
    else if (has_objects(value)) tables.add_list(key, place, value);
  }
  add_kernel_stalls(tables, number, run.result);
}

}  // namespace

std::vector<KeptTable> tables_of(std::span<const KeptRun> runs) {
  Builder tables;
  for (std::size_t i = 0; i < runs.size(); ++i) add_run(tables, i, runs[i]);
  return tables.take();
}

}  // namespace raddle::report
