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
};

/// Is it a reproduction document (document.h) or says it is another kind? Then it is no result.
bool is_kept_result(const nlohmann::ordered_json& document);

/// The results of a document, in its order. Throws InputError with every fault, each naming `file`
/// and its place ("runs[2].result.totals.cycles: expected a number, found null"), also where what
/// was kept is another command's.
std::vector<KeptRun> read_kept(const nlohmann::ordered_json& document, const std::string& file);

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
};

/// The data of the page (report.h), with `kept`, the sentences above.
nlohmann::ordered_json kept_data(KeptInput input);

/// The whole page.
std::string kept_html(KeptInput input);

}  // namespace raddle::report
