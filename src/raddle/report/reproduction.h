// The pages of the laboratory: one per paper, drawn from its reproduction document, and an index
// over all papers. Self-contained like the page of runs; links between them are by file name, so
// that they stand in one folder.
#pragma once
#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "raddle/report/figure.h"

namespace raddle::report {

/// The page of one paper, with each figure as the files have it (figure.h); `index` is the file
/// name of an index beside it to which it shall lead.
/// Throws InputError when the document is not sound (document.h).
std::string reproduction_page(const nlohmann::ordered_json& document,
                              const std::string& index = "");

/// The name under which the index looks for that page: "<paper id>.html".
std::string page_name(const nlohmann::ordered_json& document);

/// What the index page shows (web/src/papers.ts): per document the paper, when and how it was run,
/// and how many experiments, shapes, stated numbers and runs came out how.
nlohmann::ordered_json index_data(std::span<const nlohmann::ordered_json> documents);

/// One row per paper, in the order given, each with a link to its page. Throws InputError when a
/// document is not sound or two are of one paper.
std::string index_page(std::span<const nlohmann::ordered_json> documents);

/// The page's verdicts, explanations and notes as Markdown, to be kept beside code: a table with a
/// row for each experiment, then what explains it. Throws InputError when the document is not
/// sound.
std::string reproduction_text(const nlohmann::ordered_json& document);

/// Documents of one paper are joined (joined_documents.h). Writes index.html, and for each paper
/// its page, its text ("<paper id>.md") and its figures under figures/ into `folder` (made when
/// absent). Throws InputError when a document is not sound (nothing is written then), RunError
/// when a file cannot be written.
Written write_site(std::span<const nlohmann::ordered_json> documents,
                   const std::filesystem::path& folder);

}  // namespace raddle::report
