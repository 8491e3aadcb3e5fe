// libFuzzer target: results databases. The mutator changes values of rows through SQLite itself, so
// that what comes out is still a database, and mostly gives each run the checksum of what it has
// become, or nothing behind the check would ever be read; some inputs are changed byte by byte.
// Invariant: opened and read as sweeps read it, or refused by InputError or RunError.
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>

#include "raddle/base/error.h"
#include "raddle/lab/store/checksum.h"
#include "raddle/lab/store/store.h"
#include "support/json_mutator.h"

using namespace raddle;

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max);

namespace {

/// A file in memory that is there as long as this is.
class File {
 public:
  explicit File(std::string_view bytes) { write(bytes); }
  ~File() {
    for (const char* tail : {"", "-journal"}) std::filesystem::remove(path_ + tail);
  }
  const std::string& path() const { return path_; }
  std::string bytes() const {
    std::ifstream in(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

 private:
  void write(std::string_view bytes) {
    std::ofstream(path_, std::ios::binary)
        .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
  std::string path_ = "/dev/shm/raddle_fuzz_" + std::to_string(getpid()) + ".sqlite";
};

lab::PlannedRun planned(bool failed) {
  lab::PlannedRun run;
  run.key = failed ? "key2" : "key1";
  run.program = "0123";
  run.workload = "vecadd";
  run.gpu = "gtx480";
  run.parameters = {{"n", 100}, {"block", 64}};
  run.spec.configuration = failed ? "other" : "same";
  if (!failed) run.spec.analyses["small"].text = "cache:size_kib=8";
  return run;
}

/// A run that is done and one that has failed.
void fill(const std::string& path) {
  lab::Store store(path);
  for (const bool failed : {false, true}) {
    const lab::PlannedRun run = planned(failed);
    lab::RunRecord record;
    record.run = &run;
    record.done = !failed;
    record.wall_seconds = 1.5;
    record.host = "here";
    record.finished = "2026-01-01T00:00:00Z";
    if (failed) {
      record.reason = "timeout";
      record.error = "gave no result within 3 s";
    } else
      record.result = {
          {"state_hash", "00ff"},
          {"totals", {{"ipc", 1.25}, {"cycles", 7}}},
          {"kernels", {{{"name", "add"}, {"cycles", 3}}}},
          {"policies",
           {{"warp",
             {{"name", "gto"}, {"parameters", {{"k", 8}}}, {"statistics", {{"picks", 11}}}}}}}};
    store.add(record);
  }
  store.database().run(
      "INSERT INTO cells VALUES ('box.fig1', 'quick', 'vecadd', 'gto', '{\"n\":1}', 'key1')");
}

struct Column {
  const char *table, *name, *which;
};
constexpr Column kColumns[] = {{"runs", "key", "id"},        {"runs", "configuration", "id"},
                               {"runs", "analyses", "id"},   {"runs", "program", "id"},
                               {"runs", "status", "id"},     {"runs", "reason", "id"},
                               {"runs", "error", "id"},      {"runs", "workload", "id"},
                               {"runs", "parameters", "id"}, {"runs", "gpu", "id"},
                               {"runs", "seed", "id"},       {"runs", "spec", "id"},
                               {"runs", "state_hash", "id"}, {"runs", "wall_seconds", "id"},
                               {"runs", "peak_rss", "id"},   {"runs", "finished", "id"},
                               {"runs", "result", "id"},     {"runs", "checksum", "id"},
                               {"metrics", "path", "run"},   {"metrics", "value", "run"},
                               {"kernels", "kernel", "run"}, {"kernels", "path", "run"},
                               {"kernels", "value", "run"},  {"policies", "level", "run"},
                               {"policies", "name", "run"},  {"policies", "parameters", "run"},
                               {"cells", "workload", "1"},   {"cells", "variant", "1"},
                               {"cells", "point", "1"},      {"cells", "run_key", "1"}};

template <class Action>
void attempt(Action action) {
  try {
    action();
  } catch (const InputError&) {
  } catch (const RunError&) {
  }
}

/// The value as somebody else might have written it.
std::string changed(const std::string& old, Rng& rng) {
  const auto json = [&](const std::string& text) -> std::string {
    test::MutableJson tree = test::MutableJson::parse(text, nullptr, false);
    if (tree.is_discarded()) return text;
    test::mutate(tree, rng);
    return tree.dump(-1, ' ', false, test::MutableJson::error_handler_t::replace);
  };
  if (!old.empty() && old[0] == '{') return json(old);
  try {
    return lab::compressed(json(lab::decompressed(old)));
  } catch (const RunError&) {
  }
  std::string out = old;
  out.resize(old.size() + 16);
  out.resize(LLVMFuzzerMutate(reinterpret_cast<std::uint8_t*>(out.data()), old.size(), out.size()));
  return out;
}

void bind_any(lab::Statement& update, const std::string& text, Rng& rng) {
  constexpr std::int64_t kMaximum = std::numeric_limits<std::int64_t>::max();
  switch (rng.below(8)) {
    case 0:
      break;  // what nobody has bound is NULL
    case 1:
      update.bind(1, rng.below(2) == 0 ? kMaximum : -1 - std::int64_t{rng.below(3)});
      break;
    case 2:
      update.bind(1, rng.below(2) == 0 ? 1e308 : -0.5);
      break;
    case 3:
      update.bind_blob(1, text);
      break;
    default:
      update.bind(1, text);
  }
}

void change(const std::string& path, Rng& rng) {
  lab::Database database(path);
  database.run("PRAGMA ignore_check_constraints = ON");
  const Column& at = kColumns[rng.below(std::size(kColumns))];
  const std::string where =
      std::string(" WHERE ") + at.which + " = " +
      std::to_string(std::string_view(at.which) == "1" ? 1 : rng.below(2) + 1);
  std::string old;
  {
    lab::Statement row(database,
                       (std::string("SELECT ") + at.name + " FROM " + at.table + where).c_str());
    if (row.step()) old = row.blob(0);
  }
  constexpr const char* kTexts[] = {"",      "[]",   "{}",     "null",
                                    "1e999", "done", "failed", "gto,\"x\"\n"};
  const std::string text =
      rng.below(3) == 0 ? kTexts[rng.below(std::size(kTexts))] : changed(old, rng);
  lab::Statement update(
      database, (std::string("UPDATE ") + at.table + " SET " + at.name + " = ?" + where).c_str());
  bind_any(update, text, rng);
  update.run();
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max, unsigned seed) {
  Rng rng(seed);
  if (rng.below(8) == 0) return LLVMFuzzerMutate(data, size, max);
  File file({reinterpret_cast<const char*>(data), size});
  for (unsigned changes = 1 + rng.below(3); changes > 0; --changes)
    attempt([&] { change(file.path(), rng); });
  if (rng.below(16) != 0)
    for (const std::int64_t run : {1, 2})
      attempt([&] {
        lab::Database database(file.path());
        lab::seal_run(database, run);
      });
  const std::string out = file.bytes();
  if (out.size() > max) return size;
  std::memcpy(data, out.data(), out.size());
  return out.size();
}

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  if (*argc != 3 || std::strcmp((*argv)[1], "--seed") != 0) return 0;
  std::filesystem::remove((*argv)[2]);
  fill((*argv)[2]);
  std::exit(0);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const File file({reinterpret_cast<const char*>(data), size});
  const std::string folder = file.path() + ".csv";
  attempt([&] {
    lab::Store store(file.path());
    for (const bool failed : {false, true}) {
      const lab::PlannedRun run = planned(failed);
      attempt([&] { store.find(run); });
      attempt([&] { store.peak_rss(run.workload, run.parameters); });
      attempt([&] { store.mean_seconds(run.workload, run.parameters); });
    }
    for (const std::int64_t id : {1, 2}) {
      attempt([&] { store.metrics(id); });
      attempt([&] { store.result(id); });
    }
    attempt([&] { store.export_csv(folder, {"box.fig1"}, "quick"); });
  });
  std::filesystem::remove_all(folder);
  return 0;
}
