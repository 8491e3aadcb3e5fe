// Sweeps in trouble: workers that crash, hang or grow, a full disk, two runners, a runner that is
// interrupted or killed at any moment.
#include <random>
#include <set>

#include "cli/lab_site.h"

namespace raddle::test::lab_trouble_test {
namespace {

using namespace std::chrono_literals;

/// A sweep in the background.
class Runner {
 public:
  explicit Runner(const std::vector<std::string>& words) {
    std::vector<std::string> all = {RADDLE_PROGRAM, "sweep"};
    all.insert(all.end(), words.begin(), words.end());
    std::vector<char*> argv;
    for (std::string& word : all) argv.push_back(word.data());
    argv.push_back(nullptr);
    pid_ = fork();
    if (pid_ == 0) {
      dup2(open((capture_ / "err").c_str(), O_WRONLY | O_CREAT, 0600), 2);
      dup2(open("/dev/null", O_WRONLY), 1);
      execv(argv[0], argv.data());
      _exit(127);
    }
  }
  ~Runner() {
    if (!over_) end(SIGKILL);
  }
  /// Sends the signal and waits for the end; exit status, or 128 + signal.
  int end(int signal) {
    kill(pid_, signal);
    int raw = 0;
    waitpid(pid_, &raw, 0);
    over_ = true;
    return WIFEXITED(raw) ? WEXITSTATUS(raw) : 128 + WTERMSIG(raw);
  }
  bool over() {
    int raw = 0;
    over_ = over_ || waitpid(pid_, &raw, WNOHANG) == pid_;
    return over_;
  }
  std::string said() const { return read_file(capture_ / "err"); }
  pid_t pid() const { return pid_; }

