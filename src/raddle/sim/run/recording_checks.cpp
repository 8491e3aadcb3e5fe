#include "raddle/sim/run/recording_checks.h"

#include <algorithm>
#include <memory>

#include "raddle/base/error.h"
#include "raddle/sim/run/parts.h"

namespace raddle::sim {

namespace {

using Json = nlohmann::ordered_json;

/// The member `key`, which `is` says is what was expected.
template <class Is>
const Json& member(const Json& object, const char* key, const char* expected, Is is) {
  const auto found = object.is_object() ? object.find(key) : object.end();
  if (found == object.end()) throw InputError("'" + std::string(key) + "' is missing");
  if (!is(*found))
    throw InputError("'" + std::string(key) + "': expected " + expected + ", found " +
                     (found->is_structured() ? found->type_name() : found->dump()));
  return *found;
}

bool is_text(const Json& json) { return json.is_string(); }
bool is_whole(const Json& json) { return json.is_number_unsigned(); }

void check_header(const Json& header) {
  member(header, "workload", "a name", is_text);
  member(header, "parameters", "an object", [](const Json& json) { return json.is_object(); });
  member(header, "seed", "a whole number", is_whole);
}

void check_trailer(const Json& trailer) {
  member(trailer, "input_hash", "a whole number", is_whole);
  for (const char* count : {"launches_left_out", "launches_refused", "pending_limit"})
    if (trailer.contains(count)) member(trailer, count, "a whole number", is_whole);
  member(trailer, "difference", "a text", is_text);
  member(trailer, "verdict", "correct, wrong or unchecked", [](const Json& json) {
    return json.is_string() &&
           std::ranges::count(kVerdicts, json.get_ref<const std::string&>()) != 0;
  });
}

}  // namespace

trace::FileChecks recording_checks() {
  const auto marks = std::make_shared<std::uint64_t>(0);
  const auto operations = [marks](const Json& list) {
    if (!list.is_array())
      throw InputError(std::string("'operations': expected a list, found ") + list.type_name());
    check_operations(list, *marks);
  };
  const auto trailer = [operations](const Json& json) {
    check_trailer(json);
    operations(member(json, "operations", "a list", [](const Json&) { return true; }));
  };
  return {check_header, operations, trailer};
}

}  // namespace raddle::sim
