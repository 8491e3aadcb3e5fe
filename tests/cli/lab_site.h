// A folder with a paper of three small experiments, and the program run on it.
#pragma once
#include <sys/stat.h>

#include <filesystem>

#include "cli/raddle.h"
#include "raddle/lab/store/sqlite.h"

namespace raddle::test {

class Site {
 public:
  Site() {
    std::filesystem::create_directories(papers() / "small");
    write("paper.toml", R"(id = "small"
title = "A small paper"
gpu = "gtx480"
set = { "sm.count" = 2 }
order = ["one", "two"]
[workloads.vecadd]
quick = { size = "tiny" }
full = { size = "tiny" }
[workloads.red]
workload = "reduction"
quick = { size = "tiny" }
full = { size = "tiny" }
[groups]
both = ["vecadd", "red"]
[variants.lrr]
policies = ["warp=lrr"]
[variants.gto]
title = "GTO"
policies = ["warp=gto"]
[variants.swept]
policies = ["warp=two_level"]
[axes.group]
path = "policy.warp.group_size"
values = [2, 4, 8]
quick = [4]
[variants.best]
best_of = "swept"
over = ["group"]
maximise = "ipc"
[measures]
ipc = "totals.ipc"
)");
    write("one.toml", R"(id = "one"
title = "The first"
kind = "performance"
[[runs]]
workloads = ["both"]
variants = ["lrr", "gto"]
[[runs]]
workloads = ["both"]
variants = ["swept"]
axes = ["group"]
[[figures]]
title = "IPC"
type = "bars"
x = "both"
means = ["hmean"]
series = ["lrr", "gto", "best"]
value = "ipc"
[[shapes]]
check = "for all both: ipc[best] > 0"
[[shapes]]
check = "for all both, group: ipc[best] >= ipc[swept]"
)");
    write("two.toml", R"(id = "two"
title = "The second"
kind = "sensitivity"
[[runs]]
workloads = ["vecadd"]
variants = ["gto"]
[[shapes]]
of = "ipc[vecadd] / ipc[vecadd, gto]"
check = "gto > 2"
[[stated]]
what = "Thrice"
value = "ipc[vecadd, gto] / ipc[vecadd, gto]"
paper = 3
)");
    write("three.toml", R"(id = "three"
title = "The third"
kind = "definition"
tested_by = ["tests/nowhere/lab.cpp: Sweep.RunsAFileAndShowsWhatCameOut"]
)");
  }

  std::filesystem::path papers() const { return folder.path() / "papers"; }
  std::filesystem::path results() const { return folder.path() / "results"; }
  std::string database() const { return results() / "results.sqlite"; }
  std::string file() const { return papers() / "small/one.toml"; }
  std::string paper_file() const { return papers() / "small/paper.toml"; }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(papers() / "small" / name) << text;
  }
  /// A shell script that stands before the worker; $RADDLE "$@" runs it.
  std::string worker(const std::string& script) const {
    const std::string path =
        folder.write("worker.sh", "#!/bin/sh\nRADDLE=" RADDLE_PROGRAM "\n" + script + "\n");
    chmod(path.c_str(), 0755);
    return path;
  }
  std::vector<std::string> content() const {
    std::vector<std::string> out;
    for (const auto& entry : std::filesystem::directory_iterator(results()))
      out.push_back(entry.path().filename());
    return out;
  }

  std::vector<std::string> sweep_words(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words = {file(), "--results", results()};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  Outcome sweep(const std::vector<std::string>& more = {}) const {
    return raddle("sweep", sweep_words(more));
  }
  Outcome reproduce(const std::string& what) const {
    return raddle("reproduce", {what, "--experiments", papers(), "--results", results()});
  }
  int run_count(const std::string& where = "1") const {
    lab::Database database(this->database());
    lab::Statement count(database, ("SELECT count(*) FROM runs WHERE " + where).c_str());
    count.step();
    return static_cast<int>(count.whole(0));
  }

  Folder folder;
};

}  // namespace raddle::test
