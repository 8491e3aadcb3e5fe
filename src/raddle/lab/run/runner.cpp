#include "raddle/lab/run/runner.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "raddle/base/error.h"
#include "raddle/base/json.h"
#include "raddle/lab/host/files.h"
#include "raddle/lab/plan/program.h"
#include "raddle/sim/run/recording_checks.h"
#include "raddle/trace/file.h"

namespace raddle::lab {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kRecordingPrefix = "recording-";
constexpr std::string_view kResultEnd = ".result.json";
// What a run is taken to need until one of its kind has been seen.
constexpr std::uint64_t kUnknownMemory = std::uint64_t{1} << 30;
// With less than this left, a worker that failed to write has failed for want of room.
constexpr std::uint64_t kFullDisk = std::uint64_t{1} << 20;
constexpr std::chrono::milliseconds kTick{250};

struct JobOutcome {
  bool done = false;
  std::string reason, error;
  Json result;
};

/// The last lines a worker printed.
std::string last_words(const fs::path& log) {
  constexpr std::size_t kMax = 500;
  std::string text = read_whole(log).value_or("");
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  if (text.size() > kMax) text = "..." + text.substr(text.size() - kMax);
  return text.empty() ? "" : ": " + text;
}

/// Why a worker has left no result.
JobOutcome without_result(const JobEnd& ended, const std::string& words) {
  switch (ended.how) {
    case JobEnd::How::TimedOut:
      return {false,
              "timeout",
              fmt::format("gave no result within {:g} s", std::round(ended.seconds * 10) / 10),
              {}};
    case JobEnd::How::Signal:
      if (ended.status == SIGKILL)
        return {false,
                "out_of_memory",
                "killed from outside, most likely by the system for want of memory" + words,
                {}};
      return {
          false,
          "crash",
          fmt::format("crashed: signal {} ({}){}", ended.status, strsignal(ended.status), words),
          {}};
    case JobEnd::How::Lost:
      return {false, "lost", ended.reason + words, {}};
    case JobEnd::How::Exited:
      break;
  }
  return {false,
          "crash",
          fmt::format("ended with status {} and without a result{}", ended.status, words),
          {}};
}

class Sweep {
 public:
  Sweep(const Plan& plan, const Catalogue& catalogue, Store& store, Executor& executor,
        const ResultsFolder& folder, const RunnerOptions& options)
      : plan_(plan),
        catalogue_(catalogue),
        store_(store),
        executor_(executor),
        folder_(folder),
        options_(options) {}

  RunnerSummary run() {
    make_folder(folder_.work());
    make_folder(folder_.recordings());
    start_ = Clock::now();
    take_in_leftovers();
    find_missing();
    try {
      adopt();
      clean_work();
      clean_recordings();
      submit();
      while (!open_.empty() || !recording_.empty()) {
        if (options_.stop && options_.stop()) {
          summary_.interrupted = true;
          break;
        }
        for (const JobEnd& ended : executor_.wait(kTick)) handle(ended);
        report_progress({});
      }
    } catch (...) {
      executor_.cancel();
      throw;
    }
    if (summary_.interrupted) {
      executor_.cancel();
      take_in_leftovers();
      under_way_.clear();
      clean_work();
    }
    summary_.states = stored_states(plan_, store_);
    summary_.missing = static_cast<std::size_t>(
        std::ranges::count(summary_.states, RunState::Kind::Missing, &RunState::kind));
    return std::move(summary_);
  }

 private:
  using Clock = std::chrono::steady_clock;
  struct Recording {
    std::string workload;
    CellSpec spec;
    std::vector<std::size_t> runs;  ///< that wait for it
  };
  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

  // --- before ---

