#include "raddle/report/joined_documents.h"

#include <algorithm>

#include "raddle/base/error.h"
#include "raddle/report/document.h"

namespace raddle::report {

using Json = nlohmann::ordered_json;

namespace {

void check_fits(const Document& into, const Document& more) {
  const auto refuse = [&](const std::string& why) {
    throw InputError("two reproduction documents of paper '" + more.paper + "'" + why);
  };
  for (const Experiment& old : into.experiments)
    for (const Experiment& one : more.experiments)
      if (one.id == old.id) refuse(" hold experiment '" + one.id + "'");
  if (into.scale != more.scale) refuse(" are of scales " + into.scale + " and " + more.scale);
  if (into.raddle_version != more.raddle_version)
    refuse(" are of builds " + into.raddle_version + " and " + more.raddle_version);
}

void append(Json& into, const Document& read, const Json& more, const Document& read_more) {
  for (const Json& experiment : more.at("experiments")) into["experiments"].push_back(experiment);
  into["command"] = read.command + "; " + read_more.command;
  into["date"] = std::max(read.date, read_more.date);
  if (into.value("machine", Json()) != more.value("machine", Json())) into["machine"] = nullptr;
}

}  // namespace

std::vector<Json> joined_documents(std::span<const Json> documents) {
  std::vector<Json> out;
  for (const Json& json : documents) {
    const Document document = read_document(json);
    const auto same = std::ranges::find_if(
        out, [&](const Json& known) { return read_document(known).paper == document.paper; });
    if (same == out.end()) {
      out.push_back(json);
      continue;
    }
    const Document before = read_document(*same);
    check_fits(before, document);
    append(*same, before, json, document);
  }
  return out;
}

}  // namespace raddle::report
