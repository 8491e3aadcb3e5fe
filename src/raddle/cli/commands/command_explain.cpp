// raddle explain: what the difference in cycles of two kept results is made of.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <sstream>

#include "raddle/base/error.h"
#include "raddle/base/json.h"
#include "raddle/cli/commands/commands.h"
#include "raddle/cli/shared/output.h"
#include "raddle/report/difference.h"
#include "raddle/report/json_member.h"
#include "raddle/report/kept.h"

namespace raddle::cli {

namespace {

using Json = nlohmann::ordered_json;
using report::KeptRun;

struct Pair {
  const KeptRun *a, *b;
};

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string word; std::getline(in, word, ',');) out.push_back(word);
  return out;
}

std::string labels_of(const std::vector<const KeptRun*>& runs) {
  std::string out;
  for (const KeptRun* run : runs)
    if (const std::string quoted = "'" + run->label + "'"; out.find(quoted) == std::string::npos)
      out += (out.empty() ? "" : ", ") + quoted;
  return out;
}

struct ExplainCommand {
  std::vector<std::string> files;
  std::string policies_text;
  bool json = false;

  int operator()() const {
    std::vector<std::vector<KeptRun>> kept;
    for (const std::string& file : files)
      kept.push_back(report::read_kept(read_json(file), file).runs);
    const std::vector<Pair> pairs = kept.size() == 1 ? within(kept.front()) : between(kept);
    std::string text;
    Json all = {{"schema", 1}, {"kind", "explanation"}, {"explanations", Json::array()}};
    for (const auto& [a, b] : pairs) {
      if (const std::string why = report::why_not_explained(a->result, b->result); !why.empty())
        throw InputError("A (" + a->file + ") and B (" + b->file +
                         ") cannot be explained by one another: " + why);
      const report::Difference difference = report::difference_of(a->result, b->result);
      const std::string seed = seed_of(*a, pairs);
      text += (text.empty() ? "" : "\n") +
              report::explanation({a->label + seed, a->file, &a->result},
                                  {b->label + seed, b->file, &b->result}, difference);
      Json one = {{"a", side(*a)}, {"b", side(*b)}};
      one.update(report::to_json(difference));
      all["explanations"].push_back(std::move(one));
    }
    std::fputs(json ? (json_dump(all, 2) + "\n").c_str() : text.c_str(), stdout);
    return 0;
  }

 private:
  static const Json& seed_of(const KeptRun& run) {
    return report::member(report::member(report::member(run.result, "config"), "run"), "seed");
  }
  /// ", seed 2" where other pairs are of the same workload.
  static std::string seed_of(const KeptRun& run, const std::vector<Pair>& pairs) {
    const auto alike = [&](const Pair& pair) {
      return pair.a->result.at("workload").at("name") == run.result.at("workload").at("name");
    };
    if (std::ranges::count_if(pairs, alike) < 2) return "";
    return ", seed " + json_dump(seed_of(run));
  }

  static Json side(const KeptRun& run) {
    return {{"file", run.file},
            {"label", run.label},
            {"seed", seed_of(run)},
            {"workload", run.result.at("workload").at("name")},
            {"raddle_version", run.result.at("raddle_version")},
            {"cycles", run.result.at("totals").at("cycles")}};
  }

  /// The runs of each work, in order.
  static std::vector<std::vector<const KeptRun*>> by_work(const std::vector<KeptRun>& runs) {
    std::vector<std::string> keys;
    std::vector<std::vector<const KeptRun*>> out;
    for (const KeptRun& run : runs) {
      const std::string key = report::work_key(run.result);
      const auto at = std::ranges::find(keys, key) - keys.begin();
      if (at == std::ssize(keys)) {
        keys.push_back(key);
        out.emplace_back();
      }
      out[static_cast<std::size_t>(at)].push_back(&run);
    }
    return out;
  }

  /// The one with that label; "": the only one there is.
  static const KeptRun* chosen(const std::vector<const KeptRun*>& runs, const std::string& label) {
    const auto at = std::ranges::find(runs, label, &KeptRun::label);
    if (at != runs.end()) return *at;
    if (label.empty() && runs.size() == 1) return runs.front();
    throw InputError({runs.front()->file},
                     fmt::format("--policies: expected {} of {}, found {}",
                                 label.empty() ? "which to explain" : "one", labels_of(runs),
                                 label.empty() ? "nothing" : "'" + label + "'"));
  }

  /// Two of one file: those named, else the first two, of each work.
  std::vector<Pair> within(const std::vector<KeptRun>& runs) const {
    const std::vector<std::string> labels = split(policies_text);
    if (!policies_text.empty() && labels.size() != 2)
      throw InputError("--policies: expected two with a comma between them, found '" +
                       policies_text + "'");
    std::vector<Pair> out;
    for (const std::vector<const KeptRun*>& of : by_work(runs)) {
      if (of.size() < 2)
        throw InputError({files.front()},
                         "expected two results of a work, or a second file; found one");
      if (labels.empty()) out.push_back({of[0], of[1]});
      else out.push_back({chosen(of, labels[0]), chosen(of, labels[1])});
    }
    return out;
  }

  /// One of each file: of one result each whatever they are of, else of every work that is in both.
  std::vector<Pair> between(const std::vector<std::vector<KeptRun>>& kept) const {
    std::vector<std::string> labels = split(policies_text);
    if (labels.empty()) labels = {"", ""};
    if (labels.size() == 1) labels.push_back(labels.front());
    if (labels.size() != 2)
      throw InputError("--policies: expected one or two, found '" + policies_text + "'");
    const auto works_a = by_work(kept[0]), works_b = by_work(kept[1]);
    if (works_a.size() == 1 && works_b.size() == 1)
      return {{chosen(works_a.front(), labels[0]), chosen(works_b.front(), labels[1])}};
    std::vector<Pair> out;
    for (const auto& of_a : works_a)
      for (const auto& of_b : works_b)
        if (report::work_key(of_a.front()->result) == report::work_key(of_b.front()->result))
          out.push_back({chosen(of_a, labels[0]), chosen(of_b, labels[1])});
    if (out.empty())
      throw InputError("explain: expected a work that is in both files, found none in " + files[0] +
                       " and " + files[1]);
    return out;
  }
};

}  // namespace

Command add_explain(CLI::App& app) {
  auto command = std::make_shared<ExplainCommand>();
  CLI::App* explain =
      app.add_subcommand("explain", "what the difference in cycles of two kept results is made of");
  explain
      ->add_option("results", command->files,
                   "kept by --json of run, replay, compare or exec: A and B, or one of compare; B "
                   "is explained by what differs from A")
      ->required()
      ->expected(1, 2)
      ->type_name("A.json [B.json]");
  explain
      ->add_option("--policies", command->policies_text,
                   "which results of a file of compare, as its --policies called them: A,B "
                   "(default: the first two)")
      ->type_name("A,B");
  explain->add_flag("--json", command->json, "as JSON, every part with A and B");
  explain->footer(
      "raddle compare bfs --policies lrr,gto --json c.json && raddle explain c.json\n"
      "raddle explain before.json after.json\n"
      "Beside --report the files hold source lines and traffic by allocation, too.");
  return {explain, [command] { return (*command)(); }};
}

}  // namespace raddle::cli
