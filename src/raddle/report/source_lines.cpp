#include "raddle/report/source_lines.h"

#include <functional>
#include <tuple>
#include <utility>

#include "raddle/base/stable_sort.h"
#include "raddle/report/json_member.h"

namespace raddle::report {

namespace {

using Json = nlohmann::ordered_json;

void add(const Json& from, SourceLine& row) {
  const auto n = [&](const char* key) { return from.at(key).get<std::uint64_t>(); };
  row.issued += n("issued");
  row.threads += n("thread_instructions");
  row.memory_lines += n("memory_lines");
  if (n("memory_lines") != 0) row.accesses += n("issued");
  row.hits += n("l1d_hits");
  row.awaited += n("awaited");
  row.loads += n("l1d_hits") + n("l1d_pending_hits") + n("l1d_misses");
  for (const auto& [state, count] : from.at("warps").items()) {
    row.waits[state] += count.get<std::uint64_t>();
    row.seen += count.get<std::uint64_t>();
  }
}

}  // namespace

std::vector<SourceLine> source_lines(const Json& kernel, bool cuda) {
  std::map<std::pair<std::string, std::uint64_t>, SourceLine> rows;
  for (const Json& from : member(kernel, "lines")) {
    std::pair<std::string, std::uint64_t> place{"", from.at("line").get<std::uint64_t>()};
    const Json& source = member(from, "source");
    const bool named = cuda && source.is_object();
    if (named)
      place = {source.at("file").get<std::string>(), source.at("line").get<std::uint64_t>()};
    SourceLine& row = rows[place];
    std::tie(row.file, row.line) = place;
    if (const Json& text = member(from, "instruction"); !named && text.is_string())
      row.instruction = text.get<std::string>();
    add(from, row);
  }
  std::vector<SourceLine> out;
  for (auto& [place, row] : rows) out.push_back(std::move(row));
  sort_stably(out, &SourceLine::weight, std::greater<>{});
  return out;
}

}  // namespace raddle::report
