#include "raddle/cli/shared/reports.h"

#include <cstdio>
#include <ctime>

#include "raddle/base/json.h"
#include "raddle/cli/shared/output.h"
#include "raddle/report/report.h"
#include "raddle/report/timeline.h"
#include "raddle/report/words.h"

namespace raddle::cli {

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M", &local);
  return text;
}

void announce_report(const CommonOptions& options) {
  if (!options.quiet) std::fprintf(stderr, "report: %s\n", options.report.c_str());
}

void announce_timeline(const CommonOptions& options) {
  if (!options.quiet)
    std::fprintf(stderr, "timeline: %s (open it in https://ui.perfetto.dev or chrome://tracing)\n",
                 options.timeline.c_str());
}

void say_left_out(const report::Timeline& timeline, std::uint64_t maximum) {
  if (timeline.left_out.empty()) return;
  const std::size_t others = timeline.left_out.size() - 1;
  std::fprintf(stderr, "raddle: timeline of at most %llu events (--timeline-events): %s%s\n",
               static_cast<unsigned long long>(maximum), timeline.left_out.front().c_str(),
               others == 0 ? "" : ("; and " + std::to_string(others) + " more").c_str());
}

void write_reports(const CommonOptions& options, const std::vector<ReportRun>& runs,
                   const std::vector<std::string>& arguments,
                   const nlohmann::ordered_json& what_if) {
  std::fflush(stdout);  // the summary comes before the names of the files
  if (!options.report.empty()) {
    report::ReportInput input;
    input.command = valid_utf8(joined(arguments));
    input.date = today();
    input.single_launches = options.single_launches();
    input.what_if = what_if;
    for (const ReportRun& run : runs)
      input.runs.push_back(
          {run.label.empty() ? report::policy_label(*run.result) : run.label, run.result});
    write_file(options.report, report::html(input));
    announce_report(options);
  }
  if (!options.timeline.empty()) {
    std::vector<report::Run> timed;
    for (const ReportRun& run : runs) timed.push_back({run.label, run.result});
    const report::Timeline timeline = report::timeline(timed, options.timeline_events);
    write_file(options.timeline, timeline.text);
    announce_timeline(options);
    if (!options.quiet) say_left_out(timeline, options.timeline_events);
  }
}

}  // namespace raddle::cli
