// Results that were kept (--json of run, replay, compare and exec): read, checked, and drawn again.
// A page of them has what the files hold; what they do not hold is named on it.
#pragma once
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

namespace raddle::report {

/// One result of a file.
struct KeptRun {
  std::string file;
  std::string label;  ///< policies as given to compare, or as the result has them; no seed
  nlohmann::ordered_json result;
  std::string what_if = {};  ///< the change of its machine (compare --what-if); "": none
};

/// A document, and what compare has computed of its runs: arrays as report::data() has them.
struct KeptFile {
  std::vector<KeptRun> runs;
  nlohmann::ordered_json over_seeds = nlohmann::ordered_json::array();
  nlohmann::ordered_json what_if = nlohmann::ordered_json::array();
};

/// Is it a reproduction document (document.h) or says it is another kind? Then it is no result.
bool is_kept_result(const nlohmann::ordered_json& document);

/// A document, its results in order. Throws InputError with every fault, each naming `file`
/// and its place ("runs[2].result.totals.cycles: expected a number, found null"), also where what
/// was kept is another command's.
KeptFile read_kept(const nlohmann::ordered_json& document, const std::string& file);

/// Runs with the same are of the same work on the same input, as on the page (web/src/data.ts).
std::string work_key(const nlohmann::ordered_json& result);

/// Labels that two files give to the same work get the file's name, and so do then all others.
void distinguish(std::vector<KeptRun>& runs);

/// Of the files: what they hold, which program made them when it is another than this one, what a
/// page of --report would have and they do not, what is not alike in those of one work.
nlohmann::ordered_json kept_sentences(const std::vector<KeptRun>& runs);

struct KeptInput {
  std::string command, date;  ///< as in ReportInput
  std::vector<KeptRun> runs;  ///< ratios refer to the first of each work
  nlohmann::ordered_json over_seeds = nlohmann::ordered_json::array();  ///< as of KeptFile
  nlohmann::ordered_json what_if = nlohmann::ordered_json::array();
  std::vector<std::string> left_out = {};  ///< what files hold and the page does not, in sentences
};

/// The data of the page (report.h), with `kept`, the sentences above.
nlohmann::ordered_json kept_data(KeptInput input);

/// The whole page.
std::string kept_html(KeptInput input);

}  // namespace raddle::report