 private:
  Folder capture_;
  pid_t pid_;
  bool over_ = false;
};

/// Waits until `done`, a minute at most.
template <class F>
bool eventually(F done) {
  for (int i = 0; i < 6000; ++i) {
    if (done()) return true;
    std::this_thread::sleep_for(10ms);
  }
  return false;
}

const char* const kOfSumUnderGto =
    "if grep -q reduction \"$2\" && grep -q warp=gto \"$2\" && "
    "grep -q '\"cell\"' \"$2\"; then ";

struct Trouble {
  const char* name;
  std::string script;
  std::vector<std::string> options;
  std::string reason, said;
};
void PrintTo(const Trouble& of, std::ostream* out) { *out << of.name; }
class BadWorker : public testing::TestWithParam<Trouble> {};

TEST_P(BadWorker, IsRecordedWithItsReasonAndTheRestGoesOn) {
  const Site site;
  std::vector<std::string> words = {
      "--worker", site.worker(kOfSumUnderGto + GetParam().script + "; fi; exec $RADDLE \"$@\"")};
  words.insert(words.end(), GetParam().options.begin(), GetParam().options.end());
  const Outcome run = site.sweep(words);
  EXPECT_EQ(run.status, 1);
  EXPECT_THAT(run.out, AllOf(HasSubstr("incomplete"), HasSubstr("failed   one red gto: "),
                             HasSubstr(GetParam().said)));
  EXPECT_THAT(run.err, HasSubstr("FAILED: "));
  EXPECT_EQ(site.run_count("status = 'done'"), 5);
  EXPECT_EQ(site.run_count("reason = '" + GetParam().reason + "'"), 1);
  EXPECT_EQ(site.sweep().status, 1) << "known to have failed";
  EXPECT_EQ(site.sweep({"--retry-failed"}).status, 0);
}

INSTANTIATE_TEST_SUITE_P(
    All, BadWorker,
    testing::Values(
        Trouble{"Crash",
                "echo so sad >&2; kill -SEGV $$",
                {},
                "crash",
                "signal 11 (Segmentation fault): so sad"},
        Trouble{"Hang", "sleep 100", {"--timeout", "0.02"}, "timeout", "gave no result within 1."},
        Trouble{"Status",
                "echo no >&2; exit 7",
                {},
                "crash",
                "ended with status 7 and without a result: no"},
        Trouble{"Memory", "ulimit -d 2000", {}, "out_of_memory", "more memory"},
        Trouble{"Killed", "kill -KILL $$", {}, "out_of_memory", "for want of memory"},
        Trouble{"Nonsense", "echo '{' > \"$4\"; exit 0", {}, "error", "cannot be read"}),
    [](const auto& info) { return info.param.name; });

TEST(TwoRunners, TheSecondIsRefusedNamingTheFirst) {
  const Site site;
  Runner first(site.sweep_words({"--worker", site.worker("sleep 100")}));
  ASSERT_TRUE(eventually([&] {
    return std::filesystem::exists(site.results() / "work") &&
           !read_file(site.results() / "lock").empty();
  }));
  const Outcome second = site.sweep();
  expect_refused(
      second, {"is in use by another runner", "pid " + std::to_string(first.pid()), "--results"});
  first.end(SIGKILL);
  EXPECT_EQ(site.sweep().status, 0) << "the lock dies with its holder";
}

TEST(FullDisk, IsSaidAndTheSameCommandGoesOn) {
  // No file may grow beyond 64 KiB: the database soon would, and nothing else is the cause.
  const Site site;
  ASSERT_EQ(raddle("sweep", site.sweep_words({"--check"})).status, 0);
  std::string words;
  for (const std::string& word : site.sweep_words()) words += " '" + word + "'";
  const Outcome full =
      run_process("/bin/bash", {"-c", "ulimit -f 64; exec " RADDLE_PROGRAM " sweep" + words});
  EXPECT_EQ(full.status, 1);
  EXPECT_THAT(full.err,
              AllOf(HasSubstr("is the disk full?"), HasSubstr("the same command goes on")));
  EXPECT_EQ(site.run_count("status = 'failed'"), 0) << "no run is to blame";
  const int kept = site.run_count();
  const Outcome run = site.sweep();
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(site.run_count(), 6);
  EXPECT_EQ(line_count(run.err) <= 8u - static_cast<unsigned>(kept), true) << run.err;
}

TEST(Interrupted, EndsCleanlyAndSaysHowToGoOn) {
  for (const int signal : {SIGINT, SIGTERM}) {
    const Site site;
    Runner runner(site.sweep_words(
        {"--jobs", "1", "--worker",
         site.worker("echo $$ > " + (site.folder / "pid") +
                     "; if grep -q two_level \"$2\"; then sleep 100; fi; exec $RADDLE \"$@\"")}));
    ASSERT_TRUE(eventually([&] {
      return std::filesystem::exists(site.database()) &&
             runner.said().find("[2/6]") != std::string::npos;
    }));
    EXPECT_EQ(runner.end(signal), 1);
    EXPECT_THAT(runner.said(), AllOf(HasSubstr("interrupted; 2 of 6 runs are kept in"),
                                     HasSubstr("the same command goes on")));
    const pid_t worker = std::atoi(read_file(site.folder / "pid").c_str());
    EXPECT_NE(kill(worker, 0), 0) << "no worker is left";
    EXPECT_EQ(site.sweep().status, 0);
    EXPECT_EQ(site.run_count(), 6);
  }
}

TEST(DamagedRecordings, AreMadeAgain) {
  const Site site;
  ASSERT_EQ(site.sweep().status, 0);
  std::vector<std::filesystem::path> recordings;
  for (const auto& entry : std::filesystem::directory_iterator(site.results() / "recordings"))
    recordings.push_back(entry.path());
  ASSERT_EQ(recordings.size(), 2u);
  const auto bytes = std::filesystem::file_size(recordings[0]);
  std::filesystem::resize_file(recordings[0], bytes - 10);
  std::ofstream(recordings[1], std::ios::binary) << "nothing of the kind";
  std::filesystem::remove(site.database());
  const Outcome run = site.sweep();
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(site.run_count("status = 'failed'"), 0);
  EXPECT_EQ(site.run_count(), 6);
  EXPECT_EQ(std::filesystem::file_size(recordings[0]), bytes);
}

TEST(DamagedRecordings, ThatCannotBeMadeAgainFailOnce) {
  const Site site;
  ASSERT_EQ(site.sweep().status, 0);
  for (const auto& entry : std::filesystem::directory_iterator(site.results() / "recordings"))
    std::filesystem::resize_file(entry.path(), 100);
  std::filesystem::remove(site.database());
  // Who records writes nothing good either.
  const std::string worker =
      site.worker("case \"$2\" in *recording-*) exit 1;; esac; exec $RADDLE \"$@\"");
  EXPECT_EQ(site.sweep({"--worker", worker}).status, 1);
  EXPECT_EQ(site.run_count("status = 'failed'"), 6);
}

TEST(WorkFolder, HoldsNothingAfterASweepWhateverKilledOnesHaveLeft) {
  const Site site;
  ASSERT_EQ(site.sweep().status, 0);
  const std::filesystem::path work = site.results() / "work";
  for (const char* left :
       {"0123.spec.json", "0123.log", "0123.result.json.tmp77", "4567.spec.json.tmp1"})
    std::ofstream(work / left) << "{";
  ASSERT_EQ(site.sweep().status, 0);
  EXPECT_TRUE(std::filesystem::is_empty(work));
}

/// Runs whose result is safe: in the database, or written and waiting for it.
std::set<std::string> finished(const Site& site) {
  std::set<std::string> out;
  if (std::filesystem::exists(site.database())) {
    lab::Database database(site.database());
    if (database.pragma("user_version") != 0) {
      lab::Statement rows(database, "SELECT key FROM runs");
      while (rows.step()) out.insert(rows.text(0));
    }
  }
  if (std::filesystem::exists(site.results() / "work"))
    for (const auto& entry : std::filesystem::directory_iterator(site.results() / "work"))
      if (const std::string name = entry.path().filename();
          name.ends_with(".result.json") && !name.starts_with("recording"))
        out.insert(name.substr(0, name.find('.')));
  return out;
}

TEST(Killed, AtAnyMomentNothingIsLostAndNothingRunsTwice) {
  const std::string started = "basename \"$2\" .spec.json >> ";
  auto figures = [](const Site& site) {
    const Outcome run = site.sweep({"--scale", "full", "--json", "-", "--quiet"});
    EXPECT_EQ(run.status, 0) << run.err;
    return Json::parse(run.out)["experiments"][0]["figures"].dump();
  };
  const Site undisturbed;
  const std::string expected = figures(undisturbed);

  std::mt19937 random(7);
  for (int round = 0; round < 4; ++round) {
    const Site site;
    const std::string log = site.folder / "started";
    const std::vector<std::string> words = site.sweep_words(
        {"--scale", "full", "--worker", site.worker(started + log + "; exec $RADDLE \"$@\"")});
    std::set<std::string> safe;
    for (int kills = 0; kills < 12; ++kills) {
      std::ofstream(log, std::ios::trunc).close();
      {
        Runner runner(words);
        std::this_thread::sleep_for(std::chrono::milliseconds(random() % 250));
        if (runner.over()) break;
        runner.end(SIGKILL);
      }
      std::this_thread::sleep_for(20ms);  // the kernel ends the workers
      std::istringstream again(read_file(log));
      for (std::string key; again >> key;)
        EXPECT_FALSE(safe.contains(key)) << key << " had ended and was run again";
      const std::set<std::string> now = finished(site);
      for (const std::string& key : safe) EXPECT_TRUE(now.contains(key)) << key << " is lost";
      safe = now;
    }
    EXPECT_EQ(figures(site), expected);
    EXPECT_EQ(site.run_count(), 10);
  }
}

}  // namespace
}  // namespace raddle::test::lab_trouble_test