  /// Results that came after the last runner had gone. Of whatever plan they are, their
  /// specification says what they belong to.
  void take_in_leftovers() {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_.work())) {
      const std::string file = entry.path().filename().string();
      if (file.ends_with(kResultEnd))
        names.push_back(file.substr(0, file.size() - kResultEnd.size()));
    }
    std::ranges::sort(names);
    for (const std::string& name : names) {
      if (!name.starts_with(kRecordingPrefix) && !store_.has(name)) take_in(name);
      remove_files(name);
    }
  }

  void take_in(const std::string& name) {
    const auto text = read_whole(spec_file(folder_.work(), name));
    if (!text) return;
    PlannedRun run;
    try {
      run.spec = read_cell(parse_json(*text, name), name).spec;
      ResolvedCell resolved = resolve(run.spec, catalogue_);
      for (Program& program : run.spec.programs) program.recording.clear();
      run.program = resolved.program;
      run.key = run_key(resolved.configuration, run.spec.analyses, run.program);
      run.workload = resolved.info.name;
      run.parameters = resolved.info.parameters;
      run.gpu = resolved.setup.machine.name;
      if (resolved.configuration != run.spec.configuration) return;
    } catch (const std::exception&) {
      return;  // of another program
    }
    if (run.key != name) return;
    const JobOutcome ending = ending_of(run.spec, {name, JobEnd::How::Exited, 0, 0, host_name()});
    record(run, ending, 0, host_name());
  }

  void find_missing() {
    std::vector<std::string> keys;
    for (std::size_t r = 0; r < plan_.runs.size(); ++r) {
      const PlannedRun& run = plan_.runs[r];
      std::optional<StoredRun> stored = store_.find(run);
      if (stored && !stored->done && options_.retry_failed) {
        store_.remove(stored->key);
        stored = store_.find(run);
      }
      keys.push_back(stored ? stored->key : run.key);
      if (stored) ++summary_.found;
      else open_.emplace(run.key, r);
    }
    missing_at_start_ = open_.size();
    RADDLE_ASSERT(keys.size() == plan_.runs.size());
    for (const PlannedExperiment& planned : plan_.experiments)
      store_.set_cells(planned, options_.scale, keys);
  }

  fs::path recording_file(const std::string& hash) const {
    return folder_.recordings() / (hash + ".rdl");
  }

  /// Removes what killed runners and workers have left: nobody is writing it any more. Under a
  /// cluster that may be jobs of another plan, whose halves are let be for two days.
  void clean_work() const {
    constexpr std::chrono::hours kLongest{48};
    const auto now = fs::file_time_type::clock::now();
    for (const auto& entry : fs::directory_iterator(folder_.work())) {
      std::error_code error;
      const std::string name = entry.path().filename().string();
      if (!entry.is_regular_file(error) || under_way_.contains(name.substr(0, name.find('.'))))
        continue;
      if (executor_.outlives_runner() && !(now - entry.last_write_time(error) > kLongest)) continue;
      fs::remove(entry.path(), error);
    }
  }

  /// Removes halves of recordings that nobody is making, and while there are more bytes than
  /// allowed the ones that were unused for longest and are not needed now.
  void clean_recordings() {
    std::set<std::string> needed;
    for (const auto& [key, r] : open_)
      for (const std::string& hash : plan_.runs[r].recordings) needed.insert(hash + ".rdl");
    std::vector<std::pair<fs::file_time_type, fs::path>> idle;
    std::uint64_t bytes = 0;
    for (const auto& entry : fs::directory_iterator(folder_.recordings())) {
      const std::string name = entry.path().filename().string();
      if (const std::size_t end = name.find(".rdl.tmp"); end != std::string::npos) {
        if (!under_way_.contains(std::string(kRecordingPrefix) + name.substr(0, end)))
          fs::remove(entry.path());
        continue;
      }
      bytes += entry.file_size();
      if (!needed.contains(name)) idle.emplace_back(entry.last_write_time(), entry.path());
      else fs::last_write_time(entry.path(), fs::file_time_type::clock::now());
    }
    std::ranges::sort(idle);
    for (const auto& [time, path] : idle) {
      if (bytes <= options_.recordings_limit) break;
      bytes -= fs::file_size(path);
      fs::remove(path);
    }
  }

  // --- submitting ---

  Job job(const std::string& name, const PlannedRun& run) {
    RADDLE_ASSERT(!name.empty());
    const std::uint64_t seen =
        store_.peak_rss(run.workload, run.parameters).value_or(kUnknownMemory);
    return {name, options_.timeout_seconds.value_or(run.timeout_seconds), seen + seen / 8};
  }

  void write_spec(const std::string& name, CellSpec spec, std::string_view kind) {
    for (Program& program : spec.programs)
      if (!program.recording.empty()) program.recording = fs::absolute(program.recording).string();
    spec.program = program_name();
    write_whole(spec_file(folder_.work(), name), json_dump(to_json(spec, kind), 1));
  }

  void adopt() {
    std::set<std::string> names;
    for (const auto& [key, r] : open_) {
      names.insert(key);
      for (const std::string& hash : plan_.runs[r].recordings) names.insert(recording_job(hash));
    }
    for (std::string& name : executor_.adopt(names)) under_way_.insert(std::move(name));
  }

  /// Everything that nothing else has to come before.
  void submit() {
    std::vector<Job> recordings, cells;
    for (std::size_t r = 0; r < plan_.runs.size(); ++r) {
      const PlannedRun& run = plan_.runs[r];
      if (!open_.contains(run.key) || under_way_.contains(run.key)) continue;
      for (std::size_t p = 0; p < run.recordings.size(); ++p)
        if (const std::string& hash = run.recordings[p];
            !hash.empty() && !fs::exists(recording_file(hash)))
          wait_for(r, p, recordings);
      if (!waits_.contains(r)) cells.push_back(cell_job(run));
    }
    executor_.submit(recordings);
    executor_.submit(cells);
  }

  /// Run `r` waits for the recording of its program `p`, which the first to wait for it asks for.
  void wait_for(std::size_t r, std::size_t p, std::vector<Job>& jobs) {
    const PlannedRun& run = plan_.runs[r];
    RADDLE_ASSERT(p < run.recordings.size() && p < run.spec.programs.size());
    const std::string& hash = run.recordings[p];
    if (!waits_[r].insert(hash).second) return;  // a program that runs beside itself
    const auto [at, first] = recording_.try_emplace(hash);
    at->second.runs.push_back(r);
    if (!first) return;
    CellSpec spec = run.spec;
    spec.analyses.clear();
    spec.programs = {run.spec.programs[p]};
    if (spec.corun) {  // what is recorded is the program by itself
      spec.corun.reset();
      spec.configuration = resolve(spec, catalogue_).configuration;
    }
    const std::optional<ExternalProgram>& external = spec.programs.front().external;
    at->second.workload = external ? external->name : spec.programs.front().workload;
    at->second.spec = spec;
    const std::string name = recording_job(hash);
    if (under_way_.contains(name)) return;
    spec.programs.front().recording = recording_file(hash);
    write_spec(name, std::move(spec), "recording");
    jobs.push_back(job(name, run));
  }

  static std::string recording_job(const std::string& hash) {
    return std::string(kRecordingPrefix) + hash;
  }

  Job cell_job(const PlannedRun& run) {
    CellSpec spec = run.spec;
    for (std::size_t p = 0; p < run.recordings.size(); ++p)
      if (!run.recordings[p].empty())
        spec.programs[p].recording = recording_file(run.recordings[p]);
    write_spec(run.key, std::move(spec), "cell");
    return job(run.key, run);
  }

  // --- what has ended ---

  void handle(const JobEnd& ended) {
    if (ended.name.starts_with(kRecordingPrefix)) return handle_recording(ended);
    const auto at = open_.find(ended.name);
    if (at == open_.end()) return;
    const PlannedRun& run = plan_.runs[at->second];
    const JobOutcome ending = ending_of(run.spec, ended);
    refuse_surroundings(ending, ended);
    if (!ending.done && ending.reason == "error" && record_again(at->second)) return;
    finish_run(run, ending, ended);
    remove_files(ended.name);
  }

  /// Has the run `r` failed because a recording of it is damaged? Then that is made again, and the
  /// run has a second chance.
  bool record_again(std::size_t r) {
    const PlannedRun& run = plan_.runs[r];
    std::vector<Job> jobs;
    for (std::size_t p = 0; p < run.recordings.size(); ++p) {
      const std::string& hash = run.recordings[p];
      if (hash.empty()) continue;  // a file of the user's own
      const bool coming = recording_.contains(hash);
      if (!coming && whole(recording_file(hash))) continue;
      if (!coming && !made_again_.insert(hash).second) continue;
      wait_for(r, p, jobs);
    }
    if (!waits_.contains(r) || waits_[r].empty()) {
      // Another run has found the same damage, and the recording has come since.
      const bool other = std::ranges::any_of(
          run.recordings, [&](const std::string& hash) { return made_again_.contains(hash); });
      if (!other || !second_chance_.insert(r).second) return false;
      remove_files(run.key);
      jobs.push_back(cell_job(run));
    }
    executor_.submit(jobs);
    return true;
  }

  static bool whole(const fs::path& recording) {
    try {
      const trace::FileReader reader(recording.string(), sim::recording_checks());
      return true;
    } catch (const InputError&) {
      return false;
    }
  }

  void finish_run(const PlannedRun& run, const JobOutcome& ending, const JobEnd& ended) {
    record(run, ending, ended.seconds, ended.host);
    RADDLE_ASSERT(open_.contains(run.key));
    open_.erase(run.key);
    ++(ending.done ? summary_.done : summary_.failed);
    RunnerProgress progress;
    progress.ended = run.label;
    progress.error = ending.error;
    progress.ended_seconds = ended.seconds;
    report_progress(progress);
  }

  void handle_recording(const JobEnd& ended) {
    const std::string hash = ended.name.substr(kRecordingPrefix.size());
    const auto waiting = recording_.extract(hash);
    if (waiting.empty()) return remove_files(ended.name);
    const Recording& recording = waiting.mapped();
    JobOutcome ending = ending_of(recording.spec, ended);
    refuse_surroundings(ending, ended);
    remove_files(ended.name);
    report_recording(recording, ending, ended);
    std::vector<Job> jobs;
    for (const std::size_t r : recording.runs) {
      const PlannedRun& run = plan_.runs[r];
      if (!open_.contains(run.key)) continue;  // another of its recordings has failed
      if (ending.done) {
        waits_[r].erase(hash);
        if (waits_[r].empty()) jobs.push_back(cell_job(run));
        continue;
      }
      JobOutcome same = ending;
      same.error = "its recording: " + same.error;
      same.result = nullptr;
      finish_run(run, same, {run.key, ended.how, 0, 0, ended.host});
    }
    executor_.submit(jobs);
  }

  void report_recording(const Recording& recording, const JobOutcome& ending, const JobEnd& ended) {
    RunnerProgress progress;
    progress.ended = fmt::format("recording of {}", recording.workload);
    progress.error = ending.error;
    progress.ended_seconds = ended.seconds;
    if (ending.done) ++summary_.recordings;
    report_progress(progress);
  }

  /// Nothing is recorded as a failure of the run that is a failure of what it runs on.
  void refuse_surroundings(const JobOutcome& ending, const JobEnd& ended) const {
    if (ended.how == JobEnd::How::Exited && ended.status == kOtherProgram)
      throw RunError(
          fmt::format("another raddle works on {} than waits here, or the program was "
                      "built anew meanwhile ({})",
                      ended.host, ending.error));
    if (ending.done || ending.reason == "wrong_result") return;
    std::error_code error;
    const fs::space_info space = fs::space(folder_.root, error);
    const bool not_written = ended.how == JobEnd::How::Exited && ended.status == kResultNotWritten;
    if (!not_written && (error || space.available > kFullDisk)) return;
    throw RunError(
        fmt::format("{}: a worker could not write its result; is the disk full? Results "
                    "up to here are kept; the same command goes on ({})",
                    folder_.root.string(), ending.error));
  }

  /// Of a job that was to do what `spec` says.
  JobOutcome ending_of(const CellSpec& spec, const JobEnd& ended) const {
    const std::string words = last_words(log_file(folder_.work(), ended.name));
    const auto text = read_whole(result_file(folder_.work(), ended.name));
    if (!text) return without_result(ended, words);
    JobOutcome out;
    try {
      out.result = parse_json(*text, "");
      if (const auto error = out.result.find("error"); error != out.result.end()) {
        Json found = *error;
        return {false, found.at("kind"), found.at("message"), {}};
      }
      if (configuration_of(out.result, spec, catalogue_) != spec.configuration)
        return {false, "error", "the worker has run something else than it was asked for", {}};
      const Json& verdict = out.result.at("workload");
      if (verdict.at("result") == "wrong")
        return {false, "wrong_result", "the result is wrong: " + verdict.value("difference", ""),
                std::move(out.result)};
    } catch (const Json::exception& error) {
      return {false, "error", "its result cannot be read: " + plain_words(error), {}};
    } catch (const InputError& error) {
      return {false, "error", std::string("its result cannot be read: ") + error.what(), {}};
    }
    out.done = true;
    return out;
  }

  void record(const PlannedRun& run, const JobOutcome& ending, double seconds,
              const std::string& host) {
    RunRecord record;
    record.run = &run;
    record.done = ending.done;
    record.reason = ending.reason;
    record.error = ending.error;
    record.wall_seconds = seconds;
    record.host = host;
    record.finished = utc_now();
    record.result = ending.result;
    if (ending.result.contains("host")) {
      const Json& cost = ending.result["host"];
      record.peak_rss = cost.at("peak_rss_bytes").get<std::uint64_t>();
      if (seconds == 0) record.wall_seconds = cost.at("wall_seconds");
    }
    store_.add(record);
  }

  void remove_files(const std::string& name) const {
    std::error_code error;
    for (const fs::path& file : {spec_file(folder_.work(), name), log_file(folder_.work(), name),
                                 result_file(folder_.work(), name)})
      fs::remove(file, error);
  }

  // --- progress ---

  void report_progress(RunnerProgress progress) {
    if (!options_.progress) return;
    progress.runs = missing_at_start_;
    progress.done = summary_.done;
    progress.failed = summary_.failed;
    progress.running = executor_.running();
    progress.seconds = seconds();
    progress.seconds_left = seconds_left();
    options_.progress(progress);
  }

  /// From what runs of the same workload and parameters have taken, or else all runs.
  std::optional<double> seconds_left() {
    if (open_.size() != left_at_) {
      left_at_ = open_.size();
      double known = 0;
      std::size_t unknown = 0;
      std::map<std::string, std::optional<double>> means;
      for (const auto& [key, r] : open_) {
        const PlannedRun& run = plan_.runs[r];
        const auto [at, fresh] = means.try_emplace(run.workload + json_dump(run.parameters));
        if (fresh) at->second = store_.mean_seconds(run.workload, run.parameters);
        if (at->second) known += *at->second;
        else ++unknown;
      }
      const std::size_t measured = open_.size() - unknown, ended = summary_.done + summary_.failed;
      std::optional<double> mean;
      if (measured > 0) mean = known / static_cast<double>(measured);
      else if (ended > 0)
        mean = seconds() * static_cast<double>(executor_.width()) / static_cast<double>(ended);
      left_.reset();
      if (mean)
        left_ = (known + *mean * static_cast<double>(unknown)) /
                static_cast<double>(
                    std::min(executor_.width(), std::max<std::size_t>(1, open_.size())));
    }
    return left_;
  }

  const Plan& plan_;
  const Catalogue& catalogue_;
  Store& store_;
  Executor& executor_;
  const ResultsFolder& folder_;
  const RunnerOptions& options_;
  RunnerSummary summary_;
  std::map<std::string, std::size_t> open_;             ///< runs that have not ended, by key
  std::map<std::string, Recording> recording_;          ///< those to come, by hash
  std::map<std::size_t, std::set<std::string>> waits_;  ///< for which of them a run waits
  std::set<std::string> under_way_;                     ///< jobs that an earlier runner submitted
  std::set<std::string> made_again_;                    ///< recordings that were damaged
  std::set<std::size_t> second_chance_;                 ///< runs that have met one
  std::size_t missing_at_start_ = 0;
  Clock::time_point start_;
  std::size_t left_at_ = ~std::size_t{0};
  std::optional<double> left_;
};

}  // namespace

RunnerSummary run_plan(const Plan& plan, const Catalogue& catalogue, Store& store,
                       Executor& executor, const ResultsFolder& folder,
                       const RunnerOptions& options) {
  return Sweep(plan, catalogue, store, executor, folder, options).run();
}

}  // namespace raddle::lab
