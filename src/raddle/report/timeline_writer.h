// Writes the events of a timeline one by one: a run can have millions, too many for a document in
// memory. And what the parts of a timeline share: numbers of processes, and how many events each
// may write.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "raddle/base/types.h"
#include "raddle/report/report.h"

namespace raddle::report {

/// A process of the trace; Perfetto takes process 0 for the idle one.
using Process = std::size_t;

/// The processes of a run: its own, then those of its SMs and of its tenants.
struct RunProcesses {
  Process run;
  explicit RunProcesses(std::size_t number) : run(number * kOfRun + 1) {}
  Process sm(std::size_t number) const { return run + 1 + number; }
  Process tenant(std::size_t number) const { return run + kTenants + number; }

 private:
  static constexpr std::size_t kOfRun = 10'000, kTenants = 9'000;  // more than SMs can be
};

/// What the parts of a run may write, together no more than its share of the whole.
struct TimelineLimits {
  std::size_t blocks, launches, arrows, moves, samples, sms;
  explicit TimelineLimits(std::size_t events)
      : blocks(events * 40 / 100),
        launches(events / 10),
        arrows(events / 10),
        moves(events / 10),
        samples(events * 15 / 100),
        sms(events * 15 / 100) {}
};

/// How many neighbours must become one so that `each` events for each of `count` are at most
/// `maximum`; 0: even one of all of them would be too many.
inline std::size_t together(std::size_t count, std::size_t each, std::size_t maximum) {
  const std::size_t groups = each == 0 ? count : maximum / each;
  return groups == 0 ? 0 : std::max<std::size_t>(1, (count + groups - 1) / groups);
}

class TimelineWriter {
 public:
  template <class... Args>
  void event(fmt::format_string<Args...> format, Args&&... args) {
    out_ += first_ ? "\n" : ",\n";
    first_ = false;
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
  }
  /// Viewers show processes in the order of their numbers.
  void name_process(Process process, const std::string& name) {
    event(R"({{"ph":"M","pid":{},"name":"process_name","args":{{"name":{}}}}})", process,
          json_text(name));
    event(R"({{"ph":"M","pid":{},"name":"process_sort_index","args":{{"sort_index":{}}}}})",
          process, process);
  }
  void name_track(Process process, std::uint32_t track, const std::string& name) {
    event(R"({{"ph":"M","pid":{},"tid":{},"name":"thread_name","args":{{"name":{}}}}})", process,
          track, json_text(name));
    event(R"({{"ph":"M","pid":{},"tid":{},"name":"thread_sort_index","args":{{"sort_index":{}}}}})",
          process, track, track);
  }
  void counter(Process process, Cycle at, std::string_view name, double value) {
    event(R"({{"ph":"C","pid":{},"ts":{},"name":"{}","args":{{"value":{:.6g}}}}})", process, at,
          name, value);
  }
  /// A place on a track; an arrow ends at the event that is there.
  struct Place {
    Process process;
    std::uint32_t track;
    Cycle at;
  };
  void arrow(std::string_view name, const Place& from, const Place& to) {
    event(R"({{"ph":"s","id":{},"cat":"{}","name":"{}","pid":{},"tid":{},"ts":{}}})", ++arrows_,
          name, name, from.process, from.track, from.at);
    event(R"({{"ph":"f","bp":"e","id":{},"cat":"{}","name":"{}","pid":{},"tid":{},"ts":{}}})",
          arrows_, name, name, to.process, to.track, to.at);
  }
  void leave_out(std::string what) { left_out_.push_back(std::move(what)); }
  const std::vector<std::string>& left_out() const { return left_out_; }

  std::string text() const {
    std::string left;
    for (const std::string& what : left_out_) left += (left.empty() ? "" : ",") + json_text(what);
    return R"({"displayTimeUnit":"ns","otherData":{"time":"1 us on screen = 1 core cycle",)"
           R"("left_out":[)" +
           left + R"(]},"traceEvents":[)" + out_ + "\n]}\n";
  }

 private:
  std::string out_;
  std::vector<std::string> left_out_;
  std::size_t arrows_ = 0;
  bool first_ = true;
};

}  // namespace raddle::report
