// The pages as built from web/ (one self-contained HTML file each, embedded by
// cmake/generated.cmake) and their data put into them.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace raddle::report {

/// Named as their files in web/: of runs, of one paper's reproduction, of all papers.
enum class Page { index, reproduction, papers };

/// The built page with one place for the data (generated). A plain notice where web/ was not built.
std::string_view page_template(Page page);

/// The page with `data` in it, and `without_scripts` (HTML) where it has a place for what is read
/// when scripts do not run. No string of the data can end the page's script element; bytes that are
/// not UTF-8 become U+FFFD.
std::string filled(Page page, const nlohmann::ordered_json& data,
                   const std::string& without_scripts = "");

/// As JSON text; bytes that are not UTF-8 become U+FFFD.
std::string text_of(const nlohmann::ordered_json& json);

}  // namespace raddle::report
